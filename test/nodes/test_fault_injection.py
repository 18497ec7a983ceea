"""Faults at a node's inputs on real DDS, on real messages, and as signals to real processes."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import BatteryState

from esar_ros.app import mission as command_line
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.msg import Clue, Clues, MissionState, RangeImage, Tick
from esar_ros.nodes import interface, launch_arguments, steps
from esar_ros.nodes.fault_injection import (
    FrameTamper,
    MessageTamper,
    ProcessFaults,
    checked_schedule,
    inputs_of,
)
from esar_ros.nodes.frames import FrameSet
from esar_ros.nodes.graph import MissionOptions, NodeSpec, mission_graph
from esar_ros.nodes.interface import BY_NAME
from esar_ros.nodes.progress import PREFIX
from esar_ros.nodes.qos import PROFILES
from esar_ros.nodes.steps import Step, StepNode, to_stamp
from esar_ros.nodes.types import message_class
from esar_ros.perception.backend import CameraFrame
from esar_ros.safety.faults import PROCESS_KINDS, Schedule

EXAMPLES = sorted(resource("config/faults").glob("*.yaml"))
PERIOD = 50_000_000

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(*faults: str) -> Path:
        path = tmp_path / "faults.yaml"
        path.write_text("faults:\n" + "".join(f"  - {{{fault}}}\n" for fault in faults), encoding="utf-8")
        return path

    return to_file


# -- what a schedule may name -------------------------------------------------------------------


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_the_graph(path: Path) -> None:
    checked_schedule(path, ("uav1",), "realtime")


@pytest.mark.parametrize(
    ("fault", "pace", "words"),
    [
        ("kind: drop, node: safety_governor, topic: ranges, at: 5, vehicle: uav9", "lockstep", ("uav9", "uav1")),
        ("kind: drop, node: referee, topic: odometry, at: 5", "lockstep", ("referee", "safety_governor")),
        ("kind: drop, node: safety_governor, topic: clues, at: 5", "lockstep", ("clues", "map/local")),
        ("kind: drop, node: safety_governor, topic: heartbeat, at: 5", "lockstep", ("heartbeat",)),
        ("kind: kill, process: everybody, at: 5", "lockstep", ("everybody", "sensing")),
        ("kind: clock_reset, node: pilot, at: 5, by: 3", "lockstep", ("clock_reset", "realtime")),
        ("kind: drop, node: camera_driver, topic: odometry, at: 5", "lockstep", ("camera_driver", "realtime")),
        ("kind: drop, node: voxel_mapper, topic: frames, at: 5", "realtime", ("frames", "camera_lost")),
    ],
)
def test_what_the_graph_has_not_is_refused(write: Write, fault: str, pace: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refused:
        checked_schedule(write("kind: kill, process: pilot, at: 3", fault), ("uav1",), pace)
    text = str(refused.value)
    assert "faults.1" in text
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_inputs_are_those_of_the_table() -> None:
    assert inputs_of(interface.SAFETY_GOVERNOR) == (
        "battery", "cmd_vel", "map/local", "odometry", "ranges", "vehicle_state",
    )  # fmt: skip
    assert "frames" in inputs_of(interface.VOXEL_MAPPER)


def test_the_command_line_checks_the_schedule(write: Write) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    command_line.add_arguments(parser)
    path = write("kind: drop, node: nobody, topic: ranges, at: 5")
    with pytest.raises(UsageError, match="nobody"):
        command_line.options_from(parser.parse_args(["--fault", str(path)]))
    path = write("kind: drop, node: safety_governor, topic: ranges, at: 5")
    options, _ = command_line.options_from(parser.parse_args(["--fault", str(path)]))
    assert options.fault == str(path)
    assert all(spec.parameters["faults"] == str(path) for spec in mission_graph(options) if spec.ros)


@pytest.mark.parametrize("kind", PROCESS_KINDS)
def test_launch_refuses_signals(write: Write, kind: str) -> None:
    assert launch_arguments.SIGNALS == PROCESS_KINDS
    values = {name: argument.default for name, argument in launch_arguments.ARGUMENTS.items()}
    with pytest.raises(UsageError, match=kind):
        launch_arguments.options_from(values | {"fault": str(write(f"kind: {kind}, at: 5"))})
    with pytest.raises(UsageError, match="no file"):
        launch_arguments.options_from(values | {"fault": "/nowhere.yaml"})
    assert launch_arguments.options_from(values | {"fault": str(write("kind: drop, at: 5"))}).fault


# -- messages -----------------------------------------------------------------------------------


def test_a_message_is_changed_in_a_copy() -> None:
    tamper = MessageTamper()
    ranges = RangeImage(rows=1, columns=2, range_max=60.0, ranges=[1.5, math.inf])
    ranges.header.stamp = to_stamp(5 * PERIOD)
    assert list(tamper.in_millimetres(ranges).ranges) == [1500.0, math.inf]
    assert np.isnan(tamper.spoiled(ranges).ranges).all()
    assert tamper.stamp(tamper.spoiled(ranges)) == 5 * PERIOD
    assert tamper.stamp(tamper.shifted(ranges, 0.25)) == 10 * PERIOD
    assert tamper.stamp(tamper.shifted(ranges, -9.0)) == 0
    assert list(ranges.ranges) == [1.5, math.inf]
    assert tamper.stamp(ranges) == 5 * PERIOD
    battery = BatteryState(percentage=0.9)
    assert tamper.charged(battery, 0.25).percentage == 0.25
    assert battery.percentage == pytest.approx(0.9)


def test_nested_numbers_are_spoiled_too() -> None:
    spoiled = MessageTamper().spoiled(Clues(clues=[Clue(id=3, kind="tent", score=0.5)]))
    assert math.isnan(spoiled.clues[0].score)
    assert math.isnan(spoiled.clues[0].position.x)
    assert spoiled.clues[0].kind == "tent"
    odometry = MessageTamper().spoiled(Odometry())
    assert math.isnan(odometry.pose.pose.orientation.w)
    assert np.isnan(odometry.pose.covariance).all()


def test_a_flip_is_north_east_down() -> None:
    tamper = MessageTamper()
    odometry = Odometry()
    place = odometry.pose.pose.position
    place.x, place.y, place.z = 1.0, 2.0, 3.0  # east, north, up
    odometry.pose.pose.orientation.w = 1.0  # looks east
    body = odometry.twist.twist.linear
    body.x, body.y, body.z = 4.0, 5.0, 6.0  # forward, left, up
    flipped = tamper.flipped(odometry)
    assert [getattr(flipped.pose.pose.position, a) for a in "xyz"] == [2.0, 1.0, -3.0]
    q = flipped.pose.pose.orientation
    assert abs(2.0 * math.atan2(q.z, q.w)) == pytest.approx(math.pi / 2)  # clockwise from north
    assert [getattr(flipped.twist.twist.linear, a) for a in "xyz"] == [4.0, -5.0, -6.0]
    command = TwistStamped()
    command.twist.linear.x, command.twist.linear.z, command.twist.angular.z = 1.0, 2.0, 0.5
    turned = tamper.flipped(command).twist
    assert (turned.linear.x, turned.linear.y, turned.linear.z, turned.angular.z) == (0.0, 1.0, -2.0, -0.5)


def test_pictures_are_changed_in_a_copy() -> None:
    model = CameraModel.from_horizontal_fov(4, 2, 1.5)
    frames = tuple(
        CameraFrame(
            camera, model, Pose(np.zeros(3)), np.zeros((2, 4, 3), np.uint8), np.full((2, 4), 2.0, np.float32), 1.0
        )
        for camera in names.CAMERAS
    )
    whole, tamper = FrameSet(7, frames), FrameTamper()
    assert [f.camera for f in tamper.without_camera(whole, "left").frames] == ["front", "right", "down"]
    assert all((f.depth == 2000.0).all() for f in tamper.in_millimetres(whole).frames)
    assert all(np.isnan(f.depth).all() for f in tamper.spoiled(whole).frames)
    assert all((f.depth == 2.0).all() for f in whole.frames)
    assert tamper.stamp(whole) == 7


# -- at a node ----------------------------------------------------------------------------------


class Pilot(StepNode):
    """Answers every step; notes which odometry it had."""

    def __init__(self) -> None:
        super().__init__("pilot")
        self.await_input(names.ODOMETRY)
        self.seen: list[tuple[int, bool, float | None]] = []
        self.join()

    def on_step(self, step: Step) -> bool | None:
        box = self.inbox(names.ODOMETRY)
        newest = box.newest.pose.pose.position.x if box.newest is not None else None
        self.seen.append((step.seq, box.at(step.ns) is not None, newest))
        return None


class World(Node):
    """Sends the mission's state, ticks and odometry."""

    def __init__(self) -> None:
        super().__init__("world")
        self.out = {
            name: self.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (names.TICK, names.ODOMETRY, names.MISSION_STATE)
        }

    def begin(self) -> None:
        state = MissionState(phase=MissionState.RUNNING)
        state.header.stamp = to_stamp(PERIOD)
        self.out[names.MISSION_STATE].publish(state)

    def step(self, seq: int) -> None:
        stamp = to_stamp((seq + 1) * PERIOD)
        odometry, tick = Odometry(), Tick(seq=seq, epoch=1, period=0.05)
        odometry.header.stamp = tick.header.stamp = stamp
        odometry.pose.pose.position.x = float(seq)
        self.out[names.ODOMETRY].publish(odometry)
        self.out[names.TICK].publish(tick)


