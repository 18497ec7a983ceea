"""Plans of QGroundControl (.plan, JSON), which PX4 and ArduPilot fly: a file for each sortie.

Waypoints are above mean sea level (MAV_FRAME_GLOBAL), as sorties have them; zones not to be entered are the geofence.
The form is that of QGroundControl's developer guide, *Plan File Format*, mission version 2 and geofence version 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from esar_ros.incident.features import Area, AreaKind, Position, Search, Sortie
from esar_ros.incident.formats import words
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import file_stem
from esar_ros.scoring.result import write_atomically

WAYPOINT, RETURN, TAKE_OFF, CHANGE_SPEED = 16, 20, 22, 178  # MAV_CMD
GLOBAL, MISSION = 0, 2  # MAV_FRAME: above mean sea level; no place
ABOVE_SEA = 2  # QGroundControl's altitude mode
PX4, QUADROTOR = 12, 2  # MAV_AUTOPILOT, MAV_TYPE
GROUND_SPEED = 1  # of CHANGE_SPEED
LEAST_CLIMB = 10.0  # m above home, of a take-off whose first waypoint lies lower


def write(search: Search, path: Path) -> None:
    """Writes a search's sorties into a folder, each named after itself. Raises UsageError."""
    names: set[str] = set()
    fences = [area for area in search.areas if area.kind is AreaKind.NO_FLY]
    for sortie in search.sorties:
        name = words.free_name(file_stem(sortie.name), names)
        write_atomically(path / f"{name}.plan", plan_text(sortie, fences))


def plan_text(sortie: Sortie, fences: Iterable[Area] = ()) -> str:
    """Returns a sortie's plan. Raises UsageError where a waypoint has no altitude, or the home."""
    if not sortie.waypoints:
        raise UsageError(f"sortie {words.clean(sortie.name)} has no waypoint", "plan it again")
    first = sortie.waypoints[0].position
    home = [*_place(sortie.home), _altitude(sortie.home, sortie)]
    climbed = max(_altitude(first, sortie), round(home[2] + LEAST_CLIMB, 2))
    items = [_item(TAKE_OFF, [0, 0, 0, None, *home[:2], climbed])]
    items.append(_item(CHANGE_SPEED, [GROUND_SPEED, sortie.speed, -1, 0, 0, 0, 0]))
    for waypoint in sortie.waypoints:
        place = [*_place(waypoint.position), _altitude(waypoint.position, sortie)]
        items.append(_item(WAYPOINT, [waypoint.hold, 0, 0, None, *place]))
    items.append(_item(RETURN, [0, 0, 0, 0, 0, 0, 0]))
    for number, item in enumerate(items, 1):
        item["doJumpId"] = number
    plan = {
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": {
            "version": 2,
            "firmwareType": PX4,
            "vehicleType": QUADROTOR,
            "globalPlanAltitudeMode": ABOVE_SEA,
            "cruiseSpeed": sortie.speed,
            "hoverSpeed": sortie.speed,
            "plannedHomePosition": home,
            "items": items,
        },
        "geoFence": {"version": 2, "circles": [], "polygons": [_fence(area) for area in fences]},
        "rallyPoints": {"version": 2, "points": []},
    }
    return json.dumps(plan, indent=4, allow_nan=False) + "\n"


def _item(command: int, parameters: list[float | None]) -> dict[str, Any]:
    has_place = command in (WAYPOINT, TAKE_OFF)
    frame = GLOBAL if has_place else MISSION
    item = {"type": "SimpleItem", "autoContinue": True, "command": command, "frame": frame, "params": parameters}
    if has_place:
        item |= {"AltitudeMode": ABOVE_SEA, "Altitude": parameters[-1], "AMSLAltAboveTerrain": None}
    return item


def _place(position: Position) -> list[float]:
    return [round(position.latitude, 9), round(position.longitude, 9)]


def _altitude(position: Position, sortie: Sortie) -> float:
    altitude = words.known(position.altitude)
    if altitude is None:
        raise UsageError(f"sortie {words.clean(sortie.name)} has a place without an altitude", "plan it on a map")
    return round(altitude, 2)


def _fence(area: Area) -> dict[str, Any]:
    corners = [[round(latitude, 9), round(longitude, 9)] for longitude, latitude in area.outline.tolist()]
    return {"version": 1, "inclusion": False, "polygon": corners}
