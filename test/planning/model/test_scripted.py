"""The offline stand-in for a language model: its rules, its name, and methods that fly by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from esar_ros.benchmark.engine.episode import fly_episode
from esar_ros.mission.chat import NoAnswer
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import load_task
from esar_ros.planning import registry
from esar_ros.planning.exchange import Form, Question
from esar_ros.planning.method import details_of
from esar_ros.planning.methods.maps.goal_graph import GoalGraph
from esar_ros.planning.methods.maps.goal_questions import Correction, Correlations
from esar_ros.planning.methods.models.aoa import VariableStep
from esar_ros.planning.methods.models.apex import Attractions, SceneObjects
from esar_ros.planning.methods.models.mllm import Strategy
from esar_ros.planning.methods.models.navgpt import Plan, Summary, Turn
from esar_ros.planning.methods.models.pure_mllm import NextAction
from esar_ros.planning.methods.models.spf import Point
from esar_ros.planning.model.client import ModelClient
from esar_ros.planning.model.scripted import ScriptedModel
from esar_ros.planning.model.settings import PRESETS, SCRIPTED, ModelSettings, resolved
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.esarbench.suite import ESARBENCH

ASKING = ("aoa_f", "aoa_v", "apex", "belief_model", "mllm", "navgpt", "pure_mllm", "spf", "unigoal")
NAME = PRESETS[SCRIPTED]["name"]
BRIEF = 'Mission brief of the rescue team: "{}"\nWeather: clear. Local time: 12:00. Time limit: 900 s.\n'
PROMPT = "A hiker with a rope is missing. You start at the hut. She left the hut and walked 300 m north."


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "KEY", "LOG", "REPLAY", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)


def answer(form: type[Form], text: str, brief: str = PROMPT) -> Any:
    client = ModelClient(resolved(ModelSettings(preset=SCRIPTED), "test", {}))
    reply = client.ask(Question("test", "You are asked.", BRIEF.format(brief) + text, form))
    assert reply.value is not None, reply.reason
    return reply.value


def sectors(front: str = "nothing", left: str = "nothing", right: str = "nothing", depth: str = "") -> str:
    told = {"front": front, "left": left, "right": right, "down": "a tent (score 0.99) 30 m, ahead"}
    return "\n".join(f"{name}: no caption Detected: {words}.{depth}" for name, words in told.items()) + "\n"


def test_every_asking_method_is_here() -> None:
    assert {name for name in registry.names() if registry.asks_model(name)} == set(ASKING)


def test_it_opens_a_square() -> None:
    turns = [t for t in range(400) if answer(NextAction, f"Elapsed: {t} s.").action == "turn_left"]
    corners = [t for t in turns if t - 1 not in turns]
    assert corners == [20, 80, 180, 320] and len(turns) == 16
    assert answer(Point, "Elapsed: 5 s.").point == (500.0, 250.0)
    assert answer(Point, "Elapsed: 21 s.").point[0] < 200.0


@pytest.mark.parametrize(
    ("seen", "safe", "action"),
    [
        ({}, "forward, left, turn_left", "forward"),
        ({}, "left, turn_left", "left"),
        ({}, "", "turn_right"),
        ({"right": "a rope (score 0.90) 50 m, 80 deg to the right"}, "forward, left, right", "right"),
        ({"right": "a rope (score 0.90) 50 m, 80 deg to the right"}, "forward, left", "forward"),
        # The brief tells of a rope, of no bottle; a person comes before both.
        ({"left": "a bottle (score 0.90) 40 m, ahead", "right": "a rope (score 0.80) 50 m, ahead"},
         "forward, left, right", "right"),
        ({"left": "a man sitting (score 0.60) 40 m, ahead", "right": "a tent (score 0.99) 50 m, ahead"},
         "forward, left, right", "left"),
    ],
)  # fmt: skip
def test_it_goes_to_the_best_find_by_a_safe_way(seen: dict[str, str], safe: str, action: str) -> None:
    text = f"Elapsed: 5 s.\n{sectors(**seen)}Safe actions: {safe}."
    assert answer(Turn, text).action == action


def step(poses: str, depth: str = "[free, free, 40; 40, 38, 40; 35, 35, 35]", **seen: str) -> Any:
    return answer(VariableStep, f"{sectors(**seen, depth=f' Depth: {depth}')}Poses, oldest first: {poses}")


def test_it_turns_to_the_brief_s_last_way_and_flies_where_depth_is_free() -> None:
    turn = step("[0, 0, 30, 0]")
    assert (turn.action, turn.magnitude) == ("turn_left", 90.0), "north of east"
    assert step("[0, 0, 30, 92]").action == "forward"
    assert step("[0, 0, 30, -150]").action == "turn_right", "the short way round"
    assert step("[0, 0, 30, 92]", depth="[free, 5, free; free, 5, free; 30, 5, 30]").action == "turn_left"
    late = " ".join(f"[{x}, 0, 30, 0]" for x in range(10))
    assert step(late).action == "forward", "later it flies on"
    assert step("[0, 0, 30, 92] [0, 0, 30, 92]").action == "turn_left", "the last step was not flown"
    found = step("[0, 0, 30, 92]", left="a rope (score 0.90) 50 m, 80 deg to the left")
    assert (found.action, found.magnitude) == ("left", 10.0)


def test_kinds_count_by_the_brief_s_words() -> None:
    scores = {one.kind: one.score for one in answer(Attractions, "Kinds: all.").objects}
    assert (scores["person"], scores["rope"], scores["tent"]) == (1.0, 0.8, 0.5)
    graph = answer(GoalGraph, "Kinds: all.", "Her tent stood by a rope; a backpack lay there.")
    assert [node.kind for node in graph.nodes] == ["person", "tent", "rope", "backpack"]
    assert graph.edges == [(0, 1), (0, 2), (0, 3)]


def test_groups_are_scored_by_the_best_of_their_kinds() -> None:
    scores = answer(
        Correlations, "It looks for: rope.\nGroups:\n1: a tent, a rope, 3 m east\n2: a light, 0 m east"
    ).scores
    assert scores == [0.8, 0.5], "the brief names the rope"
    assert answer(Correction, "Objects:\n1: a tent, 3 m east and 4 m north of the start").wrong == []


def test_what_the_question_tells_in_boxes_is_named_by_the_brief_s_words() -> None:
    text = (
        "Found by the detector, with boxes:\n"
        "front camera: a rope (score 0.90) [480, 500, 520, 540]; a tent (score 0.60) [10, 20, 30, 40].\n"
        "left camera: nothing.\n"
        "down camera: a man lying (score 0.50) [0, 0, 5, 5]."
    )
    named = [(one.name, one.score, one.camera, one.box) for one in answer(SceneObjects, text).objects]
    assert named == [
        ("a rope", 0.9, "front", (480, 500, 520, 540)), ("a tent", 0.6, "front", (10, 20, 30, 40)),
        ("a man lying", 1.0, "down", (0, 0, 5, 5)),
    ]  # fmt: skip
    assert answer(SceneObjects, "left camera: nothing.").objects == []


@pytest.mark.parametrize(
    ("flight", "camera"),
    [
        ("Position: at the start. Heading: 000 deg (north).", "front"),
        ("Position: 40 m west and 20 m south of the start. Heading: 090 deg (east).", "left"),
        ("Position: 20 m north of the start. Heading: 270 deg (west).", "right"),
        ("Position: 301 m north of the start. Heading: 270 deg (west).", "left"),
        ("Position: 301 m north of the start. Heading: 185 deg (south).", "front"),
    ],
)
def test_the_ground_is_named_where_the_brief_s_way_leads_and_back_from_far_away(flight: str, camera: str) -> None:
    [ground] = answer(SceneObjects, f"Elapsed: 5 s. {flight}\nfront camera: nothing.").objects
    assert (ground.camera, ground.score) == (camera, 0.7), "she walked north"
    assert answer(SceneObjects, f"Elapsed: 5 s. {flight}", "A hiker is missing.").objects == []


def test_a_plan_is_the_brief_and_a_summary_what_was_detected() -> None:
    assert answer(Plan, "Elapsed: 5 s.").steps[1:] == [
        "You start at the hut.",
        "She left the hut and walked 300 m north.",
    ]
    assert answer(Summary, sectors(left="a rope (score 0.90) 50 m, ahead")).summary == "a rope (score 0.90) 50 m, ahead"
    assert answer(Summary, sectors()).summary == "Nothing was detected."


def test_candidates_are_ranked_by_probability_over_the_way() -> None:
    text = (
        "Candidates, as seen from the drone:\n"
        "1: 400 m NE, belief peak, 20.0 % of one person within 30 m\n"
        "2: 100 m N, belief peak, 20.0 % of one person within 30 m\n"
        "3: 100 m S, edge of the mapped ground\n"
        "4: 100 m W, around a clue: a rope (score 0.90)\n"
    )
    assert answer(Strategy, text).ranking == [2, 4, 1, 3]


def test_a_form_without_a_rule_gets_no_answer() -> None:
    class Other(Form):
        colour: str

    question = Question("other", "", "Which?", Other)
    with pytest.raises(NoAnswer, match="no rule"):
        ScriptedModel().complete({"messages": question.messages()})


def test_nothing_else_that_is_configured_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ESAR_MODEL_NAME", "other")
    monkeypatch.setenv("ESAR_MODEL_PRESET", "qwen3.5-plus")
    assert details_of(registry.create("apex@scripted"))["model"] == NAME
    assert details_of(registry.create("apex"))["model"] == "other"


def test_no_method_asks_it_under_its_own_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown variant 'zigzag@scripted'"):
        registry.create("zigzag@scripted")
    with pytest.raises(UsageError, match=r"asks a language model and none is configured: .*apex@scripted"):
        registry.create("apex")
    monkeypatch.setenv("ESAR_MODEL_PRESET", SCRIPTED)
    for name in ASKING:
        with pytest.raises(UsageError, match=f"planner {name} is {name}@scripted with these settings"):
            registry.create(name)
    with pytest.raises(UsageError, match="is mllm@no_stop@scripted with these settings: take them back"):
        registry.create("mllm@no_stop")  # the two of them have no name
    monkeypatch.delenv("ESAR_MODEL_PRESET")
    own = tmp_path / "planners.yaml"
    own.write_text("model: {preset: scripted}")
    with pytest.raises(UsageError, match="unigoal is unigoal@scripted"):
        registry.create("unigoal", path=own)


@pytest.mark.parametrize("name", ASKING)
def test_an_asking_method_decides_by_it_and_is_named_so(name: str, brief: Any, flight: Any, look: Any) -> None:
    def flown() -> list[Any]:
        method = registry.create(f"{name}@scripted")
        assert method.name == f"{name}@scripted" and method.eligible and details_of(method)["model"] == NAME
        method.reset(brief(half=200.0, prompt=PROMPT), 0)
        return flight(method).run(12, views=look()).decisions

    first = flown()
    assert not any(decision.trouble or decision.stop for decision in first)
    assert [decision.why for decision in flown()] == [decision.why for decision in first]


def test_an_answer_takes_a_frame_while_the_clock_runs(
    brief: Any, flight: Any, look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MODEL_CLOCK", "running")
    method = registry.create("pure_mllm@scripted")
    method.reset(brief(half=200.0), 0)
    decisions = flight(method).run(8, views=look()).decisions
    thinking = [n for n, decision in enumerate(decisions) if decision.thinking]
    assert thinking and all(decisions[n + 1].action == "forward" for n in thinking[:-1])


IN_FULL = [name for name in ASKING if name != "navgpt"]


@pytest.mark.parametrize("name", ["navgpt", *(pytest.param(name, marks=pytest.mark.full) for name in IN_FULL)])
def test_a_mission_by_it_says_so_in_its_result(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_MODEL_LOG", str(tmp_path))
    task = load_task("aotai-first").model_copy(update={"t_max": 18.0})
    conditions = RunConditions(preset="fast", detector="segmentation_oracle")
    flown = fly_episode(ESARBENCH, task, f"{name}@scripted", 3, conditions, load_map(task.map))
    assert flown.error is None
    result = flown.result
    assert result.planner == f"{name}@scripted" and f"{name}@scripted" in result.mission_id
    assert [why for why in result.ineligible_reasons if "planner" in why] == []
    assert result.planner_details["model"] == NAME and not result.planner_troubles
    assert result.metrics.path_length > 5.0
    [log] = tmp_path.glob("*.jsonl")
    assert f"{name}_scripted" in log.name and len(log.read_text().splitlines()) > 1, "it was asked"


def test_its_answers_are_replayed_for_the_same_row_alone(
    brief: Any, flight: Any, look: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flown(name: str) -> list[Any]:
        method = registry.create(name)
        method.reset(brief(half=200.0), 0)
        return flight(method).run(8, views=look()).decisions

    monkeypatch.setenv("ESAR_MODEL_LOG", str(tmp_path))
    first = flown("pure_mllm@scripted")
    monkeypatch.delenv("ESAR_MODEL_LOG")
    [log] = tmp_path.glob("*.jsonl")
    monkeypatch.setenv("ESAR_MODEL_REPLAY", str(log))
    assert [decision.why for decision in flown("pure_mllm@scripted")] == [decision.why for decision in first]
    with pytest.raises(UsageError, match="recorded by pure_mllm@scripted, not pure_mllm:"):
        flown("pure_mllm")
