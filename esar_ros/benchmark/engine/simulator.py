"""The embedded simulator in this process: AirSim's calls without a network, images without a rendering process."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import numpy as np

from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame, FrameSet
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.names import CAMERAS, DEFAULT_QUALITY, THERMAL
from esar_ros.mission.vehicle import Vehicle
from esar_ros.sim.airsim_api.api import Api, Context, Session
from esar_ros.sim.airsim_api.calls.motion import MotionApi
from esar_ros.sim.airsim_api.calls.sensors import SensorsApi
from esar_ros.sim.airsim_api.calls.session import SessionApi
from esar_ros.sim.airsim_api.calls.state import StateApi
from esar_ros.sim.airsim_api.calls.world import WorldApi
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.render.renderer import Frame, Renderer
from esar_ros.sim.server import make_context
from esar_ros.sim.settings import default_settings
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.scene import SceneObject, vehicle_object

_OPTICAL = Pose(quaternion=quaternion_from_rotation(optical_rotation(0.0, 0.0)))


class LocalSimulator:
    """One world with its vehicles; time stands still between calls that advance it."""

    def __init__(
        self, place: PlaceMap, seed: int, rig: Vehicle, vehicles: Sequence[str], quality: str = DEFAULT_QUALITY
    ) -> None:
        self._token = secrets.token_hex(8)
        self._rig, self._quality = rig, quality
        self.context: Context = make_context(place, seed, default_settings(rig, tuple(vehicles)), rig, self._token)
        self.context.simulation.clock.paused = True
        context = self.context
        self._api = Api(
            context,
            [
                SessionApi(context),
                MotionApi(context, Future),
                StateApi(context),
                SensorsApi(context),
                WorldApi(context),
            ],
        )
        self._renderer: Renderer | None = None
        self._thermal: Renderer | None = None

    def connect(self, truth: bool = False) -> LocalClient:
        """Returns a connection; truth: one that may ask for ground truth."""
        client = LocalClient(self._api)
        if truth:
            client.call("esarAuthorize", self._token)
        return client

    def close(self) -> None:
        """Gives the graphics context back."""
        for renderer in (self._renderer, self._thermal):
            if renderer is not None:
                renderer.close()

    def images(self, vehicle: str, segmentation: bool, colour: bool) -> FrameSet:
        """Returns the frames that AirSimCameras would fetch from this simulator now, posed in base_link.

        segmentation: object ids too. colour: whether colours are needed; without them, depth and ids have the same
        bits. Raises UsageError.
        """
        context = self.context
        drone, clock = context.drone(vehicle), context.simulation.clock
        cameras = context.vehicles[drone.name].cameras
        poses = [drone.body.pose.compose(cameras[name].mount).compose(_OPTICAL) for name in CAMERAS]
        if self._renderer is None:
            image = self._rig.image
            fov = float(np.radians(image.fov_deg))
            self._renderer = Renderer(context.world, image.width, image.height, fov, quality=self._quality)
        others = [vehicle_object(other.body.pose, other.radius) for _, other in context.simulation.others(drone)]
        draw = self._renderer
        motion = drone.body.velocity.copy()
        frame = draw.render(poses, clock.now, vehicles=others, motion=motion) if colour else draw.shapes(poses, others)
        frame.depth[frame.depth > self._rig.image.depth_max] = np.inf
        rgb = frame.rgb if isinstance(frame, Frame) else np.zeros((len(CAMERAS), 0, 0, 3), np.uint8)
        shown, model = self._shown_ids() if segmentation else None, self._rig.image.model
        frames = []
        for index, name in enumerate(CAMERAS):
            ids = None if shown is None else shown[frame.ids[index]]
            pose = self._rig.cameras[name].pose
            frames.append(CameraFrame(name, model, pose, frame.depth[index], rgb[index], clock.now, ids))
        if self._rig.thermal.mounted:
            frames.append(
                self._thermal_image(drone.body.pose.compose(cameras[THERMAL].mount).compose(_OPTICAL), others, shown)
            )
        return FrameSet(clock.now_ns, tuple(frames))

    def _thermal_image(self, pose: Pose, others: Sequence[SceneObject], shown: Any) -> CameraFrame:
        """Returns the thermal camera's frame from a pose of its optical frame; shown: see _shown_ids, or None."""
        camera, now = self._rig.thermal, self.context.simulation.clock.now
        if self._thermal is None:
            fov = float(np.radians(camera.fov_deg))
            self._thermal = Renderer(self.context.world, camera.width, camera.height, fov, quality=self._quality)
        seen, grey = self._thermal.thermal([pose], now, others)
        seen.depth[seen.depth > self._rig.image.depth_max] = np.inf
        ids = None if shown is None else shown[seen.ids[0]]
        return CameraFrame(
            THERMAL, camera.model, camera.pose, seen.depth[0], np.repeat(grey[0][..., None], 3, axis=2), now, ids
        )

    def _shown_ids(self) -> Any:
        """Returns the value in segmentation images of each object id, (256,)."""
        numbers, shown = self.context.segmentation, np.zeros(256, dtype=np.uint8)
        shown[0] = numbers[0]
        for thing in self.context.world.objects.values():
            shown[thing.id] = numbers[thing.id]
        return shown


class LocalClient:
    """A client with AirSimClient's calls, answered by a simulator in this process."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._session: Session = api.open()

    def call(self, method: str, *arguments: Any) -> Any:
        """Returns the result of a method that answers at once."""
        result = self._ask(method, arguments)
        if inspect.isawaitable(result) or isinstance(result, Future):
            _forget(result)
            raise AirSimError(f"{method} takes time: nobody waits for it in this process")
        return result

    def notify(self, method: str, *arguments: Any) -> None:
        """Calls without an answer: errors, too, stay unknown."""
        with suppress(AirSimError):
            _forget(self._ask(method, arguments))

    def close(self) -> None:
        """Does nothing: there is no connection to close."""

    def _ask(self, method: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return self._api.call(self._session, method, list(arguments))
        except ApiError as error:
            raise AirSimError(str(error)) from None


def _forget(result: Any) -> None:
    if inspect.iscoroutine(result):
        result.close()
