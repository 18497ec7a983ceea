"""The graph's topics as rows of the referee's record, and a summary of the flown track."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from esar_ros.benchmark.engine.sensing import Sensed
from esar_ros.benchmark.engine.wire import single
from esar_ros.bridges.airsim.vehicle import VehicleReading
from esar_ros.bridges.odometry_error import Estimate
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission import names
from esar_ros.mission.modes import Landed
from esar_ros.mission.observation import Brief
from esar_ros.perception.detector import ClueDetector
from esar_ros.planning.session import Answer
from esar_ros.safety.inputs import SafeCommand
from esar_ros.scoring.record.rows import (
    BatteryRow,
    BriefRow,
    CluesRow,
    CollisionRow,
    DecisionRow,
    MapRow,
    OdometryRow,
    ReportRow,
    SafetyRow,
    StateRow,
)
from esar_ros.scoring.referee import Referee

_DECIMALS = 2  # of the summary: cm


class Recording:
    """The record of one vehicle, fed row by row to a referee."""

    def __init__(self, referee: Referee, vehicle: str, brief: Brief, odom_in_map: Pose) -> None:
        self._referee = referee
        self._vehicle = vehicle
        self._odom_in_map = odom_in_map
        self.track: dict[str, list[Any]] = {key: [] for key in ("t", "x", "y", "z", "height")}
        row = BriefRow(
            0,
            brief.mission_id,
            brief.map_id,
            brief.prompt,
            brief.weather,
            brief.local_time,
            float(brief.t_max),
            tuple((float(x), float(y)) for x, y in brief.area),
            (float(brief.home[0]), float(brief.home[1]), float(brief.home[2])),
            tuple(float(value) for value in brief.origin),  # type: ignore[arg-type]
        )
        self._take(names.BRIEF, row)

    def _take(self, topic: str, row: Any) -> None:
        self._referee.take(self._vehicle, topic, row)

    def state(self, ns: int, reading: VehicleReading, estimate: Estimate, landing: bool, holding: bool) -> None:
        """Records odometry and the autopilot's state."""
        numbers = [float(v) for v in (*estimate.pose.position, *estimate.pose.quaternion)]
        if all(map(math.isfinite, numbers)):
            self._take(names.ODOMETRY, OdometryRow(ns, *numbers))
        aloft = Landed.LANDING if landing else Landed.FLYING
        landed = Landed.ON_GROUND if reading.landed else aloft
        self._take(names.VEHICLE_STATE, StateRow(ns, reading.armed, landed, holding))

    def collision(self, ns: int, reading: VehicleReading) -> None:
        """Records a contact in the air."""
        x, y, z = (float(v) for v in self._odom_in_map.apply(reading.pose.position))
        self._take(names.COLLISION, CollisionRow(ns, x, y, z, reading.collision_object))

    def battery(self, ns: int, charge: float) -> None:
        """Records the charge, 0..1."""
        if math.isfinite(charge):
            self._take(names.BATTERY, BatteryRow(ns, charge))

    def sensed(self, ns: int, sensed: Sensed, detector: ClueDetector, took: float) -> None:
        """Records objects and the map's size; took: s of wall time for the map."""
        clues = tuple(
            (clue.id, clue.kind, clue.probability, *(float(v) for v in clue.position), clue.views)
            for clue in sensed.clues
        )
        spread = tuple(
            tuple(_sortable(value) for value in np.asarray(clue.covariance).reshape(9)) for clue in sensed.clues
        )
        row = CluesRow(ns, detector.backend.name, detector.backend.eligible, clues, spread)  # type: ignore[arg-type]
        self._take(names.CLUES, row)
        now = sensed.map
        self._take(names.MAP_STATUS, MapRow(ns, now.coverage, now.covered_area, now.search_area, took))

    def decided(self, ns: int, answer: Answer, method: str, latency: float) -> None:
        """Records the planner's decision and its reports."""
        for number, report in answer.reports:
            x, y, z = (_sortable(v) for v in report.position)
            confidence = single(report.confidence)
            confidence = confidence if math.isfinite(confidence) else 0.0
            head = (ns, number, report.type.value, report.kind, report.text)
            self._take(names.REPORTS, ReportRow(*head, confidence, x, y, z, names.MAP))
        decision = answer.decision
        row = DecisionRow(
            ns,
            answer.seq,
            answer.status,
            ns,
            method,
            decision.action,
            decision.why,
            latency,
            decision.tokens_in,
            decision.tokens_out,
            decision.considered,
            decision.trouble,
        )
        self._take(names.DECISION, row)

    def safety(self, ns: int, answer: SafeCommand, enabled: bool) -> None:
        """Records the governor's answer; enabled: the answer is in force."""
        row = SafetyRow(
            ns,
            int(answer.mode),
            int(answer.reason),
            answer.changed and enabled,
            answer.breach,
            math.inf if answer.clearance is None else _sortable(single(answer.clearance)),
            math.inf if answer.height is None else _sortable(single(answer.height)),
            answer.text if enabled else f"off: {answer.text}",
        )
        self._take(names.SAFETY_STATUS, row)

    def summarise(self, elapsed: float, position: Vector, height: float | None) -> None:
        """Adds one sample to the summary: s since the start, m in map, m above ground."""
        values = (elapsed, *position, height)
        for key, value in zip(self.track, values, strict=True):
            finite = value is not None and math.isfinite(value)
            self.track[key].append(round(float(value), _DECIMALS) if finite and value is not None else None)


def _sortable(value: float) -> float:
    """Returns a coordinate that can be sorted: for NaN +inf, which matches nothing."""
    number = float(value)
    return number if math.isfinite(number) else math.inf
