"""Waylines for DJI aircraft: WPML 1.0.2 in a KMZ, a file for each sortie, for DJI Pilot 2 and FlightHub 2.

Heights are relative to the start (relativeToStartPoint): WPML's other reference is the ellipsoid, which nothing here
knows. The form is that of DJI's Cloud API documentation, *DJI WPML*. Aircraft and payload are not named: a plan is for
any, and that documentation says of neither droneInfo nor payloadInfo that a file must hold it.
"""

from __future__ import annotations

import io
import math
import zipfile
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Position, Search, Sortie
from esar_ros.incident.formats import words
from esar_ros.incident.formats.kml import NAMESPACE
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import file_stem
from esar_ros.scoring.result import write_atomically

WPML = "http://www.dji.com/wpmz/1.0.2"
CLIMB_FIRST = 30.0  # m above the start, before it flies to the first waypoint
HEIGHTS = (-200.0, 1500.0)  # m above the start that WPML takes
SPEEDS = (1.0, 15.0)  # m/s, likewise
_SAFE = 20.0  # m above the highest waypoint on the way home
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of the files within, so that the same sortie gives the same bytes


def write(search: Search, path: Path) -> None:
    """Writes a search's sorties into a folder, each named after itself. Raises UsageError."""
    names: set[str] = set()
    for sortie in search.sorties:
        name = words.free_name(file_stem(sortie.name), names)
        write_atomically(path / f"{name}.kmz", kmz_bytes(sortie))