@pytest.fixture
def stepped(
    ros: Any, write: Write, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], list[tuple[int, bool, float | None]]]]:
    """Steps 0..29 of a lockstep mission with a fault at the pilot: what it saw."""

    def run(fault: str) -> list[tuple[int, bool, float | None]]:
        path = str(write(fault))
        real = steps.declare
        monkeypatch.setattr(
            steps, "declare", lambda n, name, *a, **k: path if name == "faults" else real(n, name, *a, **k)
        )
        pilot = Pilot()
        world = World()
        assert ros([pilot, world], lambda: all(p.get_subscription_count() for p in world.out.values()))
        world.begin()
        assert ros([pilot, world], lambda: pilot._faults._start_ns is not None)
        for seq in range(30):
            world.step(seq)
            assert ros([pilot, world], lambda n=seq: len(pilot.seen) > n, 5.0), f"time stood still at step {seq}"
        return pilot.seen

    yield run


def test_in_lockstep_a_lost_message_is_absent_and_time_goes_on(stepped: Any) -> None:
    seen = stepped("kind: drop, node: pilot, topic: odometry, at: 1.1, for: 0.2")
    assert [seq for seq, there, _ in seen if not there] == [22, 23, 24, 25]
    assert [newest for seq, _, newest in seen if seq in (21, 23, 26)] == [21.0, 21.0, 26.0]


