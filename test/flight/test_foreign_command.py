"""Commands of a planner that knows nothing of this package."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.flight.foreign_command import BODY, MAP, ForeignCommand, axes_of

FORWARD = np.array([2.0, 0.0, 0.5])
ANGLE = st.floats(-math.pi, math.pi)
SPEED = st.floats(-10.0, 10.0)


@pytest.mark.parametrize(
    ("frame", "axes"),
    [("", MAP), ("base_link", BODY), ("uav1/base_link", BODY), ("/uav1/base_footprint", BODY), ("map", MAP),
     ("uav1/odom", MAP), ("camera", None), ("uav1", None)],
)  # fmt: skip
def test_a_frame_says_the_axes_whatever_its_prefix(frame: str, axes: str | None) -> None:
    assert axes_of(frame, MAP) == axes


@given(ANGLE, SPEED, SPEED, SPEED)
def test_body_axes_turn_with_the_heading_alone(yaw: float, x: float, y: float, z: float) -> None:
    command = ForeignCommand(0.5, BODY)
    command.take(np.array([x, y, z]), 0.3, 1.0)
    told = command.at(1.0, yaw)
    assert told is not None
    velocity, yaw_rate = told
    assert math.hypot(*velocity[:2]) == pytest.approx(math.hypot(x, y), abs=1e-9)
    forward, left = np.array([math.cos(yaw), math.sin(yaw)]), np.array([-math.sin(yaw), math.cos(yaw)])
    assert (velocity[:2] @ forward, velocity[:2] @ left) == (pytest.approx(x, abs=1e-9), pytest.approx(y, abs=1e-9))
    assert (velocity[2], yaw_rate) == (z, 0.3)


@given(ANGLE)
def test_map_axes_do_not_turn(yaw: float) -> None:
    command = ForeignCommand(0.5, BODY)
    command.take(FORWARD, 0.0, 1.0, "map")
    told = command.at(1.0, yaw)
    assert told is not None and told[0].tolist() == FORWARD.tolist()


def test_a_command_counts_until_its_timeout_unless_it_is_repeated() -> None:
    command = ForeignCommand(0.5, BODY)
    assert command.at(0.0, 0.0) is None and math.isinf(command.silence(0.0))
    command.take(FORWARD, 0.0, 1.0)
    assert command.at(1.5, 0.0) is not None
    assert command.at(1.51, 0.0) is None
    assert command.silence(1.51) == pytest.approx(0.51)
    command.take(FORWARD, 0.0, 1.6)
    assert command.at(2.0, 0.0) is not None


@pytest.mark.parametrize(
    ("velocity", "yaw_rate", "frame", "age", "words"),
    [
        (FORWARD, 0.0, "camera_link", 0.0, "frame camera_link"),
        (np.array([math.nan, 0.0, 0.0]), 0.0, "", 0.0, "not finite"),
        (FORWARD, math.inf, "", 0.0, "not finite"),
        (FORWARD, 0.0, "", 0.6, "0.60 s old"),
        (FORWARD, 0.0, "", -3.0, "3.00 s ahead"),
    ],
)
def test_what_is_refused_takes_the_place_of_the_command_before(
    velocity: np.ndarray, yaw_rate: float, frame: str, age: float, words: str
) -> None:
    command = ForeignCommand(0.5, BODY)
    command.take(FORWARD, 0.0, 1.0)
    command.take(velocity, yaw_rate, 1.1, frame, age)
    assert words in command.refused
    assert command.at(1.1, 0.0) is None
    command.take(FORWARD, 0.0, 1.2)
    assert command.refused == "" and command.at(1.2, 0.0) is not None


def test_an_old_stamp_counts_from_when_it_was_given() -> None:
    command = ForeignCommand(0.5, MAP)
    command.take(np.array([2.0, 0.0, 0.0]), 0.0, 100.0, age=0.4)
    assert command.at(100.09, 0.0) is not None and command.at(100.11, 0.0) is None
    command.take(np.array([2.0, 0.0, 0.0]), 0.0, 100.0, age=-0.4)
    assert command.at(100.49, 0.0) is not None and command.at(100.51, 0.0) is None, "one ahead gains nothing"
