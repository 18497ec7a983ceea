"""Discrete actions of a drone as waypoints: the paper's 10 m and 90 degrees, or UAV-ON's smaller steps."""

from __future__ import annotations

import math

from pydantic import Field

from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.decision import Goal
from esar_ros.mission.observation import Brief, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.leg import LegSettings, waypoint
from esar_ros.planning.search_area import contains, flight_height, polygon_of

STOP = "stop"
ACTIONS = ("forward", "left", "right", "up", "down", "turn_left", "turn_right", STOP)
# Metres forward and to the left, in units of the step.
MOVES = {"forward": (1.0, 0.0), "left": (0.0, 1.0), "right": (0.0, -1.0)}
CLIMBS = {"up": 1.0, "down": -1.0}
TURNS = {"turn_left": 1.0, "turn_right": -1.0}
TOWARDS = {"front": "forward", "left": "left", "right": "right", "down": "down"}  # action into each camera's view


class ActionSettings(StrictModel):
    """Sizes of the discrete actions, and limits on where they may lead."""

    height: float = Field(default=30.0, gt=0, description="m above ground at the start")
    least_height: float = Field(default=10.0, gt=0, description="m above ground, never lower")
    step: float = Field(default=10.0, gt=0, description="m, forward, left and right")
    climb: float = Field(default=5.0, gt=0, description="m, up and down")
    turn_deg: float = Field(default=90.0, gt=0, le=180, description="degrees")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    stop_from_step: int = Field(default=10, ge=0, description="actions before stop is obeyed")
    leg: LegSettings = Field(default_factory=lambda: LegSettings(tolerance=2.0, patience=10.0))


class Mover:
    """Keeps the height and the heading that the actions add up to, and says where each would lead."""

    def __init__(self, settings: ActionSettings, brief: Brief) -> None:
        """Raises UsageError when the search area encloses nothing."""
        self._settings = settings
        self._area = polygon_of(brief)
        self._ceiling = flight_height(math.inf, brief)
        self.height = flight_height(settings.height, brief)
        self.yaw = 0.0

    def start(self, observation: Observation) -> Goal:
        """Climb to the search height where the vehicle is, heading kept."""
        self.yaw = observation.pose.yaw
        x, y = observation.pose.position[:2]
        return waypoint(x, y, self.height, yaw=self.yaw)

    def goal(self, action: str, observation: Observation, amount: float | None = None) -> Goal:
        """Waypoint of an action; amount (m or degrees) in place of the fixed step."""
        settings, (x, y) = self._settings, observation.pose.position[:2]
        forward, left = MOVES.get(action, (0.0, 0.0))
        length = settings.step if amount is None else amount
        climb = CLIMBS.get(action, 0.0) * (settings.climb if amount is None else amount)
        # Exact multiples of the turn, not what the vehicle's nose has drifted to.
        turn = TURNS.get(action, 0.0) * math.radians(settings.turn_deg if amount is None else amount)
        height = self.clamped(self.height + climb)
        yaw = wrap_angle(self.yaw + turn)
        cos, sin = math.cos(yaw), math.sin(yaw)
        x += length * (forward * cos - left * sin)
        y += length * (forward * sin + left * cos)
        return waypoint(x, y, height, settings.speed, yaw)

    def take(self, goal: Goal) -> None:
        """Takes height and heading of the waypoint being flown as those from which the next action counts."""
        self.height = float(goal.position[2])
        if goal.yaw is not None:
            self.yaw = goal.yaw

    def clamped(self, height: float) -> float:
        """Returns a height above ground (m), clipped to the minimum and the ceiling."""
        return min(max(height, min(self._settings.least_height, self._ceiling)), self._ceiling)

    def inside(self, position: Vector) -> bool:
        """Returns whether a position lies in the search area."""
        return contains(self._area, position)
