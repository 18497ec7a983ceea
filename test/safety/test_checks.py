"""The checks of a governor's inputs, one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.checks import InputChecks
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.failsafe import Latch
from esar_ros.safety.inputs import Command, Findings, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.echoes import EchoMonitor
from esar_ros.safety.surroundings.observed_space import ObservedSpace
from esar_ros.safety.surroundings.scene import Scene
from esar_ros.safety.traffic import OtherVehicle, Team
from esar_ros.safety.watch import HeadingResidual, ScanRepetition
from esar_ros.safety.wind import WindDisturbance

NOW = 100.0  # s


@pytest.fixture
def checks(limits: Limits) -> InputChecks:
    made = InputChecks()
    made.limits = limits
    return made


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("turning", [False, True])
def test_a_command_is_finite_in_all_its_parts(checks: InputChecks, bad: float, turning: bool) -> None:
    velocity = np.array([1.0, 0.0, 0.0 if turning else bad])
    findings = Findings()
    assert checks._check_command(Command(NOW, velocity, bad if turning else 0.0), NOW, findings) is None
    assert findings.reasons == [Reason.NON_FINITE] and findings.mode is Mode.HOLD


@pytest.mark.parametrize(("lost_since", "expected"), [(None, NOW), (97.0, 97.0), (103.0, NOW)])
def test_silence_counts_from_its_begin_and_from_now_where_the_clock_went_back(
    checks: InputChecks, limits: Limits, lost_since: float | None, expected: float
) -> None:
    findings = Findings()
    assert checks._check_link(lost_since, limits.heartbeat_age + 0.1, NOW, findings) == expected
    assert findings.reasons == [Reason.LINK]
    assert checks._check_link(lost_since, limits.heartbeat_age, NOW, Findings()) is None


@pytest.mark.parametrize("what", ["odometry", "command", "ranges"])
def test_a_late_input_is_told_by_its_age_and_a_missing_one_as_missing(
    checks: InputChecks, kit: SimpleNamespace, what: str
) -> None:
    late: dict[str, Any] = {
        "odometry": state(stamp=NOW - 1.0),
        "command": Command(NOW - 1.0, np.zeros(3)),
        "ranges": kit.World().image(state().pose, NOW - 1.0),
    }
    check: Any = {
        "odometry": checks._check_odometry, "command": checks._check_command, "ranges": checks._check_ranges
    }[what]  # fmt: skip
    for given, text in ((late[what], f"{what} 1.00 s old"), (None, f"no {what}")):
        findings = Findings()
        assert check(given, NOW, findings) is None
        assert findings.texts == [text] and findings.mode is Mode.HOLD


def state(height: float = 20.0, speed: float = 0.0, stamp: float = NOW, **changed: Any) -> State:
    """A vehicle in the air; speed: m/s to the east."""
    usual = {"armed": True, "landed": False, "battery": 0.9}
    return State(stamp, Pose(np.array([0.0, 0.0, height])), np.array([speed, 0.0, 0.0]), **(usual | changed))


ON_GROUND = [{"landed": True}, {"armed": False}]


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize(
    ("height", "speed", "lands"),
    [(0.1, 0.0, True), (20.0, 0.0, False), (0.1, 2.0, False)],
)
def test_landed_and_disarmed_are_believed_where_speed_and_surface_agree(
    checks: InputChecks, kit: SimpleNamespace, armed: bool, height: float, speed: float, lands: bool
) -> None:
    said = state(height, speed, landed=True, armed=armed)
    image = kit.World().image(said.pose, NOW)
    assert checks._check_landed(said, image, None).landed == lands  # type: ignore[union-attr]
    after = checks._check_armed(said, image, NOW, None)
    assert after.armed == (armed or not lands)  # type: ignore[union-attr]
    flying = replace(said, landed=False)
    assert checks._check_landed(flying, image, None) is flying, "what is not said is not made up"
    armed_again = replace(said, armed=True)
    assert checks._check_armed(armed_again, image, NOW, None) is armed_again
    assert checks._check_landed(None, image, None) is None and checks._check_armed(None, image, NOW, None) is None


def test_a_surface_that_cannot_be_believed_disarms_nobody(checks: InputChecks, kit: SimpleNamespace) -> None:
    """The image shows the ground 0.1 m below; it counts while it is fresh and its pose is possible."""
    said = state(0.1, armed=False)
    image = kit.World().image(said.pose, NOW)
    lost = Pose(np.array([math.nan, 0.0, 0.1]))
    for seen, armed in (
        (image, False),
        (None, True),
        (replace(image, stamp=NOW - checks.limits.ranges_age - 0.1), True),
        (replace(image, pose=lost), True),
        (replace(image, pose=Pose(said.pose.position, np.zeros(4))), True),
    ):
        assert checks._check_armed(said, seen, NOW, None).armed == armed  # type: ignore[union-attr]


def test_where_no_surface_is_measured_a_vehicle_is_where_it_rested(checks: InputChecks) -> None:
    said = state(7.0, landed=True)
    rests = np.array([0.0, 0.0, 7.1])
    assert checks._check_landed(said, None, rests).landed  # type: ignore[union-attr]
    assert not checks._check_landed(said, None, rests + [0.0, 0.0, 5.0]).landed  # type: ignore[union-attr]
    assert not checks._check_landed(said, None, None).landed  # type: ignore[union-attr]


def test_a_scan_that_repeats_in_motion_is_none_and_on_the_ground_it_may(
    checks: InputChecks, kit: SimpleNamespace
) -> None:
    def seen(**changed: Any) -> tuple[Any, ScanRepetition, Findings]:
        scan, findings = ScanRepetition(), Findings()
        for n in range(20):
            said = replace(state(20.0, 4.0, **changed), pose=Pose(np.array([0.2 * n, 0.0, 20.0])))
            image = replace(kit.World().image(state().pose, NOW), stamp=NOW + 0.05 * n)
            after, scan = checks._check_scan(scan, image, said, findings)
        return after, scan, findings

    after, scan, findings = seen()
    assert after is None and scan.repeated > checks.limits.scan_repeat
    assert Reason.STALE_RANGES in findings.reasons
    for changed in ON_GROUND:
        after, scan, findings = seen(**changed)
        assert after is not None and scan == ScanRepetition() and not findings.reasons
    assert checks._check_scan(scan, None, state(), Findings()) == (None, scan)


def test_a_blind_scan_is_told_in_the_air_alone(checks: InputChecks, kit: SimpleNamespace) -> None:
    def blind(**changed: Any) -> tuple[EchoMonitor, Findings]:
        echoes, findings = EchoMonitor(), Findings()
        for n in range(10):
            said = state(3.0, stamp=NOW + 0.1 * n, **changed)
            image = kit.World().image(said.pose, said.stamp)
            image = replace(image, ranges=np.full_like(image.ranges, np.inf))
            _, echoes = checks._check_echoes(echoes, image, said, None, np.array([0.0, 0.0, 0.0]), findings)
        return echoes, findings

    _, findings = blind()
    assert Reason.STALE_RANGES in findings.reasons
    for changed in ON_GROUND:
        echoes, findings = blind(**changed)
        assert echoes == EchoMonitor() and not findings.reasons


def test_the_ground_that_was_measured_last_counts_below_it_alone(checks: InputChecks, kit: SimpleNamespace) -> None:
    """Without an echo only the ground known from before tells that echoes are missing."""

    def told(last: Any) -> list[Reason]:
        echoes, findings = EchoMonitor(), Findings()
        for n in range(10):
            said = state(3.0, stamp=NOW + 0.1 * n)
            image = kit.World().image(said.pose, said.stamp)
            image = replace(image, ranges=np.full_like(image.ranges, np.inf))
            _, echoes = checks._check_echoes(echoes, image, said, None, last, findings)
        return findings.reasons

    assert told(np.zeros(3))
    assert not told(np.array([50.0, 0.0, 0.0]))
    assert not told(None)


def test_the_ground_that_is_measured_counts_before_the_one_that_was(checks: InputChecks, kit: SimpleNamespace) -> None:
    """Off the edge of a roof 3 m below, the ground 58 m below is near the end of the sensor's reach."""
    said, findings = state(58.0), Findings()
    image = kit.World().image(said.pose, NOW)
    seen, _ = checks._check_echoes(EchoMonitor(), image, said, None, np.array([0.0, 0.0, 55.0]), findings)
    assert seen is image and not findings.reasons


