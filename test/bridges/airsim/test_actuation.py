"""The last rules before AirSim's calls: what is obeyed, and how a touch-down begins and ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.bridges.airsim.actuation import LANDING_PATIENCE, STANDS_FOR, Actuation, Refusal
from esar_ros.mission.modes import Mode

DOWN = np.array([0.0, 0.0, -0.7])


class Remote:
    """An AirSim vehicle that records the calls it receives."""

    def __init__(self) -> None:
        self.ns, self.armed, self.landed, self.velocity = 0, True, False, np.zeros(3)
        self.ready = True
        self.sent: list[np.ndarray] = []

    def read(self) -> Any:
        return SimpleNamespace(
            ns=self.ns,
            armed=self.armed,
            landed=self.landed,
            velocity=self.velocity,
            ready=self.ready,
            ready_message="" if self.ready else "no position",
        )

    def arm(self, wanted: bool) -> bool:
        self.armed = wanted
        return True

    def send_velocity(self, velocity: np.ndarray, yaw_rate: float, seconds: float) -> None:
        self.sent.append(velocity)


@pytest.fixture
def remote() -> Remote:
    return Remote()


@pytest.fixture
def actuation(remote: Remote) -> Actuation:
    made = Actuation(remote)  # type: ignore[arg-type]
    made.height = 3.5
    return made


def after(actuation: Actuation, remote: Remote, ns: int) -> bool:
    """Returns whether the touch-down is over after `ns`."""
    remote.ns += ns
    return actuation.finish_touch_down(remote.read())


@pytest.mark.parametrize("height", [None, 5.1, 28.0, float("nan")])
def test_a_touch_down_needs_seen_ground_within_five_metres(actuation: Actuation, height: float | None) -> None:
    actuation.height = height
    refused = actuation.touch_down(Mode.NORMAL, 0)
    assert refused is not None and refused.why is Refusal.HEIGHT and "5 m" in refused.text
    assert not actuation.landing


def test_neither_on_the_ground_nor_after_a_termination(actuation: Actuation, remote: Remote) -> None:
    assert actuation.touch_down(Mode.TERMINATE, 0).why is Refusal.TERMINATED  # type: ignore[union-attr]
    remote.landed = True
    assert actuation.touch_down(Mode.NORMAL, 0).why is Refusal.ON_GROUND  # type: ignore[union-attr]


def test_in_a_touch_down_the_governor_alone_moves_the_vehicle(actuation: Actuation, remote: Remote) -> None:
    assert actuation.touch_down(Mode.NORMAL, 0) is None and actuation.landing
    climb = np.array([0.0, 0.0, 3.0])
    for asked in (DOWN, climb):
        actuation.obey(remote.read(), Mode.NORMAL, (asked, 0.0), 0.05)
    actuation.obey(remote.read(), Mode.HOLD, None, 0.05)
    np.testing.assert_array_equal(remote.sent, [DOWN, climb, np.zeros(3)])


def test_on_the_ground_the_motors_stop_before_it_is_over(actuation: Actuation, remote: Remote) -> None:
    actuation.touch_down(Mode.NORMAL, 0)
    assert not after(actuation, remote, STANDS_FOR)
    remote.landed, actuation.height = True, 0.2
    assert (after(actuation, remote, 50_000_000), remote.armed) == (False, True)
    assert (after(actuation, remote, STANDS_FOR), remote.armed, actuation.landing) == (True, False, False)
    actuation.obey(remote.read(), Mode.NORMAL, (np.array([0.0, 0.0, 2.0]), 0.0), 0.05)
    assert not remote.sent, "it does not take off again"


@pytest.mark.parametrize(("height", "speed"), [(2.5, 0.0), (0.5, 1.5)])
def test_a_false_word_of_having_landed_does_not_stop_the_motors(
    actuation: Actuation, remote: Remote, height: float, speed: float
) -> None:
    actuation.touch_down(Mode.NORMAL, 0)
    remote.landed, actuation.height, remote.velocity = True, height, speed * DOWN
    for _ in range(50):
        assert not after(actuation, remote, 50_000_000)
    assert remote.armed


@pytest.mark.parametrize(("height", "speed"), [(21.0, 0.0), (None, 2.0)])
def test_a_false_word_of_having_landed_neither_disarms_nor_keeps_commands_back(
    actuation: Actuation, remote: Remote, height: float | None, speed: float
) -> None:
    remote.landed, actuation.height, remote.velocity = True, height, speed * DOWN
    refused = actuation.arm(False, Mode.NORMAL)
    assert refused is not None and refused.why is Refusal.FLYING and remote.armed
    actuation.obey(remote.read(), Mode.NORMAL, (DOWN, 0.0), 0.05)
    assert len(remote.sent) == 1
    remote.velocity, actuation.height = np.zeros(3), 0.2
    actuation.obey(remote.read(), Mode.NORMAL, (DOWN, 0.0), 0.05)
    assert len(remote.sent) == 1, "standing on the ground needs no set-point"
    assert actuation.arm(False, Mode.NORMAL) is None


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_command_that_is_not_finite_is_a_hold(actuation: Actuation, remote: Remote, bad: float) -> None:
    actuation.obey(remote.read(), Mode.NORMAL, (np.array([0.0, bad, 0.0]), 0.0), 0.05)
    actuation.obey(remote.read(), Mode.NORMAL, (DOWN, bad), 0.05)
    np.testing.assert_array_equal(remote.sent, np.zeros((2, 3)))


def test_it_is_over_when_it_takes_too_long_and_when_it_is_called_off(actuation: Actuation, remote: Remote) -> None:
    actuation.touch_down(Mode.NORMAL, 0)
    assert after(actuation, remote, LANDING_PATIENCE + 1) and remote.armed and not actuation.landing
    actuation.touch_down(Mode.NORMAL, remote.ns)
    actuation.call_off()
    assert not actuation.landing and not after(actuation, remote, 1)


def test_asked_again_it_goes_on(actuation: Actuation, remote: Remote) -> None:
    actuation.touch_down(Mode.NORMAL, 0)
    actuation.height = None
    assert actuation.touch_down(Mode.NORMAL, LANDING_PATIENCE) is None
    assert after(actuation, remote, LANDING_PATIENCE + 1), "the first one's patience counts"


def test_a_termination_stops_the_motors_wherever_it_is(actuation: Actuation, remote: Remote) -> None:
    actuation.obey(remote.read(), Mode.TERMINATE, (DOWN, 0.0), 0.05)
    assert not remote.armed and not remote.sent


def test_disarmed_it_is_sent_nothing(actuation: Actuation, remote: Remote) -> None:
    remote.armed = False
    actuation.obey(remote.read(), Mode.NORMAL, (np.array([0.0, 0.0, 2.0]), 0.0), 0.05)
    assert not remote.sent


def test_from_the_ground_it_takes_off(actuation: Actuation, remote: Remote) -> None:
    remote.landed, actuation.height = True, 0.2
    actuation.obey(remote.read(), Mode.NORMAL, (np.array([0.0, 0.0, 2.0]), 0.0), 0.05)
    assert len(remote.sent) == 1


def test_near_the_ground_it_is_not_down_before_it_says_so(actuation: Actuation, remote: Remote) -> None:
    actuation.height = 0.2
    assert actuation.arm(False, Mode.NORMAL).why is Refusal.FLYING  # type: ignore[union-attr]
    assert remote.armed


def test_where_no_surface_is_measured_the_word_and_the_speed_count(actuation: Actuation, remote: Remote) -> None:
    remote.landed, actuation.height = True, None
    assert actuation.arm(False, Mode.NORMAL) is None and not remote.armed


@pytest.mark.parametrize(
    ("mode", "ready", "why"),
    [
        (Mode.NORMAL, True, None),
        (Mode.HOLD, True, None),
        (Mode.RETURN, True, Refusal.SAFETY),
        (Mode.TERMINATE, True, Refusal.SAFETY),
        (Mode.NORMAL, False, Refusal.NOT_READY),
    ],
)
def test_motors_start_when_the_vehicle_is_ready_and_nothing_forbids_it(
    actuation: Actuation, remote: Remote, mode: Mode, ready: bool, why: Refusal | None
) -> None:
    remote.armed, remote.landed, remote.ready = False, True, ready
    refused = actuation.arm(True, mode)
    assert (refused.why if refused else None) is why
    assert remote.armed == (why is None)


@pytest.mark.parametrize("mode", list(Mode))
def test_on_the_ground_the_motors_stop_whatever_the_governor_and_the_autopilot_say(
    actuation: Actuation, remote: Remote, mode: Mode
) -> None:
    remote.landed, remote.ready, actuation.height = True, False, 0.2
    assert actuation.arm(False, mode) is None and not remote.armed
