"""The walker: speeds and turns as measured, floors, walls, steps, slopes, falls, jumps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.sim.terrain.settlements.plan import Piece
from esar_ros.sim.walking.contacts import HALF_HEIGHT, RADIUS, STEP_HEIGHT, floor_under
from esar_ros.sim.walking.walker import Walker
from helpers.walking import small_world, stack, walked, walker_at, wall


def test_it_walks_at_a_metre_a_second_however_much_is_asked() -> None:
    walker = walked(walker_at(small_world()), 5.0, speed=2.0)
    assert walker.foot[0] == pytest.approx(5.0 - 0.15 / 2, abs=0.02) and abs(walker.foot[1]) < 1e-9
    assert walker.take_hit() is None
    assert walker.pose.position[2] == pytest.approx(HALF_HEIGHT)


def test_backwards_is_as_fast() -> None:
    assert walked(walker_at(small_world()), 3.0, speed=-1.0).foot[0] == pytest.approx(-3.0 + 0.15 / 2, abs=0.02)


def test_an_angle_turns_2_8_times_as_fast_to_the_left_after_a_ramp() -> None:
    walker = walked(walker_at(small_world()), 1.0, speed=0.0, angle=30.0)
    assert math.degrees(walker.yaw) == pytest.approx(84.0 * (1.0 - 0.15 / 2), abs=1.0)
    walker = walked(walker_at(small_world()), 0.06, speed=0.0, angle=100.0)
    assert 0.0 < math.degrees(walker.yaw) < 3.0


def test_two_walks_are_the_same_to_the_last_bit() -> None:
    ends = []
    for _ in range(2):
        walker = walker_at(small_world(wall(3.0, 0.0, 4.0), stack(1.5, 1.5, 1.0, 1.0)))
        for k in range(20):
            walked(walker, 0.2, speed=1.0, angle=15.0 * math.sin(k))
        ends.append((*walker.foot, walker.yaw))
    assert ends[0] == ends[1]


def test_a_wall_stops_it_and_is_named() -> None:
    walker = walked(walker_at(small_world(wall(3.0, 0.0, 6.0))), 6.0)
    assert walker.foot[0] == pytest.approx(3.0 - 0.15 - RADIUS, abs=0.01)
    assert (walker.take_hit() or "").startswith("wall") and walker.take_hit() is None
    walked(walker, 0.2)
    assert walker.take_hit() is not None


def test_it_slides_along_a_wall() -> None:
    walker = walked(walker_at(small_world(wall(3.0, 0.0, 12.0)), yaw=math.pi / 4), 6.0)
    assert walker.foot[0] == pytest.approx(3.0 - 0.15 - RADIUS, abs=0.01)
    assert walker.foot[1] == pytest.approx(6.0 * math.sqrt(0.5), abs=0.15)


def test_a_low_step_is_climbed_and_a_high_one_is_a_wall() -> None:
    low = walked(walker_at(small_world(stack(3.0, 0.0, 2.0, 0.4))), 3.0)
    assert low.foot[2] == pytest.approx(0.4) and low.take_hit() is None
    high = walked(walker_at(small_world(stack(3.0, 0.0, 2.0, 0.5))), 3.0)
    round_off = math.sqrt(RADIUS**2 - (STEP_HEIGHT + RADIUS - 0.5) ** 2)  # the edge is at the round end of its body
    assert high.foot[2] == 0.0 and high.foot[0] == pytest.approx(2.0 - round_off, abs=0.01)


def test_a_steep_slope_stops_it() -> None:
    up = walked(walker_at(small_world(slope=math.radians(40.0))), 6.0)
    assert up.foot[0] > 5.8 and up.foot[2] == pytest.approx((up.foot[0] - 2.0) * math.tan(math.radians(40.0)), abs=0.02)
    stopped = walked(walker_at(small_world(slope=math.radians(48.0))), 6.0)
    assert stopped.foot[0] < 2.6 and stopped.take_hit() == "ground"


def test_it_steps_over_somebody_who_lies_there() -> None:
    world = small_world()
    world.spawn("victim", "person_lying", Pose(np.array([2.0, 0.0, 0.0]), quaternion_from_yaw(math.pi / 3)))
    walker = walked(walker_at(world), 4.0)
    assert walker.foot[0] > 3.7 and walker.take_hit() is None


def test_who_lies_there_is_no_floor_beside_themselves() -> None:
    """Limbs are boxes at a slant: over a place beside one its upright span is empty, and its top lies anywhere."""
    world = small_world()
    pose = Pose(np.array([0.0, 0.0, 0.0]), quaternion_from_yaw(0.3))
    world.spawn("victim", "person_lying/green", pose)
    scene = world.collision_scene()
    around = np.arange(-3.0, 3.01, 0.05)
    raised = [(x, y) for x in around for y in around if floor_under(scene, x, y, 0.5)[0] > 1e-6]
    assert raised and max(math.hypot(*place) for place in raised) < 1.2


def test_it_falls_off_an_edge() -> None:
    walker = walker_at(small_world(stack(0.0, 0.0, 2.0, 2.0)), z=2.0)
    assert walker.foot[2] == 2.0
    walked(walker, 1.2)
    assert 0.0 < walker.foot[2] < 2.0
    walker.advance(1.0)
    assert walker.foot[2] == 0.0


def test_a_ramp_is_walked_up_and_stairs_down() -> None:
    deck = Piece("loading_deck", (4.0, 0.0), 0.0, 12.0, 5.0, 1.1, "", 0)
    walker = walked(walker_at(small_world(deck), -3.0), 8.0)
    assert walker.foot[2] == pytest.approx(1.1) and walker.take_hit() is None
    heights = [1.1]
    for _ in range(100):
        heights.append(float(walked(walker, 0.1).foot[2]))
    assert walker.foot[2] == 0.0 and walker.foot[0] > 10.0 and walker.take_hit() is None
    assert max(-np.diff(heights)) < 0.3  # a step at a time; one who falls from there is faster in the end


def test_a_jump_rises_by_nine_tenths_of_a_metre() -> None:
    walker = walker_at(small_world())
    walker.action = WalkAction(animation=Animation.JUMP)
    heights = []
    for _ in range(60):
        walker.advance(0.02)
        walker.action = WalkAction()
        heights.append(walker.foot[2])
    assert max(heights) == pytest.approx(4.2**2 / 2 / 9.81, abs=0.05) and heights[-1] == 0.0


def test_what_is_passable_is_no_wall() -> None:
    world = small_world(wall(3.0, 2.1, 3.2), wall(3.0, -2.1, 3.2))
    shut = Pose(np.array([3.0, 0.0, 0.0]), quaternion_from_yaw(0.0))
    world.spawn("door_0", "rescue_door", shut)
    walker = walked(walker_at(world), 4.0)
    assert walker.foot[0] < 3.0 and walker.take_hit() == "door_0"
    world.move("door_0", shut, passable=True)
    assert walked(walker, 2.0).foot[0] > 4.0
    world.move("door_0", shut)
    assert walked(walker, 4.0, speed=-1.0).foot[0] > 3.0


def test_its_eye_is_before_it_and_goes_down_with_it() -> None:
    walker = walker_at(small_world(), 1.0, 2.0, math.pi / 2)
    assert walker.eye == pytest.approx([1.0, 2.2, 1.6])
    forward = walker.camera.rotation[:, 2]
    assert forward == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)
    walker.action = WalkAction(head=Head.UP, animation=Animation.CROUCH)
    walker.advance(0.1)
    assert walker.eye[2] < 1.2
    assert walker.camera.rotation[2, 2] == pytest.approx(0.5)


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no place"):
        Walker(small_world()).place((math.nan, 0.0, 0.0), 0.0)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(-30.0, 30.0)), min_size=3, max_size=8))
def test_no_walk_ends_in_a_wall(actions: list[tuple[float, float]]) -> None:
    world = small_world(wall(1.2, 0.0, 3.0), wall(-1.2, 0.5, 3.0), wall(0.0, 1.3, 4.0, 0.0), stack(0.3, -1.5, 1.0, 1.0))
    walker = walker_at(world)
    for speed, angle in actions:
        walked(walker, 1.0, speed, angle)
        middle = walker.pose.position + [0.0, 0.0, 0.2]
        assert world.contact(middle, RADIUS - 0.02) is None and walker.foot[2] == 0.0
