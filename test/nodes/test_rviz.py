"""The RViz configurations against the table of topics; test_interface.py holds them to the live graph."""

from __future__ import annotations

import pytest

from esar_ros.nodes.core.interface import BY_NAME
from helpers.rviz_displays import CONFIGS, SHOWS, displays, load, shown

CLASSES = {"Grid", "TF", "RobotModel", *SHOWS}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_display_shows_a_topic_of_its_type_and_can_receive_it(name: str) -> None:
    for display, vehicle, topic in shown(name):
        assert vehicle in CONFIGS[name]
        entry = BY_NAME[topic]
        assert entry.type == SHOWS[display["Class"].split("/")[1]], topic
        latched = display["Topic"]["Durability Policy"] == "Transient Local"
        assert latched == entry.quality.value.latched, f"{topic}: RViz would get nothing, or miss the newest"
        assert display["Topic"]["Reliability Policy"] == "Reliable"
        if display["Class"].endswith("/Map"):
            # Grids are always sent whole: nobody publishes the updates that RViz listens to besides.
            assert display["Update Topic"]["Value"] == display["Topic"]["Value"] + "_updates"


@pytest.mark.parametrize("name", CONFIGS)
def test_displays_are_known_named_once_and_in_the_map_s_frame(name: str) -> None:
    manager = load(name)["Visualization Manager"]
    assert manager["Global Options"]["Fixed Frame"] == "map"
    assert {d["Class"].split("/")[1] for d in displays(manager) if not d["Class"].endswith("/Group")} <= CLASSES
    assert any(display["Class"] == "rviz_default_plugins/TF" for display in displays(manager))
    images = [display["Name"] for display, _, _ in shown(name) if display["Class"].endswith("/Image")]
    assert len(images) == len(set(images)), "each image is a window of its own, told apart by name"


def test_what_is_to_be_seen_of_a_mission_is_shown() -> None:
    wanted = {
        "map/points", "map/grid", "belief", "map/frontiers", "pilot/path", "goal/markers", "safety/markers",
        "clues/markers", "clues/crops", *(f"camera/{camera}/image" for camera in ("front", "left", "right", "down")),
    }  # fmt: skip
    assert wanted <= {topic for _, _, topic in shown("mission.rviz")}
    for vehicle in CONFIGS["multi.rviz"]:
        both = {topic for _, of, topic in shown("multi.rviz") if of == vehicle or topic.startswith("map/")}
        assert wanted <= both
