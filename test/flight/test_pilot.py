"""Phases of the pilot, one step at a time."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.flight.limits import PilotLimits
from esar_ros.flight.pilot import Governed, Phase, Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import Pose
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.mission.resources import resource
from esar_ros.safety.limits import Limits
from esar_ros.safety.traffic import Team

HOME = np.array([0.0, 0.0, 0.1])


def governed(height: float | None, mode: Mode = Mode.NORMAL, given: tuple[float, float, float] = (0, 0, 0)) -> Governed:
    return Governed(mode, np.array(given, dtype=np.float64), height)


GROUND = PilotInput(
    now=10.0, pose=Pose(HOME), velocity=np.zeros(3), armed=False, landed=True, running=True, ended=False, home=HOME,
    governed=governed(0.1),
)  # fmt: skip
AIR = replace(GROUND, pose=Pose(np.array([0.0, 0.0, 20.0])), armed=True, landed=False, governed=governed(20.0))


def pilot(**changes: Any) -> Pilot:
    return Pilot(PilotLimits(**changes), Limits())


def flying(**changes: Any) -> Pilot:
    """A pilot that took over in the air."""
    one = pilot(**changes)
    one.step(replace(AIR, now=9.95))
    return one


def waypoint(x: float, y: float, z: float, **more: Any) -> Goal:
    return Goal(GoalType.WAYPOINT, np.array([x, y, z]), more.pop("reference", HeightReference.MAP), **more)


def steps(one: Pilot, seen: PilotInput, count: int) -> list[PilotOutput]:
    return [one.step(replace(seen, now=seen.now + 0.05 * n)) for n in range(count)]


def test_phases_equal_the_message() -> None:
    text = resource("msg/PilotState.msg").read_text(encoding="utf-8")
    assert {n: int(v) for n, v in re.findall(r"^uint8 (\w+)=(\d+)", text, re.MULTILINE)} == {p.name: p for p in Phase}


# On the ground


def test_waits_for_the_mission() -> None:
    output = pilot().step(replace(GROUND, running=False))
    assert output.phase is Phase.DISARMED and output.request is None and not output.velocity.any()


@pytest.mark.parametrize("why", [{"ended": True}, {"planner_silence": 3.0}])
def test_does_not_arm_without_a_mission_or_a_planner(why: dict[str, Any]) -> None:
    assert pilot().step(replace(GROUND, **why)).phase is Phase.DISARMED


def test_asks_to_arm_once_and_again_when_not_heard() -> None:
    outputs = steps(pilot(), GROUND, 50)
    asked = [n for n, output in enumerate(outputs) if output.request is Request.ARM]
    assert asked == [0, 40] and all(output.phase is Phase.ARMING for output in outputs)


def test_takes_off_straight_up_and_slows_at_the_top() -> None:
    one = pilot()
    one.step(GROUND)
    armed = replace(GROUND, armed=True, now=10.05)
    assert one.step(armed).phase is Phase.TAKE_OFF
    up = [replace(AIR, pose=Pose(np.array([0.0, 0.0, z])), now=10.1 + 0.2 * n) for n, z in enumerate((1, 2, 4, 9.5))]
    outputs = [one.step(seen) for seen in up]
    assert all(output.phase is Phase.TAKE_OFF and not output.velocity[:2].any() for output in outputs)
    top = steps(one, replace(up[-1], now=10.75), 10)
    assert outputs[-1].velocity[2] > 1.0 and 0.0 < top[-1].velocity[2] < 1.49
    assert one.step(replace(AIR, pose=Pose(np.array([0.0, 0.0, 9.9])), now=11.0)).phase is Phase.HOLD


@pytest.mark.parametrize("phase", ["climbing", "flying"])
def test_motors_that_somebody_stopped_on_the_ground_never_start_again(phase: str) -> None:
    """The autopilot took it for landed, or a person reached it: whoever walks up to it must not meet its propellers."""
    one = pilot()
    one.step(GROUND)
    one.step(replace(GROUND, armed=True, now=10.05))
    if phase == "flying":
        assert one.step(replace(AIR, now=12.0, goal=waypoint(50.0, 0.0, 20.0))).phase is Phase.FLY
    after = steps(one, replace(GROUND, now=20.0, goal=waypoint(50.0, 0.0, 20.0)), 100)
    assert all(output.phase is Phase.DONE and output.request is None for output in after)


def test_a_bridge_that_was_started_again_in_the_air_is_not_asked_to_arm() -> None:
    """Until it has heard the autopilot it says: disarmed, and not whether it stands."""
    one, goal = flying(), waypoint(50.0, 0.0, 20.0)
    unknown = steps(one, replace(AIR, armed=False, goal=goal, now=11.0), 60)
    assert all(output.request is None and output.phase is Phase.DISARMED for output in unknown)
    assert steps(one, replace(AIR, goal=goal, now=15.0), 3)[-1].phase is Phase.FLY


# In the air


def test_a_restarted_pilot_takes_over_in_the_air() -> None:
    one = pilot()
    assert one.step(AIR).phase is Phase.TAKE_OFF
    assert one.step(replace(AIR, now=10.05, goal=Goal())).phase is Phase.FLY


def test_low_in_the_air_it_first_climbs_to_the_take_off_height() -> None:
    low = replace(AIR, pose=Pose(np.array([0.0, 0.0, 54.0])), governed=governed(4.0))
    one = pilot()
    outputs = steps(one, low, 3)
    assert all(o.phase is Phase.TAKE_OFF for o in outputs) and outputs[-1].velocity[2] > 0.0
    assert one.step(replace(low, pose=Pose(np.array([0.0, 0.0, 59.8])), now=10.2)).phase is Phase.HOLD


def test_silence_of_the_planner_holds_and_its_return_goes_on() -> None:
    one, goal = flying(), waypoint(50.0, 0.0, 20.0)
    going = steps(one, replace(AIR, goal=goal), 20)[-1]
    assert going.phase is Phase.FLY and going.velocity[0] > 0.5
    silent = steps(one, replace(AIR, goal=goal, planner_silence=0.6, now=11.0), 40)
    assert silent[0].phase is Phase.HOLD and "silent" in silent[0].text
    assert not silent[-1].velocity.any()
    assert one.step(replace(AIR, goal=goal, now=13.0)).phase is Phase.FLY


def test_holds_its_place_against_drift() -> None:
    one = flying()
    steps(one, replace(AIR, goal=Goal()), 3)
    drifted = replace(AIR, goal=Goal(), pose=Pose(np.array([2.0, 0.0, 20.0])), now=11.0)
    back = steps(one, drifted, 20)[-1]
    assert back.velocity[0] < -0.5 and abs(back.velocity[1]) < 1e-9


@pytest.mark.parametrize("began", [9.96, 100.0])
def test_where_wind_keeps_it_moving_it_takes_a_place_to_hold_all_the_same(began: float) -> None:
    """Also where the clock goes back meanwhile."""
    one, blown = flying(), replace(AIR, goal=Goal(), velocity=np.array([1.0, 0.0, 0.0]))
    one.step(replace(blown, now=began))
    steps(one, blown, 82)
    drifted = replace(blown, pose=Pose(np.array([2.0, 0.0, 20.0])), now=14.2)
    assert steps(one, drifted, 20)[-1].velocity[0] < -0.5


def test_flies_a_velocity_within_its_limits() -> None:
    goal = Goal(GoalType.VELOCITY, velocity=np.array([30.0, 0.0, 3.0]), yaw_rate=-4.0)
    output = steps(flying(), replace(AIR, goal=goal), 200)[-1]
    np.testing.assert_allclose(output.velocity, [5.0, 0.0, 0.5], atol=1e-9)
    assert output.yaw_rate == -PilotLimits().yaw_rate


def test_in_bad_weather_climbing_counts_as_speed() -> None:
    one = flying()
    one.slow_to(4.0)
    goal = Goal(GoalType.VELOCITY, velocity=np.array([5.0, 0.0, 1.5]))
    outputs = steps(one, replace(AIR, goal=goal), 200)
    assert max(np.linalg.norm(output.velocity) for output in outputs) == pytest.approx(4.0)


def test_it_slows_and_gets_faster_again_as_it_is_told() -> None:
    one, goal = flying(), Goal(GoalType.VELOCITY, velocity=np.array([9.0, 0.0, 0.0]))
    fast, speeds = one.limits.speed, []
    for n, speed in enumerate((np.inf, 2.0, 3.0, np.inf)):
        one.slow_to(speed)
        outputs = [one.step(replace(AIR, goal=goal, now=100.0 + 10.0 * n + 0.05 * k)) for k in range(200)]
        speeds.append(float(np.linalg.norm(outputs[-1].velocity)))
    assert speeds == pytest.approx([fast, 2.0, 3.0, fast])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_goals_that_are_not_finite_are_not_flown(bad: float) -> None:
    one = flying()
    for goal in (waypoint(bad, 0.0, 0.0), Goal(GoalType.VELOCITY, velocity=np.array([bad, 0.0, 0.0]), yaw_rate=bad)):
        output = steps(one, replace(AIR, goal=goal), 5)[-1]
        assert not output.velocity.any() and output.yaw_rate == 0.0


def test_changes_no_faster_than_its_acceleration() -> None:
    one, limits = flying(), PilotLimits()
    goals = [waypoint(50.0, 0.0, 20.0), waypoint(-50.0, 0.0, 20.0), waypoint(0.0, 50.0, 40.0)]
    last = one.step(replace(AIR, goal=goals[0])).velocity
    for n in range(1, 150):
        output = one.step(replace(AIR, goal=goals[n // 50], now=10.0 + 0.05 * n))
        assert np.linalg.norm(output.velocity - last) <= limits.acceleration * 0.05 + 1e-9
        last = output.velocity


def test_speeds_up_no_faster_than_its_jerk_and_no_more_after_a_pause() -> None:
    limits, one, goal = PilotLimits(), flying(), Goal(GoalType.VELOCITY, velocity=np.array([4.0, 0.0, -9.0]))
    assert not steps(one, replace(AIR, goal=Goal(GoalType.HOLD)), 100)[-1].velocity.any()
    first = float(np.linalg.norm(one.step(replace(AIR, goal=goal, now=15.0)).velocity))
    assert first == pytest.approx(limits.jerk * 0.05**2)
    late = one.step(replace(AIR, goal=goal, now=25.0)).velocity
    assert np.linalg.norm(late) - first <= limits.acceleration * 0.2 + 1e-9, "a long step counts as one of 0.2 s"
    fast = steps(one, replace(AIR, goal=goal, now=25.05), 100)[-1].velocity
    assert fast[2] == pytest.approx(-limits.speed_down), "sinking has a limit of its own"


def test_a_clock_that_goes_back_silences_no_request() -> None:
    one = pilot()
    assert one.step(GROUND).request is Request.ARM
    assert one.step(replace(GROUND, now=5.0)).request is Request.ARM


def test_goes_on_from_what_the_governor_gave() -> None:
    one, goal = flying(), waypoint(80.0, 0.0, 20.0)
    steps(one, replace(AIR, goal=goal), 60)
    held = replace(AIR, goal=goal, now=13.0, governed=governed(20.0, Mode.SLOW, (0.5, 0.0, 0.0)))
    assert one.step(held).velocity[0] < 0.7


# Coming home


GOING_HOME = governed(20.0, Mode.RETURN, (-1.0, 0.0, 0.0))


@pytest.mark.parametrize("seen", [{"goal": Goal(GoalType.RETURN)}, {"governed": GOING_HOME}])
def test_returns_when_told_and_does_not_turn_back(seen: dict[str, Any]) -> None:
    one = flying()
    away = replace(AIR, pose=Pose(np.array([60.0, 0.0, 25.0])))
    output = steps(one, replace(away, **seen), 60)[-1]
    assert output.phase is Phase.RETURN and output.velocity[0] < -0.2
    assert one.step(replace(away, goal=waypoint(99.0, 0.0, 20.0), now=14.0)).phase is Phase.RETURN
    assert one.step(replace(AIR, pose=Pose(np.array([1.0, 0.0, 25.0])), now=14.05)).phase is Phase.LAND


def test_the_end_of_the_mission() -> None:
    away = replace(AIR, pose=Pose(np.array([60.0, 0.0, 25.0])), goal=waypoint(99.0, 0.0, 25.0), ended=True)
    hold = steps(flying(), away, 3)[-1]
    assert hold.phase is Phase.HOLD and "ended" in hold.text
    assert steps(flying(mission_end="return_land"), away, 3)[-1].phase is Phase.RETURN


def test_disarmed_after_the_end_of_the_mission_the_flight_is_over() -> None:
    one, other = flying(), flying()
    assert steps(one, replace(AIR, ended=True), 2)[-1].phase is steps(other, AIR, 2)[-1].phase is Phase.HOLD
    assert one.step(replace(GROUND, ended=True, now=11.0)).phase is Phase.DONE
    assert other.step(replace(GROUND, running=False, now=11.0)).phase is Phase.DONE


def test_the_end_of_the_mission_ends_a_take_off() -> None:
    one = pilot()
    one.step(replace(AIR, pose=Pose(np.array([0.0, 0.0, 3.0])), governed=governed(3.0)))
    ended = replace(AIR, pose=Pose(np.array([0.0, 0.0, 3.0])), governed=governed(3.0), ended=True, now=10.05)
    assert one.step(ended).phase is Phase.HOLD


def test_lands_to_the_touch_down_height_and_announces_the_rest() -> None:
    one, goal = flying(), Goal(GoalType.LAND)
    down = steps(one, replace(AIR, goal=goal), 30)[-1]
    assert down.phase is Phase.LAND and down.velocity[2] == pytest.approx(-PilotLimits().land_speed)
    low = replace(AIR, goal=goal, governed=governed(3.9), pose=Pose(np.array([0.0, 0.0, 3.9])), now=12.0)
    handed = steps(one, low, 45)
    assert [n for n, o in enumerate(handed) if o.request is Request.TOUCH_DOWN] == [0, 40]
    assert handed[-1].velocity[2] == pytest.approx(-Limits().land_speed), "the governor lets it down, or does not"
    ground = replace(GROUND, armed=True, goal=goal, now=15.0)
    assert one.step(ground).request is Request.DISARM
    assert one.step(replace(GROUND, goal=goal, now=15.05)).phase is Phase.DONE
    assert one.step(replace(GROUND, goal=waypoint(9.0, 0.0, 9.0), now=15.1)).phase is Phase.DONE, "done is done"


LOW = replace(AIR, pose=Pose(np.array([0.0, 0.0, 3.0])), governed=governed(3.0))


def test_a_touch_down_that_somebody_else_asked_for_is_flown_and_ends_with_it() -> None:
    one, goal = flying(), waypoint(50.0, 0.0, 20.0)
    assert steps(one, replace(AIR, goal=goal), 60)[-1].phase is Phase.FLY
    down = steps(one, replace(LOW, goal=goal, touching_down=True, now=13.0), 30)
    assert all(output.phase is Phase.LAND and output.request is None for output in down)
    assert down[-1].velocity[2] == pytest.approx(-Limits().land_speed)
    assert one.step(replace(LOW, goal=goal, now=14.5)).phase is Phase.FLY


def test_a_touch_down_called_off_is_not_asked_for_again_until_there_is_need() -> None:
    one, goal = flying(), Goal(GoalType.LAND)
    steps(one, replace(AIR, goal=goal), 5)
    assert any(o.request is Request.TOUCH_DOWN for o in steps(one, replace(LOW, goal=goal, now=10.5), 5))
    one.call_off()
    after = steps(one, replace(LOW, goal=goal, now=11.0), 200)
    assert all(output.phase is Phase.HOLD and output.request is None for output in after)
    assert one.step(replace(LOW, goal=goal, now=21.0, governed=governed(3.0, Mode.LAND))).phase is Phase.LAND
    home = flying()
    steps(home, replace(AIR, goal=goal), 5)
    home.call_off()
    assert home.step(replace(AIR, goal=goal, now=11.0)).phase is Phase.HOLD
    away = replace(AIR, goal=goal, pose=Pose(np.array([90.0, 0.0, 20.0])), now=11.05)
    home.step(replace(away, governed=governed(20.0, Mode.RETURN)))
    assert home.phase is Phase.RETURN, "need to return"
    other = flying()
    steps(other, replace(AIR, goal=goal), 5)
    other.call_off()
    assert other.step(replace(LOW, goal=waypoint(9.0, 0.0, 9.0), now=11.0)).phase is Phase.FLY


def test_slows_down_above_the_touch_down_height() -> None:
    limits = PilotLimits()
    near = replace(AIR, goal=Goal(GoalType.LAND), governed=governed(limits.touch_down_height + 0.2))
    output = steps(flying(), near, 40)[-1]
    assert output.velocity[2] == pytest.approx(-0.4) and output.request is None


def test_comes_down_slowly_when_the_height_is_not_known() -> None:
    output = steps(flying(), replace(AIR, goal=Goal(GoalType.LAND), governed=governed(None)), 40)[-1]
    assert output.velocity[2] == pytest.approx(-PilotLimits().land_speed) and output.request is None


def test_reset_is_a_new_flight() -> None:
    one = flying()
    steps(one, replace(AIR, goal=Goal(GoalType.LAND)), 3)
    one.reset()
    assert one.step(GROUND).phase is Phase.ARMING


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from(list(Mode)),
            st.floats(0.0, 2.0), st.floats(-1.0, 1.0), st.sampled_from(list(GoalType)), st.floats(-60.0, 60.0),
        ),
        min_size=1, max_size=30,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=100)
def test_whatever_comes_the_output_is_finite_and_within_limits(events: list[tuple[Any, ...]]) -> None:
    one, limits, now = pilot(), PilotLimits(), 10.0
    for armed, landed, running, ended, mode, silence, step, kind, x in events:
        now += step  # may go back
        goal = Goal(kind, np.array([x, -x, 20.0]), velocity=np.array([x, 0.0, x]))
        seen = PilotInput(
            now, Pose(np.array([x / 2, 0.0, abs(x)])), np.zeros(3), armed, landed, running, ended, HOME,
            goal, silence, None, governed(abs(x) if x > 0 else None, mode),
        )  # fmt: skip
        output = one.step(seen)
        assert np.isfinite(output.velocity).all() and abs(output.yaw_rate) <= limits.yaw_rate
        assert np.hypot(output.velocity[0], output.velocity[1]) <= limits.speed + 1e-9
        assert -limits.speed_down - 1e-9 <= output.velocity[2] <= limits.speed_up + 1e-9
        assert not (output.request is Request.ARM and ended)


WILD = st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e308, -1e308, 5e-324, 1e155, 1e7, 1e30, 3.0, -20.0])


@given(
    st.sampled_from(list(GoalType)), st.sampled_from(list(HeightReference)), st.tuples(WILD, WILD, WILD),
    st.tuples(WILD, WILD, WILD), st.none() | WILD, WILD, WILD,
)  # fmt: skip
@settings(deadline=None, max_examples=100)
def test_a_goal_that_cannot_be_leads_to_no_set_point_that_cannot_be(
    kind: GoalType,
    reference: HeightReference,
    position: tuple[float, ...],
    velocity: tuple[float, ...],
    yaw: float | None,
    rate: float,
    speed: float,
) -> None:
    goal = Goal(kind, np.array(position), reference, yaw, np.array(velocity), rate, speed)
    one = flying()
    for output in steps(one, replace(AIR, goal=goal), 4):
        assert np.isfinite(output.velocity).all() and np.isfinite(output.yaw_rate)
        assert np.linalg.norm(output.velocity) <= 1.0, "no faster than it can be after four steps"


def test_take_off_and_return_lie_in_the_layer_of_the_vehicle() -> None:
    """The second vehicle of a team is a layer higher than the first, below the ceiling; alone nothing changes."""
    first, second, low = pilot(), pilot(), pilot()
    first.rise_into_layer(Team(0, 2), 100.0)
    second.rise_into_layer(Team(1, 2), 100.0)
    low.rise_into_layer(Team(1, 2), 20.0)
    for key in ("take_off_height", "return_height"):
        assert getattr(first.limits, key) == getattr(PilotLimits(), key)
        assert getattr(second.limits, key) == getattr(PilotLimits(), key) + Limits().layer_spacing
    assert low.limits.take_off_height == 15.0
    second.rise_into_layer(Team(1, 2), 100.0)  # a second brief
    assert second.limits.take_off_height == PilotLimits().take_off_height + Limits().layer_spacing
