"""Trails and roads of a file: lines on the ground's grid; another place, no line and no file are told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from esar_ros.incident.sources.ways import read_ways
from esar_ros.mission.errors import UsageError
from helpers.hills import LATITUDE, LONGITUDE, hills

pytest.importorskip("pyogrio")


def written(path: Path, *lines: list[tuple[float, float]], kind: str = "LineString") -> Path:
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": kind, "coordinates": line}} for line in lines
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_lines_come_onto_the_grid_and_those_of_another_place_are_left(tmp_path: Path) -> None:
    here = [(LONGITUDE, LATITUDE), (LONGITUDE + 0.001, LATITUDE)]
    there = [(LONGITUDE + 3.0, LATITUDE), (LONGITUDE + 3.1, LATITUDE)]
    ground = hills()
    (way,) = read_ways(written(tmp_path / "a.geojson", here, there), ground)
    assert way[0] == pytest.approx(ground.to_grid(LATITUDE, LONGITUDE), abs=1e-3)
    assert np.linalg.norm(way[1] - way[0]) == pytest.approx(0.001 * 111_320.0 * np.cos(np.radians(LATITUDE)), rel=0.01)


def test_a_track_of_a_gps_is_a_way(tmp_path: Path) -> None:
    points = "".join(f'<trkpt lat="{LATITUDE}" lon="{LONGITUDE + n * 1e-4}"/>' for n in range(4))
    path = tmp_path / "a.gpx"
    path.write_text(
        f'<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    )
    (way,) = read_ways(path, hills())
    assert way.shape == (4, 2)


def test_a_file_without_a_line_here_is_refused(tmp_path: Path) -> None:
    far = written(tmp_path / "a.geojson", [(0.0, 50.0), (0.1, 50.0)])
    with pytest.raises(UsageError, match="none of its 1 lines comes onto the map"):
        read_ways(far, hills())
    with pytest.raises(UsageError, match="holds no line"):
        read_ways(written(tmp_path / "b.geojson", (LONGITUDE, LATITUDE), kind="Point"), hills())  # type: ignore[arg-type]
    (tmp_path / "c.geojson").write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        read_ways(tmp_path / "c.geojson", hills())
