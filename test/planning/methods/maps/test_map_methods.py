"""VLFM and UniGoal on hand-made maps with a frontier at each end, and UniGoal's graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Grid
from esar_ros.planning import registry
from esar_ros.planning.methods.maps.unigoal import (
    GoalGraph,
    GoalNode,
    Match,
    graph_of_words,
    match,
    predicted_goal,
    similarity,
)


@pytest.fixture
def begin(brief: Any, observe: Any, look: Any, corridor: Grid) -> Any:
    """Factory: a map-based method with its opening behind it."""

    def make(name: str, prompt: str = "A hiker is missing.", **parameters: Any) -> Any:
        method = registry.create(name, parameters)
        method.reset(brief(half=200.0, prompt=prompt), 1)
        method.act(observe(0.0))
        method.act(observe(1.0, yaw=0.0))

        def step(stamp: float, position: Any = (0.0, 0.0, 30.0), yaw: float = math.pi, **values: Any) -> Decision:
            views = look(position, yaw) if "views" in method.needs else {}
            return method.act(observe(stamp, position, yaw, grid=corridor, views=views, **values))

        step.method = method  # type: ignore[attr-defined]
        return step

    return make


def test_vlfm_without_values_takes_the_nearer_frontier(begin: Any) -> None:
    assert begin("vlfm_labels@air")(2.0).goal.position[0] > 20.0


def test_vlfm_follows_the_value_that_a_view_painted(begin: Any, clue: Any) -> None:
    tent = clue(1, "tent", (-50.0, 0.0, 0.0))  # seen by the front camera, which looks west
    assert begin("vlfm_labels@air")(2.0, clues=(tent,)).goal.position[0] < -40.0


def test_vlfm_leaves_a_frontier_only_for_a_clearly_better_one(begin: Any, clue: Any) -> None:
    step = begin("vlfm_labels@air")
    assert step(2.0).goal.position[0] > 20.0
    assert step(3.0).action == "continue"
    better = step(4.0, clues=(clue(1, "tent", (-50.0, 0.0, 0.0)),))
    assert better.goal is not None and better.goal.position[0] < -40.0
    assert "worth more" in better.why


def test_the_brief_s_words_make_a_graph() -> None:
    graph = graph_of_words("They left a blue TENT, then a backpack and a signal flare; the tent was open.")
    assert [node.kind for node in graph.nodes] == ["person", "tent", "backpack", "signal_flare"]
    assert graph.edges == [(0, 1), (0, 2), (0, 3)]
    assert [node.kind for node in graph_of_words("nothing known").nodes] == ["person"]


def test_overlap_is_the_mean_of_nodes_and_edges(clue: Any) -> None:
    goal = GoalGraph(nodes=[GoalNode(kind=k) for k in ("person", "tent", "rope")], edges=[(0, 1), (1, 2)])
    tent, rope = clue(1, "tent", (0.0, 0.0, 0.0)), clue(2, "rope", (30.0, 0.0, 0.0))
    assert match(goal, [], 60.0).overlap == 0.0
    assert match(goal, [tent], 60.0).overlap == pytest.approx((1 / 3 + 0) / 2)
    assert match(goal, [tent, rope], 60.0).overlap == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert match(goal, [tent, rope], 20.0).overlap == pytest.approx((2 / 3 + 0) / 2)
    person = clue(3, "person", (10.0, 0.0, 0.0))
    assert match(goal, [tent, rope, person], 60.0).overlap == 1.0
    twice = GoalGraph(nodes=[GoalNode(kind="tent"), GoalNode(kind="tent")])
    assert match(twice, [tent], 60.0).overlap == 0.5


@given(
    st.floats(0.1, 10.0), st.floats(-math.pi, math.pi), st.tuples(st.floats(-500, 500), st.floats(-500, 500)),
    st.lists(st.tuples(st.integers(-100, 100), st.integers(-100, 100)), min_size=2, max_size=5, unique=True),
)  # fmt: skip
@settings(deadline=None, max_examples=50)
def test_the_similarity_transform_is_recovered(scale: float, angle: float, shift: Any, points: Any) -> None:
    source = np.array(points, float)
    turn = scale * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    found = similarity(source, source @ turn.T + shift)
    assert found is not None
    np.testing.assert_allclose(found, np.column_stack([turn, shift]), atol=1e-6 * max(scale, 1.0) * 1e3)


def test_points_in_one_place_have_no_transform() -> None:
    assert similarity(np.zeros((2, 2)), np.ones((2, 2))) is None


def test_the_goal_is_predicted_from_the_relative_layout(clue: Any) -> None:
    goal = GoalGraph(
        nodes=[GoalNode(kind="person", east=0, north=0), GoalNode(kind="tent", east=10, north=0),
               GoalNode(kind="rope", east=20, north=0)],
        edges=[(1, 2)],
    )  # fmt: skip
    tent, rope = clue(1, "tent", (50.0, 50.0, 0.0)), clue(2, "rope", (50.0, 70.0, 0.0))
    place = predicted_goal(goal, match(goal, [tent, rope], 60.0))
    np.testing.assert_allclose(place, [50.0, 30.0], atol=1e-9)
    assert predicted_goal(goal, match(goal, [tent], 60.0)) is None
    assert predicted_goal(goal, Match({1: tent, 2: rope}, 0.4)) is None
    plain = graph_of_words("tent and rope")
    middle = predicted_goal(plain, Match({1: tent, 2: rope}, 0.6))
    np.testing.assert_allclose(middle, [50.0, 60.0])


def test_unigoal_goes_where_the_graph_points(chat: Any, begin: Any, clue: Any) -> None:
    nodes = [{"kind": "person", "east": 0, "north": 0}, {"kind": "tent", "east": 10, "north": 0},
             {"kind": "rope", "east": 20, "north": 0}]  # fmt: skip
    chat.answers(chat.says({"nodes": nodes, "edges": [[1, 2]]}))
    clues = (clue(1, "tent", (-20.0, 0.0, 0.0)), clue(2, "rope", (0.0, 0.0, 0.0)))
    step = begin("unigoal@air", prompt="tent, rope")
    decision = step(2.0, clues=clues)
    assert decision.goal.position[0] < -40.0, "the person should be 20 m west of the tent"
    assert "goal expected at [-40.0, 0.0]" in decision.why and "by model" in decision.why
    assert begin("unigoal@air")(2.0).goal.position[0] > 20.0, "without evidence the nearer frontier"


def test_unigoal_reads_the_brief_itself_when_the_model_does_not(chat: Any, begin: Any) -> None:
    chat.answers(chat.says({"nodes": [{"kind": "dragon"}]}))
    step = begin("unigoal@air", prompt="a tent", model={"attempts": 1})
    decision = step(2.0)
    assert "goal graph by words, fell back (the model's JSON does not fit: nodes.0: literal error)" in decision.why
    assert len(chat.requests) == 1, "asked once a mission"


def test_unigoal_explores_while_the_model_reads(chat: Any, begin: Any) -> None:
    chat.answers(chat.late(1.3, chat.says({"nodes": [{"kind": "person"}]})))
    step = begin("unigoal@air", model={"clock": "running"})
    thinking = step(1.1)
    assert thinking.thinking and thinking.action == "frontier"
    done = step(5.0)
    assert not done.thinking and done.tokens_in == 100
