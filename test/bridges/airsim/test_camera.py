"""AirSim's answers, as frames in base_link."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.bridges.airsim import camera as module
from esar_ros.bridges.airsim.camera import AirSimCameras
from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError
from esar_ros.bridges.airsim.types import DEPTH_PLANAR, SCENE
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.vehicle import load_vehicle

WIDTH, HEIGHT = 8, 6
RIG = load_vehicle().with_image_size(WIDTH, HEIGHT)
WARM_RIG = RIG.model_copy(update={"thermal": RIG.thermal.model_copy(update={"mounted": True})})


class Server:
    """Paints each camera by its number: blue n, green 20, red 30; depth 10 + n m, beyond range in one pixel; id n."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.size = height, width

    def call(self, method: str, requests: list[dict[str, Any]], vehicle: str, external: bool) -> list[dict[str, Any]]:
        assert (method, vehicle, external) == ("simGetImages", "uav1", False)
        return [self._paint(request) for request in requests]

    def _paint(self, request: dict[str, Any]) -> dict[str, Any]:
        (height, width), number, kind = self.size, CAMERAS.index(request["camera_name"]), request["image_type"]
        colours = np.full((height, width, 3), (number, 20, 30), np.uint8)
        values = np.full((height, width), 10.0 + number if kind == DEPTH_PLANAR else number, np.float32)
        values[0, 0] = 65504.0 if kind == DEPTH_PLANAR else number
        return {
            "camera_name": request["camera_name"], "image_type": kind, "pixels_as_float": kind != SCENE,
            "compress": False, "width": width, "height": height, "time_stamp": 3_000_000_000,
            "image_data_uint8": colours.tobytes(), "image_data_float": values.ravel(),
        }  # fmt: skip


def test_every_camera_gives_colours_depth_and_where_it_is_mounted() -> None:
    taken = AirSimCameras(Server(), "uav1", RIG).read()  # type: ignore[arg-type]
    assert taken.ns == 3_000_000_000 and tuple(frame.camera for frame in taken.frames) == CAMERAS
    for number, frame in enumerate(taken.frames):
        assert frame.model == RIG.image.model and frame.pose == RIG.cameras[frame.camera].pose and frame.stamp == 3.0
        assert frame.rgb.dtype == np.uint8 and (frame.rgb == (30, 20, number)).all()
        assert frame.depth.dtype == np.float32 and np.isposinf(frame.depth[0, 0])
        assert (frame.depth.ravel()[1:] == 10.0 + number).all()
        assert frame.segmentation is None


def test_object_ids_come_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "authorise", lambda client: None)
    taken = AirSimCameras(Server(), "uav1", RIG, segmentation=True).read()  # type: ignore[arg-type]
    for number, frame in enumerate(taken.frames):
        assert frame.segmentation is not None and frame.segmentation.dtype == np.uint8
        assert (frame.segmentation == number).all()


def test_a_server_set_to_another_size_has_the_same_field_of_view() -> None:
    taken = AirSimCameras(Server(2 * WIDTH, 2 * HEIGHT), "uav1", RIG).read()  # type: ignore[arg-type]
    for frame in taken.frames:
        assert (frame.model.width, frame.model.height) == (2 * WIDTH, 2 * HEIGHT)
        assert frame.model.fx == pytest.approx(2.0 * RIG.image.model.fx)


class WarmServer(Server):
    """One whose vehicle carries a thermal camera, or that is of another make."""

    def __init__(self, refusal: AirSimError | None = None) -> None:
        super().__init__()
        self.refusal = refusal

    def call(self, method: str, *arguments: Any) -> Any:
        if method == "esarHasThermalCamera":
            if self.refusal is not None:
                raise self.refusal
            return True
        return super().call(method, *arguments)

    def _paint(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["camera_name"] != names.THERMAL:
            return super()._paint(request)
        assert request["image_type"] in (100, DEPTH_PLANAR)
        scene = {**request, "image_type": SCENE if request["image_type"] == 100 else DEPTH_PLANAR}
        return super()._paint({**scene, "camera_name": CAMERAS[0]})


def test_a_mounted_thermal_camera_gives_greys_and_depth_after_the_others() -> None:
    taken = AirSimCameras(WarmServer(), "uav1", WARM_RIG).read()  # type: ignore[arg-type]
    assert tuple(frame.camera for frame in taken.frames) == (*CAMERAS, names.THERMAL)
    warm = taken.frames[-1]
    assert warm.pose == WARM_RIG.thermal.pose and warm.depth[1, 1] == 10.0
    assert warm.model.fx == pytest.approx(WARM_RIG.thermal.model.fx * WIDTH / 640)


def test_a_server_without_a_thermal_camera_is_refused_in_a_line() -> None:
    with pytest.raises(UsageError, match="no thermal camera"):
        AirSimCameras(WarmServer(AirSimError("unknown method")), "uav1", WARM_RIG)  # type: ignore[arg-type]


def test_no_answer_to_the_question_for_a_thermal_camera_is_not_a_no() -> None:
    with pytest.raises(AirSimConnectionError):
        AirSimCameras(WarmServer(AirSimConnectionError("no answer")), "uav1", WARM_RIG)  # type: ignore[arg-type]
