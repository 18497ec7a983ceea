"""A page's view of an AirSim server: cameras, a map with the track flown, and keys that fly.

It is one more AirSim client, on connections of its own: it works with the embedded simulator and with
AirSim on Unreal alike, and cannot hurt the others.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.app.view.encode import encode_jpeg, encode_png
from esar_ros.app.view.pages import Wanted, number
from esar_ros.bridges.airsim.client import AirSimClient, AirSimError
from esar_ros.bridges.airsim.types import SCENE, image_pixels, image_request, yaw_mode
from esar_ros.bridges.airsim.vehicle import AirSimVehicle, VehicleReading
from esar_ros.sim.terrain.maps import PlaceMap

PAGE = Path(__file__).with_name("simulator")
STATE_PERIOD = 0.1  # s
IMAGE_PERIOD = 0.1  # s, at most this many images a second are asked for
TRAIL = 600  # points kept of the way flown
TRAIL_STEP = 1.0  # m between them
MAP_PIXELS = 640
KEY_SECONDS = 0.4  # s a key's motion lasts unless it is told again
SPEED, CLIMB, TURN = 5.0, 2.0, 45.0  # m/s, m/s, deg/s of the keys
QUALITY = 80  # of JPEG


class SimulatorView:
    """Source of the simulator's page: polls while somebody looks, sends what keys ask for."""

    def __init__(self, connect: Callable[[], AirSimClient], place: PlaceMap | None, cameras: tuple[str, ...]) -> None:
        """connect: opens a connection. place: the map shown; None: none. Raises AirSimError."""
        self._cameras = cameras
        self._place = place
        self._wanted = Wanted()
        self._states, self._images, self._keys = connect(), connect(), connect()
        self._vehicles = {str(n): AirSimVehicle(self._states, str(n)) for n in self._states.call("listVehicles")}
        if not self._vehicles:
            raise AirSimError("the server has no vehicle")
        self._chosen = next(iter(self._vehicles))
        self._lock = threading.Lock()
        self._command_lock = threading.Lock()
        self._now: dict[str, Any] = {}
        self._jpeg: dict[str, tuple[bytes, int]] = {}
        self._stamps: deque[float] = deque(maxlen=20)  # s, wall, of images taken
        self._trails: dict[str, deque[tuple[float, float]]] = {n: deque(maxlen=TRAIL) for n in self._vehicles}
        self._map = None if place is None else encode_png(place.shaded_relief(MAP_PIXELS)[..., ::-1])
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=job, daemon=True) for job in self._jobs()]
        for thread in self._threads:
            thread.start()

    def _jobs(self) -> tuple[tuple[Callable[[], None], float], ...]:
        return (self._poll_state, STATE_PERIOD), (self._poll_images, IMAGE_PERIOD)

    def _run(self, job: Callable[[], None], period: float) -> None:
        while not self._stop.wait(period):
            try:
                job()
            except AirSimError as error:
                with self._lock:
                    self._now["error"] = str(error)

    # -- what the page asks for -----------------------------------------------------------------

    def state(self) -> Mapping[str, Any]:
        """Everything the page writes down."""
        self._wanted.ask("state")
        with self._lock:
            out = dict(self._now)
            stamps = list(self._stamps)
        out["vehicles"], out["vehicle"], out["cameras"] = list(self._vehicles), self._chosen, list(self._cameras)
        out["map_size"] = None if self._place is None else self._place.size
        out["map"] = "" if self._place is None else self._place.name
        age = time.monotonic() - stamps[-1] if stamps else math.inf
        rate = (len(stamps) - 1) / (stamps[-1] - stamps[0]) if len(stamps) > 1 and age < 2.0 else 0.0
        out["frame_rate"] = round(rate, 1)
        return out

    def image(self, name: str) -> tuple[bytes, int] | None:
        """The map, or a camera's newest image."""
        if name == "map":
            return None if self._map is None else (self._map, 0)
        if name not in self._cameras:
            return None
        self._wanted.ask(name)
        with self._lock:
            return self._jpeg.get(name)

    def command(self, words: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fly, or choose a vehicle: {do: take_off|land|hover|choose|move, ...}."""
        do = words.get("do")
        with self._command_lock:
            if do == "choose":
                if words.get("vehicle") not in self._vehicles:
                    raise ValueError(f"no vehicle is named {words.get('vehicle')!r}")
                self._chosen = str(words["vehicle"])
                return {"done": "choose"}
            try:
                self._fly(str(do), words)
            except AirSimError as error:
                return {"done": "", "error": str(error)}
        return {"done": do}

    def _fly(self, do: str, words: Mapping[str, Any]) -> None:
        name = self._chosen
        if do == "move":
            forward, left, up, turn = (
                number(words, key, -1.0, 1.0, default=0.0) for key in ("forward", "left", "up", "turn")
            )
            yaw = yaw_mode(-TURN * turn, is_rate=True)
            velocity = SPEED * forward, -SPEED * left, -CLIMB * up
            self._keys.notify("moveByVelocityBodyFrame", *velocity, KEY_SECONDS, 0, yaw, name)
        elif do in ("take_off", "land", "hover"):
            self._keys.call("enableApiControl", True, name)
            if do == "take_off":
                self._keys.call("armDisarm", True, name)
            method, *seconds = {"take_off": ("takeoff", 20.0), "land": ("land", 60.0), "hover": ("hover",)}[do]
            self._keys.notify(str(method), *seconds, name)
        else:
            raise ValueError(f"{do!r} is nothing to do")

    # -- what the threads do --------------------------------------------------------------------

    def _poll_state(self) -> None:
        if not self._wanted.names():
            return
        readings = {name: vehicle.read() for name, vehicle in self._vehicles.items()}
        paused = bool(self._states.call("simIsPaused"))
        with self._lock:
            self._now = {"paused": paused, "craft": {}}
            for name, reading in readings.items():
                self._now["craft"][name] = self._describe(name, reading)

    def _describe(self, name: str, reading: VehicleReading) -> dict[str, Any]:
        at = self._vehicles[name].odom_in_map.apply(reading.pose.position)
        trail = self._trails[name]
        if not trail or math.dist(trail[-1], at[:2]) >= TRAIL_STEP:
            trail.append((round(float(at[0]), 1), round(float(at[1]), 1)))
        ground = None
        if self._place is not None and self._place.contains(at[:2]):
            ground = round(float(at[2] - self._place.ground_height(at[:2])), 1)
        return {
            "time": round(reading.ns * 1e-9, 2),
            "position": [round(float(v), 1) for v in at],
            "height": ground,
            "speed": round(float(np.linalg.norm(reading.velocity)), 1),
            "heading": round(math.degrees(reading.pose.yaw), 1),
            "landed": reading.landed,
            "collided": reading.collided,
            "trail": list(trail),
        }

    def _poll_images(self) -> None:
        wanted = [camera for camera in self._cameras if camera in self._wanted.names()]
        if not wanted:
            return
        requests = [image_request(camera, SCENE) for camera in wanted]
        answers = self._images.call("simGetImages", requests, self._chosen, False)
        jpeg = {str(one["camera_name"]): encode_jpeg(image_pixels(one), QUALITY) for one in answers}
        with self._lock:
            self._stamps.append(time.monotonic())
            for camera, data in jpeg.items():
                self._jpeg[camera] = data, self._jpeg.get(camera, (b"", 0))[1] + 1

    def close(self) -> None:
        """Stop polling and hang up."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=2.0)
        for client in (self._states, self._images, self._keys):
            client.close()
