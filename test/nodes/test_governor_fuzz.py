"""Whatever the topics' types can carry, the governor's node does not fail: it holds, or stays within its limits."""

from __future__ import annotations

import array
import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Point, TransformStamped, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import BatteryState
from tf2_msgs.msg import TFMessage

from esar_ros.geometry.occupancy_window import FREE, pack_cells
from esar_ros.mission import names
from esar_ros.msg import Brief, Heartbeat, LocalMap, RangeImage, SafetyStatus, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.safety_governor import SafetyGovernorNode
from esar_ros.safety.limits import load_limits
from helpers.full import mostly_full

PERIOD = 50_000_000  # ns
DOUBLES = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e155, -1e7, 1e30, 1.0, -1.0, 0.5, 1e-9)
ROWS, COLUMNS = 12, 24


def started(pace: str) -> SafetyGovernorNode:
    """A node whose answers are kept, at a pace."""
    original, given = Node.__init__, [Parameter("pace", value=pace)]
    Node.__init__ = lambda self, name, **more: original(self, name, parameter_overrides=given, **more)  # type: ignore[method-assign]
    try:
        node = SafetyGovernorNode()
    finally:
        Node.__init__ = original  # type: ignore[method-assign]
    node.sent = []  # type: ignore[attr-defined]
    node.send = lambda name, message, vehicle=None: node.sent.append((name, message))  # type: ignore[attr-defined, method-assign]
    return node


@pytest.fixture(params=["lockstep", "realtime"])
def governor(ros: Any, request: pytest.FixtureRequest) -> Any:
    node = started(request.param)
    yield node
    node.destroy_node()


def sound(ns: int, rng: np.random.Generator) -> dict[str, Any]:
    """Messages of a sound graph whose vehicle flies east over flat ground."""
    stamp, base = to_stamp(ns), names.vehicle_frame("uav1", names.BASE_LINK)
    x = 2.0 * ns * 1e-9 % 100.0
    odometry = Odometry(child_frame_id=base)
    odometry.pose.pose.position.x, odometry.pose.pose.position.z = x, 15.0
    odometry.twist.twist.linear.x = 2.0
    command = TwistStamped()
    command.twist.linear.x = 2.0
    elevation = np.linspace(-math.pi / 2, math.pi / 6, ROWS + 1)[:-1] + math.pi / 3 / ROWS
    below = np.where(elevation < -0.25, -15.0 / np.minimum(np.sin(elevation), -1e-9), np.inf)
    ranges = (below[:, None] * rng.uniform(0.999, 1.001, (ROWS, COLUMNS))).astype(np.float32)
    image = RangeImage(
        azimuth_min=-math.pi, azimuth_step=2.0 * math.pi / COLUMNS, columns=COLUMNS, elevation_min=-math.pi / 2,
        elevation_step=2.0 * math.pi / 3.0 / ROWS, rows=ROWS, range_min=0.1, range_max=60.0,
        ranges=array.array("f", ranges.tobytes()),
    )  # fmt: skip
    cells = np.full((16, 16, 16), FREE, dtype=np.uint8)
    window = LocalMap(
        origin=Point(x=math.floor(x) - 8.0, y=-8.0, z=7.0), resolution=1.0, size_x=16, size_y=16, size_z=16,
        cells=array.array("B", pack_cells(cells)),
    )  # fmt: skip
    said = {
        names.ODOMETRY: odometry,
        names.VEHICLE_STATE: VehicleState(armed=True, landed=VehicleState.LANDED_FLYING),
        names.CMD_VEL: command,
        names.RANGES: image,
        names.MAP_LOCAL: window,
        names.BATTERY: BatteryState(percentage=0.9),
    }
    for message in said.values():
        message.header.stamp = stamp
    return said


def transform() -> TFMessage:
    one = TransformStamped(child_frame_id=names.vehicle_frame("uav1", names.ODOM))
    one.header.frame_id = names.MAP
    return TFMessage(transforms=[one])


def brief() -> Brief:
    corners = [(-200.0, -200.0), (200.0, -200.0), (200.0, 200.0), (-200.0, 200.0)]
    return Brief(area=[Point(x=x, y=y) for x, y in corners], ceiling=120.0)


# -- whatever a type can carry --------------------------------------------------------------------


