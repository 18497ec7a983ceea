"""Route: a way that somebody else has planned, flown corner by corner at its heights above the sea.

Not in the registry's list: a brief holds no way. Whoever has one makes the method with it, and whoever has a plan of
QGroundControl names the method `route:FILE.plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.decision import Goal, GoalType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief
from esar_ros.mission.system.incident_files import ROUTE
from esar_ros.mission.task_files import parse_json, read_text
from esar_ros.planning.methods.patterns.pattern import Pattern
from esar_ros.planning.parameters import configured

_WAYPOINT, _SPEED = 16, 178  # MAV_CMD
_OF_THE_WAY = (0, 1)  # of a speed: through the air, over the ground; others are of climbs
# MAV_CMD: return, land, take-off, camera and trigger; they ask for no other way.
_BESIDE = frozenset({20, 21, 22, 205, 206, 530, 531, 2000, 2001, 2500, 2501})
_ABOVE_SEA, _ABOVE_HOME = 0, 3  # MAV_FRAME: latitude, longitude, m above mean sea level or above home
_VERSION = 2  # of the mission in a plan
_FARTHEST = 20_000.0  # m from the map's origin, a plan of another place


class Route(Pattern):
    """Climbs above its start, flies the corners in order and stops after the last."""

    name = ROUTE

    def __init__(self, parameters: Mapping[str, Any], corners: NDArray[np.float64]) -> None:
        """corners: (N, 3) m, map frame."""
        super().__init__(parameters)
        self._corners = np.asarray(corners, dtype=np.float64)

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        return self._corners[:, :2]

    def _goal(self, number: int) -> Goal:
        return Goal(GoalType.WAYPOINT, self._corners[number], speed=self._settings.speed)


class PlannedRoute(Route):
    """Flies the waypoints of a plan of QGroundControl, which lie on Earth, in the map of a mission's brief."""

    def __init__(self, plan: Path) -> None:
        """Raises UsageError where the plan cannot be read, or has no waypoint above the sea."""
        self._plan = plan
        self._waypoints, home, speed = _read(plan)
        climb = max(10.0, self._waypoints[0][2] - home)
        super().__init__(configured(Route.name, {"height": climb, "speed": speed}), np.zeros((0, 3)))

    def reset(self, brief: Brief, seed: int) -> None:
        """Begins a mission. Raises UsageError where the plan is of another place."""
        origin = Origin(*brief.origin)
        self._corners = np.array([origin.to_enu(*waypoint) for waypoint in self._waypoints])
        off = float(np.abs(self._corners[:, :2]).max())
        if not off < _FARTHEST:
            raise UsageError(f"plan {self._plan} lies {off / 1e3:.0f} km from the map", "give one of this place")
        super().reset(brief, seed)


def _read(path: Path) -> tuple[list[tuple[float, float, float]], float, float]:
    """Returns a plan's waypoints (degrees, degrees, m above the sea), its home's altitude (m) and its speed (m/s)."""
    content = parse_json(read_text(path, what="plan"), f"plan {path}")
    try:
        mission = content["mission"]
        if (version := mission.get("version", _VERSION)) != _VERSION:
            raise UsageError(f"plan {path} is a mission of version {version}", f"save it as version {_VERSION}")
        # A multirotor's speed; the cruise speed is a wing's, and three times as fast in a plan as it comes.
        home, speed = float(mission["plannedHomePosition"][2]), float(mission["hoverSpeed"])
        above = {_ABOVE_SEA: 0.0, _ABOVE_HOME: home}
        waypoints: list[tuple[float, float, float]] = []
        for item in mission["items"]:
            command = item.get("command", item.get("complexItemType"))
            if command == _WAYPOINT and item["frame"] in above:
                latitude, longitude, height = (float(part) for part in item["params"][4:7])
                waypoints.append((latitude, longitude, above[item["frame"]] + height))
            elif command == _WAYPOINT:
                raise UsageError(f"plan {path} counts heights in frame {item['frame']}", "above the sea or home")
            elif command == _SPEED:
                kind, told = (float(part) for part in item["params"][:2])
                if kind in _OF_THE_WAY and told > 0.0 and told != speed:
                    if waypoints:
                        raise UsageError(f"plan {path} changes its speed on the way", "plan one speed")
                    speed = told
            elif command not in _BESIDE:
                raise UsageError(f"plan {path} holds {command}, which is no waypoint", "make waypoints of it")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise UsageError(f"{path} is no plan of QGroundControl with a home", "give one of incident plan") from None
    if not waypoints:
        raise UsageError(f"plan {path} has no waypoint", "plan one")
    return waypoints, home, speed
