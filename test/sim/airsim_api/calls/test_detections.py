"""Detection calls: names, boxes and the token."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.sim.airsim_api.calls.detections import box_seen_from, matches, pixel_boxes
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.msgpack_wire import pack_floats
from esar_ros.sim.render.process.protocol import Job
from helpers.api_bench import TOKEN, Bench


class Ids:
    """Draws the given ids at a few pixels."""

    def __init__(self, pixels: dict[int, list[tuple[int, int]]]) -> None:
        self.pixels = pixels
        self.asked: list[Job] = []

    async def images(self, job: Job) -> list[bytes]:
        self.asked.append(job)
        ids = np.zeros((24, 32), dtype=np.float32)
        for number, places in self.pixels.items():
            for row, column in places:
                ids[row, column] = number
        return [pack_floats(ids)]


def bench_with(pixels: dict[int, list[tuple[int, int]]], token: str | None = None) -> Bench:
    bench = Bench(token)
    bench.painter.images = Ids(pixels).images  # type: ignore[method-assign]
    return bench


def pose(north: float, east: float, down: float) -> dict[str, Any]:
    return {
        "position": {"x_val": north, "y_val": east, "z_val": down},
        "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0},
    }


SIZE = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}


def test_objects_that_show_are_told_with_their_boxes() -> None:
    bench = bench_with({1: [(5, 10), (8, 14)], 2: [(1, 1)]})
    bench("simSpawnObject", "Cylinder_a", "tent", pose(20.0, 0.0, -3.0), SIZE)
    bench("simSpawnObject", "Cylinder_far", "tent", pose(80.0, 0.0, -3.0), SIZE)
    bench("simSpawnObject", "Cylinder_hidden", "tent", pose(21.0, 3.0, -3.0), SIZE)
    bench("simSetSegmentationObjectID", "Cylinder_a", 2)  # what clients show objects as does not matter
    assert bench("simGetDetections", "0", 0, "", False) == []
    bench("simAddDetectionFilterMeshName", "0", 0, "cyl*", "", False)
    bench("simSetDetectionFilterRadius", "0", 0, 5000.0, "", False)
    (found,) = asyncio.run(bench.wait("simGetDetections", "front_center", 0, "", False))
    assert found["name"] == "Cylinder_a"
    assert found["box2D"] == {"min": {"x_val": 10.0, "y_val": 5.0}, "max": {"x_val": 15.0, "y_val": 9.0}}
    near = found["relative_pose"]["position"]
    assert 15.0 < near["x_val"] < 25.0  # ahead: the camera looks north, 20 degrees down
    low, high = found["box3D"]["min"], found["box3D"]["max"]
    assert low["x_val"] < high["x_val"] and low["y_val"] < 0.0 < high["y_val"]
    assert found["geo_point"]["altitude"] == pytest.approx(2803.0, abs=0.1)
    bench("simSetDetectionFilterRadius", "0", 0, 500.0, "", False)
    assert bench("simGetDetections", "0", 0, "", False) == []
    bench("simSetDetectionFilterRadius", "0", 0, 5000.0, "", False)
    bench("simClearDetectionMeshNames", "0", 0, "", False)
    assert bench("simGetDetections", "0", 0, "", False) == []


def test_filters_belong_to_camera_and_type() -> None:
    bench = bench_with({1: [(5, 10)]})
    bench("simSpawnObject", "a", "tent", pose(20.0, 0.0, -3.0), SIZE)
    bench("simAddDetectionFilterMeshName", "front", 0, "a", "", False)
    assert bench("simGetDetections", "left", 0, "", False) == []
    assert bench("simGetDetections", "front", 5, "", False) == []
    assert bench("simGetDetections", "front", 0, "uav2", False) == []
    assert len(asyncio.run(bench.wait("simGetDetections", "front", 0, "uav1", False))) == 1


def test_detections_are_truth() -> None:
    bench = bench_with({}, TOKEN)
    for name, arguments in (
        ("simGetDetections", ("0", 0)),
        ("simAddDetectionFilterMeshName", ("0", 0, "*")),
        ("simSetDetectionFilterRadius", ("0", 0, 1.0)),
        ("simClearDetectionMeshNames", ("0", 0)),
    ):
        with pytest.raises(ApiError, match="ground truth"):
            bench(name, *arguments)
    assert bench("esarAuthorize", TOKEN)
    assert bench("simGetDetections", "0", 0) == []


LETTERS = st.text("ab*?", max_size=8)


@given(LETTERS, st.text("abA", max_size=8))
def test_wildcards_match_as_a_plain_recursion_does(pattern: str, name: str) -> None:
    def plain(p: str, n: str) -> bool:
        if not p:
            return not n
        if p[0] == "*":
            return plain(p[1:], n) or (bool(n) and plain(p, n[1:]))
        return bool(n) and p[0] in ("?", n[0].lower()) and plain(p[1:], n[1:])

    assert matches(pattern, name) == plain(pattern, name)


@given(
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    st.tuples(*[st.floats(0.1, 4.0)] * 3),
    st.tuples(*[st.floats(-20.0, 20.0)] * 3),
)
def test_boxes_hold_all_corners_seen_from_the_camera(turn: Any, eye_turn: Any, half: Any, place: Any) -> None:
    thing = Pose(np.array(place), quaternion_from_rpy(*turn))
    eye = Pose(np.array([1.0, 2.0, 3.0]), quaternion_from_rpy(*eye_turn))
    box = np.concatenate([thing.position, half, thing.rotation.T.ravel()])
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = eye.inverse().apply(thing.apply(signs * half)) * [1.0, -1.0, -1.0]
    low, high = box_seen_from(eye, box)
    assert low == pytest.approx(corners.min(axis=0)) and high == pytest.approx(corners.max(axis=0))


def test_pixel_boxes_are_tight_and_half_open() -> None:
    ids = np.zeros((4, 6), dtype=np.uint8)
    ids[1, 2] = ids[3, 4] = 9
    assert pixel_boxes(ids, [9, 7]) == {9: (2, 1, 5, 4)}