def spoiled(message: Any, rng: np.random.Generator, share: float) -> Any:
    """A copy in which about a share of the fields hold anything that their types can."""
    message = copy.deepcopy(message)
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if hasattr(value, "get_fields_and_field_types"):
            setattr(message, name, spoiled(value, rng, share))
        elif rng.random() < share:
            setattr(message, name, anything(kind, value, rng))
    return message


def anything(kind: str, value: Any, rng: np.random.Generator) -> Any:
    """A value of a field's type."""
    if "[" in kind or kind.startswith("sequence"):
        return many(kind, value, rng)
    if kind in ("double", "float"):
        return real(kind, rng)
    if kind == "boolean":
        return bool(rng.random() < 0.5)
    if "int" in kind:
        bits = int(kind.split("int")[1])
        low, high = (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return int(rng.choice([0, 1, 2, 3, 200, low, high])) if bits < 64 else int(rng.choice([0, 1, 2**62]))
    if kind == "string":
        return str(rng.choice(["", "x", names.MAP, "uav1/odom", "../" * 20, "\u2603" * 50]))
    return value


def real(kind: str, rng: np.random.Generator) -> float:
    value = float(rng.choice(DOUBLES)) if rng.random() < 0.7 else float(rng.normal(0.0, 10.0 ** rng.uniform(-3, 12)))
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if kind == "float" else value


def many(kind: str, value: Any, rng: np.random.Generator) -> Any:
    """A sequence of another length, or with other values, or both."""
    inner = kind.split("<")[1].rstrip(">") if "<" in kind else kind.split("[")[0]
    if inner not in ("double", "float", "uint8", "int8"):
        kept = list(value)[: int(rng.integers(0, len(value) + 1))] * int(rng.choice([1, 1, 2, 1000]))
        return [spoiled(one, rng, 0.3) if hasattr(one, "header") or hasattr(one, "x") else one for one in kept]
    count = len(value) if kind.endswith("]") or rng.random() < 0.5 else int(rng.integers(0, 400))
    if inner in ("double", "float"):
        data = [real(inner, rng) for _ in range(min(count, 300))] * (count // max(min(count, 300), 1) + 1)
        if kind.endswith("]"):
            return np.array(data[:count])
        return array.array("d" if inner == "double" else "f", data[:count])
    return array.array("B" if inner == "uint8" else "b", rng.integers(0, 127, count).tolist())


def hear(governor: Any) -> dict[str, Callable[[Any], None]]:
    """The node's own callbacks by the end of their topics; of two on one topic both are called."""
    found: dict[str, list[Any]] = {}
    for subscription in governor._table.subscriptions:
        found.setdefault(subscription.topic_name, []).append(subscription.callback)

    def call(name: str, message: Any) -> None:
        for topic, callbacks in found.items():
            if topic == name or topic.endswith("/" + name):
                for callback in callbacks:
                    callback(message)

    topics = (*sound(0, np.random.default_rng(0)), names.BRIEF, names.TF_STATIC)
    return {name: partial(call, name) for name in topics}


def answer(governor: Any, ns: int, number: int) -> None:
    """One step, past the net that catches what it cannot decide."""
    if governor.lockstep:
        governor._answer(Step(ns, number, 0, 0.05, None, frozenset()))
        return
    hold = governor._hold

    def fail(step: Step, error: Exception) -> None:
        raise error

    governor._hold = fail
    governor._on_time()
    governor._hold = hold


def assert_valid(governor: Any) -> SafetyStatus:
    """Both answers are there, finite and within limits. Returns the status."""
    sent = dict(governor.sent)
    governor.sent.clear()
    given, status, limits = sent[names.CMD_VEL_SAFE].twist, sent[names.SAFETY_STATUS], load_limits()
    numbers = (given.linear.x, given.linear.y, given.linear.z, given.angular.z)
    assert all(map(math.isfinite, numbers))
    assert math.hypot(given.linear.x, given.linear.y) <= limits.speed_horizontal + 1e-6
    assert -limits.speed_down - 1e-6 <= given.linear.z <= limits.speed_up + 1e-6
    assert abs(given.angular.z) <= limits.yaw_rate
    if status.mode == SafetyStatus.MODE_HOLD:  # a hold moves to recover alone, and not where nobody knows where it is
        blind = "no odometry" in status.text
        assert math.hypot(*numbers) <= (0.0 if blind else limits.push_speed + limits.floor_climb)
    return status


def fuzz(governor: Any, count: int, seed: int) -> None:
    """Sends `count` hostile messages among sound ones."""
    rng = np.random.default_rng(seed)
    callbacks = hear(governor)
    callbacks[names.TF_STATIC](transform())
    callbacks[names.BRIEF](brief())
    hostile = number = passed = 0
    while hostile < count:
        number += 1
        ns = number * PERIOD
        said = sound(ns, rng)
        wrong = rng.choice([*said, names.BRIEF, names.TF_STATIC], int(rng.integers(0, 4)), replace=False)
        for name, message in said.items():
            callbacks[name](message)
        for name in wrong:
            original = {names.BRIEF: brief(), names.TF_STATIC: transform(), **said}[name]
            if name == names.TF_STATIC:
                original.transforms = [spoiled(original.transforms[0], rng, 0.2)]
                callbacks[name](original)
            else:
                bad = spoiled(original, rng, float(rng.choice([0.05, 0.3, 1.0])))
                if hasattr(bad, "header") and rng.random() < 0.7:
                    bad.header.stamp = to_stamp(ns)  # or else it is merely old
                callbacks[name](bad)
            hostile += 1
        answer(governor, ns, number)
        passed += assert_valid(governor).mode == SafetyStatus.MODE_NORMAL
        if number % 50 == 0:
            callbacks[names.TF_STATIC](transform())
            governor._governor.clear()
    assert number > 0


def test_a_sound_graph_is_not_held(governor: Any) -> None:
    """The sound messages alone, among which the hostile ones are mixed, let the vehicle fly."""
    rng, callbacks = np.random.default_rng(0), hear(governor)
    callbacks[names.TF_STATIC](transform())
    callbacks[names.BRIEF](brief())
    modes = []
    for number in range(1, 41):
        for name, message in sound(number * PERIOD, rng).items():
            callbacks[name](message)
        if not governor.lockstep:
            governor._silences.hear(Heartbeat(node=node_names.PILOT))
            governor._now_ns = 0
        answer(governor, number * PERIOD, number)
        modes.append(assert_valid(governor).mode)
    if governor.lockstep:
        assert modes[-1] in (SafetyStatus.MODE_NORMAL, SafetyStatus.MODE_SLOW)


@pytest.mark.parametrize("seed", mostly_full(range(2)))
def test_whatever_the_topics_carry_it_holds_or_stays_within_limits(governor: Any, seed: int) -> None:
    fuzz(governor, 750, seed)


@pytest.mark.full
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(100, 110))
def test_a_hundred_thousand_messages(governor: Any, seed: int) -> None:
    fuzz(governor, 5_000, seed)


@pytest.mark.parametrize(
    "orientation", [(0.0, 0.0, 0.0, 0.0), (1e308, 0.0, 0.0, 0.0), (1e-9, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 1.0)]
)
def test_an_attitude_that_is_none_holds(governor: Any, orientation: tuple[float, ...]) -> None:
    status = after(governor, names.ODOMETRY, lambda m: set_quaternion(m.pose.pose.orientation, orientation))
    assert status.mode == SafetyStatus.MODE_HOLD and SafetyStatus.REASON_STALE_ODOMETRY in status.reasons


@pytest.mark.parametrize("corner", [-1e308, 1e308, math.inf, math.nan, 1e9])
def test_a_map_that_is_not_on_earth_is_none(governor: Any, corner: float) -> None:
    after(governor, names.MAP_LOCAL, lambda m: setattr(m.origin, "z", corner))
    assert governor._window() is None


def test_what_cannot_be_decided_holds(governor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(governor._governor, "decide", fail)
    governor.on_step(Step(PERIOD, 1, 0, 0.05, None, frozenset()))
    status = assert_valid(governor)
    assert status.mode == SafetyStatus.MODE_HOLD and "a defect" in status.text
    assert governor.diagnose()[0].message.startswith("hold: ")


def after(governor: Any, topic: str, spoil: Callable[[Any], None]) -> SafetyStatus:
    """The status of a step with one message spoiled."""
    callbacks, said = hear(governor), sound(PERIOD, np.random.default_rng(0))
    callbacks[names.TF_STATIC](transform())
    callbacks[names.BRIEF](brief())
    spoil(said[topic])
    for name, message in said.items():
        callbacks[name](message)
    answer(governor, PERIOD, 1)
    return assert_valid(governor)


def set_quaternion(message: Any, values: tuple[float, ...]) -> None:
    message.w, message.x, message.y, message.z = values