def kmz_bytes(sortie: Sortie) -> bytes:
    """Returns a sortie's wayline. Raises UsageError where it has no altitudes, or what WPML does not take."""
    heights = _heights(sortie)
    if not SPEEDS[0] <= sortie.speed <= SPEEDS[1]:
        raise UsageError(
            f"sortie {words.clean(sortie.name)}: {sortie.speed:g} m/s", f"WPML takes {SPEEDS[0]:g} to {SPEEDS[1]:g} m/s"
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, root in (
            ("template.kml", _document(sortie, heights, is_template=True)),
            ("waylines.wpml", _document(sortie, heights, is_template=False)),
        ):
            ET.indent(root)
            text = ET.tostring(root, encoding="utf-8", xml_declaration=True)
            archive.writestr(zipfile.ZipInfo(f"wpmz/{name}", _EPOCH), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _heights(sortie: Sortie) -> list[float]:
    """Returns the waypoints' heights above the start, m."""
    name = words.clean(sortie.name)
    home = words.known(sortie.home.altitude)
    altitudes = [words.known(waypoint.position.altitude) for waypoint in sortie.waypoints]
    if not altitudes:
        raise UsageError(f"sortie {name} has no waypoint", "plan it again")
    heights = [altitude - home for altitude in altitudes if altitude is not None and home is not None]
    if len(heights) < len(altitudes):
        raise UsageError(f"sortie {name} has a place without an altitude", "plan it on a map")
    for height in heights:
        if not HEIGHTS[0] <= height <= HEIGHTS[1]:
            raise UsageError(
                f"sortie {name}: {height:.0f} m above its start", f"WPML takes {HEIGHTS[0]:g} to {HEIGHTS[1]:g} m"
            )
    return heights


def _add(parent: ET.Element, name: str, value: object = None) -> ET.Element:
    child = ET.SubElement(parent, name)
    if value is not None:
        child.text = str(value)
    return child


def _document(sortie: Sortie, heights: list[float], is_template: bool) -> ET.Element:
    root = ET.Element("kml", {"xmlns": NAMESPACE, "xmlns:wpml": WPML})
    document = _add(root, "Document")
    _configure(document, heights)
    folder = _add(document, "Folder")
    if is_template:
        _add(folder, "wpml:templateType", "waypoint")
    _add(folder, "wpml:templateId", 0)
    if is_template:
        system = _add(folder, "wpml:waylineCoordinateSysParam")
        _add(system, "wpml:coordinateMode", "WGS84")
        _add(system, "wpml:heightMode", "relativeToStartPoint")
    else:
        length = _length([waypoint.position for waypoint in sortie.waypoints])
        _add(folder, "wpml:executeHeightMode", "relativeToStartPoint")
        _add(folder, "wpml:waylineId", 0)
        _add(folder, "wpml:distance", f"{length:.1f}")
        _add(folder, "wpml:duration", f"{length / sortie.speed + sum(w.hold for w in sortie.waypoints):.1f}")
    _add(folder, "wpml:autoFlightSpeed", f"{sortie.speed:g}")
    if is_template:
        _add(folder, "wpml:gimbalPitchMode", "manual")
        _add_heading(folder, "wpml:globalWaypointHeadingParam")
        _add(folder, "wpml:globalWaypointTurnMode", "toPointAndStopWithDiscontinuityCurvature")
        _add(folder, "wpml:globalUseStraightLine", 1)
        _add(folder, "wpml:globalHeight", f"{heights[0]:.2f}")
    for number, height in enumerate(heights):
        _add_waypoint(folder, sortie, number, height, is_template)
    return root


def _configure(document: ET.Element, heights: list[float]) -> None:
    mission = _add(document, "wpml:missionConfig")
    _add(mission, "wpml:flyToWaylineMode", "safely")
    _add(mission, "wpml:finishAction", "goHome")
    _add(mission, "wpml:exitOnRCLost", "executeLostAction")
    _add(mission, "wpml:executeRCLostAction", "goBack")
    _add(mission, "wpml:takeOffSecurityHeight", f"{CLIMB_FIRST:g}")
    _add(mission, "wpml:globalTransitionalSpeed", f"{SPEEDS[1]:g}")
    _add(mission, "wpml:globalRTHHeight", f"{max(max(heights) + _SAFE, CLIMB_FIRST):.0f}")


def _add_waypoint(folder: ET.Element, sortie: Sortie, number: int, height: float, is_template: bool) -> None:
    waypoint = sortie.waypoints[number]
    mark = _add(folder, "Placemark")
    place = f"{waypoint.position.longitude:.9f},{waypoint.position.latitude:.9f}"
    _add(_add(mark, "Point"), "coordinates", place)
    _add(mark, "wpml:index", number)
    if is_template:
        _add(mark, "wpml:ellipsoidHeight", f"{height:.2f}")  # of the height mode, whatever it is called
        _add(mark, "wpml:height", f"{height:.2f}")
        for name in ("Height", "Speed", "HeadingParam", "TurnParam"):
            _add(mark, f"wpml:useGlobal{name}", int(name != "Height"))
    else:
        _add(mark, "wpml:executeHeight", f"{height:.2f}")
        _add(mark, "wpml:waypointSpeed", f"{sortie.speed:g}")
        _add_heading(mark, "wpml:waypointHeadingParam")
        turn = _add(mark, "wpml:waypointTurnParam")
        _add(turn, "wpml:waypointTurnMode", "toPointAndStopWithDiscontinuityCurvature")
        _add(turn, "wpml:waypointTurnDampingDist", 0)
        _add(mark, "wpml:useStraightLine", 1)
    if waypoint.hold > 0.0:
        _add_hover(mark, number, waypoint.hold)


def _add_heading(parent: ET.Element, name: str) -> None:
    _add(_add(parent, name), "wpml:waypointHeadingMode", "followWayline")


def _add_hover(mark: ET.Element, number: int, seconds: float) -> None:
    group = _add(mark, "wpml:actionGroup")
    _add(group, "wpml:actionGroupId", number)
    _add(group, "wpml:actionGroupStartIndex", number)
    _add(group, "wpml:actionGroupEndIndex", number)
    _add(group, "wpml:actionGroupMode", "sequence")
    _add(_add(group, "wpml:actionTrigger"), "wpml:actionTriggerType", "reachPoint")
    action = _add(group, "wpml:action")
    _add(action, "wpml:actionId", 0)
    _add(action, "wpml:actionActuatorFunc", "hover")
    _add(_add(action, "wpml:actionActuatorFuncParam"), "wpml:hoverTime", f"{seconds:g}")


def _length(places: list[Position]) -> float:
    """Returns the length of a way over the ground, m."""
    steps = pairwise(places)
    enus = (Origin(a.latitude, a.longitude, 0.0).to_enu(b.latitude, b.longitude, 0.0) for a, b in steps)
    return sum(math.hypot(enu[0], enu[1]) for enu in enus)
