"""Words of all formats on a feature: its title, its facts in words, its colour and the outline of its error.

Texts of others are made harmless here: control characters, which XML forbids, and breaks of lines become blanks. Of the
file that tells something its name alone is told, never the folders in which it lay.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path, PureWindowsPath

import numpy as np

from esar_ros.geometry.coordinates import tell_position
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import (
    CHI_SQUARE_95,
    Area,
    AreaKind,
    Ellipse,
    Find,
    FindState,
    Floats,
    Place,
    Position,
    Sortie,
)
from esar_ros.mission.clues import PERSON
from esar_ros.mission.system.incident_files import PACKAGE

PERSON_COLOUR, CLUE_COLOUR, FAINT_COLOUR, PLACE_COLOUR = "#d7191c", "#f28e2b", "#808080", "#1f5fbf"
TRACK_COLOUR, SORTIE_COLOUR = "#1f5fbf", "#7b3fa0"
AREA_COLOURS: Mapping[AreaKind, str] = {
    AreaKind.SEARCH: "#333333",
    AreaKind.SEGMENT: "#555555",
    AreaKind.SEARCHED: "#2ca02c",
    AreaKind.FOOTPRINT: "#2ca02c",
    AreaKind.NO_FLY: "#d7191c",
    AreaKind.DANGER: "#f28e2b",
}
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
_CORNERS = 48  # of an ellipse drawn as a polygon


def clean(text: str) -> str:
    """Returns a text on one line, without characters that XML 1.0 forbids."""
    return " ".join(_FORBIDDEN.sub(" ", text).split())


def free_name(name: str, taken: set[str]) -> str:
    """Returns a file's name that none of the taken has, and takes it; case does not tell names apart."""
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free.casefold())
    return free


def utc(time: float | None) -> str:
    """Returns a time (s since 1970, UTC) after ISO 8601, e.g. 2026-11-28T06:15:00Z; empty where it is not known."""
    if time is None or not math.isfinite(time):
        return ""
    return datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


def source_name(source: str) -> str:
    """Returns the last part of a path, of this system or of Windows."""
    return clean(PureWindowsPath(source).name)


def known(altitude: float | None) -> float | None:
    """Returns an altitude; None where it is not told."""
    return altitude if altitude is not None and math.isfinite(altitude) else None


def error_of(find: Find) -> float | None:
    """Returns the radius (m) of a circle that holds the ellipse of 95 %; None where no error is known."""
    ellipse = find.ellipse()
    return None if ellipse is None else ellipse.major


def find_title(find: Find) -> str:
    """Returns what a find is called on a map, e.g. "tent 87 %"."""
    words = clean(find.kind.replace("_", " ")) or "find"
    if find.probability is not None:
        words += f" {find.probability:.0%}".replace("%", " %")
    return words if find.state is FindState.NEW else f"{words} ({find.state.value})"


def is_faint(find: Find) -> bool:
    """Returns whether a find was dismissed, or is new and less probable than not: it is drawn, but not put forward."""
    unlikely = find.probability is not None and find.probability < 0.5
    return find.state is FindState.DISMISSED or (find.state is FindState.NEW and unlikely)


def is_to_carry(find: Find) -> bool:
    """Returns whether a find belongs on a receiver in somebody's hand: it is not faint, or may be a person."""
    return not is_faint(find) or (find.kind == PERSON and find.state is FindState.NEW)


def find_colour(find: Find) -> str:
    """Returns the colour of a find, #rrggbb."""
    if is_faint(find):
        return FAINT_COLOUR
    return PERSON_COLOUR if find.kind == PERSON else CLUE_COLOUR


def find_facts(find: Find) -> dict[str, str]:
    """Returns what is known of a find, by names, in the order in which it is read."""
    ellipse = find.ellipse()
    facts = {"position (WGS 84)": tell_position(*_degrees(find.position), error_of(find)), **_altitude(find.position)}
    if ellipse is not None:
        facts["error, 95 %"] = f"{ellipse.major:.1f} m by {ellipse.minor:.1f} m, bearing {ellipse.bearing:.0f}°"
    else:
        facts["error"] = "not known"
    if find.probability is not None:
        facts["probability"] = f"{find.probability:.2f}"
    return facts | _told({"time": utc(find.time), "note": find.note, "source": source_name(find.source)})


def place_facts(place: Place) -> dict[str, str]:
    """As find_facts, of a named point."""
    error = None if place.sigma is None else place.sigma * math.sqrt(CHI_SQUARE_95)
    facts = {"position (WGS 84)": tell_position(*_degrees(place.position), error), **_altitude(place.position)}
    return facts | _told({"time": utc(place.time), "note": place.note})


def area_facts(area: Area) -> dict[str, str]:
    """As find_facts, of a polygon."""
    numbers = {"POA": area.poa, "POD": area.pod, "hours": area.hours}
    facts = {name: f"{value:.3g}" for name, value in numbers.items() if value is not None}
    return {"kind": area.kind.value, **facts, **_told({"note": area.note})}


def sortie_facts(sortie: Sortie) -> dict[str, str]:
    """As find_facts, of a flight that is planned."""
    facts = {"waypoints": str(len(sortie.waypoints)), "minutes": f"{sortie.minutes:.1f}", "m/s": f"{sortie.speed:g}"}
    numbers = {"POS": sortie.pos, "hectares": sortie.hectares}
    return facts | {name: f"{value:.3g}" for name, value in numbers.items() if value is not None}


def in_a_line(facts: Mapping[str, str]) -> str:
    """Returns facts as one line of text."""
    return "; ".join(f"{name}: {value}" for name, value in facts.items())


def picture_link(find: Find, path: Path) -> str:
    """Returns the way to a find's picture from a file that lies beside or above it, or in a folder of an incident that
    holds it; empty where it is elsewhere."""
    folder = path.absolute().parent
    above = folder.parent if (folder.parent / PACKAGE).is_file() else folder
    if find.picture is None or not find.picture.absolute().is_relative_to(above):
        return ""
    return Path(os.path.relpath(find.picture.absolute(), folder)).as_posix()


def ellipse_outline(position: Position, ellipse: Ellipse) -> Floats:
    """Returns an ellipse's outline, (N, 2) longitude and latitude in degrees, counter-clockwise and not closed."""
    origin = Origin(position.latitude, position.longitude, 0.0)
    turned = np.linspace(0.0, 2.0 * math.pi, _CORNERS, endpoint=False)
    along, across = ellipse.major * np.cos(turned), -ellipse.minor * np.sin(turned)
    bearing = math.radians(ellipse.bearing)
    east = along * math.sin(bearing) + across * math.cos(bearing)
    north = along * math.cos(bearing) - across * math.sin(bearing)
    corners = (origin.to_geodetic((x, y, 0.0)) for x, y in zip(east, north, strict=True))
    return np.array([(longitude, latitude) for latitude, longitude, _ in corners])


def _degrees(position: Position) -> tuple[float, float]:
    return position.latitude, position.longitude


def _altitude(position: Position) -> dict[str, str]:
    altitude = known(position.altitude)
    return {} if altitude is None else {"altitude": f"{altitude:.1f} m above mean sea level"}


def _told(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: clean(text) for name, text in texts.items() if text}
