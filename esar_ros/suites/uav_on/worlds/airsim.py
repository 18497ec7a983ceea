"""A server of AirSim's interface as a world to fly step by step in: this project's simulator, or a binary on Unreal.

Connected, placed and shrunk by the calls of the public code. A step runs in slices of simulated time, between which the
world stands still, until the vehicle is there: the public code lets every step run for 150 frames.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.bridges.airsim.client import AirSimClient, AirSimError, Caller
from esar_ros.bridges.airsim.connect import connect
from esar_ros.bridges.airsim.frames import VehicleFrame
from esar_ros.bridges.airsim.types import (
    DEPTH_PERSPECTIVE,
    MAX_DEGREE_OF_FREEDOM,
    NO_DEPTH,
    SCENE,
    image_pixels,
    image_request,
    vector3r,
    yaw_mode,
)
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepPose
from esar_ros.planning.agent_call import Draw
from esar_ros.suites.uav_on.flight import Look
from esar_ros.suites.uav_on.settings import SuiteSettings
from esar_ros.suites.uav_on.worlds.images import Images, quantised

SCALE = 0.5  # of the vehicle, as the public code sets it
SLICE = 0.2  # s of simulated time between looks at the vehicle
STILL = 0.3  # m/s, slower than which a vehicle has arrived
TAKEOFF_TIME = 20.0  # s
OPENING = 300.0  # s that a scene server may take for a scene, as the public code waits
DRAWING = 300.0  # s that images may take; a renderer's first ones are slow
ENDLESS = 1e6  # s, of motions that a step's time ends


class AirSimWorld:
    """The first vehicle of a server (flight.StepWorld). Raises AirSimError where the server refuses."""

    def __init__(self, client: Caller, settings: SuiteSettings) -> None:
        self._client, self._settings = client, settings
        self._name = str(client.call("listVehicles")[0])
        self._vehicle = AirSimVehicle(client, self._name)
        self._frame = VehicleFrame(self._vehicle.odom_in_map.position)
        self._vehicle.arm(True)
        client.notify("takeoff", TAKEOFF_TIME, self._name)
        self._began, self._touched = 0, False

    @property
    def seconds(self) -> float:
        """Simulated so far, s."""
        return (self._vehicle.read().ns - self._began) * 1e-9

    @property
    def measured(self) -> Pose:
        """The vehicle's pose (FLU) in the map."""
        return self._vehicle.odom_in_map.compose(self._vehicle.read().pose)

    def is_free(self, pose: Pose) -> bool:
        """True: such a server does not tell."""
        return True

    def place(self, pose: Pose) -> None:
        """Put the vehicle into the air and let it settle; touching meanwhile does not count."""
        self._client.call("simPause", False)
        self._client.call("simSetVehiclePose", self._frame.pose_to_airsim(pose), True, self._name)
        self._client.call("simSetObjectScale", self._name, vector3r([SCALE] * 3))
        self._continue(self._settings.vehicle.settle)
        self.touched()
        self._began = self._vehicle.read().ns

    def fly(self, target: StepPose, seconds: float) -> None:
        """Fly to a pose until it is reached, something is touched or a time (s) is over, then hover."""
        vehicle = self._settings.vehicle
        under_way = ""
        for _ in range(max(1, round(seconds / SLICE))):
            reading = self._vehicle.read()
            pose = self._vehicle.odom_in_map.compose(reading.pose)
            far = float(np.linalg.norm(target.position - pose.position)) >= vehicle.reached
            off = abs(math.remainder(target.yaw - math.degrees(pose.yaw), 360.0)) >= vehicle.turned
            slow = float(np.linalg.norm(reading.velocity)) < STILL
            if slow and not (far or off):
                return
            motion = "move" if far else "turn"
            if (far or off) and (motion != under_way or slow):  # a motion that ended elsewhere is asked for again
                self._send(motion, target)
                under_way = motion
            self._continue(SLICE)
            if self._has_touched():
                break
        self._client.call("hover", self._name)

    def hover(self) -> None:
        """Stay for the time of a stop."""
        self._continue(self._settings.vehicle.settle)

    def touched(self) -> bool:
        """Returns whether anything was touched since the last question."""
        touched, self._touched = self._has_touched(), False
        return touched

    def images(self, told: Pose, look: Look, draw: Draw) -> Images:
        """Images where the vehicle is; told: its pose as the agent is told it."""
        settings = self._settings

        def colour() -> NDArray[np.uint8]:
            return np.ascontiguousarray(draw(lambda: self._draw(SCENE, settings.colour))[..., ::-1])

        def depth() -> NDArray[np.float32]:
            metres = draw(lambda: self._draw(DEPTH_PERSPECTIVE, settings.depth))
            metres = np.where(metres >= NO_DEPTH, np.float32(np.inf), metres)
            return quantised(metres, settings.depth_range) if look.depth == "code" else metres

        def labels() -> list[dict[str, int]]:
            raise PermissionError("a server of AirSim's interface tells no labels")

        return Images(settings, told, colour, depth, labels)

    def _send(self, motion: str, target: StepPose) -> None:
        """Begin a motion, without waiting: AirSim answers when it ends."""
        yaw = 90.0 - target.yaw
        if motion == "turn":
            self._client.notify("rotateToYaw", yaw, ENDLESS, self._settings.vehicle.turned / 2.0, self._name)
            return
        x, y, z = self._frame.position_to_airsim(target.position).tolist()
        heading = yaw_mode(yaw, is_rate=False)
        speed = self._settings.vehicle.speed
        self._client.notify(
            "moveToPosition", x, y, z, speed, ENDLESS, MAX_DEGREE_OF_FREEDOM, heading, -1.0, 1.0, self._name
        )

    def _continue(self, seconds: float) -> None:
        for _ in range(round(seconds / SLICE)):
            self._client.call("simContinueForTime", SLICE)

    def _has_touched(self) -> bool:
        told = self._client.call("simGetCollisionInfo", self._name)  # since it was last asked
        self._touched = self._touched or bool(told["has_collided"])
        return self._touched

    def _draw(self, kind: int, side: int) -> NDArray[Any]:
        """Images of all cameras, a row each. Raises UsageError where their size is not the suite's."""
        requests = [image_request(str(n), kind, kind != SCENE) for n in range(len(self._settings.cameras))]
        answers = self._client.call("simGetImages", requests, self._name, False)
        images = [image_pixels(answer) for answer in answers]
        for number, image in enumerate(images):
            if image.shape[:2] != (side, side):
                height, width = image.shape[:2]
                told = f"camera {number} gives images of type {kind} of {width}x{height} px"
                raise UsageError(told, f"the suite's are {side}x{side}: mend the server's settings.json")
        return np.stack(images)


