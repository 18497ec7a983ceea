"""A simulator's interface without a network or a picture, called as a connection would."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import msgpack
import numpy as np

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.airsim_api.api import Context, Session
from esar_ros.sim.airsim_api.calls.groups import build_api
from esar_ros.sim.msgpack_wire import Encoded, pack_map
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.render.process.images import encode_image
from esar_ros.sim.render.process.protocol import Job
from esar_ros.sim.server import place_vehicles
from esar_ros.sim.settings import default_settings
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.world import World

VEHICLE = load_vehicle().with_image_size(32, 24)
YAW = {"is_rate": True, "yaw_or_rate": 0.0}
TOKEN = "sesame"


class Painter:
    """Answers a grey value a request and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[Job] = []

    async def images(self, job: Job) -> list[bytes]:
        self.asked.append(job)
        depth = np.full((24, 32), 7.0, dtype=np.float32)
        rgb, ids = np.full((24, 32, 3), 9, dtype=np.uint8), np.zeros((24, 32), dtype=np.uint8)
        model = CameraModel.from_horizontal_fov(32, 24, math.radians(90.0))
        return [encode_image(v.kind, v.as_float, v.compress, rgb, depth, ids, model) for v in job.views]


def received(answer: Any) -> Any:
    """An answer as a client has it."""
    packed = Encoded(pack_map(answer)) if isinstance(answer, dict) else answer
    return msgpack.unpackb(packed, strict_map_key=False) if isinstance(packed, Encoded) else packed


class Bench:
    """A simulator without server: two vehicles on flat ground 2 m above the origin."""

    def __init__(self, token: str | None = None) -> None:
        place = PlaceMap(
            id="flat",
            name="flat",
            size=200.0,
            origin=Origin(33.9, 107.6, 2800.0),
            utc_offset=8.0,
            seed=1,
            heights=np.full((65, 65), 2.0, dtype=np.float32),
            land_cover=np.zeros((65, 65), dtype=np.uint8),
            water_level=None,
            flora={},
            digest="flat",
        )
        world = World(place, 0)
        filled, drones = place_vehicles(default_settings(VEHICLE, ("uav1", "uav2")), world, VEHICLE)
        self.simulation = Simulation(world, drones)
        self.simulation.clock.paused = True
        self.context = Context(self.simulation, filled, 0, token)
        self.painter = Painter()
        self.api, self.recorder = build_api(self.context, self.painter)  # type: ignore[arg-type]
        self.session = self.api.open()

    def __call__(self, method: str, *arguments: Any, session: Session | None = None) -> Any:
        return received(self.api.call(session or self.session, method, list(arguments)))

    async def wait(self, method: str, *arguments: Any) -> Any:
        return received(await self(method, *arguments))

    async def motion(self, method: str, *arguments: Any, limit: float = 60.0) -> bool:
        """Start a motion and let simulation time pass until it is answered."""
        future = self.begin(method, *arguments)
        for _ in range(round(limit / 0.05)):
            self("simContinueForTime", 0.05)
            await asyncio.sleep(0)
            if future.done():
                break
        return bool(await asyncio.wait_for(future, 0.1))

    def begin(self, method: str, *arguments: Any) -> asyncio.Future[Any]:
        """Start a call that is answered later."""
        return asyncio.ensure_future(self(method, *arguments))

    def ready(self, vehicle: str = "") -> None:
        self("enableApiControl", True, vehicle)
        assert self("armDisarm", True, vehicle)

    def position(self, vehicle: str = "") -> np.ndarray:
        at = self("simGetVehiclePose", vehicle)["position"]
        return np.array([at["x_val"], at["y_val"], at["z_val"]])
