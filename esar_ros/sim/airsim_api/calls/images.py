"""Cameras: images, poses and fields of view."""

from __future__ import annotations

import math
from typing import Any

from esar_ros.mission.names import THERMAL
from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.cameras import Cameras
from esar_ros.sim.airsim_api.values import ApiError, mount_from, number, pose_dict, text
from esar_ros.sim.msgpack_wire import Encoded, bin_header, pack_list, pack_map
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.render.process.client import RenderClient
from esar_ros.sim.render.process.images import SERVED, ImageType, segmentation_palette
from esar_ros.sim.render.process.protocol import Job

MAX_REQUESTS = 64
NEAR = 0.1  # m, of the projection matrix
_NO_FLOATS, _NO_BYTES = [0.0], b"\0"  # rpclib cannot send empty ones


class ImagesApi:
    """Images of one call show one instant; the simulation goes on while they are drawn."""

    def __init__(self, context: Context, cameras: Cameras, renderer: RenderClient) -> None:
        self._context = context
        self._cameras = cameras
        self._renderer = renderer

    @method("simGetImages", heavy=True)
    def images(self, session: Session, requests: Any, vehicle: Any = "", external: Any = False) -> Any:
        """One answer a request, in order."""
        if not isinstance(requests, list) or len(requests) > MAX_REQUESTS:
            raise ApiError(f"requests must be a list of at most {MAX_REQUESTS}")
        drone = self._context.drone(vehicle)
        return self._images(*self._plan([self._request(session, r, drone) for r in requests], drone))

    @method("simGetImage", heavy=True)
    def image(self, session: Session, camera: Any, kind: Any, vehicle: Any = "", external: Any = False) -> Any:
        """PNG bytes."""
        drone = self._context.drone(vehicle)
        request = {"camera_name": camera, "image_type": kind, "pixels_as_float": False, "compress": True}
        return self._image(self._plan([self._request(session, request, drone)], drone)[1])

    @method("esarGetSegmentationPalette")
    def palette(self, session: Session) -> list[list[int]]:
        """RGB of each segmentation id 0..255."""
        return [[int(v) for v in row] for row in segmentation_palette()]

    @method("simGetCameraInfo")
    def info(self, session: Session, camera: Any, vehicle: Any = "", external: Any = False) -> dict[str, Any]:
        """Pose of the camera's body (FRD), horizontal field of view, and AirSim's projection matrix."""
        drone = self._context.drone(vehicle)
        name = self._cameras.name(camera, drone)
        capture = self._cameras.capture(drone, name, ImageType.SCENE)
        half = math.tan(math.radians(capture.fov) / 2.0)
        aspect = capture.width / capture.height
        return {
            "pose": pose_dict(self._cameras.body(drone, name), drone.offset),
            "fov": capture.fov,
            "proj_mat": {
                "matrix": [
                    [1.0 / half, 0.0, 0.0, 0.0],
                    [0.0, aspect / half, 0.0, 0.0],
                    [0.0, 0.0, 0.0, NEAR],
                    [0.0, 0.0, 1.0, 0.0],
                ]
            },
        }

    @method("esarHasThermalCamera")
    def has_thermal(self, session: Session, vehicle: Any = "") -> bool:
        """Returns whether the vehicle carries a thermal camera, whose images are of type 100."""
        return THERMAL in self._context.vehicles[self._context.drone(vehicle).name].cameras

    @method("simSetCameraPose")
    def set_pose(self, session: Session, camera: Any, pose: Any, vehicle: Any = "", external: Any = False) -> None:
        """Mount the camera elsewhere on its vehicle (FRD)."""
        drone = self._context.drone(vehicle)
        self._cameras.mount(drone, self._cameras.name(camera, drone), mount_from(pose, "pose"))

    @method("simSetCameraFov")
    def set_fov(self, session: Session, camera: Any, fov: Any, vehicle: Any = "", external: Any = False) -> None:
        """Horizontal, degrees."""
        drone = self._context.drone(vehicle)
        degrees = number(fov, "fov_degrees")
        if not 5.0 <= degrees <= 170.0:
            raise ApiError("fov_degrees must be in [5, 170]")
        self._cameras.zoom(drone, self._cameras.name(camera, drone), degrees)

    @method("simGetDistortionParams")
    def distortion(self, session: Session, camera: Any, vehicle: Any = "", external: Any = False) -> list[float]:
        """Five zeros: the cameras are pinholes."""
        self._cameras.name(camera, self._context.drone(vehicle))
        return [0.0] * 5

    def _request(self, session: Session, request: Any, drone: Drone) -> dict[str, Any]:
        if not isinstance(request, dict):
            raise ApiError("a request must be an object with camera_name and image_type")
        kind = image_type(request.get("image_type", 0))
        if kind not in SERVED:
            raise ApiError(f"image type {kind.name} is not drawn by this simulator")
        if kind is ImageType.SEGMENTATION and not self._context.may_see_truth(session):
            raise ApiError("Segmentation tells ground truth: this connection must call esarAuthorize(token) first")
        name = text(request.get("camera_name", "0"), "camera_name")
        self._cameras.name(name, drone)
        return {
            "camera_name": name,
            "image_type": kind,
            "pixels_as_float": bool(request.get("pixels_as_float", False)),
            "compress": bool(request.get("compress", True)),
        }

    async def _image(self, job: Job) -> bytes:
        return (await self._renderer.images(job))[0]

    async def _images(self, answers: list[dict[str, Any]], job: Job) -> Encoded:
        blobs = await self._renderer.images(job)
        return pack_list(_with_data(answer, blob) for answer, blob in zip(answers, blobs, strict=True))

    def _plan(self, requests: list[dict[str, Any]], drone: Drone) -> tuple[list[dict[str, Any]], Job]:
        """Answers without their data, and what is to be drawn."""
        answers, views = [], []
        for request in requests:
            kind, as_float = request["image_type"], request["pixels_as_float"]
            name = self._cameras.name(request["camera_name"], drone)
            view = self._cameras.view(drone, name, kind, as_float, request["compress"])
            pose = pose_dict(self._cameras.body(drone, name), drone.offset)
            views.append(view)
            answers.append(
                request
                | {
                    "camera_position": pose["position"],
                    "camera_orientation": pose["orientation"],
                    "time_stamp": self._context.simulation.clock.now_ns,
                    "message": "",
                    "width": view.capture.width,
                    "height": view.capture.height,
                    "image_type": int(kind),
                }
            )
        return answers, self._cameras.job(views)


def image_type(value: Any) -> ImageType:
    """AirSim's number of an image type. Raises ApiError."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in ImageType.__members__.values():
        raise ApiError(f"image_type must be in [0, {ImageType.INFRARED}] or {ImageType.THERMAL}, is {value!r:.20}")
    return ImageType(value)


def _with_data(answer: dict[str, Any], blob: bytes) -> bytes:
    data: dict[str, Any]
    if answer["pixels_as_float"]:
        data = {"image_data_uint8": _NO_BYTES, "image_data_float": Encoded(blob)}
    else:
        data = {"image_data_uint8": Encoded(bin_header(len(blob)) + blob), "image_data_float": _NO_FLOATS}
    return pack_map(data | answer)
