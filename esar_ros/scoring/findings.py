"""Matching of reports to victims and clues, in the order in which reports take effect (ESARBench, appendices B and
D)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission import names
from esar_ros.mission.decision import DecisionStatus, ReportType
from esar_ros.scoring import metrics
from esar_ros.scoring.judge import Judge, Judgement, Pair
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import ReportRow
from esar_ros.scoring.truth import End, Truth

# m: positions beyond this are no place on any map; it also keeps sums of distances exact enough.
MAX_COORDINATE = 1.0e6


@dataclass(frozen=True)
class Claim:
    """A report that counts: position (3,) in the map frame, None when it names no place."""

    vehicle: str
    row: ReportRow
    position: Vector | None
    over_cap: bool


@dataclass(frozen=True)
class Findings:
    """Matches by index into the claims (report) and into truth.victims or truth.clues (truth)."""

    victims_assigned: tuple[metrics.Match, ...]
    victims_found: tuple[metrics.Match, ...]
    victims_gated_first: int
    clues_located: tuple[metrics.Match, ...]
    clues_exact: tuple[metrics.Match, ...]


@dataclass(frozen=True)
class Claims:
    """All reports of a mission that came in time, with what matching needs of them."""

    claims: tuple[Claim, ...]
    # (claims, clues): the judge says the wording means the clue; only asked within the widest gate.
    meanings: NDArray[np.bool_] = field(repr=False)
    judgement: Judgement = field(default_factory=lambda: Judgement((), "none"))

    def matched(self, truth: Truth, gate: float) -> Findings:
        """Match at one error threshold (m)."""
        victims = np.array([victim.position for victim in truth.victims], dtype=np.float64).reshape(-1, 3)
        clues = np.array([clue.position for clue in truth.clues], dtype=np.float64).reshape(-1, 3)
        persons, person_positions = self._placed(ReportType.VICTIM)
        things, thing_positions = self._placed(ReportType.CLUE)
        assigned = metrics.assign(person_positions, victims, gate)
        meanings = self.meanings[things]
        exact = metrics.assign_gated(thing_positions, clues, gate, allowed=meanings)
        located = metrics.assign_gated(thing_positions, clues, gate, penalty=_keep(exact, meanings.shape))
        return Findings(
            victims_assigned=_indexed(assigned, persons),
            victims_found=_indexed([match for match in assigned if match.distance < gate], persons),
            victims_gated_first=len(metrics.assign_gated(person_positions, victims, gate)),
            clues_located=_indexed(located, things),
            clues_exact=_indexed(exact, things),
        )

    def _placed(self, kind: int) -> tuple[list[int], NDArray[np.float64]]:
        """Indices and positions of the scored claims of one type."""
        chosen = [
            (i, claim.position)
            for i, claim in enumerate(self.claims)
            if claim.row.type == kind and claim.position is not None and not claim.over_cap
        ]
        return [i for i, _ in chosen], np.array([position for _, position in chosen]).reshape(-1, 3)


def collect_claims(record: EpisodeRecord, truth: Truth, judge: Judge) -> Claims:
    """Reports that took effect in time, in order of (effect, vehicle, number), with the judge's word on each."""
    pending = sorted(
        (_effect(record, vehicle, row), vehicle, row)
        for vehicle in truth.vehicles
        for row in record.rows(vehicle, names.REPORTS)
    )
    # A crash ends the mission at once; a stop or the last second still carries its own reports.
    crashed = truth.end_reason in (End.COLLISION, End.BREACH, End.ERROR)
    last = truth.end - 1 if crashed else truth.end
    in_time = [(vehicle, row) for effect, vehicle, row in pending if truth.start <= effect <= last]
    cap = truth.thresholds.report_cap
    claims = tuple(
        Claim(vehicle, row, _position(row, vehicle, truth), i >= cap) for i, (vehicle, row) in enumerate(in_time)
    )
    near = _near_pairs(claims, truth)
    judgement = judge.decide(
        [Pair(claims[i].row.text, claims[i].row.kind, truth.clues[j].description, truth.clues[j].kind) for i, j in near]
    )
    meanings = np.zeros((len(claims), len(truth.clues)), dtype=bool)
    for (i, j), meant in zip(near, judgement.answers, strict=True):
        meanings[i, j] = meant
    return Claims(claims, meanings, judgement)


def _effect(record: EpisodeRecord, vehicle: str, row: ReportRow) -> int:
    """Stamp from which a report holds: that of its decision, later than the observation while the clock runs on."""
    decided = [
        decision.effective
        for decision in record.rows(vehicle, names.DECISION, row.stamp, row.stamp)
        if decision.status != DecisionStatus.THINKING
    ]
    return max(row.stamp, min(decided, default=row.stamp))


def _position(row: ReportRow, vehicle: str, truth: Truth) -> Vector | None:
    position = np.array([row.x, row.y, row.z])
    if row.frame == names.vehicle_frame(vehicle, names.ODOM):
        position = position + np.array(truth.vehicles[vehicle].odom_in_map)
    elif row.frame != names.MAP:
        return None
    return position if bool(np.all(np.abs(position) < MAX_COORDINATE)) else None


def _near_pairs(claims: tuple[Claim, ...], truth: Truth) -> list[tuple[int, int]]:
    """(claim, clue) by index: reports of clues that count, within the widest gate of a clue."""
    gate = max((truth.thresholds.error_threshold, *truth.thresholds.sensitivity_thresholds))
    return [
        (i, j)
        for i, claim in enumerate(claims)
        if claim.row.type == ReportType.CLUE and claim.position is not None and not claim.over_cap
        for j, clue in enumerate(truth.clues)
        if float(np.linalg.norm(claim.position - np.array(clue.position))) < gate
    ]


def _keep(exact: list[metrics.Match], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Penalties by which a clue that is matched exactly stays located, and if possible by the same report."""
    penalty = np.full(shape, min(shape) + 1, dtype=np.int64)
    for match in exact:
        penalty[:, match.truth] = 1
    for match in exact:
        penalty[match.report, match.truth] = 0
    return penalty


def _indexed(matches: list[metrics.Match], rows: list[int]) -> tuple[metrics.Match, ...]:
    return tuple(metrics.Match(rows[match.report], match.truth, match.distance) for match in matches)
