"""The governor's node and its inputs: the brief, ranges, maps, a person's services, its life cycle."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Point, TransformStamped, TwistStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode
from esar_ros.msg import Brief, Forecast, LocalMap, MissionState, RangeImage, SafetyStatus, VehicleState
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.safety_governor import SafetyGovernorNode

LANDED = VehicleState.LANDED_ON_GROUND


@pytest.fixture
def governor(ros: Any) -> Any:
    node: Any = SafetyGovernorNode()
    node.sent = []
    node.send = lambda name, message, vehicle=None: node.sent.append((name, message))
    yield node
    node.destroy_node()


def say(governor: Any, armed: bool, landed: int) -> None:
    governor.inbox(names.VEHICLE_STATE).put(1, VehicleState(armed=armed, landed=landed))


def hear_state(governor: Any, armed: bool, landed: int) -> None:
    """The message as the node receives it."""
    (heard,) = (one for one in governor._table.subscriptions if one.topic_name.endswith("/" + names.VEHICLE_STATE))
    heard.callback(VehicleState(armed=armed, landed=landed))


def change(governor: Any, label: str) -> bool:
    """Returns whether a transition was made, asked for by service."""
    request = ChangeState.Request(transition=Transition(label=label))
    return bool(governor._service_change_state.callback(request, ChangeState.Response()).success)


def told(governor: Any) -> list[int]:
    """Modes of the statuses that were sent."""
    return [message.mode for name, message in governor.sent if name == names.SAFETY_STATUS]


def brief(ceiling: float = 120.0, home: float = 0.0) -> Brief:
    corners = [(-200.0, -200.0), (200.0, -200.0), (200.0, 200.0), (-200.0, 200.0)]
    return Brief(area=[Point(x=x, y=y) for x, y in corners], ceiling=ceiling, home=Point(x=home))


def step_at(governor: Any, ns: int, x: float = 0.0) -> None:
    """A step in the air, 20 m up."""
    transform = TransformStamped(child_frame_id=names.vehicle_frame(governor.vehicles[0], names.ODOM))
    transform.header.frame_id = names.MAP
    governor._odometry._on_static(TFMessage(transforms=[transform]))
    odometry = Odometry()
    odometry.header.stamp = to_stamp(ns)
    odometry.pose.pose.position.x, odometry.pose.pose.position.z = x, 20.0
    governor.inbox(names.ODOMETRY).put(ns, odometry)
    say(governor, True, VehicleState.LANDED_FLYING)
    governor.on_step(Step(ns, ns // 50_000_000, 0, 0.05, None, frozenset()))


def test_a_looser_brief_in_flight_is_refused_and_the_governor_lives(governor: Any) -> None:
    governor._on_brief(brief())
    before = governor._governor.site
    step_at(governor, 50_000_000)
    for looser in (brief(ceiling=500.0), brief(home=50.0)):
        governor._on_brief(looser)
        assert governor._governor.site is before
    governor._on_brief(brief(ceiling=60.0))
    assert governor._governor.site.ceiling == 60.0


def test_a_first_brief_that_makes_no_sense_ends_the_node(governor: Any) -> None:
    with pytest.raises(UsageError, match="ceiling"):
        governor._on_brief(brief(ceiling=-1.0))


def test_ranges_are_taken_from_where_they_were_measured(governor: Any) -> None:
    """A LiDAR's stamps fall between those of the odometry."""
    for n in range(1, 11):
        step_at(governor, n * 50_000_000, x=float(n))
    ranges = RangeImage(rows=1, columns=4, azimuth_step=1.0, elevation_step=1.0, range_max=60.0)
    ranges.ranges = np.ones(4, dtype=np.float32).tolist()
    ranges.header.stamp = to_stamp(4 * 50_000_000 + 7_000_000)
    governor.inbox(names.RANGES).put(207_000_000, ranges)
    assert governor._ranges().pose.position.tolist() == [4.0, 0.0, 20.0]


def test_what_is_told_in_another_frame_is_none(governor: Any) -> None:
    governor._on_brief(brief())
    step_at(governor, 50_000_000)
    odometry = governor.inbox(names.ODOMETRY).newest
    assert governor._odometry.at() is not None
    for header, child in (("map", ""), ("uav1/odom", "uav2/base_link"), ("world", "")):
        odometry.header.frame_id, odometry.child_frame_id = header, child
        assert governor._odometry.at() is None
    command = TwistStamped()
    governor.inbox(names.CMD_VEL).put(1, command)
    assert governor._command() is not None
    command.header.frame_id = "uav1/base_link"
    assert governor._command() is None
    window = LocalMap(size_x=2, size_y=2, size_z=1, resolution=1.0, cells=array("B", [0]))
    window.header.frame_id = "uav1/odom"
    governor.inbox(names.MAP_LOCAL).put(1, window)
    assert governor._window() is None


