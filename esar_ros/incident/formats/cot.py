"""Cursor on Target (CoT 2.0) for ATAK, WinTAK and iTAK: a marker a find and place, a drawing an area and track.

`events` gives each event by itself, as it is sent to a TAK server or a multicast group; a file holds them within one
<events>. A point's `ce` and `le` are one standard deviation, as CoT has them. Its `hae` is a height above the
ellipsoid, which nothing here knows: it is CoT's own unknown value, and the altitude above mean sea level stands in the
remarks.
"""

from __future__ import annotations

import math
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

import numpy as np

from esar_ros.incident.features import Area, Find, Floats, Place, Position, Search, Sortie, Track
from esar_ros.incident.formats import words
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically

UNKNOWN = "9999999.0"
VALID = timedelta(days=1)  # after which a TAK client shows an event as stale
SPOT, DRAWING = "b-m-p-s-m", "u-d-f"
DRONE = "a-f-A-M-H-Q"  # a friend's rotary wing without a crew
UNHEARD = timedelta(seconds=15)  # after which a vehicle is shown as stale
PAUSE = 0.002  # s between two datagrams: a phone's buffer holds few
_MOST_POINTS = 400  # of a drawing: clients of TAK become slow with more


def write(search: Search, path: Path) -> None:
    """Writes a search's events. Raises UsageError."""
    root = ET.Element("events")
    root.extend(events(search))
    ET.indent(root)
    write_atomically(path, ET.tostring(root, encoding="utf-8", xml_declaration=True))


def send(search: Search, host: str, port: int) -> int:
    """Sends each event as a datagram of its own, as clients of TAK take them; returns how many.

    host: of a client, or a multicast group, which is not routed on. Raises UsageError where it cannot be sent there.
    """
    made = [ET.tostring(event, encoding="utf-8", xml_declaration=True) for event in events(search)]
    with closing(Link(host, port)) as link:
        for event in made:
            link.send(event)
            time.sleep(PAUSE)
    return len(made)


def address_of(text: str) -> tuple[str, int]:
    """Returns host and port of HOST:PORT. Raises UsageError."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isdecimal() and 0 < int(port) < 65536):
        raise UsageError(f"--cot {text}", "HOST:PORT, e.g. 239.2.3.1:6969")
    return host.strip("[]"), int(port)


class Link:
    """A way to clients of TAK, by UDP: whoever is there says nothing of having an event."""

    def __init__(self, host: str, port: int) -> None:
        """Raises UsageError where the host is not known."""
        self._told = f"{host}:{port}"
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
            self._socket = socket.socket(family, kind, protocol)
        except OSError as error:
            raise self._failed(error) from None
        self._address: Any = address

    def send(self, event: bytes) -> None:
        """Sends an event. Raises UsageError where nothing can be sent there."""
        try:
            self._socket.sendto(event, self._address)
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def _failed(self, error: OSError) -> UsageError:
        return UsageError(f"cannot send to {self._told}: {error.strerror or error}", "name a host and a port")


def vehicle_event(
    search: str,
    vehicle: str,
    position: Position,
    course: float,
    speed: float,
    battery: float | None,
    written: datetime | None = None,
) -> ET.Element:
    """Returns where a drone is now; sent again it moves.

    search: name of it; course: degrees clockwise from north, over ground, as speed (m/s) is; battery: 0 to 1.
    """
    facts = {} if position.altitude is None else {"altitude": f"{position.altitude:.0f} m above mean sea level"}
    if battery is not None:
        facts["battery"] = f"{battery:.0%}"
    event, _, detail = _event(DRONE, position.latitude, position.longitude, vehicle, facts, "#0057b7", vehicle)
    for name in ("archive", "color"):  # of what a person keeps, not of what moves
        detail.remove(next(iter(detail.iter(name))))
    ET.SubElement(detail, "track", course=f"{course:.1f}", speed=f"{speed:.1f}")
    return _stamped(event, f"{search}/vehicle/{vehicle}", written or datetime.now(timezone.utc), UNHEARD)


def events(search: Search, written: datetime | None = None) -> list[ET.Element]:
    """Returns an <event> for each feature; written: when, by default now.

    The same feature of the same search has the same uid, so that sent again it replaces itself.
    """
    now = written or datetime.now(timezone.utc)
    made = [_find(find) for find in search.finds if words.is_to_carry(find)]
    made += [_place(place) for place in search.places]
    made += [event for area in search.areas for event in _area(area)]
    made += [event for track in search.tracks if len(track.latitude) > 1 for event in _track(track)]
    made += [event for sortie in search.sorties for event in _sortie(sortie)]
    names: Counter[str] = Counter()
    for event in made:
        name = event.get("uid", "")
        names[name] += 1
        _stamped(event, f"{search.name}/{name}/{names[name]}", now, VALID)
    return made


def _stamped(event: ET.Element, name: str, now: datetime, valid: timedelta) -> ET.Element:
    """Returns an event with its uid, which is made of a name, and its times."""
    event.set("uid", str(uuid5(NAMESPACE_URL, name)))
    event.set("time", _w3c(now))
    event.set("start", _w3c(now))
    event.set("stale", _w3c(now + valid))
    return event


def _w3c(when: datetime) -> str:
    return when.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _event(
    kind: str, latitude: float, longitude: float, title: str, facts: Mapping[str, str], colour: str, name: str
) -> tuple[ET.Element, ET.Element, ET.Element]:
    """Returns an event, its point and its detail; name: what its uid is made of."""
    event = ET.Element("event", version="2.0", type=kind, uid=name, how="m-g")
    point = ET.SubElement(event, "point", lat=f"{latitude:.8f}", lon=f"{longitude:.8f}")
    for unknown in ("hae", "ce", "le"):
        point.set(unknown, UNKNOWN)
    detail = ET.SubElement(event, "detail")
    ET.SubElement(detail, "contact", callsign=words.clean(title))
    ET.SubElement(detail, "remarks").text = words.in_a_line(facts)
    ET.SubElement(detail, "archive")
    ET.SubElement(detail, "color", argb=_argb(colour))
    return event, point, detail


def _argb(colour: str, opacity: int = 255) -> str:
    """Returns a colour #rrggbb as CoT has it: a signed number of 32 bits."""
    number = (opacity << 24) | int(colour[1:], 16)
    return str(number - (1 << 32) if number >= 1 << 31 else number)