@pytest.mark.parametrize("changed", [*ON_GROUND, {"obeyed": False}])
def test_wind_is_measured_while_the_vehicle_flies_the_outputs(checks: InputChecks, changed: dict[str, bool]) -> None:
    wind = WindDisturbance()
    for n in range(40):
        wind = checks._check_wind(wind, state(20.0, 3.0 if n else 0.0, stamp=NOW + 0.1 * n), np.zeros(3))
    wind_before = wind.rms
    assert wind_before > 1.0
    assert checks._check_wind(wind, state(20.0, 3.0, stamp=NOW + 4.0, **changed), np.zeros(3)) == WindDisturbance()
    assert checks._check_wind(wind, state(20.0, 3.0, stamp=NOW + 4.0), None).rms < wind_before, (
        "as it moves it was told"
    )


@pytest.mark.parametrize(("share", "speed"), [(0.0, 6.0), (0.0, 6.7), (0.5, 6.0), (1.0, 6.0), (1.5, 6.0), (0.5, 0.5)])
def test_the_stronger_the_wind_the_slower(checks: InputChecks, limits: Limits, share: float, speed: float) -> None:
    rms = limits.blown_slow + share * (limits.blown_return - limits.blown_slow)
    findings = Findings()
    velocity = checks._limit_wind(np.array([speed, 0.0, 0.0]), WindDisturbance(mean_square=rms**2), findings)
    allowed = math.inf if share == 0.0 else max(limits.speed_horizontal * (1.0 - share), 1.5)
    assert velocity[0] == pytest.approx(min(speed, allowed))
    assert bool(findings.reasons) == (speed > allowed)


