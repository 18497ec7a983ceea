"""Files and pictures for people hold what the map holds."""

from __future__ import annotations

import builtins

import cv2
import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.mapping import export
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.errors import UsageError

MODEL = CameraModel.from_horizontal_fov(64, 48, np.pi / 2)


@pytest.fixture(scope="module")
def mapper(look):
    """Ground at z = 0 west of x = 20 and at z = 12 east of it."""
    made = Mapper(1.0, 120.0, 80.0)
    made.set_area(np.array([[-60.0, -40.0], [60.0, -40.0], [60.0, 40.0], [-60.0, 40.0]]), np.zeros(3))
    for x, ground in ((-12.0, 0.0), (52.0, 12.0)):
        pose = look((x, 0.0, ground + 40.0), np.pi / 2, -np.pi / 2)
        depth = np.full((48, 64), 40.0, np.float32)
        depth[:, :8] = np.nan
        made.integrate([(depth, MODEL, pose)])
    return made


def read_ply(path):
    head, body = path.read_bytes().split(b"end_header\n")
    lines = head.decode().splitlines()
    kinds = [(w[2], {"float": "<f4", "uchar": "u1"}[w[1]]) for w in map(str.split, lines) if w[0] == "property"]
    rows = np.frombuffer(body, kinds)
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"] and f"element vertex {len(rows)}" in lines
    return rows


def test_ply_files_hold_the_points(mapper, tmp_path):
    points = mapper.occupied_points()
    colors = export.height_colors(points[:, 2])
    export.write_ply(tmp_path / "plain.ply", points)
    export.write_ply(tmp_path / "colored.ply", points, colors)
    for name in ("plain", "colored"):
        rows = read_ply(tmp_path / f"{name}.ply")
        np.testing.assert_array_equal(np.stack([rows[a] for a in "xyz"], axis=1), points)
    np.testing.assert_array_equal(np.stack([rows[c] for c in ("red", "green", "blue")], axis=1), colors)
    assert len(np.unique(colors, axis=0)) >= 2 and not len(export.height_colors(np.zeros(0)))
    with pytest.raises(ValueError):
        export.write_ply(tmp_path / "bad.ply", points, colors[:-1])
    assert not (tmp_path / "bad.ply").exists()


def test_pictures_have_north_up_and_the_unknown_dark(mapper, tmp_path):
    heights = mapper.heights()
    picture = export.map_picture(heights)
    assert picture.cell == 2.0 and picture.west == heights.origin[0]

    def color(x, y):
        return picture.rgb[int((picture.north - y) / 2.0), int((x - picture.west) / 2.0)].astype(int)

    low, high, unseen = color(-5.0, 0.0), color(60.0, 0.0), color(-50.0, 0.0)
    assert tuple(unseen) == export._UNKNOWN
    assert np.abs(low - high).max() > 40 and low.max() > 60
    covered = export.coverage_picture(mapper)
    assert covered.rgb.shape[:2] == mapper.coverage.inside.shape and covered.north == 40.0
    picture.write(tmp_path / "map.png")
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "map.png"))[..., ::-1], picture.rgb)
    with pytest.raises(UsageError):
        picture.write(tmp_path / "nowhere" / "map.png")


def test_an_empty_map_has_an_empty_picture():
    made = Mapper(1.0, 120.0, 80.0)
    made.set_area(np.array([[-60.0, -40.0], [60.0, -40.0], [60.0, 40.0]]), np.zeros(3))
    assert export.map_picture(made.heights()).rgb.size == 0
    assert export.coverage_picture(made).rgb.max() == 70


def test_geotiff_lies_where_the_map_lies(mapper, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    heights = mapper.heights()
    path = tmp_path / "map.tif"
    bands = export.height_bands(heights)
    export.write_geotiff(path, bands, heights.origin, heights.resolution, (27.8, 86.7))
    with rasterio.open(path) as file:
        assert file.descriptions == tuple(bands)
        row, column = np.argwhere(np.isfinite(heights.top))[7]
        place = (heights.origin[0] + column + 0.5, heights.origin[1] + row + 0.5)
        assert next(file.sample([place], indexes=2))[0] == heights.top[row, column]
        assert file.crs.to_dict()["lat_0"] == pytest.approx(27.8)
    with pytest.raises(ValueError):
        export.write_geotiff(path, {"a": np.zeros((2, 2)), "b": np.zeros((3, 2))}, (0.0, 0.0), 1.0, (0.0, 0.0))


def test_what_is_not_installed_is_said_in_one_line(mapper, tmp_path, monkeypatch):
    ordinary = builtins.__import__

    def without(name, *rest, **options):
        if name in ("open3d", "rasterio"):
            raise ImportError(name)
        return ordinary(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match="pip install open3d"):
        export.show(mapper.occupied_points())
    with pytest.raises(UsageError, match="pip install rasterio"):
        export.write_geotiff(tmp_path / "a.tif", {"a": np.zeros((2, 2))}, (0.0, 0.0), 1.0, (0.0, 0.0))
