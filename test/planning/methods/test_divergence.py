"""No two methods are the same walk: on one scene their tracks lie apart, and what is a method's own decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.benchmark.engine.mission import VEHICLE
from esar_ros.mission.chat import NoAnswer
from esar_ros.mission.decision import Decision
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.planning import registry
from esar_ros.planning.image_text import LabelScorer
from esar_ros.planning.methods.maps.map_method import closeness
from esar_ros.planning.methods.maps.semantic_map import SemanticMap
from esar_ros.planning.methods.maps.unigoal import UniGoal
from esar_ros.planning.methods.models.apex_maps import ApexMaps
from esar_ros.planning.model.scripted import ScriptedModel
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.suite import ESARBENCH
from helpers.chat_server import ChatEndpoint
from helpers.full import mostly_full
from helpers.tracks import Seeing, apart, known_around

METHODS = (
    "fbe", "semexp", "vlfm_labels", "unigoal@scripted", "pure_mllm@scripted", "navgpt@scripted", "spf@scripted",
    "apex@scripted",
)  # fmt: skip
DEMO = ("aotai-first", "aotai-second", "dapeng-zhong-4-10")
SIDES = tuple(np.random.default_rng(5).permutation(["left", "right"] * 8).tolist())


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)


@pytest.fixture
def track(brief: Any, look: Any, flight: Any, clue: Any) -> Callable[..., np.ndarray]:
    """Factory of tracks (N, 3) over flat ground with a tent, a rope and a backpack in three directions."""
    clues = (
        clue(1, "tent", (-55.0, 40.0, 0.0)), clue(2, "rope", (30.0, 80.0, 0.0)), clue(3, "backpack", (20.0, -85.0, 0.0))
    )  # fmt: skip

    def fly(name: str, **parameters: Any) -> np.ndarray:
        method = registry.create(name, parameters)
        method.reset(brief(half=280.0, prompt="They had a backpack and a rope. They went north-east."), 1)
        return np.array(flight(Seeing(method, look)).run(45, known_around(4.0), clues=clues).track)

    return fly


def test_no_two_methods_fly_the_same_track(track: Callable[..., np.ndarray]) -> None:
    tracks = {name: track(name) for name in METHODS}
    for first, second in combinations(METHODS, 2):
        assert apart(tracks[first], tracks[second]) > 10.0, f"{first} and {second}"


def no_answer(self: Any, body: Any) -> Any:
    raise NoAnswer("switched off", again=False)


# What makes each method itself, switched off.
SWITCHES = {
    "apex@scripted": (ApexMaps, "ground", lambda self, points, score: None),
    "semexp": (SemanticMap, "evidence", lambda self, place, reach: 0.0),
    "vlfm_labels": (LabelScorer, "score", lambda self, view, observation: 0.0),
    "unigoal@scripted": (UniGoal, "value", lambda self, frontier, seen, grid: closeness(frontier.position, seen)),
    **{f"{name}@scripted": (ScriptedModel, "complete", no_answer) for name in ("pure_mllm", "navgpt", "spf")},
}


@pytest.mark.parametrize("name", mostly_full(SWITCHES, 2))
def test_without_its_own_term_a_method_flies_another_track(
    name: str, track: Callable[..., np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = track(name)
    monkeypatch.setattr(*SWITCHES[name])
    assert apart(own, track(name)) > 10.0


@pytest.mark.full
@pytest.mark.timeout(3000)
def test_no_two_methods_fly_the_same_tracks_on_demo_tasks() -> None:
    """On one of them they may: the scripted model answers those that choose among moves alike where it sees nothing."""
    furthest: dict[tuple[str, str], float] = {}
    for task in DEMO:
        flown = load_task(task).model_copy(update={"t_max": 120.0})
        place, tracks = load_map(flown.map), {}
        for name in METHODS:
            conditions = RunConditions(preset="fast", detector="segmentation_oracle")
            flight = fly_episode(ESARBENCH, flown, name, flown.seed, conditions, place)
            assert flight.error is None, f"{name}: {flight.error}"
            columns = flight.track[VEHICLE]
            tracks[name] = np.stack([columns["x"], columns["y"], columns["z"]], axis=1)
        for pair in combinations(METHODS, 2):
            furthest[pair] = max(furthest.get(pair, 0.0), apart(*(tracks[name] for name in pair)))
    assert not {pair: far for pair, far in furthest.items() if far <= 10.0}


@pytest.fixture
def first_move(
    chat: ChatEndpoint, monkeypatch: pytest.MonkeyPatch, brief: Any, look: Any, observe: Any
) -> Iterator[Any]:
    """Factory of a method's first decision after its climb, where the model answers as given."""
    monkeypatch.setenv("ESAR_MODEL_URL", chat.url)
    monkeypatch.setenv("ESAR_MODEL_NAME", "test")
    views = look()

    def decide(name: str, answer: dict[str, Any]) -> Decision:
        chat.answers(chat.says(answer))
        method: Any = registry.create(name, {"model": {"attempts": 1, "timeout": 30.0}})
        method.reset(brief(half=280.0), 1)
        method.act(observe(0.0, views=views))
        decision: Decision = method.act(observe(1.0, views=views))
        return decision

    yield decide


def test_apex_turns_to_what_is_named_and_elsewhere_without_its_attraction(first_move: Any) -> None:
    moves = []
    for side in SIDES:
        hut = {"name": "a hut", "score": 1.0, "camera": side, "box": [420, 800, 580, 930]}
        moves.append(first_move("apex", {"objects": [hut]}).action)
    right = [move == f"turn_{side}" for side, move in zip(SIDES, moves, strict=True)]
    other = [move == f"turn_{side}" for side, move in zip(np.roll(SIDES, 3), moves, strict=True)]
    assert np.mean(right) >= 0.8 and 0.2 <= np.mean(other) <= 0.75, "chance where another scene points"
    bare = first_move("apex", {"objects": []}).action
    assert 0.3 <= np.mean([move != bare for move in moves]) <= 0.7, "exploration alone goes one way, whatever is there"


@pytest.mark.parametrize("name", ["spf", "pure_mllm"])
@pytest.mark.parametrize(("action", "column"), [("turn_left", 60), ("forward", 500), ("turn_right", 940)])
def test_the_model_s_answer_decides_where_to(name: str, action: str, column: int, first_move: Any) -> None:
    decision = first_move(name, {"point": [column, 300], "distance": 10, "action": action})
    assert decision.action == ("fly" if (name, action) == ("spf", "forward") else action)