def test_a_latched_position_stays_lost_while_disarmed(checks: InputChecks) -> None:
    motion = checks._initial_motion()
    known, motion = checks._check_motion(motion, state(), Findings())
    assert known is not None
    jumped = replace(state(stamp=NOW + 0.05), pose=Pose(np.array([40.0, 0.0, 20.0])))
    lost, motion = checks._check_motion(motion, jumped, Findings())
    assert lost is None and motion.exceeded is not None
    disarmed = replace(jumped, stamp=NOW + 0.1, armed=False)
    assert checks._check_motion(motion, disarmed, Findings())[0] is None
    fresh = checks._check_motion(checks._initial_motion(), replace(jumped, armed=False), Findings())
    assert fresh[0] is not None and fresh[1].stamp is None and fresh[1].exceeded is None


def test_a_heading_that_was_lost_stays_lost_while_disarmed(checks: InputChecks) -> None:
    heading = HeadingResidual()
    for stamp, yaw in ((NOW, 0.0), (NOW + 0.05, 1.0)):
        turned = replace(
            state(stamp=stamp), pose=Pose(np.zeros(3), quaternion_from_rpy(0.0, 0.0, yaw)), rates=np.zeros(3)
        )
        known, heading = checks._check_heading(heading, turned, Findings())
    assert known is None
    disarmed = replace(turned, stamp=NOW + 0.1, armed=False)
    assert checks._check_heading(heading, disarmed, Findings())[0] is None
    assert checks._check_heading(HeadingResidual(), disarmed, Findings())[0] is disarmed


def test_a_velocity_that_states_its_error_explains_a_slip(checks: InputChecks, limits: Limits) -> None:
    """It moves 0.3 m/s otherwise than its velocity says, for half a minute."""

    def told(**stated: Any) -> set[Reason]:
        motion, findings = checks._initial_motion(), Findings()
        for n in range(600):
            pose = Pose(np.array([0.015 * n, 0.0, 20.0]))
            _, motion = checks._check_motion(
                motion, replace(state(stamp=NOW + 0.05 * n, **stated), pose=pose), findings
            )
        return set(findings.reasons)

    assert told() == told(velocity_deviation=0.0) == {Reason.ESTIMATOR} and not told(velocity_deviation=0.5)


# -- a team of two, of which the other is not heard --------------------------------------------------

