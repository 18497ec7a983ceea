"""The live page's source: a mission's state behind a lock, its images, and what a person may ask for."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import cv2

from esar_ros.app.view.encode import encode_png
from esar_ros.app.view.live_incident import incident_section
from esar_ros.app.view.live_sections import Cursor
from esar_ros.app.view.live_state import LiveState
from esar_ros.app.view.pages import Wanted, number
from esar_ros.mission import names
from esar_ros.mission.clues import ClueKind
from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.terrain.relief_image import photographed, relief_image

PAGE = Path(__file__).with_name("live")
RELIEF_PIXELS = 1200
TRACK_POINTS = 300  # of one of the map's tracks
MAX_TEXT = 200  # characters of a report
ORDERS = ("search", "hold", "return")
MAX_SPEED = 100.0  # times real time
PERSON = "person"

Position = tuple[float, float, float]


class Graph(Protocol):
    """The mission's graph, as the receiver of requests."""

    lockstep: bool

    def order(self, vehicle: str, what: str) -> None:
        """search, hold or return."""
        ...

    def report(self, vehicle: str, kind: str, victim: bool, text: str, position: Position) -> None:
        """Something a person saw; position in m, map frame."""
        ...

    def set_clock(self, **changes: bool | float) -> None:
        """paused, speed."""
        ...

    def step(self) -> None:
        """To the next frame."""
        ...


