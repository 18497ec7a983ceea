"""Flight records for scoring: tracks (map frame), contacts, breaches, interventions, battery charge, planner
latency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission import names
from esar_ros.mission.decision import PARTLY, DecisionStatus
from esar_ros.mission.modes import Landed, Reason, mode_name, reason_name
from esar_ros.mission.stamps import NANO
from esar_ros.scoring import metrics
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import DecisionRow, SafetyRow
from esar_ros.scoring.result import Safety, Timing
from esar_ros.scoring.truth import End, Truth

FAILED = "the run failed"  # why a flight is neither safe nor eligible


@dataclass(frozen=True)
class Flight:
    """One vehicle between the mission's start and its end. Stamps in ns, positions (N, 3) in the map frame (m)."""

    vehicle: str
    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    safety: tuple[SafetyRow, ...]
    collisions: tuple[int, ...]
    breaches: tuple[int, ...]
    aloft: NDArray[np.bool_]  # for each row of safety: flying, and neither taking off nor landing
    landed_at_end: bool
    battery_at_end: float | None
    coverage: float
    path_spacing: float  # s

    @property
    def path_length(self) -> float:
        """Length (m) of the flown track."""
        return self._length(None)

    @property
    def safe_distance(self) -> float:
        """Length (m) flown until the first contact or breach; the whole length if there was none (ESARBench, figure
        5)."""
        return self._length(min((*self.collisions, *self.breaches), default=None))

    def _length(self, until: int | None) -> float:
        use = np.ones(len(self.stamps), dtype=bool) if until is None else self.stamps <= until
        if not use.any():
            return 0.0
        times = (self.stamps[use] - self.stamps[0]) / NANO
        return metrics.path_length(times, self.positions[use], self.path_spacing)

    def nearest(self, position: tuple[float, float, float]) -> float | None:
        """Returns the minimum distance (m) of the vehicle to a place; None without a track."""
        if not len(self.positions):
            return None
        return float(np.linalg.norm(self.positions - np.array(position), axis=1).min())


def fly_over(record: EpisodeRecord, truth: Truth) -> tuple[Flight, ...]:
    """Every vehicle's flight, cut to the mission."""
    return tuple(_flight(record, truth, vehicle) for vehicle in sorted(truth.vehicles))


def _flight(record: EpisodeRecord, truth: Truth, vehicle: str) -> Flight:
    start, end = truth.start, truth.end
    stamps, positions = record.track(vehicle, start, end)
    states = record.rows(vehicle, names.VEHICLE_STATE, None, end)
    state_stamps = np.array([row.stamp for row in states], dtype=np.int64)

    def flying(stamp: int) -> bool:
        """Returns whether the vehicle is off the ground by the autopilot's last state; True before the first state."""
        i = int(np.searchsorted(state_stamps, stamp, side="right")) - 1
        return i < 0 or states[i].landed != Landed.ON_GROUND

    safety = tuple(record.rows(vehicle, names.SAFETY_STATUS, start, end))
    contacts = [row.stamp for row in record.rows(vehicle, names.COLLISION, start, end)]
    landed = bool(states) and states[-1].landed == Landed.ON_GROUND
    battery = record.rows(vehicle, names.BATTERY, None, end)
    maps = record.rows(vehicle, names.MAP_STATUS, start, end)
    return Flight(
        vehicle=vehicle,
        stamps=stamps,
        positions=positions + np.array(truth.vehicles[vehicle].odom_in_map),
        safety=safety,
        # Skids that touch the ground where the vehicle stands are no crash, nor is what a vehicle is drawn to touch
        # while nobody knows where it is.
        collisions=tuple(stamp for stamp in contacts if flying(stamp) and record.knows_place(vehicle, stamp)),
        breaches=tuple(row.stamp for row in safety if row.breach),
        aloft=_aloft(safety, landed, truth.thresholds.take_off_height)
        & np.array([flying(row.stamp) for row in safety], dtype=bool),
        landed_at_end=landed,
        battery_at_end=battery[-1].charge if battery else None,
        coverage=min(max(maps[-1].coverage, 0.0), 1.0) if maps else 0.0,
        path_spacing=truth.thresholds.path_spacing,
    )