AWAY = np.array([90.0, 0.0, 20.0])  # m, from home
SINCE = NOW - 1.0  # s


@pytest.fixture
def team(checks: InputChecks, kit: SimpleNamespace) -> InputChecks:
    site = Site(kit.square(500.0), 120.0, np.zeros(3))
    checks.team, checks.envelope = Team(0, 2), Envelope(checks.limits, site)
    return checks


def heard(age: float, position: Any = AWAY) -> OtherVehicle:
    return OtherVehicle(NOW - age, np.array(position), np.zeros(3))


def test_a_vehicle_of_the_team_is_missed_that_never_spoke_or_is_silent(team: InputChecks) -> None:
    for others in ([], [heard(9.0)], [heard(0.1, AWAY * math.nan)]):
        assert team._check_reports(None, others, NOW) == NOW
        assert team._check_reports(SINCE, others, NOW) == SINCE
        assert team._check_reports(NOW + 5.0, others, NOW) == NOW, "the clock went back"
    assert team._check_reports(SINCE, [heard(0.1)], NOW) is None
    assert team._check_reports(SINCE, [heard(9.0, np.zeros(3))], NOW) is None, "it stood at home"
    team.team = Team(0, 1)
    assert team._check_reports(SINCE, [heard(9.0)], NOW) is None


def test_who_is_silent_counts_but_above_home(team: InputChecks) -> None:
    others = [heard(0.1), heard(9.0)]
    assert len(team._check_traffic(others, replace(state(), pose=Pose(AWAY)), NOW)) == 2
    assert len(team._check_traffic(others, state(), NOW)) == 1


def scene(kit: SimpleNamespace, position: Any = AWAY, **changed: Any) -> Scene:
    image = kit.World().image(Pose(np.array(position)), NOW)
    observed = ObservedSpace(np.array(position), image, None, 1.0)
    usual: dict[str, Any] = {"surface": 0.0, "last_ground": np.zeros(3), "in_takeoff_column": False, "landing": False}
    return Scene(np.array(position), np.zeros(3), observed, image, None, **(usual | changed))


def layer(
    team: InputChecks, seen: Scene, latch: Latch | None = None, since: float | None = SINCE, said: State | None = None
) -> Any:
    findings = Findings()
    after, latch = team._check_layer(seen, said or state(), since, latch or Latch(), NOW, findings)
    return after.above_layer, latch.mode, findings.reasons


def test_deaf_it_flies_in_its_layer_above_the_ground_it_sees_or_saw(team: InputChecks, kit: SimpleNamespace) -> None:
    above = AWAY[2] - team.limits.return_height
    assert layer(team, scene(kit)) == (above, Mode.NORMAL, [])
    assert layer(team, scene(kit, surface=4.0)) == (above - 4.0, Mode.NORMAL, [])
    unseen = {"surface": None, "last_ground": np.array([80.0, 0.0, 3.0])}
    assert layer(team, scene(kit, **unseen)) == (above - 3.0, Mode.NORMAL, [])
    kept: Any = (None, Mode.NORMAL, [])
    assert layer(team, scene(kit), since=None) == kept, "all are heard"
    assert layer(team, scene(kit, [1.0, 0.0, 20.0])) == kept, "above home"
    for still in ON_GROUND:
        assert layer(team, scene(kit), said=state(**still)) == kept
    for comes in ({"in_takeoff_column": True}, {"landing": True}, {"touching_down": True}):
        assert layer(team, scene(kit, **comes)) == kept


def test_without_a_layer_it_holds_then_returns_and_a_latch_stays(team: InputChecks, kit: SimpleNamespace) -> None:
    unknown = scene(kit, surface=None, last_ground=None)
    assert layer(team, unknown) == (None, Mode.NORMAL, [Reason.TRAFFIC])
    late = NOW - team.limits.link_return
    assert layer(team, unknown, since=late) == (None, Mode.RETURN, [])
    for mode in (Mode.RETURN, Mode.LAND):
        latch = Latch(mode, Reason.BATTERY_RESERVE)
        assert layer(team, unknown, latch) == layer(team, unknown, latch, late) == (None, mode, [])
