"""UniGoal's goal graph and scene graph: overlap, groups, and the goal's place by the relative layout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.planning.methods.maps.goal_graph import (
    GoalGraph,
    GoalNode,
    Match,
    correlation_of_words,
    graph_of_words,
    groups_of,
    match,
    predicted_goal,
    similarity,
)


def test_the_brief_s_words_make_a_graph() -> None:
    graph = graph_of_words("They left a blue TENT, then a backpack and a signal flare; the tent was open.")
    assert [node.kind for node in graph.nodes] == ["person", "tent", "backpack", "signal_flare"]
    assert graph.edges == [(0, 1), (0, 2), (0, 3)]
    assert [node.kind for node in graph_of_words("nothing known").nodes] == ["person"]


def test_overlap_is_the_mean_of_nodes_with_their_degrees_and_edges(clue: Any) -> None:
    """The person is no part of it: node 1 of degree 2 and node 2 of degree 1 are to be found, and the edge between."""
    goal = GoalGraph(nodes=[GoalNode(kind=k) for k in ("person", "tent", "rope")], edges=[(0, 1), (1, 2)])
    tent, rope = clue(1, "tent", (0.0, 0.0, 0.0)), clue(2, "rope", (30.0, 0.0, 0.0))
    assert match(goal, [], 60.0).overlap == 0.0
    assert match(goal, [tent], 60.0).overlap == pytest.approx(((1 / 2 + 0) / 2 + 0) / 2)
    assert match(goal, [tent, rope], 60.0).overlap == pytest.approx(((1 + 3 / 4) / 2 + 1) / 2)
    assert match(goal, [tent, rope], 20.0).overlap == pytest.approx(((1 + 0) / 2 + 0) / 2)
    person = clue(3, "person", (10.0, 0.0, 0.0))
    assert set(match(goal, [tent, rope, person], 60.0).found) == {1, 2}
    assert match(goal, [person], 60.0).overlap == 0.0
    twice = GoalGraph(nodes=[GoalNode(kind="tent"), GoalNode(kind="tent")])
    assert match(twice, [tent], 60.0).overlap == pytest.approx((1 / 2 + 1) / 2), "no edge to compare"


def test_what_is_on_the_blacklist_matches_no_more_but_is_still_there(clue: Any) -> None:
    goal = GoalGraph(nodes=[GoalNode(kind=k) for k in ("person", "tent", "rope")], edges=[(1, 2)])
    tents = [clue(n, "tent", (10.0 * n, 0.0, 0.0), probability=0.9 - 0.1 * n) for n in range(3)]
    assert match(goal, tents, 60.0).found[1].id == 0
    assert match(goal, tents, 60.0, {0}).found[1].id == 1
    assert match(goal, tents, 60.0, {0, 1, 2}) == Match({}, 0.0)


@pytest.mark.parametrize("kinds", [("tent",), ("tent", "rope"), ("tent", "rope", "light", "backpack")])
def test_a_brief_of_which_everything_is_found_matches_at_least_half(clue: Any, kinds: tuple[str, ...]) -> None:
    """The person is what the search is for; whatever else the brief names is enough."""
    goal = graph_of_words(f"Look for {', '.join(kinds)}.")
    for apart in (10.0, 100.0):
        scene = [clue(n, kind, (apart * n, 0.0, 0.0)) for n, kind in enumerate(kinds)]
        assert match(goal, scene, 60.0).overlap >= 0.5


def test_the_first_group_is_the_model_s_else_the_largest_that_edges_join() -> None:
    nodes = [GoalNode(kind=k) for k in ("person", "tent", "rope", "light", "backpack")]
    edges = [(0, 1), (0, 2), (2, 3)]
    assert GoalGraph(nodes=nodes, edges=edges).first_group == [2, 3], "people join nothing"
    assert GoalGraph(nodes=nodes, edges=edges, groups=[[0, 9], [0, 4, 1]]).first_group == [4, 1]
    assert GoalGraph(nodes=nodes[:1]).first_group == []


def test_without_landmarks_the_rest_of_the_graph_stays_as_it_is_related() -> None:
    nodes = [GoalNode(kind=kind) for kind in ("person", "hut", "tent", "water", "rope")]
    graph = GoalGraph(nodes=nodes, edges=[(0, 1), (0, 2), (2, 4), (3, 4)], groups=[[1, 2], [3], [4]])
    bare = graph.without_landmarks()
    assert [node.kind for node in bare.nodes] == ["person", "tent", "rope"]
    assert bare.pairs == [(0, 1), (1, 2)] and bare.first_group == [1]
    assert [node.kind for node in GoalGraph(nodes=nodes[1:2]).without_landmarks().nodes] == ["person"]


def test_groups_are_what_lies_together(clue: Any) -> None:
    places = {1: 0.0, 2: 50.0, 3: 100.0, 4: 200.0}
    scene = [clue(n, "rope", (x, 0.0, 0.0)) for n, x in places.items()] + [clue(5, "person", (150.0, 0.0, 0.0))]
    assert [[one.id for one in group] for group in groups_of(scene, 60.0)] == [[1, 2, 3], [4]]
    assert groups_of([], 60.0) == []
    assert correlation_of_words(["rope", "tent"], scene[:1]) == 0.5 and correlation_of_words(["tent"], scene[:1]) == 0.0


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
    assert place is not None
    np.testing.assert_allclose(place, [50.0, 30.0], atol=1e-9)
    assert predicted_goal(goal, match(goal, [tent], 60.0)) is None
    assert predicted_goal(goal, Match({1: tent, 2: rope}, 0.4)) is None
    plain = graph_of_words("tent and rope")
    middle = predicted_goal(plain, Match({1: tent, 2: rope}, 0.6))
    assert middle is not None
    np.testing.assert_allclose(middle, [50.0, 60.0])