@pytest.mark.parametrize(
    ("variances", "stated"),
    [
        ((0.0, 0.0, 0.0), None),
        ((0.0, 4.0, 1.0), 2.0),
        ((1.0, math.nan, 1.0), math.inf),
        ((math.nan, 0.0, 0.0), math.inf),
        ((1.0, 1.0, -1.0), math.inf),
        ((math.inf, 0.0, 0.0), math.inf),
    ],
)
def test_one_variance_that_is_none_makes_the_place_unknown(
    governor: Any, variances: tuple[float, ...], stated: float | None
) -> None:
    step_at(governor, 50_000_000)
    covariance = governor.inbox(names.ODOMETRY).newest.pose.covariance
    for axis, variance in zip((0, 7, 14), variances, strict=True):
        covariance[axis] = variance
    assert governor._odometry.deviation() == stated


def test_a_map_that_contradicts_itself_is_none(governor: Any) -> None:
    governor.inbox(names.MAP_LOCAL).put(1, LocalMap(size_x=3, size_y=3, size_z=3, resolution=1.0))
    assert governor._window() is None


def test_a_person_clears_what_is_latched(governor: Any) -> None:
    governor._on_brief(brief())
    modes = []
    for n, charge in enumerate((0.05, 0.9), 1):
        governor.inbox(names.BATTERY).put(n, BatteryState(percentage=charge))
        step_at(governor, n * 50_000_000)
        modes.append(governor._mode)
    assert modes == [Mode.LAND, Mode.LAND], "a charge that comes back changes nothing by itself"
    assert governor._on_clear(Trigger.Request(), Trigger.Response()).success
    step_at(governor, 150_000_000)
    assert governor._mode is Mode.HOLD, "nobody commands anything"


def test_a_persons_services_leave_a_trace(governor: Any) -> None:
    did: list[str] = []
    governor._operator_log.record = did.append
    governor._on_clear(Trigger.Request(), Trigger.Response())
    say(governor, False, LANDED)
    assert change(governor, "deactivate") and change(governor, "activate")
    governor._on_terminate(Trigger.Request(), Trigger.Response())
    assert did == ["clear", "now inactive", "now active", "terminate"]


def test_a_termination_that_cannot_be_traced_terminates(governor: Any) -> None:
    def fail(what: str) -> None:
        raise RuntimeError("the publisher is gone")

    governor._operator_log.record = fail
    assert governor._on_terminate(Trigger.Request(), Trigger.Response()).success
    step_at(governor, 50_000_000)
    assert governor._mode is Mode.TERMINATE


def test_a_person_who_clears_nothing_leaves_no_trace(governor: Any) -> None:
    did: list[str] = []
    governor._operator_log.record = did.append
    governor._on_terminate(Trigger.Request(), Trigger.Response())
    assert not governor._on_clear(Trigger.Request(), Trigger.Response()).success
    assert did == ["terminate"]


@pytest.mark.parametrize("charge", [55.0, -1.0, math.inf, -math.inf, math.nan])
def test_a_charge_that_cannot_be_is_handed_on_as_it_came(governor: Any, charge: float) -> None:
    """The core tells one that cannot be from none at all."""
    step_at(governor, 50_000_000)
    assert governor._state(50_000_000).battery is None, "no message"
    governor.inbox(names.BATTERY).put(1, BatteryState(percentage=charge))
    assert governor._state(50_000_000).battery == pytest.approx(charge, nan_ok=True)


def test_a_termination_is_final(governor: Any) -> None:
    governor._on_brief(brief())
    assert governor._on_terminate(Trigger.Request(), Trigger.Response()).success
    step_at(governor, 50_000_000)
    assert governor._mode is Mode.TERMINATE
    answer = governor._on_clear(Trigger.Request(), Trigger.Response())
    assert not answer.success and "final" in answer.message
    step_at(governor, 100_000_000)
    assert governor._mode is Mode.TERMINATE


def test_it_stays_active_while_nothing_is_known(governor: Any) -> None:
    assert not change(governor, "deactivate") and governor.active


@pytest.mark.parametrize("armed", [False, True])
@pytest.mark.parametrize("landed", range(4))
def test_only_a_disarmed_vehicle_on_the_ground_may_be_without(governor: Any, armed: bool, landed: int) -> None:
    say(governor, armed, landed)
    may = not armed and landed == LANDED
    assert [change(governor, way) for way in ("deactivate", "cleanup", "shutdown")] == [may] * 3
    assert (governor.active, governor.configured) == (not may, not may)


def test_inactive_it_commands_zero_and_wakes_with_the_motors(governor: Any) -> None:
    say(governor, False, LANDED)
    assert change(governor, "deactivate")
    step = Step(50_000_000, 1, 0, 0.05, None, frozenset())
    governor.on_step(step)
    given = next(message for name, message in governor.sent if name == names.CMD_VEL_SAFE).twist
    assert (given.linear.x, given.linear.y, given.linear.z, given.angular.z) == (0.0, 0.0, 0.0, 0.0)
    assert told(governor) == [SafetyStatus.MODE_UNKNOWN] and not governor.active
    hear_state(governor, True, LANDED)
    assert governor.active
    governor.on_step(step)
    assert told(governor)[1:] == [SafetyStatus.MODE_HOLD]


