"""Progress of the search for each victim and clue, and the single cause for which one was missed.

From view to find an object passes four stages: it is in a camera's image, the detector tracks one of its kind there,
the policy reports one, the report is near enough. An object never in view was left out by the method itself, or by the
mission's end (time, crash).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import rotation_from_quaternion
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.scoring import metrics
from esar_ros.scoring.horizon_profile import TARGET_HEIGHT, HorizonProfile, hidden
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import Cause, ReportResult
from esar_ros.scoring.truth import End, TrueClue, TrueVictim, Truth

LOOK_RANGE = 60.0  # m: a person is 3 x 8 px there in a 640x480 image; beyond, an image does not count as a look
REPORTED_OFF_FACTOR = 3.0  # error thresholds: a report up to here is meant for the victim, and off


class Seen(NamedTuple):
    """Progress of the search for one victim or clue before any report of it."""

    images: int  # that showed it within the look range
    nearest: float | None  # m, least distance of those
    nearest_at: int | None  # ns, stamp of that image
    nearest_by: str | None  # the vehicle that took it
    first_reported_range: float | None  # m, how far off it was when the detector first reported a track of it
    track_score: float | None  # greatest of the tracks of its kind that lay near enough to be reported as it
    track_views: int | None  # most looks of such a track


class Looks(NamedTuple):
    """The same of all victims and clues, in the truth's order."""

    victims: tuple[Seen, ...]
    clues: tuple[Seen, ...]


class _Frames(NamedTuple):
    """All frames whose pose is known: N of them."""

    vehicles: NDArray[np.str_]  # (N,) who took it
    stamps: NDArray[np.int64]  # (N,) ns
    positions: NDArray[np.float64]  # (N, 3) of base_link in the map, m
    rotations: NDArray[np.float64]  # (N, 3, 3)


class _Tracks(NamedTuple):
    """Tracks of all detectors at all frames: M of them."""

    vehicles: NDArray[np.str_]  # (M,)
    stamps: NDArray[np.int64]  # (M,) ns
    kinds: NDArray[np.str_]  # (M,)
    positions: NDArray[np.float64]  # (M, 3) m, map
    scores: NDArray[np.float64]  # (M,)
    views: NDArray[np.int64]  # (M,)

    def subset(self, chosen: NDArray[np.bool_]) -> _Tracks:
        """Returns the tracks chosen by a mask (M,)."""
        return _Tracks(
            self.vehicles[chosen], self.stamps[chosen], self.kinds[chosen], self.positions[chosen], self.scores[chosen],
            self.views[chosen],
        )  # fmt: skip


def collect_looks(record: EpisodeRecord, truth: Truth) -> Looks | None:
    """Returns for each victim and clue what images and detector held of it; None where no frame was recorded."""
    rows = {v: record.rows(v, names.CLUES, truth.start, truth.end) for v in sorted(truth.vehicles)}
    if not any(rows.values()):
        return None
    frames = _frames(record, truth, {vehicle: [row.stamp for row in own] for vehicle, own in rows.items()})
    entries = [(v, row.stamp, *clue[1:]) for v, own in rows.items() for row in own for clue in row.clues]
    columns = [list(column) for column in zip(*entries, strict=True)] if entries else [[] for _ in range(8)]
    vehicles, stamps, kinds, scores, x, y, z, views = columns
    tracks = _Tracks(
        np.array(vehicles, dtype=np.str_), np.array(stamps, dtype=np.int64), np.array(kinds, dtype=np.str_),
        np.array([x, y, z], dtype=np.float64).T.reshape(-1, 3), np.array(scores, dtype=np.float64),
        np.array(views, dtype=np.int64),
    )  # fmt: skip
    things = [(PERSON, victim) for victim in truth.victims] + [(clue.kind, clue) for clue in truth.clues]
    kind_of = np.array([kind for kind, _ in things])
    away = metrics.distances(tracks.positions, np.array([thing.position for _, thing in things]))
    away = np.where(tracks.kinds[:, None] == kind_of, away, np.inf)
    # A track near two of a kind is the nearer one's: the other has none of its own.
    own = (away < truth.thresholds.error_threshold) & (away == away.min(axis=1, keepdims=True, initial=np.inf))
    seen = [
        _seen(np.array(thing.position), thing.skyline, frames, tracks.subset(own[:, i]))
        for i, (_, thing) in enumerate(things)
    ]
    return Looks(tuple(seen[: len(truth.victims)]), tuple(seen[len(truth.victims) :]))


