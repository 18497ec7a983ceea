"""Map of a flown mission: its region, its relief, unseen ground, and the names on it."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from esar_ros.benchmark.report.mission_map import Labels, Region, region_of, relief
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.benchmark.report.scorecard import map_jpeg


@pytest.mark.parametrize("names", [("clothing", "trekking pole", "water bottle"), ("rope", "light", "food wrapper")])
def test_in_a_crowd_each_name_is_nearest_to_its_own_mark(names: tuple[str, ...]) -> None:
    figure = Figure(figsize=(5.0, 5.0), dpi=72)  # 360 points for 360 m
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0.0, 360.0)
    ax.set_ylim(0.0, 360.0)
    marks = dict(zip(names, [(150.0, 180.0), (168.0, 178.0), (190.0, 179.0)], strict=True))
    labels = Labels(ax, Region(0.0, 0.0, 360.0), 1.0)
    for place in marks.values():
        labels.reserve(*place, 5.0)
    for name in reversed(names):
        labels.put(*marks[name], name, 8.0)
    for text in ax.texts:
        distances = {name: math.dist(text.get_position(), place) for name, place in marks.items()}
        assert min(distances, key=lambda name: distances[name]) == text.get_text()


def test_the_region_holds_flight_and_truth_but_not_far_false_reports(flown: MissionRecord) -> None:
    west, east, south, north = region_of(flown).extent
    for thing in flown.result.things:
        assert west < thing.position[0] < east
        assert south < thing.position[1] < north
    assert east - west < 500.0


def test_relief_is_smooth_also_beyond_the_map(flown: MissionRecord) -> None:
    assert flown.place is not None
    inside = relief(flown.place, Region(-50.0, -50.0, 100.0), 64)
    corner = relief(flown.place, Region(950.0, 950.0, 100.0), 64)
    for image in (inside, corner):
        assert image.shape == (64, 64, 3)
        assert np.isfinite(image).all()
        assert image.min() >= 0.0
        assert image.max() <= 1.0
    assert np.ptp(corner[:16, 40:]) == 0.0  # north-east of the map there is nothing


def test_relief_is_lit_from_the_north_west(flown: MissionRecord) -> None:
    assert flown.place is not None
    n = flown.place.samples
    line = np.linspace(-1.0, 1.0, n)
    hill = (-200.0 * np.hypot(*np.meshgrid(line, line))).astype(np.float32)
    cone = replace(flown.place, heights=hill, land_cover=np.zeros((n, n), dtype=np.uint8))
    image = relief(cone, Region(-900.0, -900.0, 1800.0), 60).mean(axis=-1)
    assert image[10:25, 10:25].mean() > image[35:50, 35:50].mean() + 0.1


def test_unseen_ground_is_veiled(flown: MissionRecord) -> None:
    seen = np.asarray(Image.open(io.BytesIO(map_jpeg(replace(flown, coverage=None), 4.0))).convert("L"), dtype=float)
    veiled = np.asarray(Image.open(io.BytesIO(map_jpeg(flown, 4.0))).convert("L"), dtype=float)
    upper = slice(0, seen.shape[0] // 4)
    assert veiled[upper].mean() < seen[upper].mean() - 10.0
