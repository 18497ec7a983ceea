"""AirSim's detection calls: which named objects a camera sees, by the id image and ground truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, flu_to_frd
from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.calls.images import image_type
from esar_ros.sim.airsim_api.cameras import Cameras
from esar_ros.sim.airsim_api.values import ApiError, geo_point_dict, number, text, vector3_dict
from esar_ros.sim.msgpack_wire import FLOAT_ELEMENT
from esar_ros.sim.render.process.client import RenderClient
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.render.process.protocol import Job
from esar_ros.sim.world.scene import SceneObject

DEFAULT_RADIUS = 200.0  # m, AirSim's
MAX_NAMES = 256
_ARRAY_HEADER = 5  # bytes in front of the elements of a packed float array


@dataclass
class _Filter:
    """Detection filter of one camera and image type."""

    patterns: set[str] = field(default_factory=set)
    radius: float = DEFAULT_RADIUS  # m


class DetectionsApi:
    """Filters belong to a vehicle's camera and image type, as in AirSim, and to no client."""

    def __init__(self, context: Context, cameras: Cameras, renderer: RenderClient) -> None:
        self._context = context
        self._cameras = cameras
        self._renderer = renderer
        self._filters: dict[tuple[str, str, ImageType], _Filter] = {}

    @method("simAddDetectionFilterMeshName", truth=True)
    def add(
        self, session: Session, camera: Any, kind: Any, mesh: Any, vehicle: Any = "", external: Any = False
    ) -> None:
        """Look for objects whose name matches: * stands for any letters, ? for one."""
        wanted = self._filter(camera, kind, vehicle)
        if len(wanted.patterns) >= MAX_NAMES:
            raise ApiError(f"a filter holds at most {MAX_NAMES} names")
        wanted.patterns.add(text(mesh, "mesh_name"))

    @method("simSetDetectionFilterRadius", truth=True)
    def radius(
        self, session: Session, camera: Any, kind: Any, centimetres: Any, vehicle: Any = "", external: Any = False
    ) -> None:
        """Limits detection to a radius in centimetres."""
        self._filter(camera, kind, vehicle).radius = number(centimetres, "radius_cm") / 100.0

    @method("simClearDetectionMeshNames", truth=True)
    def clear(self, session: Session, camera: Any, kind: Any, vehicle: Any = "", external: Any = False) -> None:
        """Look for nothing."""
        self._filter(camera, kind, vehicle).patterns.clear()

    @method("simGetDetections", truth=True, heavy=True)
    def detections(self, session: Session, camera: Any, kind: Any, vehicle: Any = "", external: Any = False) -> Any:
        """The objects looked for of which at least one pixel shows."""
        drone = self._context.drone(vehicle)
        wanted = self._filter(camera, kind, vehicle)
        name = self._cameras.name(camera, drone)
        eye = self._cameras.body(drone, name)
        things = [
            thing
            for thing in self._context.world.objects.values()
            if float(np.linalg.norm(thing.pose.position - eye.position)) <= wanted.radius
            and any(matches(pattern, thing.name) for pattern in wanted.patterns)
        ]
        if not things:
            return []
        capture = self._cameras.capture(drone, name, image_type(kind))
        view = self._cameras.view(drone, name, ImageType.SEGMENTATION, as_float=True, compress=False)
        view = replace(view, capture=capture)
        shape = (capture.height, capture.width)
        return self._seen(things, eye, shape, self._cameras.job([view], own_ids=True))

    async def _seen(
        self, things: list[SceneObject], eye: Pose, shape: tuple[int, int], job: Job
    ) -> list[dict[str, Any]]:
        blob = (await self._renderer.images(job))[0]
        ids = np.frombuffer(blob, FLOAT_ELEMENT, offset=_ARRAY_HEADER)["value"].astype(np.uint8).reshape(shape)
        found = pixel_boxes(ids, [thing.id for thing in things])
        return [self._description(thing, eye, found[thing.id]) for thing in things if thing.id in found]

    def _description(self, thing: SceneObject, eye: Pose, box: tuple[int, int, int, int]) -> dict[str, Any]:
        left, top, right, bottom = box
        relative = eye.inverse().compose(thing.pose)
        w, x, y, z = (float(v) for v in relative.quaternion)
        low, high = box_seen_from(eye, thing.box)
        return {
            "name": thing.name,
            "geo_point": geo_point_dict(self._context.origin.to_geodetic(thing.pose.position)),
            "box2D": {
                "min": {"x_val": float(left), "y_val": float(top)},
                "max": {"x_val": float(right), "y_val": float(bottom)},
            },
            "box3D": {"min": vector3_dict(low), "max": vector3_dict(high)},
            "relative_pose": {
                "position": vector3_dict(flu_to_frd(relative.position)),
                "orientation": {"w_val": w, "x_val": x, "y_val": -y, "z_val": -z},
            },
        }

    def _filter(self, camera: Any, kind: Any, vehicle: Any) -> _Filter:
        drone = self._context.drone(vehicle)
        key = (drone.name, self._cameras.name(camera, drone), image_type(kind))
        return self._filters.setdefault(key, _Filter())


def pixel_boxes(ids: NDArray[np.uint8], wanted: Iterable[int]) -> dict[int, tuple[int, int, int, int]]:
    """Left, top, right, bottom (px, right and bottom beyond the last) of the visible pixels of each id that shows."""
    found = {}
    for number_ in wanted:
        rows, columns = np.nonzero(ids == number_)
        if rows.size:
            found[number_] = (int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
    return found


def box_seen_from(eye: Pose, box: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper corner, in the camera's FRD frame, of an oriented box (15,) as SceneObject.box gives it."""
    centre, half, axes = box[:3], box[3:6], box[6:15].reshape(3, 3)
    to_eye = eye.rotation.T
    middle = flu_to_frd(to_eye @ (centre - eye.position))
    reach = np.abs(to_eye @ axes.T) @ half
    return middle - reach, middle + reach


def matches(pattern: str, name: str) -> bool:
    """Unreal's wildcards, regardless of case; linear in the two lengths' product, whatever the pattern."""
    pattern, name = pattern.lower(), name.lower()
    p = n = 0
    star, resume = -1, 0
    while n < len(name):
        if p < len(pattern) and pattern[p] in ("?", name[n]) and pattern[p] != "*":
            p, n = p + 1, n + 1
        elif p < len(pattern) and pattern[p] == "*":
            star, resume, p = p, n, p + 1
        elif star >= 0:
            resume += 1
            p, n = star + 1, resume
        else:
            return False
    return all(letter == "*" for letter in pattern[p:])