def _frames(record: EpisodeRecord, truth: Truth, stamps: Mapping[str, Sequence[int]]) -> _Frames:
    """Poses of base_link at each vehicle's frames, by the last odometry up to each stamp."""
    known: list[tuple[str, int, NDArray[np.float64], NDArray[np.float64]]] = []
    for vehicle, own in stamps.items():
        rows = record.rows(vehicle, names.ODOMETRY, None, truth.end)
        origin = np.array(truth.vehicles[vehicle].odom_in_map)
        index = np.searchsorted([row.stamp for row in rows], own, side="right") - 1
        for stamp, i in zip(own, index, strict=True):
            if i >= 0 and any(rows[i][4:8]):  # some send no attitude: zeros
                known.append((vehicle, stamp, np.array(rows[i][1:4]) + origin, rotation_from_quaternion(rows[i][4:8])))
    return _Frames(
        np.array([one[0] for one in known], dtype=np.str_),
        np.array([one[1] for one in known], dtype=np.int64),
        np.array([one[2] for one in known]).reshape(-1, 3),
        np.array([one[3] for one in known]).reshape(-1, 3, 3),
    )


def _seen(position: NDArray[np.float64], profile: HorizonProfile, frames: _Frames, tracks: _Tracks) -> Seen:
    """tracks: the thing's own."""
    offsets = position + (0.0, 0.0, TARGET_HEIGHT) - frames.positions
    distance = np.linalg.norm(offsets, axis=1)
    in_body = np.einsum("nji,nj->ni", frames.rotations, offsets)
    rig, shown = load_vehicle(), np.zeros(len(distance), dtype=np.bool_)
    for mount in rig.cameras.values():
        shown |= rig.image.model.project((in_body - mount.pose.position) @ mount.pose.rotation)[1]
    looks = np.flatnonzero(shown & (distance <= LOOK_RANGE) & ~hidden(profile, -offsets))
    best = int(looks[np.argmin(distance[looks])]) if len(looks) else None
    first_reported_range = None
    if len(tracks.stamps):
        first = int(np.argmin(tracks.stamps))
        then = (frames.stamps == tracks.stamps[first]) & (frames.vehicles == tracks.vehicles[first])
        first_reported_range = float(distance[then][0]) if then.any() else None
    return Seen(
        images=len(looks),
        nearest=None if best is None else float(distance[best]),
        nearest_at=None if best is None else int(frames.stamps[best]),
        nearest_by=None if best is None else str(frames.vehicles[best]),
        first_reported_range=first_reported_range,
        track_score=float(tracks.scores.max()) if len(tracks.scores) else None,
        track_views=int(tracks.views.max()) if len(tracks.views) else None,
    )


def cause_of(
    thing: TrueVictim | TrueClue, found: bool, seen: Seen | None, reports: Sequence[ReportResult], truth: Truth
) -> Cause | None:
    """Returns the single cause; None where no frame was recorded and reports and end do not determine it."""
    if truth.end_reason is End.ERROR:
        return Cause.FAILED
    if found:
        return Cause.FOUND
    if any(_meant(report, thing, truth.thresholds.error_threshold) for report in reports):
        return Cause.REPORTED_OFF
    if seen is None:
        return None
    if seen.track_score is not None:
        return Cause.SEEN_NOT_REPORTED
    if seen.images:
        return Cause.LOOKED_AND_MISSED
    if truth.end_reason in (End.COLLISION, End.BREACH):
        return Cause.CRASHED
    return Cause.NEVER_LOOKED if truth.end_reason is End.STOP else Cause.TOO_LATE


def _meant(report: ReportResult, thing: TrueVictim | TrueClue, gate: float) -> bool:
    """Returns whether a report that found nothing was meant for this object, but off.

    For a victim: a victim report nearest to it and within REPORTED_OFF_FACTOR thresholds, or a clue report at its
    position that matches no clue. For a clue: a report of its kind within REPORTED_OFF_FACTOR thresholds.
    """
    if report.ok or report.verdict == "over_cap" or report.position is None:
        return False
    nearly = report.matched == thing.id and report.distance is not None and report.distance < REPORTED_OFF_FACTOR * gate
    if isinstance(thing, TrueClue):
        return report.type == "clue" and report.kind == thing.kind and nearly
    if report.type == "victim":
        return nearly
    return report.verdict == "false" and float(metrics.distances(report.position, thing.position)[0, 0]) < gate
