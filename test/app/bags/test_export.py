"""esar export: files of a bag's images, their place and colours, and what is refused."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.app import cli
from esar_ros.benchmark.report.mission_surface import fuse_bag, surface_jpeg
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from helpers.box_scene import MODEL, assert_shows_box, flight, seen
from helpers.built_messages import build, header
from helpers.rgbd_bag import MOUNT, TYPES, RgbdWriter, View
from helpers.small_mission import mission, write
from helpers.with_open3d import needs_open3d

BOX = [(pose, *seen(pose)) for pose in flight()]


def record(path: Path, views: list[View] = BOX, vehicles: tuple[str, ...] = ("uav1",), **options: Any) -> Path:
    writer = RgbdWriter(path, MODEL)
    for k, vehicle in enumerate(vehicles):
        writer.frames(vehicle)
        writer.views(vehicle, views[k :: len(vehicles)], **options)
    writer.close()
    return path


def read_ply(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns points and colours."""
    head, body = path.read_bytes().split(b"end_header\n", 1)
    sizes = {"double": "<f8", "float": "<f4", "uchar": "u1"}
    lines = [line.split() for line in head.decode().splitlines() if line.startswith("property")]
    rows = np.frombuffer(body, np.dtype([(name, sizes[kind]) for _, kind, name in lines]))
    return (np.stack([rows[name] for name in names], -1) for names in ("xyz", ("red", "green", "blue")))  # type: ignore[return-value]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["export", *arguments]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    return line


@needs_open3d
@pytest.mark.parametrize("options", [{}, {"by_tf": True, "encodings": ("bgr8", "16UC1")}], ids=["mission", "realsense"])
def test_two_vehicles_make_one_cloud_and_one_mesh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    record(tmp_path / "bag", vehicles=("uav1", "uav2"), **options)
    assert cli.main(["export", str(tmp_path)]) == 0  # a mission's folder: its bag is meant
    assert_shows_box(*read_ply(tmp_path / "cloud.ply"))
    assert (tmp_path / "mesh.glb").read_bytes().startswith(b"glTF")
    told = capsys.readouterr().out
    assert "4 images of uav1, uav2 fused in frame map" in told and "triangles" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag", "cloud.ply", "mesh.glb"]


@needs_open3d
@pytest.mark.parametrize("joined", [True, False])
def test_the_origin_that_the_brief_states_is_the_map_frame_s_alone(tmp_path: Path, joined: bool) -> None:
    writer = RgbdWriter(tmp_path / "bag", MODEL)
    place = {"map_id": "atlantis", "origin_latitude": 33.99, "origin_longitude": 107.3, "origin_altitude": 3150.5}
    writer.put("/uav1/mission/brief", "brief", 0.0, build(TYPES["brief"], header=header(0.0), **place))
    writer.frames("uav1", joined=joined)
    writer.views("uav1", BOX)
    writer.close()
    assert cli.main(["export", str(tmp_path), "--to", "ply"]) == 0
    head = (tmp_path / "cloud.ply").read_bytes().split(b"end_header")[0].decode()
    assert f"frame {'map' if joined else 'uav1/odom'}," in head
    assert ("origin 33.99 107.3 3150.5" in head) == joined


@needs_open3d
def test_a_voxel_that_is_asked_for_brings_its_reach_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag, out = str(record(tmp_path / "bag")), tmp_path / "out"
    assert cli.main(["export", bag, "--to", "ply", "--voxel", "0.5", "--out", str(out)]) == 0
    assert "voxels of 0.5 m, depth up to 80 m" in capsys.readouterr().out
    assert [path.name for path in out.iterdir()] == ["cloud.ply"]
    assert "4 of 4 images, that show nothing within 2 m" in refused(capsys, bag, "--voxel", "0.01", "--out", str(out))


@needs_open3d
def test_a_grid_that_is_full_is_begun_again_with_larger_voxels(tmp_path: Path) -> None:
    bag = record(tmp_path / "bag")
    fine, coarse = fuse_bag(bag, 0.25), fuse_bag(bag, 0.25, most_blocks=400)
    assert coarse.grid.voxel == 0.5 and fine.grid.voxel == 0.25 and coarse.grid.reach == fine.grid.reach
    assert coarse.images == fine.images == len(BOX) and coarse.grid.size <= 400 < fine.grid.size


@needs_open3d
def test_images_without_colour_of_their_moment_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = refused(capsys, str(record(tmp_path / "bag", skew=0.1)))
    assert "4 of 4 images, without a colour image of the same moment" in text


@needs_open3d
def test_the_cloud_of_a_drawn_flight_lies_on_the_true_ground(tmp_path: Path) -> None:
    """Over aotai's slopes, grass and bushes: the median of a cloud's points is off by less than a half of a voxel."""
    place = load_map("aotai")
    renderer = Renderer(World(place, 0), MODEL.width, MODEL.height, math.pi / 2)
    views: list[View] = []
    for east in np.arange(0.0, 40.0, 8.0):
        at = np.array([east, 5.0, float(place.ground_height((east, 5.0))) + 18.0])
        pose = Pose(at, quaternion_from_yaw(0.3)).compose(MOUNT)
        frame = renderer.render([pose], 0.0)
        views.append((pose, frame.depth[0], frame.rgb[0]))
    renderer.close()
    assert cli.main(["export", str(record(tmp_path / "bag", views)), "--to", "ply"]) == 0
    points, colours = read_ply(tmp_path / "cloud.ply")
    off = (points[:, 2] - place.ground_height(points[:, :2])) * np.cos(place.slope(points[:, :2]))
    voxel = fuse_bag(tmp_path / "bag").grid.voxel
    assert len(points) > 10_000 and np.median(np.abs(off)) < voxel / 2.0
    assert (
        np.abs(np.median(colours, axis=0) - np.median(np.stack([rgb for _, _, rgb in views]), axis=(0, 1, 2))).max()
        < 12
    )


@needs_open3d
def test_a_report_s_picture_is_made_of_bags_with_depth_alone(tmp_path: Path) -> None:
    picture = surface_jpeg(record(tmp_path / "bag"))
    assert picture is not None and picture.startswith(b"\xff\xd8")
    write(tmp_path / "other", mission(None))
    assert surface_jpeg(tmp_path / "other") is None and surface_jpeg(None) is None


def test_without_open3d_the_extra_is_named_and_reports_have_no_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "open3d", None)
    bag = record(tmp_path / "bag", BOX[:1])
    assert "./esar exec pip install 'esar_ros[open3d]'" in refused(capsys, str(bag))
    assert surface_jpeg(bag) is None


def test_bad_usage_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean ply? known: ply, glb" in refused(capsys, str(tmp_path), "--to", "glb,plx")
    assert "known: ply, glb" in refused(capsys, str(tmp_path), "--to", ",")
    assert "0.005 to 10 m" in refused(capsys, str(tmp_path), "--voxel", "0")
    assert "0.005 to 10 m" in refused(capsys, str(tmp_path), "--voxel", "nan")


@needs_open3d
def test_a_bag_without_images_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "bag", mission(None))
    assert "--record full" in refused(capsys, str(tmp_path / "bag"))
    assert "no bag at" in refused(capsys, str(tmp_path / "nowhere"))


def test_cot_needs_a_host_and_a_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for told in ("6969", "host:", "host:99999", "host:tak"):
        assert f"--cot {told}: HOST:PORT" in refused(capsys, str(tmp_path), "--cot", told)