class LiveView:
    """A `nodes.viewer.View` on one side and a `pages.Source` on the other."""

    def __init__(
        self,
        vehicles: tuple[str, ...],
        graph: Graph | None,
        now: Callable[[], float] = time.monotonic,
        incident: Path | None = None,
    ) -> None:
        """graph: None where there is nothing to command, as in a bag. now: s, of a steady clock. incident: folder of
        one whose segments and finds are shown."""
        self._state = LiveState(vehicles)
        self._graph = graph
        self._incident = incident
        self._now = now
        self._lock = threading.Lock()
        self._wanted = Wanted(now)
        self._refused: set[tuple[str, str]] = set()  # vehicles and topics with a message that makes no sense
        self._layer_images: dict[str, tuple[bytes, int]] = {}
        self._place: PlaceMap | None = None
        self._relief: bytes | None = None
        self._ground_image: bytes | None = None  # in place of a relief
        self._place_lock = threading.Lock()
        self._pace = (now(), 0.0, 0.0)  # s wall, s mission, times real time
        about = {"lockstep": graph is not None and graph.lockstep, "commands": graph is not None}
        run = secrets.token_hex(8)  # by which an open page notices that another mission is served at its address
        kinds = [kind.value for kind in ClueKind]
        self._state.put("page", {**about, "run": run, "vehicles": list(vehicles), "kinds": kinds})

    # -- the node's side ------------------------------------------------------------------------

    def take(self, vehicle: str, topic: str, message: Any) -> None:
        """One message; of one that makes no sense the log says so once a topic."""
        with self._lock:
            try:
                self._state.take(vehicle, topic, message)
            except (ValueError, TypeError, KeyError, cv2.error) as error:
                if (vehicle, topic) not in self._refused:
                    self._refused.add((vehicle, topic))
                    self._state.log(vehicle, "message", f"{topic} cannot be shown", " ".join(str(error).split()))
            if topic == names.MISSION_STATE and self._graph is not None:
                self._measure_pace()

    def take_clock(self, paused: bool, speed: float) -> None:
        """Takes the state of the simulator's time: paused, and speed (times real time)."""
        with self._lock:
            self._state.put("clock", {"paused": paused, "speed": speed})

    def take_refusal(self, vehicle: str, why: str) -> None:
        """Takes the reason for which a person's request was refused, into the log."""
        with self._lock:
            self._state.log(vehicle, "order", "refused", why)

    def lay_ground(self, image: bytes, side: float) -> None:
        """Takes an image of the ground from above, north up, whose side (m) lies about the map's origin.

        It stands in for the relief of a map where a place is none of the package's maps.
        """
        with self._lock:
            self._ground_image = image
            self._state.put("place", {"size": side, "tracks": []})

    def wanted(self) -> frozenset[str]:
        """Vehicles shown on an open page."""
        return frozenset(self._wanted.names())

    def _measure_pace(self) -> None:
        """Updates the mission's pace: its seconds per second of wall time, over some seconds."""
        mission = self._state.get("mission")
        elapsed = (mission or {}).get("elapsed") or 0.0
        wall, before, _ = self._pace
        now = self._now()
        if now - wall >= 3.0:
            self._pace = now, elapsed, (elapsed - before) / (now - wall)
            self._state.put("pace", round(self._pace[2], 1))

    # -- the page's side ------------------------------------------------------------------------

    def state(self) -> Mapping[str, Any]:
        """Everything at once."""
        with self._lock:
            return self._state.changes({})

    def changes(self, cursor: Cursor, query: Mapping[str, str]) -> Mapping[str, Any]:
        """Returns what is new to a reader, and counts as looking. query: vehicle."""
        vehicle = query.get("vehicle", "")
        self._wanted.ask(vehicle if vehicle in self._state.vehicles else self._state.vehicles[0])
        with self._lock:
            return self._state.changes(cursor)

    def image(self, name: str) -> tuple[bytes, int] | None:
        """relief, layer/<topic>/<vehicle>, camera/<vehicle>/<camera> or crop/<vehicle>/<clue>."""
        kind, _, rest = name.partition("/")
        if kind == "relief":
            return self._relief_image()
        if kind == "layer":
            return self._layer_image(rest)
        with self._lock:
            if kind == "camera":
                return self._state.images.get(rest)
            vehicle, _, number = rest.partition("/")
            if kind == "crop" and vehicle in self._state.crops and number.isdecimal():
                crop = self._state.crops[vehicle].get(int(number))
                return None if crop is None else (crop.jpeg, crop.serial)
        return None

    def _layer_image(self, name: str) -> tuple[bytes, int] | None:
        with self._lock:
            layer = self._state.layers.get(name)
        if layer is None:
            return None
        known = self._layer_images.get(name)
        if known is None or known[1] != layer.serial:
            known = self._layer_images[name] = layer.image(), layer.serial
        return known

    def _relief_image(self) -> tuple[bytes, int] | None:
        if self._ground_image is not None:
            return self._ground_image, 0
        place = self._known_place()
        if place is None:
            return None
        with self._place_lock:
            if self._relief is None:
                # Without the tracks: the page draws them as lines, as thin when near as when far.
                ground = place.heights, place.land_cover, place.size, place.seed
                drawn = relief_image(*ground, [], RELIEF_PIXELS)
                self._relief = encode_png(photographed(drawn, place.imagery)[..., ::-1])
            return self._relief, 0

    def _known_place(self) -> PlaceMap | None:
        """The mission's map; None where it is not one of this package's, or not known yet."""
        with self._lock:
            map_id = self._state.map_id
        with self._place_lock:
            if self._place is None and map_id:
                try:
                    self._place = load_map(map_id)
                except UsageError:
                    return None
                with self._lock:
                    self._state.put("place", {"size": self._place.size, "tracks": _lines(self._place)})
                self._show_incident(self._place)
            return self._place

    def _show_incident(self, place: PlaceMap) -> None:
        """Puts an incident on the page, or why it cannot be into the log."""
        if self._incident is None:
            return
        try:
            section = incident_section(self._incident, place.origin)
        except UsageError as error:
            with self._lock:
                self._state.log("", "order", "incident not shown", str(error))
            return
        with self._lock:
            self._state.put("incident", section)

    # -- what a person asks for -----------------------------------------------------------------

    def command(self, words: Mapping[str, Any]) -> Mapping[str, Any]:
        """{do: pause|go|step|speed|search|hold|return|report, ...}. Raises ValueError on what makes no sense."""
        graph = self._graph
        if graph is None:
            raise ValueError("nothing flies here")
        do = words.get("do")
        if do in ("pause", "go", "step", "speed"):
            if not graph.lockstep:
                raise ValueError("time can be stopped in lockstep only")
            self._move_time(graph, str(do), words)
            return {"done": do}
        vehicle = words.get("vehicle")
        if vehicle not in self._state.vehicles:
            raise ValueError(f"no vehicle is named {vehicle!r}")
        if do in ORDERS:
            graph.order(vehicle, str(do))
        elif do == "report":
            graph.report(vehicle, *self._checked_report(words))
        else:
            raise ValueError(f"{do!r} is nothing to do")
        return {"done": do}

    def _move_time(self, graph: Graph, do: str, words: Mapping[str, Any]) -> None:
        if do == "step":
            graph.step()
        elif do == "speed":
            graph.set_clock(speed=number(words, "speed", 0.0, MAX_SPEED))
        else:
            graph.set_clock(paused=do == "pause")

    def _checked_report(self, words: Mapping[str, Any]) -> tuple[str, bool, str, Position]:
        kind, text = words.get("kind"), words.get("text", "")
        if kind != PERSON and kind not in {known.value for known in ClueKind}:
            raise ValueError(f"{kind!r} is neither {PERSON} nor a kind of clue")
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise ValueError(f"a report's text has at most {MAX_TEXT} characters")
        x, y = number(words, "x"), number(words, "y")
        z = number(words, "z") if words.get("z") is not None else self._ground(x, y)
        return str(kind), kind == PERSON, text.strip() or str(kind).replace("_", " "), (x, y, z)

    def _ground(self, x: float, y: float) -> float:
        place = self._known_place()
        if place is None:
            raise ValueError("the ground's height is not known here: give z")
        if not place.contains((x, y)):
            raise ValueError(f"{x:.0f}, {y:.0f} m lies off the map")
        return float(place.ground_height((x, y)))


def _lines(place: PlaceMap) -> list[list[list[float]]]:
    """Tracks of a map as lines of at most some hundred points, m."""
    return [
        [[round(float(x), 1), round(float(y), 1)] for x, y in line[:: max(1, len(line) // TRACK_POINTS)]]
        for line in place.tracks.values()
    ]
