"""Words of all formats on a feature: its title, its facts in words, its colour and the outline of its error.

And its drawing between the longitudes -180 and 180, since few readers know what lies beyond them.

Texts of others are made harmless here: control characters, which XML forbids, and breaks of lines become blanks. Of the
file that tells something its name alone is told, never the folders in which it lay.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
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
from esar_ros.mission.errors import UsageError, install
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


def lines_within(places: Floats) -> list[Floats]:
    """Returns a line, (N, 2) longitude and latitude in degrees, in the parts into which the antimeridian cuts it.

    Further columns are kept, nan where it is cut.
    """
    if _is_within(places):
        return [places]
    unwrapped = places.copy()
    unwrapped[:, 0] = np.unwrap(places[:, 0], period=360.0)
    turns = np.ceil((unwrapped[:, 0] - 180.0) / 360.0)  # about the Earth
    parts: list[list[Floats]] = [[unwrapped[0] - _turned(turns[0], places.shape[1])]]
    for before, place, turn, after in zip(unwrapped, unwrapped[1:], turns, turns[1:], strict=False):
        cut = np.full_like(place, np.nan)
        if turn != after:  # legs are shorter than half the Earth's girth: once
            edge = 180.0 * (turn + after)
            cut[:2] = edge, before[1] + (place[1] - before[1]) * (edge - before[0]) / (place[0] - before[0])
            if before[0] != edge:
                parts[-1].append(cut - _turned(turn, len(cut)))
            parts.append([cut - _turned(after, len(cut))] if place[0] != edge else [])
        parts[-1].append(place - _turned(after, len(place)))
    return [np.array(part) for part in parts if len({tuple(place[:2]) for place in part}) > 1]


def polygons_within(outline: Floats, holes: Sequence[Floats] = ()) -> list[tuple[Floats, tuple[Floats, ...]]]:
    """As lines_within, of a polygon: outline and holes of each part. Raises UsageError where it cannot be cut."""
    if all(_is_within(np.vstack([ring, ring[:1]])) for ring in (outline, *holes)):
        return [(outline, tuple(holes))]
    try:
        import shapely
    except ImportError:
        raise UsageError("a polygon across the antimeridian needs shapely", install("geo")) from None
    rings = [np.column_stack([np.unwrap(ring[:, 0], period=360.0), ring[:, 1]]) for ring in (outline, *holes)]
    for ring in rings[1:]:
        ring[:, 0] -= 360.0 * np.round((ring[:, 0].mean() - rings[0][:, 0].mean()) / 360.0)
    whole = shapely.make_valid(shapely.Polygon(rings[0], rings[1:]))
    west, _, east, _ = whole.bounds
    parts = []
    for turn in range(math.ceil((west - 180.0) / 360.0), math.ceil((east - 180.0) / 360.0) + 1):
        edges = shapely.box(360.0 * turn - 180.0, -90.0, 360.0 * turn + 180.0, 90.0)
        for part in shapely.get_parts(shapely.intersection(whole, edges)):
            if part.geom_type == "Polygon" and not part.is_empty:
                made = [np.array(ring.coords)[:-1, :2] - _turned(turn, 2) for ring in (part.exterior, *part.interiors)]
                parts.append((made[0], tuple(made[1:])))
    return parts


def _is_within(places: Floats) -> bool:
    """Returns whether a line lies between -180 and 180, and nowhere takes the longer way about the Earth."""
    x = places[:, 0]
    return bool((np.abs(x) <= 180.0).all() and (np.abs(np.diff(x)) <= 180.0).all())


def _turned(turn: float, columns: int) -> Floats:
    """Returns what so many times about the Earth add to a place's columns."""
    return np.array([360.0 * turn, *[0.0] * (columns - 1)])


def _degrees(position: Position) -> tuple[float, float]:
    return position.latitude, position.longitude


def _altitude(position: Position) -> dict[str, str]:
    altitude = known(position.altitude)
    return {} if altitude is None else {"altitude": f"{altitude:.1f} m above mean sea level"}


def _told(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: clean(text) for name, text in texts.items() if text}
