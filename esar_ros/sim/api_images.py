"""Cameras: pictures, poses and fields of view."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.api import Context, Session, method
from esar_ros.sim.api_values import ApiError, mount_from, number, pose_dict, text
from esar_ros.sim.drone import Drone
from esar_ros.sim.environment import Environment
from esar_ros.sim.images import SERVED, ImageType, segmentation_palette
from esar_ros.sim.msgpack_wire import Encoded, bin_header, pack_list, pack_map
from esar_ros.sim.render_client import RenderClient
from esar_ros.sim.render_protocol import Job, Placed, Scene, View
from esar_ros.sim.settings import CameraSettings, Capture

# AirSim's own camera names, for scripts that use them.
ALIASES = {
    "0": "front",
    "1": "right",
    "2": "left",
    "3": "down",
    "4": "front",
    "front_center": "front",
    "front_right": "right",
    "front_left": "left",
    "bottom_center": "down",
    "fpv": "front",
}
MAX_REQUESTS = 64
_OPTICAL = Pose(quaternion=quaternion_from_rotation(optical_rotation(0.0, 0.0)))
_NO_FLOATS, _NO_BYTES = [0.0], b"\0"  # rpclib cannot send empty ones


class ImagesApi:
    """Pictures of one call show one instant; the simulation goes on while they are drawn."""

    def __init__(self, context: Context, renderer: RenderClient) -> None:
        self._context = context
        self._renderer = renderer
        self._mounts: dict[tuple[str, str], Pose] = {}  # moved cameras
        self._fields_of_view: dict[tuple[str, str], float] = {}  # degrees, changed ones
        self._version = 0
        self._seen = (-1, -1)
        self._seen_environment: Environment | None = None

    @method("simGetImages", heavy=True)
    def images(self, session: Session, requests: Any, vehicle: Any = "", external: Any = False) -> Any:
        """One answer a request, in order."""
        if not isinstance(requests, list) or len(requests) > MAX_REQUESTS:
            raise ApiError(f"requests must be a list of at most {MAX_REQUESTS}")
        return self._images(*self._plan([self._request(session, r) for r in requests], self._context.drone(vehicle)))

    @method("simGetImage", heavy=True)
    def image(self, session: Session, camera: Any, kind: Any, vehicle: Any = "", external: Any = False) -> Any:
        """PNG bytes."""
        request = {"camera_name": camera, "image_type": kind, "pixels_as_float": False, "compress": True}
        return self._image(self._plan([self._request(session, request)], self._context.drone(vehicle))[1])

    @method("esarGetSegmentationPalette")
    def palette(self, session: Session) -> list[list[int]]:
        """RGB of each segmentation id 0..255."""
        return [[int(v) for v in row] for row in segmentation_palette()]

    @method("simGetCameraInfo")
    def info(self, session: Session, camera: Any, vehicle: Any = "", external: Any = False) -> dict[str, Any]:
        """Pose of the camera's body (FRD), horizontal field of view, and AirSim's projection matrix."""
        drone = self._context.drone(vehicle)
        name = self._camera(camera, drone.name)
        capture = self._capture(drone.name, name, ImageType.SCENE)
        half = math.tan(math.radians(capture.fov) / 2.0)
        aspect = capture.width / capture.height
        near = 0.1
        return {
            "pose": pose_dict(drone.body.pose.compose(self._mount(drone.name, name)), drone.offset),
            "fov": capture.fov,
            "proj_mat": {
                "matrix": [
                    [1.0 / half, 0.0, 0.0, 0.0],
                    [0.0, aspect / half, 0.0, 0.0],
                    [0.0, 0.0, 0.0, near],
                    [0.0, 0.0, 1.0, 0.0],
                ]
            },
        }

    @method("simSetCameraPose")
    def set_pose(self, session: Session, camera: Any, pose: Any, vehicle: Any = "", external: Any = False) -> None:
        """Mount the camera elsewhere on its vehicle (FRD)."""
        drone = self._context.drone(vehicle)
        self._mounts[drone.name, self._camera(camera, drone.name)] = mount_from(pose, "pose")

    @method("simSetCameraFov")
    def set_fov(self, session: Session, camera: Any, fov: Any, vehicle: Any = "", external: Any = False) -> None:
        """Horizontal, degrees."""
        drone = self._context.drone(vehicle)
        degrees = number(fov, "fov_degrees")
        if not 5.0 <= degrees <= 170.0:
            raise ApiError("fov_degrees must be in [5, 170]")
        self._fields_of_view[drone.name, self._camera(camera, drone.name)] = degrees

    def _request(self, session: Session, request: Any) -> dict[str, Any]:
        if not isinstance(request, dict):
            raise ApiError("a request must be an object with camera_name and image_type")
        kind = request.get("image_type", 0)
        if isinstance(kind, bool) or not isinstance(kind, int) or kind not in ImageType.__members__.values():
            raise ApiError(f"image_type must be in [0, {max(ImageType)}], is {kind!r:.20}")
        if ImageType(kind) not in SERVED:
            raise ApiError(f"image type {ImageType(kind).name} is not drawn by this simulator")
        if kind == ImageType.SEGMENTATION and not self._context.may_see_truth(session):
            raise ApiError("Segmentation tells ground truth: this connection must call esarAuthorize(token) first")
        return {
            "camera_name": text(request.get("camera_name", "0"), "camera_name"),
            "image_type": ImageType(kind),
            "pixels_as_float": bool(request.get("pixels_as_float", False)),
            "compress": bool(request.get("compress", True)),
        }

    async def _image(self, job: Job) -> bytes:
        return (await self._renderer.images(job))[0]

    async def _images(self, answers: list[dict[str, Any]], job: Job) -> Encoded:
        blobs = await self._renderer.images(job)
        return pack_list(_with_data(answer, blob) for answer, blob in zip(answers, blobs, strict=True))

    def _plan(self, requests: list[dict[str, Any]], drone: Drone) -> tuple[list[dict[str, Any]], Job]:
        """Answers without their data, and what is to be drawn: the world as it is now, whenever it is drawn."""
        clock = self._context.simulation.clock
        answers, views = [], []
        for request in requests:
            name, kind = self._camera(request["camera_name"], drone.name), request["image_type"]
            capture = self._capture(drone.name, name, kind)
            body = drone.body.pose.compose(self._mount(drone.name, name))
            as_float = request["pixels_as_float"]
            views.append(View(body.compose(_OPTICAL), capture, kind, as_float, request["compress"] and not as_float))
            pose = pose_dict(body, drone.offset)
            answers.append(
                request
                | {
                    "camera_position": pose["position"],
                    "camera_orientation": pose["orientation"],
                    "time_stamp": clock.now_ns,
                    "message": "",
                    "width": capture.width,
                    "height": capture.height,
                    "image_type": int(kind),
                }
            )
        return answers, Job(self._scene(), clock.now, tuple(views))

    def _scene(self) -> Scene:
        world = self._context.world
        counts = (world.revision, self._context.segmentation_version)
        if counts != self._seen or world.environment is not self._seen_environment:
            self._seen, self._seen_environment = counts, world.environment
            self._version += 1
        ids = self._context.segmentation
        placed = tuple(
            Placed(name, thing.asset.name, thing.pose, thing.scale, int(ids[thing.id]))
            for name, thing in world.objects.items()
        )
        return Scene(self._version, placed, world.environment, int(ids[0]))

    def _camera(self, name: Any, vehicle: str) -> str:
        cameras = self._context.vehicles[vehicle].cameras
        found = name if name in cameras else ALIASES.get(str(name), "")
        if found not in cameras:
            raise ApiError(f"camera '{name!s:.40}' does not exist on vehicle {vehicle}; it has {', '.join(cameras)}")
        return str(found)

    def _settings(self, vehicle: str, camera: str) -> CameraSettings:
        return self._context.vehicles[vehicle].cameras[camera]

    def _mount(self, vehicle: str, camera: str) -> Pose:
        return self._mounts.get((vehicle, camera)) or self._settings(vehicle, camera).mount

    def _capture(self, vehicle: str, camera: str, kind: int) -> Capture:
        capture = self._settings(vehicle, camera).capture(kind)
        fov = self._fields_of_view.get((vehicle, camera))
        return capture if fov is None else replace(capture, fov=fov)


def _with_data(answer: dict[str, Any], blob: bytes) -> bytes:
    data: dict[str, Any]
    if answer["pixels_as_float"]:
        data = {"image_data_uint8": _NO_BYTES, "image_data_float": Encoded(blob)}
    else:
        data = {"image_data_uint8": Encoded(bin_header(len(blob)) + blob), "image_data_float": _NO_FLOATS}
    return pack_map(data | answer)
