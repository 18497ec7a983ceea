"""The vehicles' cameras as clients have named, moved and zoomed them, and what an image of the present shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.airsim_api.api import Context
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.render.process.protocol import Job, Placed, RenderRequest, RenderScene
from esar_ros.sim.settings import Capture
from esar_ros.sim.world.environment import Environment

# AirSim's own camera names, for scripts that use them: the first that the vehicle has.
ALIASES: dict[str, tuple[str, ...]] = {
    "": ("front_center", "0", "front"),
    "0": ("front_center", "front"),
    "1": ("front_right", "right"),
    "2": ("front_left", "left"),
    "3": ("bottom_center", "down"),
    "4": ("back_center", "front"),
    "front_center": ("0", "front"),
    "front_right": ("1", "right"),
    "front_left": ("2", "left"),
    "bottom_center": ("3", "down"),
    "back_center": ("4", "front"),
    "fpv": ("front_center", "0", "front"),
}
_OPTICAL = Pose(quaternion=quaternion_from_rotation(optical_rotation(0.0, 0.0)))


class Cameras:
    """Every vehicle's cameras; a new one is known as soon as its vehicle is."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._mounts: dict[tuple[str, str], Pose] = {}  # moved cameras
        self._fields_of_view: dict[tuple[str, str], float] = {}  # degrees, changed ones
        self._version = 0
        self._seen: tuple[int, int, bool] = (-1, -1, False)
        self._seen_environment: Environment | None = None

    def name(self, given: Any, drone: Drone) -> str:
        """The vehicle's own name of a camera. Raises ApiError."""
        cameras = self._context.vehicles[drone.name].cameras
        if given in cameras:
            return str(given)
        found = next((name for name in ALIASES.get(str(given), ()) if name in cameras), None)
        if found is None:
            raise ApiError(
                f"camera '{given!s:.40}' does not exist on vehicle {drone.name}; it has {', '.join(cameras)}"
            )
        return found

    def capture(self, drone: Drone, camera: str, kind: int) -> Capture:
        """Size and field of view of an image type."""
        capture = self._context.vehicles[drone.name].cameras[camera].capture(kind)
        fov = self._fields_of_view.get((drone.name, camera))
        return capture if fov is None else replace(capture, fov=fov)

    def body(self, drone: Drone, camera: str) -> Pose:
        """Map-frame pose of the camera's body (FLU) at present."""
        mount = self._mounts.get((drone.name, camera))
        return drone.body.pose.compose(mount or self._context.vehicles[drone.name].cameras[camera].mount)

    def mount(self, drone: Drone, camera: str, pose: Pose) -> None:
        """Fix a camera elsewhere on its vehicle (FLU)."""
        self._mounts[drone.name, camera] = pose

    def zoom(self, drone: Drone, camera: str, fov: float) -> None:
        """Set the horizontal field of view (degrees) of all image types."""
        self._fields_of_view[drone.name, camera] = fov

    def view(self, drone: Drone, camera: str, kind: ImageType, as_float: bool, compress: bool) -> RenderRequest:
        """Returns the view to be drawn for one image."""
        pose = self.body(drone, camera).compose(_OPTICAL)
        seen = tuple((o.body.pose, o.radius) for _, o in self._context.simulation.others(drone))
        motion, packed = tuple(map(float, drone.body.velocity)), compress and not as_float
        return RenderRequest(pose, self.capture(drone, camera, kind), kind, as_float, packed, seen, motion)

    def job(self, views: Iterable[RenderRequest], own_ids: bool = False) -> Job:
        """Images of the world as it is now, whenever they are drawn.

        own_ids: objects show their own ids in segmentation images, whatever clients have set.
        """
        return Job(self._scene(own_ids), self._context.simulation.clock.now, tuple(views))

    def _scene(self, own_ids: bool) -> RenderScene:
        world, ids = self._context.world, self._context.segmentation
        own_ids = own_ids and self._context.segmentation_version > 0
        seen = (world.revision, self._context.segmentation_version, own_ids)
        if seen != self._seen or world.environment is not self._seen_environment:
            self._seen, self._seen_environment = seen, world.environment
            self._version += 1
        placed = tuple(
            Placed(name, thing.asset.name, thing.pose, thing.scale, thing.id if own_ids else int(ids[thing.id]))
            for name, thing in world.objects.items()
        )
        return RenderScene(self._version, placed, world.environment, 0 if own_ids else int(ids[0]))
