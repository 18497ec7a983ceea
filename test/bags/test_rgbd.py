"""Coloured depth images of bags: encodings, padding, poses by odometry and by TF, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.bags.files import open_bag
from esar_ros.bags.rgbd import RgbdBag
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.errors import UsageError
from helpers.box_scene import MODEL, flight, seen
from helpers.rgbd_bag import ODOM, RgbdWriter
from helpers.small_mission import mission, write

VIEWS = [(pose, *seen(pose)) for pose in flight(3)]


def record(folder: Path, vehicles: tuple[str, ...] = ("uav1",), joined: bool = True, **options: Any) -> Path:
    writer = RgbdWriter(folder / "bag", MODEL)
    for vehicle in vehicles:
        writer.frames(vehicle, joined=joined)
        writer.views(vehicle, VIEWS, odom=ODOM, **options)
    writer.close()
    return folder / "bag"


def read(path: Path, every: int = 1) -> tuple[RgbdBag, list[CameraFrame]]:
    with open_bag(path) as bag:
        source = RgbdBag(bag, path)
        return source, list(source.images(every))


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as error:
        read(path)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by_tf": True, "encodings": ("bgr8", "16UC1"), "padding": 12},
        {"encodings": ("bgr8", "16UC1"), "skew": 0.015},
        {"skew": -0.015, "by_tf": True},
        {"period": 1.0 / 60.0},
        {"period": 1.0 / 60.0, "skew": 0.004},
        {"period": 1.0 / 60.0, "skew": -0.004},
    ],
    ids=["mission", "realsense", "late colour", "early colour", "60 Hz", "60 Hz, late", "60 Hz, early"],
)
def test_pairs_are_placed_in_the_map(tmp_path: Path, options: dict[str, Any]) -> None:
    source, images = read(record(tmp_path, **options))
    assert source.frame == "map" and source.vehicles == ("uav1",)
    assert (source.count, source.read, source.taken, source.unplaced) == (3, 3, 3, 0)
    assert source.focal == MODEL.fx and abs(source.look - 20.0) < 0.1
    assert len(images) == len(VIEWS)
    for image, (pose, depth, rgb) in zip(images, VIEWS, strict=True):
        assert image.model == MODEL and image.camera == "uav1/down"
        assert np.abs(image.pose.position - pose.position).max() < 1e-6
        assert np.abs(image.pose.rotation - pose.rotation).max() < 1e-6
        assert np.abs(image.depth - depth).max() < 1e-3 and np.array_equal(image.rgb, rgb)


def test_millimetres_of_zero_are_no_measurement(tmp_path: Path) -> None:
    pose, depth, rgb = VIEWS[0]
    gap = depth.copy()
    gap[:10] = np.nan
    writer = RgbdWriter(tmp_path / "bag", MODEL)
    writer.frames("uav1")
    writer.views("uav1", [(pose, gap, rgb)], encodings=("rgb8", "16UC1"))
    writer.close()
    (image,) = read(tmp_path / "bag")[1]
    assert np.isnan(image.depth[:10]).all() and np.isfinite(image.depth[10:]).all()


def test_every_second_image_of_each_vehicle(tmp_path: Path) -> None:
    source, images = read(record(tmp_path, ("uav1", "uav2")), every=2)
    assert source.vehicles == ("uav1", "uav2") and (source.count, source.read, source.taken) == (6, 6, 4)
    assert sorted((image.camera.split('/')[0], int(image.stamp)) for image in images) == [
        ("uav1", 10), ("uav1", 12), ("uav2", 10), ("uav2", 12),
    ]  # fmt: skip


def test_colour_of_another_moment_is_no_colour_of_this_depth(tmp_path: Path) -> None:
    source, images = read(record(tmp_path, skew=0.1))
    assert not images and source.taken == 3


def test_without_a_map_frame_odometry_s_own_is_the_frame(tmp_path: Path) -> None:
    source, images = read(record(tmp_path, joined=False))
    assert source.frame == "uav1/odom"
    assert np.abs(ODOM.apply(images[0].pose.position) - VIEWS[0][0].position).max() < 1e-6


def test_a_bag_without_depth_says_what_is_wanted(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission(None))
    text = refused(tmp_path / "bag")
    assert "camera/NAME/depth" in text and "no uncompressed image" in text and "--record full" in text


def test_topics_of_other_names_are_told(tmp_path: Path) -> None:
    names = ("colour/image_raw", "depth/image_rect_raw", "colour/camera_info")
    text = refused(record(tmp_path, names=names))
    assert "camera/NAME/image" in text and "/uav1/colour/image_raw, /uav1/depth/image_rect_raw" in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"encodings": ("rgb8", "64FC1")}, "/uav1/camera/down/depth: encoding '64FC1' is not read"),
        ({"encodings": ("yuv422", "32FC1")}, "/uav1/camera/down/image: encoding 'yuv422' is not read"),
        ({"distortion": 0.1}, "distorted"),
        ({"vehicles": ("uav1", "uav2"), "joined": False}, "uav1/odom, uav2/odom"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    assert told in refused(record(tmp_path, **options))


def test_a_camera_that_nothing_places_is_named(tmp_path: Path) -> None:
    writer = RgbdWriter(tmp_path / "bag", MODEL)
    writer.views("uav1", VIEWS)  # odometry alone: nothing says where the camera sits
    writer.close()
    assert "frame 'uav1/camera_down_optical' of /uav1/camera/down/depth" in refused(tmp_path / "bag")


def test_depth_of_another_size_than_colour_is_refused(tmp_path: Path) -> None:
    pose, depth, rgb = VIEWS[0]
    writer = RgbdWriter(tmp_path / "bag", MODEL)
    writer.frames("uav1")
    writer.views("uav1", [(pose, depth[::2, ::2], rgb)])
    writer.close()
    text = refused(tmp_path / "bag")
    assert "image 320x240 px, depth 160x120 px" in text and "aligned" in text


def test_an_image_that_holds_less_than_it_says_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path, padding=-1)
    assert "are no 32FC1 image of" in refused(path)


def test_depth_that_shows_nothing_is_refused(tmp_path: Path) -> None:
    pose, depth, rgb = VIEWS[0]
    writer = RgbdWriter(tmp_path / "bag", MODEL)
    writer.frames("uav1")
    writer.views("uav1", [(pose, np.full_like(depth, np.inf), rgb)])
    writer.close()
    assert "none of its 1 depth images" in refused(tmp_path / "bag")
