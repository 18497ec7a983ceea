"""A method of missions flown step by step: its goals as actions, where there is room for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision, Goal, GoalType, HeightReference
from esar_ros.mission.object_goal import StepKind, StepPose
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.method import VIEWS
from esar_ros.planning.methods.patterns.zigzag import Zigzag
from esar_ros.planning.parameters import configured
from esar_ros.planning.steps.method_agent import MethodAgent
from helpers.steps import FlatViews, level, seen, step_task


class ToGoal:
    """Asks for one goal, then stops."""

    name = "to_goal"
    eligible = True

    def __init__(self, goal: Goal | None, needs: frozenset[str] = frozenset()) -> None:
        self.goal, self.needs = goal, needs
        self.observed: list[Observation] = []
        self.brief: Brief | None = None

    def reset(self, brief: Brief, seed: int) -> None:
        self.brief, self.given = brief, False

    def act(self, observation: Observation) -> Decision:
        self.observed.append(observation)
        first, self.given = not self.given, True
        done = observation.goal_reached or observation.goal_blocked
        return Decision("go", "", goal=self.goal if first else None, stop=done)


def flown(method: Any, pose: StepPose, most: int = 60, **views: Any) -> tuple[StepPose, list[StepKind]]:
    """The pose at which it stops, and its actions."""
    agent = MethodAgent("method:to_goal", method)
    task = step_task(pose)
    agent.reset(task, 0)
    kinds = []
    for number in range(most):
        action = agent.act(seen(number, pose, **views))
        kinds.append(action.kind)
        if action.kind is StepKind.STOP:
            break
        pose = pose.after(action.kind, task.size(action))
    return pose, kinds


@pytest.mark.parametrize("bearing", [0.0, 45.0, 100.0, 180.0, -135.0])
def test_a_waypoint_is_reached_from_any_heading(bearing: float) -> None:
    way = 30.0 * np.array([math.cos(math.radians(bearing)), math.sin(math.radians(bearing))])
    goal = Goal(GoalType.WAYPOINT, np.array([*way, 16.0]), yaw=math.radians(-90.0))
    end, kinds = flown(ToGoal(goal), level())
    assert kinds[-1] is StepKind.STOP
    assert np.abs(end.position - goal.position).max() <= 1.0
    assert abs(math.remainder(end.yaw + 90.0, 360.0)) <= 10.0


def test_heights_above_ground_count_from_what_is_seen_below() -> None:
    goal = Goal(GoalType.WAYPOINT, np.array([0.0, 0.0, 12.0]), HeightReference.GROUND)
    end, _ = flown(ToGoal(goal), level(z=100.0), most=1, depths={"down": 8.0})
    assert end.position[2] == pytest.approx(102.0)


def test_without_room_it_does_not_move_there_and_says_blocked() -> None:
    method = ToGoal(Goal(GoalType.WAYPOINT, np.array([30.0, 0.0, 10.0])))
    end, kinds = flown(method, level(), depths=2.0)
    assert np.linalg.norm(end.position - level().position) < 1e-9
    assert method.observed[-1].goal_blocked and kinds[-1] is StepKind.STOP


def test_a_method_that_waits_looks_around_and_its_clock_runs() -> None:
    method = ToGoal(None)
    _, kinds = flown(method, level(), most=3)
    assert kinds == [StepKind.TURN_LEFT] * 3
    stamps = [observation.stamp for observation in method.observed]
    assert stamps == sorted(stamps) and len(set(stamps)) == len(stamps)


def test_images_are_drawn_for_methods_that_look_and_depth_is_planar() -> None:
    for needs, images in ((frozenset[str](), 0), (frozenset({VIEWS}), 4)):
        method = ToGoal(None, needs)
        views = FlatViews(level().pose, depths={"front": 20.0})
        agent = MethodAgent("method:to_goal", method)
        agent.reset(step_task(), 0)
        agent.act(type(seen())(0, level(), views))
        assert ("colour" in views.drawn) is bool(images)
        assert len(method.observed[0].views) == images
    front = method.observed[0].views["front"]
    assert front.rgb.shape[:2] == front.depth.shape
    middle, corner = front.depth[16, 16], front.depth[0, 0]
    assert middle == pytest.approx(20.0, rel=1e-3) and corner == pytest.approx(20.0 / math.sqrt(2.88), rel=0.02)
    assert np.isinf(method.observed[0].views["left"].depth).all(), "at 100 m and beyond nothing was measured"


def test_the_brief_is_the_goal_and_the_box() -> None:
    method = ToGoal(None)
    MethodAgent("method:to_goal", method).reset(step_task(level(10.0, 20.0)), 0)
    assert method.brief is not None
    assert "Bench" in method.brief.prompt and "A bench of grey planks." in method.brief.prompt
    assert method.brief.area.min(axis=0) == pytest.approx([-40.0, -30.0])
    assert method.brief.area.max(axis=0) == pytest.approx([60.0, 70.0])


def test_a_real_method_covers_ground() -> None:
    method = Zigzag(configured("zigzag", {}))
    start = level(z=10.0)
    end, kinds = flown(method, start, most=40, depths={"down": 40.0})
    assert StepKind.STOP not in kinds[:5]
    assert np.linalg.norm(end.position - start.position) > 15.0
