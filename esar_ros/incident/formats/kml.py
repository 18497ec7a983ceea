"""KML 2.2 (OGC 07-147r2) for Google Earth, and whatever else reads it: folders of finds, places, tracks and areas.

Altitudes are above mean sea level, as KML has them. A description is read as HTML: what stands in it is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from esar_ros.incident.features import Area, Find, Floats, Place, Position, Search, Sortie, Track
from esar_ros.incident.formats import words
from esar_ros.scoring.result import write_atomically

NAMESPACE = "http://www.opengis.net/kml/2.2"


def write(search: Search, path: Path) -> None:
    """Writes a search's features. Raises UsageError."""
    root = ET.Element("kml", xmlns=NAMESPACE)
    document = _add(root, "Document")
    _add(document, "name", words.clean(search.name))
    colours = {words.PERSON_COLOUR, words.CLUE_COLOUR, words.FAINT_COLOUR, words.PLACE_COLOUR, words.TRACK_COLOUR}
    for colour in sorted(colours | {words.SORTIE_COLOUR} | set(words.AREA_COLOURS.values())):
        _add_style(document, colour)
    for title, inside in (
        ("Finds", [mark for find in search.finds if not words.is_faint(find) for mark in _find(find, path)]),
        (
            "Dismissed or improbable",
            [mark for find in search.finds if words.is_faint(find) for mark in _find(find, path)],
        ),
        ("Places", [_place(place) for place in search.places]),
        ("Tracks", [_track(track) for track in search.tracks if len(track.latitude) > 1]),
        ("Areas", [_area(area) for area in search.areas]),
        ("Sorties", [_sortie(sortie) for sortie in search.sorties]),
    ):
        if inside:
            folder = _add(document, "Folder")
            _add(folder, "name", title)
            folder.extend(inside)
    ET.indent(root)
    write_atomically(path, ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _add(parent: ET.Element, name: str, text: str = "") -> ET.Element:
    child = ET.SubElement(parent, name)
    child.text = text or None
    return child


def _style(colour: str) -> str:
    return f"colour_{colour[1:]}"


def _add_style(document: ET.Element, colour: str) -> None:
    """Adds a style by its colour, #rrggbb; KML writes aabbggrr."""
    reversed_ = colour[5:7] + colour[3:5] + colour[1:3]
    style = ET.SubElement(document, "Style", id=_style(colour))
    _add(_add(style, "IconStyle"), "color", f"ff{reversed_}")
    line = _add(style, "LineStyle")
    _add(line, "color", f"ff{reversed_}")
    _add(line, "width", "2")
    _add(_add(style, "PolyStyle"), "color", f"30{reversed_}")


def _mark(
    title: str,
    facts: Mapping[str, str],
    colour: str,
    times: tuple[str, ...] = (),
    picture: str = "",
    shown: bool = True,
) -> ET.Element:
    """Returns a placemark without its geometry; times: when, or from when to when."""
    mark = ET.Element("Placemark")
    _add(mark, "name", words.clean(title))
    if not shown:
        _add(mark, "visibility", "0")
    lines = [f"<b>{html.escape(name)}</b>: {html.escape(text)}" for name, text in facts.items()]
    image = [f'<img src="{html.escape(picture)}" width="480"/>'] if picture else []
    if lines or image:
        _add(mark, "description", "<br/>".join([*image, *lines]))
    if all(times) and len(times) == 1:
        _add(_add(mark, "TimeStamp"), "when", times[0])
    elif all(times) and times:
        span = _add(mark, "TimeSpan")
        _add(span, "begin", times[0])
        _add(span, "end", times[1])
    _add(mark, "styleUrl", f"#{_style(colour)}")
    return mark


def _with_point(mark: ET.Element, position: Position) -> ET.Element:
    point = _add(mark, "Point")
    altitude = words.known(position.altitude)
    _add(point, "altitudeMode", "clampToGround" if altitude is None else "absolute")
    _add(point, "coordinates", _tuple(position.longitude, position.latitude, altitude))
    return mark


def _tuple(longitude: float, latitude: float, altitude: float | None = None) -> str:
    place = f"{longitude:.8f},{latitude:.8f}"
    return place if altitude is None else f"{place},{altitude:.2f}"


def _line(mark: ET.Element, longitude: Floats, latitude: Floats, altitude: Floats) -> ET.Element:
    """Adds a line in the air; on the ground where an altitude lacks."""
    line, is_known = _add(mark, "LineString"), bool(np.isfinite(altitude).all())
    _add(line, "tessellate", "1")
    _add(line, "altitudeMode", "absolute" if is_known else "clampToGround")
    heights: Iterable[float | None] = altitude.tolist() if is_known else [None] * len(longitude)
    places = zip(longitude.tolist(), latitude.tolist(), heights, strict=True)
    _add(line, "coordinates", " ".join(_tuple(*place) for place in places))
    return mark


def _polygon(mark: ET.Element, outline: Floats, holes: Iterable[Floats] = ()) -> ET.Element:
    polygon = _add(mark, "Polygon")
    _add(polygon, "tessellate", "1")
    for name, ring in (("outerBoundaryIs", outline), *(("innerBoundaryIs", hole) for hole in holes)):
        closed = np.vstack([ring, ring[:1]]).tolist()
        _add(_add(_add(polygon, name), "LinearRing"), "coordinates", " ".join(_tuple(*place) for place in closed))
    return mark


def _find(find: Find, path: Path) -> list[ET.Element]:
    title, colour, ellipse = words.find_title(find), words.find_colour(find), find.ellipse()
    shown = not words.is_faint(find)
    picture = words.picture_link(find, path)
    mark = _mark(title, words.find_facts(find), colour, (words.utc(find.time),), picture, shown)
    marks = [_with_point(mark, find.position)]
    if ellipse is not None:
        outline = words.ellipse_outline(find.position, ellipse)
        marks.append(_polygon(_mark(f"{title}: error, 95 %", {}, colour, shown=shown), outline))
    return marks


def _place(place: Place) -> ET.Element:
    mark = _mark(place.name, words.place_facts(place), words.PLACE_COLOUR, (words.utc(place.time),))
    return _with_point(mark, place.position)


def _track(track: Track) -> ET.Element:
    span = (words.utc(track.time[0]), words.utc(track.time[-1]))
    mark = _mark(track.name, {"mover": track.mover.value}, words.TRACK_COLOUR, span)
    return _line(mark, track.longitude, track.latitude, track.altitude)


def _area(area: Area) -> ET.Element:
    return _polygon(_mark(area.name, words.area_facts(area), words.AREA_COLOURS[area.kind]), area.outline, area.holes)


def _sortie(sortie: Sortie) -> ET.Element:
    places = [sortie.home, *(waypoint.position for waypoint in sortie.waypoints), sortie.home]
    longitude, latitude, altitude = np.array(
        [(place.longitude, place.latitude, np.nan if place.altitude is None else place.altitude) for place in places]
    ).T
    mark = _mark(sortie.name, words.sortie_facts(sortie), words.SORTIE_COLOUR)
    return _line(mark, longitude, latitude, altitude)