def _find(find: Find) -> ET.Element:
    title, colour = words.find_title(find), words.find_colour(find)
    place = find.position.latitude, find.position.longitude
    event, point, _ = _event(SPOT, *place, title, words.find_facts(find), colour, f"find/{find.id}")
    if find.covariance is not None:
        point.set("ce", f"{math.sqrt(max(float(np.linalg.eigvalsh(find.covariance)[-1]), 0.0)):.2f}")
    if find.altitude_sigma is not None:
        point.set("le", f"{find.altitude_sigma:.2f}")
    return event


def _place(place: Place) -> ET.Element:
    at, facts = (place.position.latitude, place.position.longitude), words.place_facts(place)
    name = f"place/{place.kind.value}/{place.name}"
    event, point, _ = _event(SPOT, *at, place.name, facts, words.PLACE_COLOUR, name)
    if place.sigma is not None:
        point.set("ce", f"{place.sigma:.2f}")
    return event


def _drawing(places: Floats, title: str, facts: Mapping[str, str], colour: str, is_closed: bool) -> ET.Element:
    """Returns a line or polygon; places: (N, 2) longitude and latitude, degrees."""
    kept = places[:: math.ceil(len(places) / _MOST_POINTS)]
    if not is_closed and not np.array_equal(kept[-1], places[-1]):
        kept = np.vstack([kept, places[-1:]])
    longitude, latitude = kept.mean(axis=0)
    event, _, detail = _event(DRAWING, float(latitude), float(longitude), title, facts, colour, f"drawing/{title}")
    for x, y in [*kept.tolist(), *(kept[:1].tolist() if is_closed else [])]:
        ET.SubElement(detail, "link", point=f"{y:.8f},{x:.8f}")
    ET.SubElement(detail, "strokeColor", value=_argb(colour))
    ET.SubElement(detail, "strokeWeight", value="3.0")
    if is_closed:
        ET.SubElement(detail, "fillColor", value=_argb(colour, 48))
    return event


def _area(area: Area) -> list[ET.Element]:
    """Returns a polygon, and each of its holes as one of its own: a drawing of CoT has none.

    In parts where it crosses the antimeridian.
    """
    facts, colour = words.area_facts(area), words.AREA_COLOURS[area.kind]
    if area.holes:
        facts["not part of it"] = f"{len(area.holes)} areas within, drawn beside it"
    made = [_drawing(part, area.name, facts, colour, is_closed=True) for part, _ in words.polygons_within(area.outline)]
    for hole in area.holes:
        about = f"not part of {area.name}", {"kind": "hole"}, words.FAINT_COLOUR
        made += [_drawing(part, *about, is_closed=True) for part, _ in words.polygons_within(hole)]
    return made


def _track(track: Track) -> list[ET.Element]:
    line = np.column_stack([track.longitude, track.latitude])
    facts = {"mover": track.mover.value}
    times: Iterable[str] = (words.utc(track.time[0]), words.utc(track.time[-1]))
    facts |= {name: when for name, when in zip(("from", "to"), times, strict=True) if when}
    return _lines(line, track.name, facts, words.TRACK_COLOUR)


def _sortie(sortie: Sortie) -> list[ET.Element]:
    places = [sortie.home, *(waypoint.position for waypoint in sortie.waypoints), sortie.home]
    line = np.array([(place.longitude, place.latitude) for place in places])
    return _lines(line, sortie.name, words.sortie_facts(sortie), words.SORTIE_COLOUR)


def _lines(places: Floats, title: str, facts: Mapping[str, str], colour: str) -> list[ET.Element]:
    """Returns a line, in parts where it crosses the antimeridian."""
    return [_drawing(part, title, facts, colour, is_closed=False) for part in words.lines_within(places)]
