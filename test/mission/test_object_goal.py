"""Words of object-goal navigation: classes of size, commanded poses against an independent integrator, headings."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_rpy
from esar_ros.mission.object_goal import ObjectGoal, SizeClass, StepKind, StepPose, wrapped

SIZES = st.one_of(st.floats(0.0, 1000.0), st.sampled_from([5.0, 15.0, 90.0, 180.0, 360.0]))
ACTIONS = st.lists(st.tuples(st.sampled_from(StepKind), SIZES), max_size=30)
START = Pose(np.array([3.0, -4.0, 10.0]), quaternion_from_rpy(0.02, -0.03, 2.5))
# Forward and to the left as a complex number, and up; degrees to the left.
ACROSS = {"forward": 1.0, "left": 1.0j, "right": -1.0j}
UP = {"up": 1.0, "down": -1.0}
TURN = {"turn_left": 1.0, "turn_right": -1.0}


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (" mid(2.5*2.0=5.0 squares)", SizeClass.MID),
        ("small1.5*1=1.5 squares)", SizeClass.SMALL),
        ("big", SizeClass.BIG),
        ("small, not big", SizeClass.SMALL),  # the first of small, mid, big
        ("big or mid", SizeClass.MID),
        ("large(9 squares)", None),
        ("Small", None),
        ("", None),
    ],
)
def test_the_size_class_is_the_first_word_that_the_size_contains(size: str, expected: SizeClass | None) -> None:
    assert ObjectGoal("Bench", size, "").size_class is expected


@given(ACTIONS)
def test_the_commanded_pose_is_that_of_an_independent_integrator(actions: list[tuple[StepKind, float]]) -> None:
    pose = StepPose.of(START)
    across, z, turned = complex(3.0, -4.0), 10.0, 0.0
    for kind, size in actions:
        pose = pose.after(kind, size)
        turned += TURN.get(kind.value, 0.0) * size
        across += ACROSS.get(kind.value, 0.0) * size * cmath.exp(1j * (2.5 + math.radians(turned)))
        z += UP.get(kind.value, 0.0) * size
        assert -180.0 < pose.yaw <= 180.0
    assert pose.position == pytest.approx([across.real, across.imag, z], abs=1e-6)
    off = math.remainder(math.radians(pose.yaw) - 2.5 - math.radians(turned), math.tau)
    assert off == pytest.approx(0.0, abs=1e-9)


@given(st.floats(-1e6, 1e6))
def test_headings_are_wrapped_into_one_turn(degrees: float) -> None:
    angle = wrapped(degrees)
    assert -180.0 < angle <= 180.0
    assert math.remainder(angle - degrees, 360.0) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("degrees", [180.0, -180.0, 540.0, math.nextafter(180.0, 200.0)])
def test_half_a_turn_has_one_heading(degrees: float) -> None:
    assert wrapped(degrees) == pytest.approx(180.0)


def test_roll_and_pitch_of_the_start_are_kept() -> None:
    pose = StepPose.of(START)
    assert pose.pose.position == pytest.approx(START.position)
    assert abs(pose.pose.quaternion @ START.quaternion) == pytest.approx(1.0)
    turned = pose.after(StepKind.TURN_LEFT, 40.0).pose
    expected = quaternion_from_rpy(0.02, -0.03, 2.5 + math.radians(40.0))
    assert abs(turned.quaternion @ expected) == pytest.approx(1.0)


def test_a_pose_cannot_be_changed_by_whom_it_is_given_to() -> None:
    pose = StepPose.of(START)
    for array in (pose.position, pose.tilt, pose.after(StepKind.FORWARD, 5.0).position):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert START.position.flags.writeable