class AirSimScenes:
    """An address at which scenes are opened: a scene server as the public code has one, or a simulator with one."""

    def __init__(self, address: str) -> None:
        """Raises UsageError unless the address is HOST:PORT."""
        self._host, self._port = parse_address(address)
        self._client: AirSimClient | None = None
        self._scene: str | None = None
        self._only: str | None = None  # the scene that stands for the one that a simulator has open

    def open(self, scene: str, settings: SuiteSettings) -> AirSimWorld:
        """A scene's world. Raises UsageError, AirSimError where it cannot be opened."""
        if self._only not in (None, scene):
            told = (
                f"{self._host}:{self._port} is a simulator with one scene open, flown as '{self._only}', not '{scene}'"
            )
            raise UsageError(told, "use a scene server, or tasks of one scene")
        if self._client is None or self._scene not in (None, scene):
            self.close()
            self._client = self._connect(scene)
            self._client.timeout = DRAWING
        return AirSimWorld(self._client, settings)

    def close(self) -> None:
        """Leave the scene that is open."""
        if self._client is not None:
            self._client.close()
        self._client = None

    def _connect(self, scene: str) -> AirSimClient:
        client = connect(self._host, self._port)
        self._scene = None
        with contextlib.suppress(AirSimError):  # a scene server does not know the call
            client.call("listVehicles")
            self._only = scene
            return client
        try:
            opened, answer = client.call("reopen_scenes", self._host, [[scene, 0]], timeout=OPENING)
            if not opened:
                raise UsageError(f"{self._host}:{self._port} cannot open scene '{scene}'", "see what it printed")
            host, (port,) = answer
        except (TypeError, ValueError):
            raise AirSimError(f"{self._host}:{self._port} is neither a scene server nor AirSim's") from None
        finally:
            client.close()
        self._scene = scene
        return connect(host.decode() if isinstance(host, bytes) else str(host), int(port))


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT. Raises UsageError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"--scenes '{address}'", "give HOST:PORT, e.g. 127.0.0.1:30000 of a scene server")
    return host, int(port)