def _aloft(safety: tuple[SafetyRow, ...], landed: bool, take_off_height: float) -> NDArray[np.bool_]:
    """Returns a mask of the steps between the first and, if it landed, the last one higher than take-off and landing
    reach.

    Below that the nearest obstacle is the ground at the start, which is no measure of how safely the vehicle flew.
    """
    high = np.array([row.height >= take_off_height for row in safety], dtype=bool)
    aloft = np.logical_or.accumulate(high)
    return aloft & np.logical_or.accumulate(high[::-1])[::-1] if landed else aloft


def summarise_safety(flights: tuple[Flight, ...], truth: Truth) -> Safety:
    """Isafe with its reasons: no contact, no breach, and landed or airborne with reserve at the end."""
    collisions = sorted(stamp for flight in flights for stamp in flight.collisions)
    breaches = sorted(stamp for flight in flights for stamp in flight.breaches)
    rows = [row for flight in flights for row in flight.safety]
    aloft = [row for flight in flights for row, up in zip(flight.safety, flight.aloft, strict=True) if up]
    reasons = []
    if truth.end_reason is End.ERROR:
        reasons.append(FAILED)
    if collisions:
        reasons.append("collision")
    if breaches:
        reasons.append("hard safety envelope left")
    reserve = truth.thresholds.reserve_battery
    for flight in flights:
        if flight.landed_at_end:
            continue
        if flight.battery_at_end is None:
            reasons.append(f"{flight.vehicle} airborne at the end, charge unknown")
        elif flight.battery_at_end < reserve:
            reasons.append(f"{flight.vehicle} airborne at the end below {reserve:.0%} charge")
    modes = Counter(mode_name(row.mode) for row in rows)
    changed = Counter(reason_name(row.reason) for row in rows if row.changed and row.reason != Reason.NOT_FLYING)
    charges = [flight.battery_at_end for flight in flights if flight.battery_at_end is not None]
    return Safety(
        safe=not reasons,
        reasons=tuple(reasons),
        collisions=len(collisions),
        first_collision=_since(truth, collisions),
        breaches=len(breaches),
        first_breach=_since(truth, breaches),
        interventions=dict(sorted(changed.items())),
        modes={mode: count / len(rows) for mode, count in sorted(modes.items())},
        min_clearance=_minimum(row.clearance for row in aloft),
        min_height=_minimum(row.height for row in aloft),
        battery_at_end=min(charges) if charges else None,
        landed_at_end=all(flight.landed_at_end for flight in flights),
    )


def _decisions(record: EpisodeRecord, truth: Truth) -> list[DecisionRow]:
    return [row for vehicle in truth.vehicles for row in record.rows(vehicle, names.DECISION, None, truth.end)]


def count_troubles(record: EpisodeRecord, truth: Truth) -> dict[str, int]:
    """Decisions of all vehicles that were made without an answer of the model that they asked for, by the reason."""
    made = [row for row in _decisions(record, truth) if row.status != DecisionStatus.FAILED]
    return dict(sorted(Counter(row.trouble for row in made if row.trouble).items()))


def count_answers(record: EpisodeRecord, truth: Truth) -> tuple[int, int]:
    """Returns the decisions that a model was asked for, and those of them that were made with an answer of it."""
    rows = [row for row in _decisions(record, truth) if row.status != DecisionStatus.FAILED]
    asked = [row for row in rows if row.trouble or row.tokens_in or row.tokens_out]
    return len(asked), sum(not row.trouble or row.trouble.startswith(PARTLY) for row in asked)


def summarise_timing(record: EpisodeRecord, truth: Truth) -> Timing:
    """Planner latency, tokens and mapping time; the part of a result that depends on the machine."""
    decisions = _decisions(record, truth)
    latency = np.array([row.latency for row in decisions] or [0.0])
    maps = [row for vehicle in truth.vehicles for row in record.rows(vehicle, names.MAP_STATUS, None, truth.end)]
    return Timing(
        wall_time=truth.wall_time,
        decisions=len(decisions),
        latency_mean=float(latency.mean()),
        latency_p95=float(np.percentile(latency, 95)),
        latency_max=float(latency.max()),
        tokens_in=sum(row.tokens_in for row in decisions),
        tokens_out=sum(row.tokens_out for row in decisions),
        map_integration_mean=metrics.share(sum(row.integration_time for row in maps), len(maps)),
        asked=count_answers(record, truth)[0],
    )


def _since(truth: Truth, stamps: list[int]) -> float | None:
    return (stamps[0] - truth.start) / NANO if stamps else None


def _minimum(values: Iterable[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    return min(finite) if finite else None
