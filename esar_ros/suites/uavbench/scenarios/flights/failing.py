"""Faults of a scenario in flight: what each does to vehicle, estimate and link, and what has no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from esar_ros.bridges.odometry_error import Estimate, OdometryError
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.physics.drone import Drone
from esar_ros.suites.uavbench.scenarios.risk import JAM_RANGE, risk_rules
from esar_ros.suites.uavbench.scenarios.scene import Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import canonical

_UNMODELLED = frozenset({"control_failure", "sensor_failure", "compass_failure"})
_NAVIGATION = frozenset({"gnss_jam", "gnss_outage"})
_DRIFT = 1.0  # m/s of a whole spoofing
_ICE = 0.5  # more hover power of a whole icing
_ERROR_DB = 15.0  # dB over the signal that add the odometry's error once more


@dataclass(frozen=True)
class _Fault:
    kind: str
    start: float  # s
    end: float  # s
    severity: float

    def acts(self, t: float) -> bool:
        return self.start <= t < self.end


class Faults:
    """The faults of one flight, applied step by step; times count from the mission's start."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self._faults = [_fault(fault, scene.duration) for fault in scene.get("/faults", ())]
        self._windows = [(float(a), float(b)) for a, b in scene.get("/comms/loss_windows", ())]
        jam = scene.get("/environment/gnss_jam_dbm")
        self._jam = max(0.0, jam - risk_rules().signal_dbm) if jam is not None else 0.0  # dB over the signal
        self._error = OdometryError(load_vehicle().odometry_error, seed, "scenario")
        self.deviation = float(np.sqrt(self._error.pose_covariance.diagonal()[:3].max()))  # m, without jamming
        self._drift = np.zeros(3)
        self.reached: dict[int, str] = {}  # faults that began
        self.outage = 0.0  # s without satellites

    @property
    def unmodelled(self) -> list[str]:
        """Faults without a model."""
        return sorted({fault.kind for fault in self._faults} & _UNMODELLED)

    def apply(self, drone: Drone, t: float, step: float, thrust: float, power: float) -> None:
        """Acts on the vehicle for a step (s). thrust (m/s^2) and hover power (W): those of the sound vehicle."""
        pull = load = 1.0
        for index, fault in enumerate(self._faults):
            if not fault.acts(t):
                continue
            if fault.kind in ("battery_failure", "battery_degradation", "fuel_leak") and index not in self.reached:
                left = drone.battery.charge * (1.0 - fault.severity)
                drone.battery.used = drone.battery.energy * (1.0 - left)
            self.reached[index] = fault.kind
            if fault.kind == "motor_failure":
                pull *= 1.0 - fault.severity
            elif fault.kind == "icing":
                load *= 1.0 + _ICE * fault.severity
            elif fault.kind == "gnss_spoofing":
                self._drift[0] += _DRIFT * fault.severity * step
            self.outage += step * (fault.kind in _NAVIGATION)
        drone.battery.hover_power = power * load
        drone.body.limits = drone.body.limits._replace(thrust=thrust * pull)

    def estimate(self, t: float, ns: int, pose: Pose, velocity: Vector) -> tuple[Estimate, float]:
        """Returns where the vehicle takes itself to be, and the deviation (m) that its odometry states."""
        jam = self._jam + sum(JAM_RANGE * f.severity for f in self._faults if f.kind in _NAVIGATION and f.acts(t))
        factor = 1.0 + jam / _ERROR_DB
        error, rate = self._error.at(ns)
        drift = self._drift / max(1e-9, float(np.linalg.norm(self._drift))) if self._drift.any() else self._drift
        spoofing = sum(_DRIFT * f.severity for f in self._faults if f.kind == "gnss_spoofing" and f.acts(t))
        told = Pose(pose.position + factor * error[:3] + self._drift, pose.quaternion)
        return Estimate(told, velocity + factor * rate[:3] + spoofing * drift), factor * self.deviation

    def sees(self, t: float) -> bool:
        """Returns whether the ranging works."""
        return not any(fault.kind == "lidar_failure" and fault.acts(t) for fault in self._faults)

    def silence(self, t: float) -> float:
        """Returns for how long (s) the planner has not been heard."""
        lost = [t - a for a, b in self._windows if a <= t < b]
        lost += [t - fault.start for fault in self._faults if fault.kind == "link_loss" and fault.acts(t)]
        return max(lost, default=0.0)


def _fault(fault: dict[str, Any], end: float) -> _Fault:
    start, duration = float(fault["t_s"]), float(fault["duration_s"])
    return _Fault(
        canonical(fault["type"]), start, start + duration if duration > 0.0 else end, float(fault["severity"])
    )
