"""The layout that is shipped for Foxglove: every panel is placed, every topic and field exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from esar_ros.bags.writer import typestore
from esar_ros.mission.resources import resource
from esar_ros.nodes.core.interface import BY_NAME

LAYOUT = json.loads((resource("config/foxglove") / "esar.json").read_text(encoding="utf-8"))
PATH = re.compile(r"/uav1/([a-z_/]+)((?:\.[a-z_@]+)*)|(/diagnostics)")


def placed(node: Any) -> Iterator[str]:
    """Panels of a layout's tree."""
    if isinstance(node, str):
        yield node
    else:
        assert node["direction"] in ("row", "column")
        assert 0 < node["splitPercentage"] < 100
        yield from placed(node["first"])
        yield from placed(node["second"])


def paths(value: Any) -> Iterator[str]:
    """Every text that names a topic, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(key)
            yield from paths(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner)
    elif isinstance(value, str) and value.startswith("/"):
        yield value


ALL = sorted(set(paths(LAYOUT["configById"])))


def test_panels_are_those_that_are_placed_once() -> None:
    panels = list(placed(LAYOUT["layout"]))
    assert len(panels) == len(set(panels))
    assert set(panels) == set(LAYOUT["configById"])
    assert {name.split("!")[0] for name in panels} >= {"3D", "Image", "Plot", "StateTransitions", "RawMessages"}


def test_what_a_watcher_needs_is_shown() -> None:
    topics = {path.split(".")[0] for path in ALL}
    for name in ("belief", "map/points", "clues/markers", "pilot/path", "safety/status", "planner/decision"):
        assert f"/uav1/{name}" in topics


@pytest.mark.parametrize("path", ALL)
def test_a_path_leads_to_a_field(path: str) -> None:
    found = PATH.fullmatch(path)
    assert found, path
    name = found[3] or found[1]
    kind = BY_NAME[name].type
    for field in (found[2] or "").split(".")[1:]:
        if field == "@norm":
            assert kind == "geometry_msgs/msg/Vector3"
        elif field == "length":
            assert kind == "sequence"
        else:
            node, detail = dict(typestore().fielddefs[kind][1])[field]
            kind = detail if node == 2 else "sequence" if node in (3, 4) else "plain"
