"""Scenes that point to one of several frontiers: each method's own term finds it, without that it flies otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision
from esar_ros.mission.observation import FREE, Grid, SeenClue
from esar_ros.planning import registry
from helpers.chat_server import ChatEndpoint
from helpers.tracks import Seeing, apart, known_around

OPEN = Grid(np.full((200, 200), FREE, np.int8), 2.0, (-200.0, -200.0))
BEARINGS = tuple(np.random.default_rng(7).uniform(-math.pi, math.pi, 20))
OTHERS = tuple(np.random.default_rng(8).permutation(BEARINGS))
LAYOUT = {
    "nodes": [{"kind": "person", "east": 0, "north": 0}, {"kind": "tent", "east": 20, "north": 0},
              {"kind": "rope", "east": 40, "north": 0}, {"kind": "backpack"}],
    "edges": [[1, 2], [2, 3]],
}  # fmt: skip
Place = Callable[[float], tuple[SeenClue, ...]]


@pytest.fixture
def tent(clue: Any) -> Place:
    """One tent beyond the rim of what is searched from the start."""
    return lambda bearing: (clue(1, "tent", (70.0 * math.cos(bearing), 70.0 * math.sin(bearing), 0.0)),)


@pytest.fixture
def trail(clue: Any) -> Place:
    """A rope and a tent that lie as in LAYOUT, the person then 80 m from the start."""

    def make(bearing: float) -> tuple[SeenClue, ...]:
        away = np.array([math.cos(bearing), math.sin(bearing), 0.0])
        return clue(1, "rope", 20.0 * away), clue(2, "tent", 50.0 * away)

    return make


@pytest.fixture
def planted(chat: ChatEndpoint, tent: Place, trail: Place) -> dict[str, Place]:
    """The finds that tell each method of a direction."""
    chat.answers(chat.says(LAYOUT))
    return {"vlfm_labels": tent, "semexp": tent, "unigoal": trail}


@pytest.fixture
def choose(brief: Any, observe: Any, look: Any) -> Callable[..., Decision]:
    """Factory of the first choice, after half a turn in which the cameras see all round."""

    def decide(name: str, clues: tuple[SeenClue, ...], **parameters: Any) -> Decision:
        method = registry.create(name, parameters)
        method.reset(brief(half=200.0), 1)
        for stamp, yaw in enumerate((0.0, *np.linspace(0.0, math.pi, 7))):
            decision = method.act(observe(float(stamp), yaw=yaw, grid=OPEN, views=look(yaw=yaw), clues=clues))
        assert decision.action == "frontier" and decision.considered >= 4
        return decision

    return decide


def share_towards(decisions: Sequence[Decision], bearings: Sequence[float]) -> float:
    """Share of goals in the right quarter."""
    goals = [decision.goal.position for decision in decisions if decision.goal is not None]
    off = [math.atan2(goal[1], goal[0]) - bearing for goal, bearing in zip(goals, bearings, strict=True)]
    return float(np.mean(np.cos(off) > math.cos(math.pi / 4.0)))


@pytest.mark.parametrize("name", ["vlfm_labels", "semexp", "unigoal"])
def test_the_frontier_that_the_scene_points_to_is_chosen(
    name: str, planted: dict[str, Place], choose: Callable[..., Decision]
) -> None:
    chosen = [choose(name, planted[name](bearing)) for bearing in BEARINGS]
    assert share_towards(chosen, BEARINGS) >= 0.8
    assert share_towards(chosen, OTHERS) <= 0.5, "no better than chance where another scene points"


def test_semexp_is_drawn_by_what_lies_far_beyond_the_rim(choose: Callable[..., Decision], clue: Any) -> None:
    def far(bearing: float) -> tuple[SeenClue, ...]:
        return (clue(1, "tent", (190.0 * math.cos(bearing), 190.0 * math.sin(bearing), 0.0)),)

    chosen = [choose("semexp", far(bearing)) for bearing in BEARINGS[:8]]
    assert share_towards(chosen, BEARINGS[:8]) >= 0.8


def test_without_its_term_a_method_chooses_as_if_nothing_had_been_found(
    planted: dict[str, Place], choose: Callable[..., Decision], chat: ChatEndpoint
) -> None:
    def goal(name: str, clues: tuple[SeenClue, ...], **parameters: Any) -> list[float]:
        chosen = choose(name, clues, **parameters).goal
        assert chosen is not None
        return list(chosen.position)

    def goals(name: str, count: int, **parameters: Any) -> list[list[float]]:
        return [goal(name, planted[name](b), **parameters) for b in BEARINGS[:count]]

    nearest = goal("semexp", ())
    for name in planted:
        changed = [place != nearest for place in goals(name, len(BEARINGS))]
        assert np.mean(changed) > 0.5, f"{name}'s own term decides most choices"
    assert goals("semexp", 5, semantic_weight=0.0) == [nearest] * 5
    assert goal("vlfm_labels", ()) == nearest, "nothing seen that the brief asks for"
    chat.answers(chat.says({"nodes": [{"kind": "person"}]}))
    assert goals("unigoal", 5) == [nearest] * 5, "a goal graph without layout or clues"


@pytest.fixture
def track(chat: ChatEndpoint, trail: Place, brief: Any, look: Any, flight: Any, clue: Any) -> Callable[..., np.ndarray]:
    """Factory of tracks (N, 3): a rope and a tent in the north-west, a lone backpack; air known 100 m around."""
    clues = (*trail(2.4), clue(3, "backpack", (-10.0, -75.0, 0.0)))

    def fly(name: str, **parameters: Any) -> np.ndarray:
        method = registry.create(name, parameters)
        method.reset(brief(half=280.0, prompt="They had a backpack."), 1)
        return np.array(flight(Seeing(method, look)).run(40, known_around(2.0), clues=clues).track)

    return fly


QUICK = {"model": {"attempts": 1}}


def test_no_two_methods_fly_the_same_track_nor_one_without_its_term(
    chat: ChatEndpoint, track: Callable[..., Any]
) -> None:
    layout = (("person", 0), ("tent", 40), ("rope", 30))  # the person is expected on the other side of the start
    nodes = [{"kind": kind, "east": east, "north": 0} for kind, east in layout]
    chat.answers(chat.says({"nodes": [*nodes, {"kind": "light"}], "edges": [[1, 2], [2, 3]]}))
    tracks = {name: track(name) for name in ("fbe", "vlfm_labels", "semexp")} | {"unigoal": track("unigoal", **QUICK)}
    names = list(tracks)
    for first, one in enumerate(names):
        for other in names[first + 1 :]:
            assert apart(tracks[one], tracks[other]) > 20.0, f"{one} and {other}"
    chat.answers(chat.says({"nodes": [{"kind": "person"}]}))
    assert apart(tracks["unigoal"], track("unigoal", **QUICK)) > 20.0
    assert apart(tracks["semexp"], track("semexp", semantic_weight=0.0)) > 20.0
