"""Drawings across the antimeridian: what they show lies where it did, between the longitudes -180 and 180."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest

from esar_ros.incident.features import Area, AreaKind, Mover, Position, Search, Sortie, Track, Waypoint, wrapped
from esar_ros.incident.formats import cot, geojson, words
from helpers.searches import NOON

# Taveuni lies on the antimeridian: an area about it with a hole on it, as told by one who counts on beyond 180, and as
# told by one who does not.
ROUND_IT = np.array([[179.9, -16.9], [180.1, -16.9], [180.1, -16.7], [179.9, -16.7]])
LAKE = 0.2 * ROUND_IT + 0.8 * ROUND_IT.mean(axis=0)
WAY = np.array([[179.95, -16.85], [179.99, -16.8], [180.03, -16.8], [180.0, -16.78], [179.98, -16.75]])


def across(is_wrapped: bool) -> Search:
    def told(places: np.ndarray) -> np.ndarray:
        return np.column_stack([wrapped(places[:, 0]) if is_wrapped else places[:, 0], places[:, 1]])

    area = Area("island", AreaKind.SEARCH, told(ROUND_IT), (told(LAKE),))
    longitude, latitude = told(WAY).T
    track = Track("uav1", Mover.DRONE, latitude, longitude, 100.0 + np.arange(5.0), NOON + np.arange(5.0))
    home, far = Position(-16.85, 179.95, 5.0), Position(-16.8, -179.95, 60.0)
    return Search("s", areas=[area], tracks=[track], sorties=[Sortie("1", home, (Waypoint(far, 60.0, 0.0),), 8.0, 5.0)])


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_geojson_is_cut_at_the_antimeridian(tmp_path: Path, is_wrapped: bool) -> None:
    path = tmp_path / "search.geojson"
    geojson.write(across(is_wrapped), path)
    shapes = geopandas.read_file(path).set_index("title").geometry
    assert (shapes.dropna().bounds.abs()[["minx", "maxx"]] <= 180.0).all(axis=None)
    island = shapes["island"]
    assert island.is_valid and len(island.geoms) == 2
    assert island.area == pytest.approx(0.04 * (1.0 - 0.04))
    features = {f["properties"]["title"]: f for f in json.loads(path.read_text(encoding="utf-8"))["features"]}
    track = features["uav1"]
    assert track["geometry"]["type"] == "MultiLineString"
    assert track["geometry"]["coordinates"] == [
        [[179.95, -16.85], [179.99, -16.8], [180.0, -16.8]],
        [[-180.0, -16.8], [-179.97, -16.8], [-180.0, -16.78]],
        [[180.0, -16.78], [179.98, -16.75]],
    ]
    about = track["properties"]
    assert [len(part) for part in about["coordTimes"]] == [3, 3, 2]
    assert about["altitudes_msl"] == [[100.0, 101.0, None], [None, 102.0, None], [103.0, 104.0]]
    assert len(features["1"]["geometry"]["coordinates"]) == 3  # there and back


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_cot_drawings_are_cut_at_the_antimeridian(is_wrapped: bool) -> None:
    made: list[Any] = cot.events(across(is_wrapped))
    assert len({event.get("uid") for event in made}) == len(made)
    assert [event.find("detail/contact").get("callsign") for event in made].count("island") == 2
    for event in made:
        points = [link.get("point").split(",") for link in event.iter("link")]
        longitudes = np.array([float(longitude) for _, longitude in points])
        assert (np.abs(longitudes) <= 180.0).all() and np.ptp(longitudes) <= 0.1
        assert abs(float(event.find("point").get("lon"))) > 179.8  # not in Africa


def test_what_does_not_cross_it_stays_to_the_bit() -> None:
    line = np.array([[180.0, 10.0], [170.0, 11.0], [-10.0, 12.0]])
    (part,) = words.lines_within(line)
    assert part is line
    triangle = np.array([[170.0, 10.0], [180.0, 10.0], [175.0, 12.0]])
    ((outline, holes),) = words.polygons_within(triangle, (LAKE - 10.0,))
    assert outline is triangle and len(holes) == 1
