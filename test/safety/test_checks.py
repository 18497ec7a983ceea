"""The checks of a governor's inputs, one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.checks import InputChecks
from esar_ros.safety.inputs import Command, Findings, State
from esar_ros.safety.limits import Limits
from esar_ros.safety.surroundings.echoes import EchoMonitor
from esar_ros.safety.watch import ScanRepetition
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
