"""VLFM and UniGoal on hand-made maps with a frontier at each end, and what UniGoal does with its graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import Grid
from esar_ros.planning import registry
from helpers.chat_server import ChatEndpoint


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


def test_unigoal_goes_where_the_graph_points(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    nodes = [{"kind": "person", "east": 0, "north": 0}, {"kind": "tent", "east": 10, "north": 0},
             {"kind": "rope", "east": 20, "north": 0}]  # fmt: skip
    chat.answers(chat.says({"nodes": nodes, "edges": [[1, 2]]}))
    clues = (clue(1, "tent", (-20.0, 0.0, 0.0)), clue(2, "rope", (0.0, 0.0, 0.0)))
    step = begin("unigoal@air", prompt="tent, rope")
    decision = step(2.0, clues=clues)
    np.testing.assert_allclose(decision.goal.position[:2], [-40.0, 0.0], atol=1.0)  # 20 m west of the tent
    assert "goal expected at [-40.0, 0.0]" in decision.why and "by model" in decision.why
    assert begin("unigoal@air")(2.0).goal.position[0] > 20.0, "without evidence the nearer frontier"


def test_unigoal_places_a_landmark_that_the_model_sees_in_the_scene_graph(chat: ChatEndpoint, begin: Any) -> None:
    graph = {"nodes": [{"kind": kind} for kind in ("person", "hut", "rope", "tent")]}
    hut = {"kind": "hut", "camera": "front", "box": [420, 560, 580, 620]}
    bad = ({**hut, "box": [0, 0, 2000, 10]}, {**hut, "box": [400, 0, 600, 50]})  # beside the picture; the sky
    chat.answers(chat.says(graph), chat.says({"landmarks": [hut, *bad, hut]}), chat.says({"scores": [0.9]}))
    step = begin("unigoal@air", prompt="They went to the hut.")
    decision = step(2.0)
    [found] = step.method._landmarks
    assert (found.kind, found.text) == ("hut", "hut") and abs(found.position[1]) < 10.0
    assert -90.0 < found.position[0] < -50.0 and abs(found.position[2]) < 2.0, "on the ground that the box shows"
    assert decision.goal.position[0] < -30.0 and "drawn to a group at" in decision.why
    asked = chat.requests[1][1]
    assert "Landmarks: hut." in chat.prompt_of(asked) and len(chat.images_of(asked)) == 4
    step(3.0)
    assert "1: hut, " in chat.prompt_of(chat.requests[2][1]), "its group is scored"
    step(40.0)
    assert len(chat.requests) == 3, "nothing is left to look for"


def test_unigoal_looks_again_for_a_landmark_that_was_not_there(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"nodes": [{"kind": "person"}, {"kind": "water"}]}), chat.says({"landmarks": []}))
    step = begin("unigoal@air")
    for stamp in (2.0, 20.0, 33.0):
        step(stamp)
    assert len(chat.requests) == 3


def test_unigoal_looks_for_no_landmark_with_a_model_that_reads_text_only(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"nodes": [{"kind": "hut"}, {"kind": "rope"}]}))
    step = begin("unigoal@air", model={"images": False})
    step(2.0)
    assert len(chat.requests) == 1 and "hut" not in chat.prompt_of(chat.requests[0][1]).partition("JSON schema")[0]
    assert [node.kind for node in step.method._goal.nodes] == ["rope"]


def test_unigoal_reads_the_brief_itself_when_the_model_does_not(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"nodes": [{"kind": "dragon"}]}))
    step = begin("unigoal@air", prompt="a tent", model={"attempts": 1})
    decision = step(2.0)
    assert "goal graph by words, fell back (the model's JSON does not fit: nodes.0: literal error)" in decision.why
    assert len(chat.requests) == 1, "asked once a mission"


def test_unigoal_explores_while_the_model_reads(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.late(1.3, chat.says({"nodes": [{"kind": "person"}]})))
    step = begin("unigoal@air", model={"clock": "running"})
    thinking = step(1.1)
    assert thinking.thinking and thinking.action == "frontier"
    done = step(5.0)
    assert not done.thinking and done.tokens_in == 100


PERSON, TENT, ROPE = {"kind": "person"}, {"kind": "tent"}, {"kind": "rope"}


def test_whoever_is_not_where_the_graph_puts_him_is_looked_for_elsewhere(
    chat: ChatEndpoint, begin: Any, clue: Any
) -> None:
    chat.answers(chat.says({"nodes": [PERSON, TENT, ROPE], "edges": [[1, 2]]}), chat.says({"wrong": []}))
    clues = (clue(1, "tent", (-45.0, 0.0, 0.0)), clue(2, "rope", (-35.0, 0.0, 0.0)))
    step = begin("unigoal@air", model={"attempts": 1})
    assert "to be verified; overlap 1.00, goal expected at [-40.0, 0.0]" in step(2.0, clues=clues).why
    assert step(3.0, (-10.0, 0.0, 30.0), clues=clues).action == "continue", "30 m away"
    for stamp in (4.0, 5.0):
        decision = step(stamp, (-38.0, 0.0, 30.0), clues=clues)
    assert "overlap 0.00" in decision.why and "expected" not in decision.why, "both are on the blacklist"


def test_a_place_around_which_all_is_searched_is_no_goal(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    """Stage 2: the middle of both, and what is near to it, lies in view."""
    chat.answers(chat.says({"nodes": [PERSON, TENT, ROPE, {"kind": "light"}], "edges": [[1, 2], [2, 3]]}))

    def why(middle: float, near: float) -> str:
        clues = (clue(1, "tent", (middle - 5.0, 0.0, 0.0)), clue(2, "rope", (middle + 5.0, 0.0, 0.0)))
        decision: Decision = begin("unigoal@air", near=near, model={"attempts": 1})(2.0, clues=clues)
        return decision.why

    assert "overlap 0.60, goal expected at [-95.0, 0.0]" in why(-95.0, 10.0)
    assert "overlap 0.60, goal expected at [-35.0, 0.0]" in why(-35.0, 60.0)
    assert "overlap 0.00" in why(-35.0, 10.0)


def test_what_the_model_calls_wrong_matches_no_more(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    chat.answers(chat.says({"nodes": [PERSON, TENT, ROPE], "edges": [[1, 2]]}), chat.says({"wrong": [2]}))
    clues = (clue(1, "tent", (-45.0, 0.0, 0.0)), clue(2, "rope", (-35.0, 0.0, 0.0)))
    decision = begin("unigoal@air")(2.0, clues=clues)
    assert "overlap 0.38" in decision.why, "half of the nodes, its degree, no edge"
    asked = chat.prompt_of(chat.requests[1][1])
    assert "1: a tent, 45 m west of the start" in asked


def test_groups_draw_frontiers_by_how_probably_the_model_thinks_it_is_there(
    chat: ChatEndpoint, begin: Any, clue: Any
) -> None:
    graph = chat.says({"nodes": [PERSON, TENT, ROPE], "groups": [[1], [2]]})
    clues = (clue(1, "light", (-45.0, 0.0, 0.0)), clue(2, "campfire", (25.0, 0.0, 0.0)))
    for scores, west in (([0.9, 0.1], True), ([0.1, 0.9], False)):
        chat.answers(graph, chat.says({"scores": scores}))
        decision = begin("unigoal@air")(2.0, clues=clues)
        assert (decision.goal.position[0] < -40.0) == west and "drawn to a group at" in decision.why
    asked = chat.prompt_of(chat.requests[-1][1])
    told = "It looks for: tent.\nGroups:\n1: a light, 45 m west of the start\n2: a campfire, 25 m east of the start"
    assert told in asked


def test_without_scores_a_group_is_worth_the_kinds_in_common(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    chat.answers(chat.says("nonsense"))
    clues = (clue(1, "light", (-45.0, 0.0, 0.0)), clue(2, "campfire", (25.0, 0.0, 0.0)))
    for prompt, west in (("a light", True), ("a campfire", False)):
        decision = begin("unigoal@air", prompt=prompt, model={"attempts": 1})(2.0, clues=clues)
        assert (decision.goal.position[0] < -40.0) == west
    assert "drawn" not in begin("unigoal@air", prompt="a rope", model={"attempts": 1})(2.0, clues=clues).why


def test_a_set_of_groups_is_asked_about_once(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    chat.answers(chat.says({"nodes": [PERSON, TENT]}), chat.says({"scores": [0.5]}))
    step = begin("unigoal@air")
    lights = [clue(n, "light", (-45.0 + 80.0 * n, 0.0, 0.0)) for n in range(2)]
    for stamp, clues in ((2.0, lights[:1]), (3.0, lights[:1]), (4.0, lights), (5.0, lights)):
        step(stamp, clues=tuple(clues))
    assert len(chat.requests) == 3, "the graph, the first group, the second"
