"""Outcome of a flight by truth: the files' thirteen metrics, and a level from 0 (as planned) to 3 (lost)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from esar_ros.mission.modes import Reason
from esar_ros.suites.uavbench.scenarios.geometry import Ball, Motion, Point, ball_clearance, outside
from esar_ros.suites.uavbench.scenarios.scene import Scene

SCHEMA = "esar-scenario-flight/1"  # of a flight's result
VEHICLE = 0.5  # m, radius of the vehicle and of others
_BAND = 0.5  # m beyond the altitude band that count as a violation
_TRIVIAL = frozenset({Reason.NONE, Reason.ACCELERATION})  # set-points are smoothed in every flight


@dataclass
class Watch:
    """Measurements while a scenario is flown. Positions are the scenario's, m."""

    scene: Scene
    nearest_zone: float = math.inf
    separation: float = math.inf
    time_to_collision: float = math.inf
    touched: set[str] = field(default_factory=set)  # others that were hit
    breach: bool = False
    violation: bool = False
    in_band: bool = False
    interventions: Counter[str] = field(default_factory=Counter)  # steps by the governor's most severe reason
    _last: tuple[float, Point] | None = None  # time and place of the look before

    def look(self, t: float, p: Point, v: Point, is_landing: bool = False) -> None:
        """Measures one moment: time from the mission's start (s), position and velocity.

        A vehicle that lands may be below the altitude band.
        """
        scene = self.scene
        self.breach |= outside(scene.fence, p)
        low, high = scene.band
        self.in_band |= p[2] >= low
        self.violation |= p[2] > high + _BAND or (self.in_band and not is_landing and p[2] < low - _BAND)
        for zone in scene.zones:
            self.nearest_zone = min(self.nearest_zone, zone.distance(p))
        for zone in scene.moving_zones:
            x, y = zone.velocity
            moved = zone._replace(center=(zone.center[0] + x * t, zone.center[1] + y * t))
            self.nearest_zone = min(self.nearest_zone, moved.distance(p))
        before, there = self._last or (t, p)
        self._last = t, p
        flown = Motion(there, p, before, t)
        for kind, balls in (("traffic", scene.traffic), ("moving_obstacles", scene.obstacles)):
            for index, ball in enumerate(balls):
                self._meet(f"{kind}/{index}", ball, flown, v)

    def _meet(self, name: str, ball: Ball, flown: Motion, v: Point) -> None:
        """Measures the way since the last look: what is fast passes by between two of them."""
        p, t = flown.b, flown.end
        away = [ball.center[i] + ball.velocity[i] * t - p[i] for i in range(3)]
        gap = ball_clearance(flown, ball)[0]
        self.separation = min(self.separation, gap)
        if gap < VEHICLE + (VEHICLE if ball.radius == 0.0 else 0.0):
            self.touched.add(name)
        closing = [ball.velocity[i] - v[i] for i in range(3)]
        speed2 = sum(c * c for c in closing)
        along = -sum(a * c for a, c in zip(away, closing, strict=True))
        if speed2 > 0.0 and along > 0.0:
            miss2 = sum(a * a for a in away) - along * along / speed2
            if miss2 < (ball.radius + self.scene.separation) ** 2:
                self.time_to_collision = min(self.time_to_collision, along / speed2)

    def intervened(self, reason: Reason) -> None:
        """Counts a step that the governor changed."""
        if reason not in _TRIVIAL:
            self.interventions[reason.name] += 1


@dataclass(frozen=True)
class Ending:
    """The end of a flight."""

    reached: int  # waypoints
    seconds: float  # from the mission's start
    energy_left: float  # Wh
    charge: float  # share of what was on board
    crashed: bool
    outage: float  # s without satellites


def metrics(watch: Watch, ending: Ending) -> dict[str, Any]:
    """Returns the metrics under the names of the files; null is what was not measured."""
    scene = watch.scene
    return {
        "min_nfz_slant_m": _rounded(watch.nearest_zone),
        "geofence_breach": watch.breach,
        "altitude_violation": watch.violation,
        "battery_ending_Wh": round(ending.energy_left, 3),
        "battery_low": ending.charge <= scene["/uav/reserve_fraction"],
        "collisions": len(watch.touched) + ending.crashed,
        "daa_min_separation_m": _rounded(watch.separation),
        "daa_min_ttc_s": _rounded(watch.time_to_collision),
        "daa_breach": watch.separation < scene.separation,
        "mission_success": _done(watch, ending),
        "stall_events": None,
        "link_quality_min_dbm": None,
        "gnss_outage_s": round(ending.outage, 3),
    }


def level(watch: Watch, ending: Ending) -> int:
    """Returns 0 as planned, 1 the governor stepped in, 2 something was broken or missed, 3 collision or empty."""
    found = metrics(watch, ending)
    if found["collisions"] or ending.charge <= 0.0:
        return 3
    broken = found["geofence_breach"] or found["altitude_violation"] or found["daa_breach"] or found["battery_low"]
    if broken or watch.nearest_zone <= 0.0 or not _done(watch, ending):
        return 2
    return 1 if watch.interventions else 0


def _done(watch: Watch, ending: Ending) -> bool:
    whole = ending.reached == len(watch.scene.waypoints)
    return whole and ending.seconds <= watch.scene["/mission/time_budget_s"] and not ending.crashed


def _rounded(value: float) -> float | None:
    return round(value, 3) if math.isfinite(value) else None
