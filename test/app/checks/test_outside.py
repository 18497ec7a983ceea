"""Things that a world needs: found where it is, named where it is not, waited for as long as was said."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from std_msgs.msg import String

from esar_ros.app.checks import outside
from esar_ros.app.checks.finding import Check
from esar_ros.bags.facts import Endpoint, Facts
from esar_ros.mission.errors import UsageErrors
from helpers.ros_domain import own_domain


def written(*topics: str) -> Facts:
    """A graph in which these topics are published."""
    return Facts({}, [Endpoint(topic, "px4_msgs/msg/Any", "/", True, False, True) for topic in topics])


@pytest.fixture
def port() -> Iterator[int]:
    """A UDP port that is bound."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def test_a_bound_port_is_seen(port: int, tmp_path: Path) -> None:
    assert outside.listens(port)
    assert not outside.listens(port, [tmp_path / "no table"])


def test_neither_px4_nor_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "listens", lambda port: False)
    with own_domain() as domain:  # nothing runs in it
        check = outside.autopilots(["uav1"])
    assert not check.ok and check.needed
    assert check.detail == (
        f"no topic /fmu/out/* of PX4 in ROS domain {domain}, and no agent on UDP port 8888 of this machine"
    )
    assert "MicroXRCEAgent udp4 -p 8888" in check.cure


def test_topics_that_are_written_in_the_domain_are_seen() -> None:
    with own_domain():
        context = rclpy.Context()
        context.init()
        node = rclpy.create_node("as_an_agent", context=context)
        try:
            node.create_publisher(String, "/fmu/out/vehicle_status_v1", 10)
            check = outside.autopilots(["uav1"])
        finally:
            node.destroy_node()
            context.shutdown()
    assert check.ok and check.detail.startswith("writes /fmu/out/* in ROS domain")


def test_an_arducopter_is_heard_on_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymavlink")
    from copter_link import CopterLink
    from fake_copter import FakeCopter

    from esar_ros.bridges.ardupilot.settings import ArdupilotSettings, SomeMavlinkAddress

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        free = int(probe.getsockname()[1])
    address = SomeMavlinkAddress(link=f"udpin:127.0.0.1:{free}", system_id=4)
    monkeypatch.setattr(outside, "load_ardupilot_settings", lambda: ArdupilotSettings(vehicles={"uav1": address}))
    check = outside.copters(["uav1"])
    assert not check.ok and check.detail == f"no ArduCopter of system 4 is heard on udpin:127.0.0.1:{free}"
    copter = CopterLink(FakeCopter(system_id=4), free)
    check = outside.copters(["uav1"])
    copter.close()
    assert check.ok and check.detail == f"speaks as system 4 on udpin:127.0.0.1:{free}"


def test_an_agent_without_px4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "listens", lambda port: port == outside.AGENT_PORT)
    monkeypatch.setattr(outside, "running_graph", lambda seconds: written("/uav1/odometry"))
    check = outside.autopilots(["uav1"])
    assert not check.ok and "though something listens on UDP port 8888" in check.detail
    assert "UXRCE_DDS_DOM_ID" in check.cure


def test_each_vehicle_s_topics_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = ["/fmu/out/vehicle_status"]
    monkeypatch.setattr(outside, "running_graph", lambda seconds: written(*topics))
    assert outside.autopilots(["uav1"]).ok
    second = outside.autopilots(["uav1", "uav2"])
    assert not second.ok and "no topic /px4_1/fmu/out/* of PX4" in second.detail and "8888" not in second.detail
    topics.append("/px4_1/fmu/out/vehicle_status")
    assert outside.autopilots(["uav1", "uav2"]).ok


def test_what_comes_late_is_waited_for_and_counted_down(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [Check("AirSim server", False, "no server", "start it")] * 2 + [Check("AirSim server", True, "answers")]
    monkeypatch.setattr(outside, "outside", lambda *_: [answers.pop(0)])
    monkeypatch.setattr(outside.time, "sleep", lambda seconds: None)
    told: list[str] = []
    outside.wait_for_outside("airsim", "127.0.0.1", 1, ["uav1"], 30.0, told.append)
    assert told == ["30 s more for AirSim server: no server"] * 2


def test_all_that_lacks_is_told_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "listens", lambda port: False)
    monkeypatch.setattr(outside, "running_graph", lambda seconds: written())
    with pytest.raises(UsageErrors) as caught:
        outside.wait_for_outside("px4", "127.0.0.1", 1, ["uav1"], 0.0, lambda text: None)
    first, second = str(caught.value).splitlines()
    assert first.startswith("world px4: no topic /fmu/out/* of PX4")
    assert second.startswith("world px4: AirSim server not reached on 127.0.0.1:1")
    assert "esar px4 mirror --port 1" in second


@pytest.mark.parametrize(("world", "needed"), [("airsim", True), ("px4", False)])
def test_a_vehicle_with_cameras_needs_no_server(world: str, needed: bool) -> None:
    check = outside.server(world, "127.0.0.1", 1)
    assert not check.ok and check.needed is needed


def test_the_embedded_world_needs_nothing() -> None:
    assert outside.outside("embedded", "127.0.0.1", 1, ["uav1"]) == []
