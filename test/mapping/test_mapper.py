"""The façade: what comes in goes to every part, what is refused to none, and files bring it all back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from esar_ros.geometry.camera import CameraModel, optical_rotation
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mapping.errors import MapInputError
from esar_ros.mapping.inputs import Scan
from esar_ros.mapping.mapper import Mapper

SQUARE = np.array([[-100.0, -100.0], [100.0, -100.0], [100.0, 100.0], [-100.0, 100.0]])
HOME = np.array([0.0, 0.0, 5.0])
MODEL = CameraModel.from_horizontal_fov(64, 48, np.pi / 2)


@pytest.fixture()
def above(look: Any) -> Any:
    """Flat ground seen from 40 m above."""
    return CameraFrame(
        "down", MODEL, look((10.0, -20.0, 40.0), 0.3, -np.pi / 2), np.full((48, 64), 40.0, np.float32), stamp=1.0
    )


@pytest.fixture()
def mapper() -> Any:
    made = Mapper(1.0, 120.0, 80.0)
    made.set_area(SQUARE, HOME)
    return made


def everything(mapper: Any) -> Any:
    """All that a reader could see."""
    cells, _, origin = mapper.grid()
    return [
        cells, np.array(origin), mapper.frontiers(), np.unique(mapper.cloud(), axis=0), mapper.coverage.quality,
        mapper.local_window(HOME, 0.0).cells, mapper.heights().top,
    ]  # fmt: skip


def test_before_the_area_frames_are_turned_away(above: Any) -> None:
    mapper = Mapper(1.0, 120.0, 80.0)
    assert mapper.integrate([above]) and mapper.integrate_scan(Scan.of_points(np.ones((1, 3)), Pose()))
    assert not mapper.has_area
    with pytest.raises(RuntimeError):
        mapper.coverage  # noqa: B018


def test_a_frame_reaches_every_part(mapper: Any, above: Any) -> None:
    assert mapper.integrate([above], now=1.0) == ""
    state = mapper.state()
    assert state.occupied > 0 and state.free > 0 and 0.0 < state.coverage < 1.0 and state.frames == 1
    assert len(mapper.cloud()) == len(mapper.occupied_points()) == state.occupied
    heights = mapper.heights()
    assert np.nanmax(np.abs(heights.above_ground)) == 0.0
    assert mapper.coverage_image()[0].max() == 50
    assert mapper.grid()[0].size and len(mapper.frontiers())


def bad_frames(above: Any) -> Any:
    depth, position, turn = above.depth, above.pose.position, np.asarray(above.pose.quaternion)
    return {
        "not finite": replace(above, pose=Pose(np.array([np.nan, 0.0, 0.0]), turn)),
        "not rigid": replace(above, pose=Pose(position, turn * 1.2)),
        "focal length": replace(above, model=replace(above.model, fx=-10.0)),
        "other size": replace(above, depth=depth[:-2]),
        "millimetres": replace(above, depth=depth * 1000.0),
        "whole numbers": replace(above, depth=depth.astype(np.uint16)),
        "no picture": replace(above, depth=depth[0]),
    }


def test_refused_frames_harm_nothing(mapper: Any, above: Any) -> None:
    mapper.integrate([above])
    before = everything(mapper)
    for n, (kind, bad) in enumerate(bad_frames(above).items()):
        reason = mapper.integrate([bad])
        assert reason.startswith("down: ") and mapper.refused == n + 1, kind
    for stamp in (np.nan, np.inf, 12.0):
        assert mapper.integrate([replace(above, stamp=stamp)], now=11.0)
    assert mapper.integrate_scan(Scan.of_points(np.ones((1, 3)), Pose()), 12.0, 11.0)
    for old, new in zip(before, everything(mapper), strict=True):
        np.testing.assert_array_equal(old, new)


def test_one_camera_s_bad_image_costs_its_own_alone(above: Any) -> None:
    alone = Mapper(1.0, 120.0, 80.0)
    alone.set_area(SQUARE, HOME)
    assert alone.integrate([above]) == ""
    for kind, bad in bad_frames(above).items():
        mapper = Mapper(1.0, 120.0, 80.0)
        mapper.set_area(SQUARE, HOME)
        assert mapper.integrate([replace(bad, camera="left"), above]).startswith("left: "), kind
        assert (mapper.refused, mapper.frames) == (1, 1)
        for one, other in zip(everything(mapper), everything(alone), strict=True):
            np.testing.assert_array_equal(one, other)


def test_large_pictures_that_are_wrong_are_refused_before_they_are_pooled(mapper: Any, above: Any) -> None:
    large = CameraModel.from_horizontal_fov(640, 480, np.pi / 2)
    for depth in (np.full((3, 480, 640), 9.0, np.float32), np.full(640, 9.0, np.float32), np.ones((480, 640), int)):
        assert mapper.integrate([replace(above, model=large, depth=depth)])
    assert mapper.state().free == 0
    assert mapper.integrate([replace(above, model=large, depth=np.full((480, 640), 40.0, np.float32))]) == ""


def test_files_bring_map_and_coverage_back(mapper: Any, above: Any, tmp_path: Path) -> None:
    mapper.integrate([above])
    mapper.integrate([above])
    path = tmp_path / "map.vox"
    mapper.save(path)
    for begun in (False, True):
        other = Mapper(1.0, 120.0, 80.0)
        if begun:
            other.set_area(SQUARE, HOME)
            other.integrate([above])
        other.load(path)
        for old, new in zip(everything(mapper), everything(other), strict=True):
            np.testing.assert_array_equal(old, new)
        assert other.integrate([above]) == ""


def test_files_that_do_not_belong_here_change_nothing(mapper: Any, above: Any, tmp_path: Path) -> None:
    mapper.integrate([above])
    before = everything(mapper)
    coarse, elsewhere = Mapper(2.0, 120.0, 80.0), Mapper(1.0, 120.0, 80.0)
    coarse.set_area(SQUARE, HOME)
    elsewhere.set_area(SQUARE + 3.0, HOME)
    mapper.save(tmp_path / "good.vox")
    coarse.save(tmp_path / "coarse.vox")
    elsewhere.save(tmp_path / "elsewhere.vox")
    mapper.map.save(tmp_path / "bare.vox")
    (tmp_path / "cut.vox").write_bytes((tmp_path / "good.vox").read_bytes()[:-50])
    (tmp_path / "foreign.vox").write_bytes(b"PK\x03\x04")
    for name in ("coarse", "elsewhere", "bare", "cut", "foreign"):
        with pytest.raises(MapInputError):
            mapper.load(tmp_path / f"{name}.vox")
    with pytest.raises(OSError):
        mapper.load(tmp_path / "nowhere.vox")
    for old, new in zip(before, everything(mapper), strict=True):
        np.testing.assert_array_equal(old, new)


def test_with_paging_everything_is_the_same(above: Any, look: Any, tmp_path: Path) -> None:
    plain, paged = Mapper(1.0, 120.0, 80.0), Mapper(1.0, 120.0, 80.0, page_folder=tmp_path, page_after=3)
    for mapper in (plain, paged):
        mapper.set_area(SQUARE, HOME)
        for n in range(62):
            mapper.integrate([replace(above, pose=look((-60.0 + 2.0 * n, 0.0, 40.0), 0.0, -np.pi / 2))])
    assert paged.map.paged_blocks > 0
    for old, new in zip(everything(plain), everything(paged), strict=True):
        np.testing.assert_array_equal(old, new)


def test_the_world_grows_to_where_the_ground_falls_away(mapper: Any, look: Any) -> None:
    deep = CameraFrame("down", MODEL, look((0.0, 0.0, -100.0), 0.0, -np.pi / 2), np.full((48, 64), 100.0, np.float32))
    assert mapper.integrate([deep]) == ""
    assert mapper.occupied_points()[:, 2].min() < -199.0
    assert mapper.integrate([replace(deep, pose=look((1e6, 0.0, 0.0), 0.0, 0.0))])


def test_values_and_classes_are_painted(mapper: Any, above: Any) -> None:
    mapper.integrate([above])
    mapper.paint_value("likely", above, 0.8)
    mapper.paint_classes(above, np.full((48, 64), 3, np.uint8))
    assert mapper.values("likely").best_within((10.0, -20.0), 5.0)[0] == pytest.approx(0.8)
    seen = mapper.values("likely").confidence > 0
    np.testing.assert_array_equal(seen, mapper.classes.classes() == 3)
    assert seen.any()


def test_warming_up_touches_no_map(mapper: Any) -> None:
    mapper.warm_up()
    assert mapper.state().free == 0 and mapper.frames == 0


def compiled() -> Any:
    """Signatures of every kernel of the map that Python calls."""
    modules = [m for name, m in sys.modules.items() if name.startswith("esar_ros.mapping.")]
    kernels = {id(k): k for m in modules for k in vars(m).values() if isinstance(k, Dispatcher)}
    return {k.__name__: list(k.signatures) for k in kernels.values()}


def use_everything_after_warming_up(folder: Any) -> None:
    """Raise when a kernel is compiled, or compiled for other types, only after warming up."""
    mapper = Mapper(1.0, 120.0, 80.0, page_folder=Path(folder))
    mapper.warm_up()
    before = compiled()
    mapper.set_area(SQUARE, HOME)
    large = CameraModel.from_horizontal_fov(640, 480, np.pi / 2)
    pose = Pose(np.array([0.0, 0.0, 40.0]), quaternion_from_rotation(optical_rotation(0.0, -np.pi / 2)))
    for depth in (np.full((480, 640), 40.0), np.full((480, 640), 40.0, np.float32)):
        depth.flags.writeable = False
        frame = CameraFrame("down", large, pose, depth)
        assert mapper.integrate([frame]) == ""
    assert mapper.integrate_scan(Scan.of_points(np.ones((5, 3), np.float32), Pose())) == ""
    everything(mapper)
    mapper.paint_value("likely", frame, 0.5)
    mapper.map.state([[0.0, 0.0, 1.0]])
    mapper.map.raycasts(np.zeros((2, 3)), np.ones((2, 3)), 30.0, False)
    mapper.map.nearest_obstacle([[0.0, 0.0, 1.0]], 20.0, False)
    mapper.map.evict(0)
    mapper.occupied_points()
    mapper.coverage_image()
    assert mapper.state().occupied > 0
    late = {name: found for name, found in compiled().items() if before[name] != found}
    assert len(before) > 15 and not late, late


def test_after_warming_up_nothing_is_left_to_compile(tmp_path: Path) -> None:
    code = "import runpy, sys; runpy.run_path(sys.argv[1])['use_everything_after_warming_up'](sys.argv[2])"
    fresh = [sys.executable, "-c", code, __file__, str(tmp_path)]  # here other tests have compiled everything
    done = subprocess.run(fresh, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
