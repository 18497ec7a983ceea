"""Names on the map of a flown mission."""

from __future__ import annotations

import math

import pytest
from matplotlib.figure import Figure

from esar_ros.benchmark.report.mission_map import Labels, Region


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