def test_inactive_it_lets_no_command_through_and_states_no_mode(governor: Any) -> None:
    """Even one that only watches, and one that cannot decide."""
    governor._enabled = False
    asked = TwistStamped()
    asked.header.stamp, asked.twist.linear.x, asked.twist.angular.z = to_stamp(50_000_000), 3.0, 1.0
    governor.inbox(names.CMD_VEL).put(50_000_000, asked)
    step = Step(50_000_000, 1, 0, 0.05, None, frozenset())

    def answers() -> list[tuple[float, float, int]]:
        governor.sent.clear()
        governor.on_step(step)
        sent = dict(governor.sent)
        given = sent[names.CMD_VEL_SAFE].twist
        return [(given.linear.x, given.angular.z, sent[names.SAFETY_STATUS].mode)]

    say(governor, False, LANDED)
    assert answers()[0][:2] == (3.0, 1.0), "active, it passes the command on"
    assert change(governor, "deactivate")
    inactive = answers()
    governor._authority = None  # a fault of its own: the decision raises
    inactive += answers()
    assert inactive == [(0.0, 0.0, SafetyStatus.MODE_UNKNOWN)] * 2
    assert change(governor, "activate")
    assert answers() == [(0.0, 0.0, SafetyStatus.MODE_HOLD)]


def test_it_configures_itself_again_for_a_vehicle_that_is_armed(governor: Any) -> None:
    say(governor, False, LANDED)
    governor.inbox(names.BRIEF).put(1, brief())
    assert change(governor, "deactivate") and change(governor, "cleanup")
    hear_state(governor, False, LANDED)
    assert not governor.configured, "nothing flies"
    hear_state(governor, True, LANDED)
    assert governor.active and governor._governor.site is not None


def test_an_inactive_or_cleaned_up_governor_terminates_all_the_same(governor: Any) -> None:
    say(governor, False, LANDED)
    assert change(governor, "deactivate") and change(governor, "cleanup")
    assert governor._on_terminate(Trigger.Request(), Trigger.Response()).success
    step_at(governor, 50_000_000)
    assert governor._mode is Mode.TERMINATE
    say(governor, False, LANDED)
    assert not change(governor, "deactivate"), "clean-up would forget the termination"


def test_one_that_was_shut_down_says_that_it_cannot_act(governor: Any) -> None:
    say(governor, False, LANDED)
    assert change(governor, "shutdown")
    hear_state(governor, True, LANDED)
    assert not governor.configured
    assert not governor._on_terminate(Trigger.Request(), Trigger.Response()).success
    assert not governor._on_clear(Trigger.Request(), Trigger.Response()).success


def test_its_diagnostics_say_what_it_does(governor: Any) -> None:
    finding, lifecycle = governor.diagnose()
    assert (finding.what, finding.message, lifecycle.what) == ("governor", "unknown", "lifecycle")
    step_at(governor, 50_000_000)
    assert governor.diagnose()[0].message.startswith("hold: "), "there is no brief and no command"


def test_the_governor_slows_by_the_forecast_and_the_missions_clock(governor: Any) -> None:
    """In lockstep the mission begins with the first step, unless its state tells another start."""
    told = brief()
    told.mission_id, told.weather, told.local_time = "one", "clear", "2024-05-01T12:00:00"
    told.forecast = [Forecast(earliest=100.0, latest=400.0, weather="fog", wind_speed=math.nan)]
    governor._on_brief(told)
    speeds = []
    for ns in (50_000_000, 100_000_000_000, 100_050_000_000):
        step_at(governor, ns)
        speeds.append(governor._governor.site.speed)
    slow = governor._governor.limits.speed_poor_sight
    assert speeds == [math.inf, math.inf, slow]
    governor._on_brief(told)
    assert governor._governor.site.speed == slow, "the same brief changes nothing"
    hasty = brief()
    hasty.mission_id, hasty.weather, hasty.local_time = "one", "clear", "2024-05-01T12:00:00"
    governor._on_brief(hasty)
    assert governor._governor.site.speed == slow, "one without the forecast is looser"
    state = MissionState(mission_id="one", phase=MissionState.RUNNING, elapsed=10.0)
    state.header.stamp = to_stamp(100_050_000_000)
    governor.inbox(names.MISSION_STATE).put(1, state)
    step_at(governor, 100_100_000_000)
    assert governor._governor.site.speed == math.inf


@pytest.mark.parametrize(
    ("frame", "taken"),
    [("", True), ("base_link", True), ("uav1/base_link", True), ("uav1/camera_optical_frame", False)],
)
def test_ranges_of_another_frame_are_none(governor: Any, frame: str, taken: bool) -> None:
    step_at(governor, 50_000_000)
    ranges = RangeImage(rows=2, columns=4, azimuth_min=-math.pi, azimuth_step=math.pi / 2.0, range_max=20.0)
    ranges.elevation_min, ranges.elevation_step = -math.pi / 2.0, math.pi / 2.0
    ranges.ranges, ranges.header.frame_id = [5.0] * 8, frame
    ranges.header.stamp = to_stamp(50_000_000)
    governor.inbox(names.RANGES).put(50_000_000, ranges)
    assert (governor._ranges() is not None) == taken