def test_in_lockstep_a_delayed_message_comes_with_a_later_step(stepped: Any) -> None:
    seen = stepped("kind: delay, node: pilot, topic: odometry, at: 1.0, for: 0.2, delay: 0.1")
    assert [seq for seq, there, _ in seen if not there] == [20, 21, 22, 23]
    assert [newest for seq, _, newest in seen if 19 <= seq <= 25] == [19.0, 19.0, 19.0, 20.0, 21.0, 24.0, 25.0]


def test_a_node_that_is_not_named_hears_everything(stepped: Any) -> None:
    assert all(there for _, there, _ in stepped("kind: drop, node: safety_governor, topic: odometry, at: 1"))


# -- processes ----------------------------------------------------------------------------------

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


class Shop:
    """Stands for the supervisor: one sleeping process a label."""

    def __init__(self, *labels: str) -> None:
        self.running = {label: subprocess.Popen(SLEEP) for label in labels}

    def pid(self, label: str) -> int | None:
        return self.running[label].pid if label in self.running else None

    def state(self, label: str) -> str:
        """R or S: runs; T: stopped; Z: dead."""
        return Path(f"/proc/{self.running[label].pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def close(self) -> None:
        for popen in self.running.values():
            popen.kill()
            popen.wait()


@pytest.fixture
def shop() -> Iterator[Shop]:
    made = Shop("simulator", "uav1-pilot", "uav2-pilot")
    yield made
    made.close()


SPECS = [NodeSpec("simulator", ros=False), NodeSpec("pilot", "/uav1"), NodeSpec("pilot", "/uav2")]


def faults(*listed: dict[str, Any], realtime: bool = False) -> ProcessFaults:
    return ProcessFaults(Schedule.model_validate({"faults": listed}), SPECS, realtime)


def until(condition: Callable[[], bool]) -> bool:
    limit = time.monotonic() + 5.0
    while time.monotonic() < limit and not condition():
        time.sleep(0.01)
    return condition()


def tell(one: ProcessFaults, elapsed: float, phase: str = "search") -> None:
    one.hear(f'{PREFIX}{{"phase": "{phase}", "elapsed": {elapsed}}}')


def test_a_kill_waits_for_its_time_and_takes_the_right_process(shop: Shop) -> None:
    one = faults({"kind": "kill", "process": "pilot", "vehicle": "uav2", "at": 3.0})
    for elapsed, phase in ((9.0, "join"), (2.9, "search")):
        tell(one, elapsed, phase)
        one.strike(shop)
        assert not one.strikes
    one.hear("not for us")
    tell(one, 3.0)
    one.strike(shop)
    assert until(lambda: shop.state("uav2-pilot") == "Z")
    assert shop.state("uav1-pilot") != "Z"
    assert [(s.label, s.kind, s.time) for s in one.strikes] == [("uav2-pilot", "kill", 3.0)]
    one.strike(shop)
    assert len(one.strikes) == 1


def test_a_stopped_process_goes_on_after_its_time(shop: Shop) -> None:
    one = faults({"kind": "rpc_hang", "at": 3.0, "for": 0.2})
    tell(one, 4.0)
    one.strike(shop)
    assert until(lambda: shop.state("simulator") == "T")
    assert until(lambda: one.strike(shop) is None and shop.state("simulator") != "T")


def test_a_stopped_process_goes_on_when_the_mission_is_ended(shop: Shop) -> None:
    one = faults({"kind": "stop", "process": "pilot", "at": 3.0, "for": 60.0})
    tell(one, 4.0)
    one.strike(shop)
    assert until(lambda: shop.state("uav1-pilot") == shop.state("uav2-pilot") == "T")
    one.release()
    assert until(lambda: "T" not in (shop.state("uav1-pilot"), shop.state("uav2-pilot")))


def test_in_real_time_the_clock_goes_on_between_two_lines(shop: Shop) -> None:
    live, still = (faults({"kind": "kill", "process": "pilot", "at": 3.0}, realtime=r) for r in (True, False))
    assert live.now() is None
    for one in (live, still):
        tell(one, 2.0)
    time.sleep(0.05)
    assert still.now() == 2.0
    assert 2.04 < (live.now() or 0.0) < 3.0


def test_a_process_that_is_being_started_again_is_struck_later(shop: Shop) -> None:
    one = faults({"kind": "kill", "process": "simulator", "at": 3.0})
    popen = shop.running.pop("simulator")
    tell(one, 4.0)
    one.strike(shop)
    assert not one.strikes
    shop.running["simulator"] = popen
    one.strike(shop)
    assert len(one.strikes) == 1


def test_a_mission_without_a_schedule_has_no_process_faults() -> None:
    assert ProcessFaults.of(MissionOptions(map="aotai"), SPECS) is None
