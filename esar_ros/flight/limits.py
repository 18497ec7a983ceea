"""Limits of the pilot, below the governor's: speeds, distances and timeouts; read from config/pilot.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings


class PilotLimits(StrictModel):
    """See config/pilot.yaml for why each has its value."""

    # Motion
    speed: float = Field(5.0, gt=0, le=25, description="m/s, cruise")
    speed_up: float = Field(1.8, gt=0, le=5, description="m/s, climb")
    speed_down: float = Field(1.5, gt=0, le=5, description="m/s, descent")
    speed_unknown: float = Field(1.5, gt=0, le=10, description="m/s, where the local map knows nothing, or without one")
    acceleration: float = Field(2.0, gt=0, le=10, description="m/s^2, change of the set-point")
    jerk: float = Field(15.0, gt=0, le=1000, description="m/s^3, growth of a gain in speed")
    deceleration: float = Field(1.5, gt=0, le=10, description="m/s^2, braking towards goals and obstacles")
    latency: float = Field(0.5, ge=0, le=2, description="s, of the velocity controller")
    yaw_rate: float = Field(0.8, gt=0, le=4, description="rad/s, turn")
    yaw_slow: float = Field(0.5, gt=0, le=3.2, description="rad, nose off the path by more: slower")
    # Path
    clearance: float = Field(3.0, gt=0, le=20, description="m, kept from obstacles of the local map")
    cell: float = Field(2.0, gt=0, le=10, description="m, cells of the path search")
    look_ahead: float = Field(4.0, gt=0, le=50, description="m, minimum distance of the point steered to")
    terrain_ahead: float = Field(40.0, gt=0, le=200, description="m, looked ahead for rising ground")
    climb_over: float = Field(60.0, gt=0, le=200, description="m, maximum climb to get over an obstacle")
    replan: float = Field(1.0, gt=0, le=10, description="s, maximum time on a path without a new search")
    # Arrival and patience
    arrival: float = Field(2.0, gt=0, le=50, description="m, horizontal and vertical, near enough to a waypoint")
    arrival_yaw: float = Field(0.15, gt=0, le=3.2, description="rad, near enough to a waypoint's heading")
    blocked_after: float = Field(8.0, gt=0, le=120, description="s without coming nearer: the goal is blocked")
    planner_silence: float = Field(0.4, gt=0, le=60, description="s without a sign of the planner: hold")
    request_again: float = Field(2.0, gt=0, le=60, description="s, before a request not followed is made again")
    # Take-off and landing
    take_off_height: float = Field(10.0, gt=1, le=100, description="m above the take-off spot")
    take_off_speed: float = Field(1.5, gt=0, le=2, description="m/s")
    return_height: float = Field(25.0, gt=1, le=200, description="m above ground, on the way home")
    touch_down_height: float = Field(4.0, gt=0.5, le=20, description="m above ground, where it asks for the touch-down")
    land_speed: float = Field(1.0, gt=0, le=2, description="m/s, descent to the touch-down height")
    # End of the mission
    mission_end: Literal["hold", "return_land"] = Field("hold", description="what to do when the mission has ended")


def load_pilot_limits(path: Path | None = None) -> PilotLimits:
    """Limits from a YAML file, by default the package's own. Raises UsageError."""
    source = path or resource("config/pilot.yaml")
    return load_settings(PilotLimits, source, "the pilot's limits")
