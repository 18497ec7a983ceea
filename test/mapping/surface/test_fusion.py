"""Fused surfaces: where they lie, their colours, and how much memory they take."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.surface.fusion import GridFullError, SurfaceGrid, load_open3d
from esar_ros.mission.errors import UsageError
from helpers.box_scene import HEIGHT, MODEL, assert_shows_box, flight, looking_down, seen
from helpers.with_open3d import needs_open3d

FAR = np.array([431_250.5, 5_411_003.25, 800.0])  # m, of a frame whose origin is that of a UTM zone


def frame(depth: NDArray[np.float32], model: CameraModel, pose: Pose, rgb: NDArray[np.uint8]) -> CameraFrame:
    return CameraFrame("down", model, pose, depth, rgb)


def fused(at: np.ndarray, **options: int) -> SurfaceGrid:
    grid = SurfaceGrid(0.25, 40.0, **options)
    for pose in flight():
        depth, rgb = seen(pose)
        assert grid.integrate(frame(depth, MODEL, Pose(pose.position + at, pose.quaternion), rgb))
    return grid


@needs_open3d
@pytest.mark.parametrize("at", [np.zeros(3), FAR], ids=["here", "far"])
def test_points_lie_on_the_surface_in_its_colours(at: np.ndarray) -> None:
    cloud = fused(at).cloud()
    assert_shows_box(cloud.points, cloud.colours, at)
    assert np.median(cloud.normals[:, 2]) > 0.99


@needs_open3d
def test_triangles_turn_their_front_to_the_camera() -> None:
    mesh = fused(np.zeros(3)).mesh()
    assert_shows_box(mesh.points, mesh.colours)
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    assert len(mesh.triangles) > 10_000 and (np.cross(b - a, c - a)[:, 2] > 0.0).mean() > 0.99


@needs_open3d
def test_what_is_beyond_reach_or_not_measured_leaves_nothing() -> None:
    grid = SurfaceGrid(0.25, 10.0)
    depth, rgb = seen(looking_down(0.0, 0.0))
    for planar in (depth, np.full_like(depth, np.nan), np.full_like(depth, np.inf), np.full_like(depth, -np.inf)):
        assert not grid.integrate(frame(planar, MODEL, looking_down(0.0, 0.0), rgb))
    assert grid.size == 0 and not len(grid.cloud().points) and not len(grid.mesh().triangles)


@needs_open3d
def test_one_image_alone_shows_no_surface() -> None:
    grid = SurfaceGrid(0.25, 40.0)
    depth, rgb = seen(looking_down(0.0, 0.0))
    assert grid.integrate(frame(depth, MODEL, looking_down(0.0, 0.0), rgb))
    assert grid.size and not len(grid.cloud().points) and not len(grid.mesh().triangles)


@needs_open3d
def test_rows_that_hang_together_with_nothing_are_left_out() -> None:
    """Ground at so grazing an angle that rows lie farther apart than the surface is thick would be stripes."""
    grid = SurfaceGrid(0.1, 40.0)
    _, rgb = seen(looking_down(0.0, 0.0))
    steps = np.repeat(2.0 + 2.0 * (np.arange(MODEL.height) % 16), MODEL.width).reshape(MODEL.height, MODEL.width)
    for _ in range(2):
        grid.integrate(frame(steps.astype(np.float32), MODEL, looking_down(0.0, 0.0), rgb))
    assert not len(grid.cloud().points)


@needs_open3d
def test_a_grid_takes_no_more_memory_than_it_may() -> None:
    with pytest.raises(GridFullError):
        fused(np.zeros(3), most_blocks=200)


@needs_open3d
def test_colours_of_another_size_and_millimetres_are_refused() -> None:
    grid, pose = SurfaceGrid(0.25, 40.0), looking_down(0.0, 0.0)
    depth, rgb = seen(pose)
    with pytest.raises(MapInputError, match="colours"):
        grid.integrate(frame(depth, MODEL, pose, rgb[:-1]))
    with pytest.raises(MapInputError, match="metres"):
        grid.integrate(frame(np.full_like(depth, 1000.0 * HEIGHT), MODEL, pose, rgb))


def test_without_open3d_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open3d", None)
    with pytest.raises(UsageError, match=r"esar_ros\[open3d\]"):
        load_open3d()


def test_a_library_of_the_system_that_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "libusb-1.0.so.0: cannot open shared object file"
    (tmp_path / "open3d.py").write_text(f"raise ImportError({words!r}, name='pybind')")
    monkeypatch.delitem(sys.modules, "open3d", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=r"libusb-1\.0\.so\.0.*apt-get install"):
        load_open3d()
