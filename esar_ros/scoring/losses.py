"""Why a victim was not found: one cause each, the latest stage that the search reached with him.

From being looked at to being found a victim passes four stages: he is in a camera's picture, the detector tracks a
person there, the policy reports one, the report is near enough. A victim who was never looked at was left out by the
method itself, or time or a crash came first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import rotation_from_quaternion
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.scoring import metrics
from esar_ros.scoring.record import EpisodeRecord
from esar_ros.scoring.result import Cause, ReportResult
from esar_ros.scoring.skyline import BODY, hidden
from esar_ros.scoring.truth import End, TrueVictim, Truth

LOOK_RANGE = 60.0  # m: a person is 3 x 8 px there in a 640x480 picture; beyond, a picture does not count as a look
OFF = 3.0  # error thresholds: a report up to here is meant for the victim, and off


class Seen(NamedTuple):
    """How far the search came with one victim before anything was reported."""

    pictures: int  # that showed him within the look range
    nearest: float | None  # m, least distance of those
    track_score: float | None  # greatest of the tracks of a person that lay near enough to be reported as him
    track_views: int | None  # most looks of such a track


def see(record: EpisodeRecord, truth: Truth) -> tuple[Seen, ...] | None:
    """For each victim what pictures and detector held of him; None where no frame was recorded."""
    frames = {v: record.rows(v, names.CLUES, truth.start, truth.end) for v in sorted(truth.vehicles)}
    if not any(frames.values()):
        return None
    poses = [_poses(record, truth, vehicle, [row.stamp for row in rows]) for vehicle, rows in frames.items() if rows]
    positions = np.concatenate([position for position, _ in poses])
    rotations = np.concatenate([rotation for _, rotation in poses])
    persons = np.array(
        [(x, y, z, score, views) for rows in frames.values() for row in rows for (_, kind, score, x, y, z, views)
         in row.clues if kind == PERSON]
    ).reshape(-1, 5)  # fmt: skip
    victims = np.array([victim.position for victim in truth.victims])
    away = metrics.distances(persons[:, :3], victims)
    # A track near two of them is the nearer one's: the other has none of his own.
    own = (away < truth.thresholds.error_threshold) & (away == away.min(axis=1, keepdims=True, initial=np.inf))
    return tuple(_seen(victim, positions, rotations, persons[own[:, i]]) for i, victim in enumerate(truth.victims))


def _poses(
    record: EpisodeRecord, truth: Truth, vehicle: str, stamps: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions (N, 3) and rotations (N, 3, 3) of base_link in the map, by the last odometry up to each stamp."""
    rows = record.rows(vehicle, names.ODOMETRY, None, truth.end)
    index = np.searchsorted([row.stamp for row in rows], stamps, side="right") - 1
    known = [rows[i] for i in index if i >= 0 and any(rows[i][4:8])]  # some send no attitude: zeros
    positions = np.array([row[1:4] for row in known]).reshape(-1, 3) + np.array(truth.vehicles[vehicle].odom_in_map)
    return positions, np.array([rotation_from_quaternion(row[4:8]) for row in known]).reshape(-1, 3, 3)


def _seen(
    victim: TrueVictim,
    positions: NDArray[np.float64],
    rotations: NDArray[np.float64],
    tracks: NDArray[np.float64],
) -> Seen:
    """positions, rotations: of base_link for every frame; tracks: (x, y, z, score, views) of the victim's own."""
    offsets = np.array(victim.position) + (0.0, 0.0, BODY) - positions
    distance = np.linalg.norm(offsets, axis=1)
    in_body = np.einsum("nji,nj->ni", rotations, offsets)
    rig, shown = load_vehicle(), np.zeros(len(positions), dtype=np.bool_)
    for mount in rig.cameras.values():
        shown |= rig.image.model.project((in_body - mount.pose.position) @ mount.pose.rotation)[1]
    looks = distance[shown & (distance <= LOOK_RANGE) & ~hidden(victim.skyline, -offsets)]
    return Seen(
        pictures=len(looks),
        nearest=float(looks.min()) if len(looks) else None,
        track_score=float(tracks[:, 3].max()) if len(tracks) else None,
        track_views=int(tracks[:, 4].max()) if len(tracks) else None,
    )


def cause_of(
    victim: TrueVictim, found: bool, seen: Seen | None, reports: Sequence[ReportResult], truth: Truth
) -> Cause | None:
    """The one cause; None where no frame was recorded and reports and end do not tell."""
    if truth.end_reason is End.ERROR:
        return Cause.CRASHED
    if found:
        return Cause.FOUND
    if any(_meant(report, victim, truth.thresholds.error_threshold) for report in reports):
        return Cause.REPORTED_OFF
    if seen is None:
        return None
    if seen.track_score is not None:
        return Cause.SEEN_NOT_REPORTED
    if seen.pictures:
        return Cause.LOOKED_AND_MISSED
    if truth.end_reason in (End.COLLISION, End.BREACH):
        return Cause.CRASHED
    return Cause.NEVER_LOOKED if truth.end_reason is End.STOP else Cause.TOO_LATE


def _meant(report: ReportResult, victim: TrueVictim, gate: float) -> bool:
    """Whether a report that found nothing was of this victim: his nearest and not far, or a clue where none lies."""
    if report.ok or report.verdict == "over_cap" or report.position is None:
        return False
    if report.type == "victim":
        return report.matched == victim.id and report.distance is not None and report.distance < OFF * gate
    return report.verdict == "false" and float(metrics.distances(report.position, victim.position)[0, 0]) < gate
