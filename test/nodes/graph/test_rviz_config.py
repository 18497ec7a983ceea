"""RViz configurations with a mission's own names, and the model of the vehicle that RViz shows."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from transforms3d.euler import euler2mat

from esar_ros.mission import names
from esar_ros.mission.resources import resource
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.nodes.graph.rviz_config import rviz_config
from helpers.rviz_displays import displays


def test_with_the_names_in_the_files_nothing_changes(tmp_path: Path) -> None:
    for vehicles, name in ((("uav1",), "mission.rviz"), (("uav1", "uav2"), "multi.rviz")):
        made = rviz_config(vehicles, "", tmp_path)
        assert made == tmp_path / name and made.read_text() == resource(f"rviz/{name}").read_text()


@pytest.mark.parametrize("vehicles", [("kite",), ("uav2", "uav1"), ("hawk", "kite", "third")], ids="-".join)
@pytest.mark.parametrize("root", ["", "/team/a"])
def test_topics_get_names_and_namespace_and_frames_names_alone(
    tmp_path: Path, vehicles: tuple[str, ...], root: str
) -> None:
    made = yaml.safe_load(rviz_config(vehicles, root, tmp_path).read_text())["Visualization Manager"]
    shown = [display for display in displays(made) if "Topic" in display or "Description Topic" in display]
    kinds = ("Topic", "Description Topic", "Update Topic")
    topics = [display[kind]["Value"] for display in shown for kind in kinds if kind in display]
    told = vehicles[:2]
    assert all(topic.startswith(tuple(f"{root}/{vehicle}/" for vehicle in told)) for topic in topics)
    assert all(any(topic.startswith(f"{root}/{vehicle}/") for topic in topics) for vehicle in told)
    target = made["Views"]["Current"].get("Target Frame", "")
    assert not target.endswith("/base_link") or target == f"{vehicles[0]}/base_link"
    prefixes = {display["TF Prefix"] for display in shown if "TF Prefix" in display}
    assert prefixes == set(told)


def test_the_model_is_the_vehicle_of_the_configuration() -> None:
    rig, model = load_vehicle(), ElementTree.parse(resource("urdf/vehicle.urdf")).getroot()
    mounts = {names.camera_frame("", camera).strip("/"): mount.pose for camera, mount in rig.cameras.items()}
    joints = {joint.find("child").get("link"): joint for joint in model.iter("joint")}  # type: ignore[union-attr]
    assert set(joints) == {*mounts, names.LIDAR}
    assert {link.get("name") for link in model.iter("link")} == {names.BASE_LINK, *joints}
    for link, joint in joints.items():
        assert joint.get("type") == "fixed"
        origin = joint.find("origin")
        assert origin is not None
        at, turn = ([float(v) for v in origin.attrib[key].split()] for key in ("xyz", "rpy"))
        wanted = mounts.get(str(link))
        np.testing.assert_allclose(at, np.zeros(3) if wanted is None else wanted.position)
        np.testing.assert_allclose(euler2mat(*turn), np.eye(3) if wanted is None else wanted.rotation, atol=1e-6)
    values = {
        name: float(next(model.iter(tag)).attrib[name]) for tag, name in (("mass", "value"), ("sphere", "radius"))
    }
    assert values == {"value": rig.body.mass, "radius": rig.body.radius}
