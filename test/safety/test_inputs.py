"""The inputs of the governor: what is possible, and what no range image is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import FASTEST, Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through

STATE = State(10.0, Pose(np.zeros(3)), np.zeros(3), armed=True, landed=False)
IMAGE = RangeImageData(10.0, Pose(np.zeros(3)), -math.pi, 0.1, -1.5, 0.1, 0.1, 60.0, np.ones((20, 62), np.float32))


@pytest.mark.parametrize(
    ("battery", "charge"), [(None, None), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (-0.1, None), (1.1, None)]
)
def test_a_charge_lies_between_empty_and_full(battery: float | None, charge: float | None) -> None:
    assert replace(STATE, battery=battery).charge == charge


@pytest.mark.parametrize(
    "bad",
    [
        {"stamp": math.nan},
        {"pose": Pose(np.full(3, math.nan))},
        {"pose": Pose(np.zeros(3), np.zeros(4))},
        {"velocity": np.array([0.0, math.nan, 0.0])},
        {"velocity": np.array([0.0, 0.0, -FASTEST])},
    ],
)
def test_a_state_is_possible_in_all_its_parts(bad: dict[str, Any]) -> None:
    assert STATE.is_finite() and not replace(STATE, **bad).is_finite()
    if "velocity" not in bad:
        assert IMAGE.is_finite() and not replace(IMAGE, **bad).is_finite()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_governor_that_only_watches_passes_finite_commands_alone(bad: float) -> None:
    good = Command(10.0, np.array([1.0, 2.0, 3.0]), 0.5)
    velocity, yaw_rate = pass_through(good)
    assert velocity is good.velocity and yaw_rate == 0.5
    for held in (None, replace(good, velocity=np.array([1.0, bad, 0.0])), replace(good, yaw_rate=bad)):
        velocity, yaw_rate = pass_through(held)
        assert velocity.tolist() == [0.0, 0.0, 0.0] and yaw_rate == 0.0


@pytest.mark.parametrize(
    "bad",
    [
        {"azimuth_min": 7.0}, {"elevation_min": math.nan}, {"azimuth_step": 0.0}, {"elevation_step": -0.1},
        {"range_min": -0.1}, {"range_min": 60.0}, {"range_max": math.inf}, {"range_max": math.nan},
        {"ranges": np.ones(100, np.float32)}, {"ranges": np.ones((0, 5), np.float32)},
        {"ranges": np.ones((1000, 501), np.float32)}, {"ranges": np.float32(1.0).reshape(())},
    ],
)  # fmt: skip
def test_what_no_sensor_measures_is_no_range_image(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="range image"):
        replace(IMAGE, **bad)


def test_the_reason_of_an_answer_is_its_gravest_and_none_where_it_has_none() -> None:
    answer = SafeCommand(np.zeros(3), 0.0, Mode.NORMAL, (), "", False, False, None, 0.0, None)
    assert answer.reason is Reason.NONE
    assert replace(answer, reasons=(Reason.BREACH, Reason.FENCE)).reason is Reason.BREACH
