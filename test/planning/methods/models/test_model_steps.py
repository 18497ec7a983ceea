"""NavGPT, AOA, SPF, CLIP-H and APEX: right decisions where they are known, and what remains without the model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision, HeightReference
from esar_ros.mission.errors import UsageError
from esar_ros.planning import registry
from esar_ros.planning.depth_view import surface_in_box
from esar_ros.planning.method import details_of
from helpers.chat_server import ChatEndpoint

QUICK = {"timeout": 5.0, "attempts": 1, "pause": 0.0}


@pytest.fixture
def begin(chat: ChatEndpoint, brief: Any, observe: Any, look: Any) -> Callable[..., Any]:
    """Factory: a method after its climb; step() gives it the next observation."""

    def make(name: str, wall: dict[str, float] | None = None, **parameters: Any) -> Any:
        asks = {} if name.endswith("_labels") else {"model": QUICK}
        method = registry.create(name, {**asks, **parameters})
        method.reset(brief(prompt="A hiker with a tent is missing."), 1)
        method.act(observe(0.0, views=look(wall=wall)))

        def step(stamp: float, position: Any = (0.0, 0.0, 30.0), yaw: float = 0.0, **values: Any) -> Decision:
            return method.act(observe(stamp, position, yaw, views=look(position, yaw, wall), **values))

        step.method = method  # type: ignore[attr-defined]
        return step

    return make


SIDE = {  # questions beside the decision, by a word of their form
    '"caption"': ("caption", {"caption": "a grassy slope"}),
    '"steps"': ("plan", {"steps": ["Go west.", "Then search the valley."]}),
    '"summary"': ("summary", {"summary": "grass all round"}),
}


def by_purpose(chat: Any, **answers: Any) -> None:
    """Captions get a caption, plans a plan, summaries a summary, everything else what the test says."""

    def script(body: dict[str, Any]) -> Any:
        kind, said = next((one for sign, one in SIDE.items() if sign in chat.prompt_of(body)), ("decision", None))
        said = answers.get(kind, said)
        return said if callable(said) else chat.says(said)

    chat.script = script


def prompts_with(chat: Any, sign: str) -> list[str]:
    return [prompt for _, body in chat.requests if sign in (prompt := chat.prompt_of(body))]


def decision_prompt(chat: Any) -> str:
    prompts = [chat.prompt_of(body) for _, body in chat.requests]
    return next(prompt for prompt in reversed(prompts) if not any(sign in prompt for sign in SIDE))


def test_navgpt_reads_captions_objects_and_safe_actions(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    by_purpose(chat, decision={"thought": "The tent lies on the right.", "action": "right"})
    step = begin("navgpt", wall={"front": 8.0})
    tent = clue(1, "tent", (0.0, -40.0, 0.0))
    decision = step(1.0, clues=(tent,))
    assert decision.action == "right" and decision.goal.position[1] == pytest.approx(-10.0)
    prompt = decision_prompt(chat)
    assert "right: a grassy slope Detected: a tent (score 0.90) 50 m, 90 deg to the right." in prompt
    assert "left: a grassy slope Detected: nothing." in prompt
    safe = prompt.partition("Safe actions: ")[2].partition(".")[0].split(", ")
    assert "forward" not in safe and {"left", "right", "up", "turn_left"} <= set(safe) and "stop" not in safe
    assert len(chat.requests) == 7 and decision.tokens_in == 700, "the plan once, four captions, turn and summary"
    assert "Plan: 1. Go west. 2. Then search the valley." in prompt and "- none yet" in prompt
    [summarised] = prompts_with(chat, '"summary"')
    assert "right: a grassy slope Detected: a tent" in summarised and "Mission brief" not in summarised
    step(4.0, (0.0, -10.0, 30.0))
    later = decision_prompt(chat)
    turn = "- 1 s, at the start: saw: grass all round Thought: The tent lies on the right. -> right"
    assert turn in later and "Plan: 1. Go west." in later and "- none yet" not in later
    assert len(chat.requests) == 13 and len(prompts_with(chat, '"steps"')) == 1


def test_navgpt_remembers_without_its_summariser_and_goes_on_without_its_plan(
    chat: ChatEndpoint, begin: Any, clue: Any
) -> None:
    said = {"thought": "On.", "action": "forward"}
    by_purpose(chat, decision=said, plan=chat.status(500), summary=chat.says("no JSON"))
    step = begin("navgpt", history=1)
    first = step(1.0, clues=(clue(1, "tent", (40.0, 0.0, 0.0)),))
    assert first.action == "forward" and "Plan: none" in decision_prompt(chat)
    step(4.0, (10.0, 0.0, 30.0))
    assert "- 1 s, at the start: saw: a tent (score 0.90) 50 m, ahead Thought: On. -> forward" in decision_prompt(chat)
    step(7.0, (20.0, 0.0, 30.0))
    last = decision_prompt(chat)
    assert "- 4 s, 10 m east of the start: saw: nothing detected" in last and "- 1 s" not in last


def test_navgpt_does_not_fly_what_is_not_safe(chat: ChatEndpoint, begin: Any) -> None:
    by_purpose(chat, decision={"thought": "On!", "action": "forward"})
    decision = begin("navgpt", wall={"front": 8.0})(1.0)
    assert decision.action == "left" and "none of the safe ones" in decision.why


def test_navgpt_goes_on_without_captions(chat: ChatEndpoint, begin: Any) -> None:
    by_purpose(chat, caption=chat.status(500), decision={"thought": "blind", "action": "up"})
    decision = begin("navgpt")(1.0)
    assert decision.action == "up" and "[partly: HTTP 500]" in decision.why
    assert "front: no caption Detected: nothing." in decision_prompt(chat)


def test_a_text_only_model_gets_no_pictures(chat: ChatEndpoint, begin: Any) -> None:
    by_purpose(chat, decision={"thought": "text", "action": "left"})
    step = begin("navgpt", model={**QUICK, "images": False})
    assert step(1.0).action == "left"
    assert len(chat.requests) == 3 and not any(chat.images_of(body) for _, body in chat.requests)


def test_aoa_reads_depth_and_poses_and_takes_small_steps(chat: ChatEndpoint, begin: Any) -> None:
    by_purpose(chat, decision={"action": "turn_right", "reason": "look there"})
    step = begin("aoa_f", wall={"left": 8.0})
    decision = step(1.0)
    assert decision.action == "turn_right" and decision.goal.yaw == pytest.approx(math.radians(-15.0))
    prompt = decision_prompt(chat)
    assert "Depth: [8, 8, 8; 8, 8, 8; 8, 8, 8]" in prompt.partition("left: ")[2].partition("\n")[0]
    assert "Poses, oldest first: [0, 0, 30, 0]" in prompt


def test_aoa_variable_chooses_its_length_within_limits(chat: ChatEndpoint, begin: Any) -> None:
    by_purpose(chat, decision={"action": "forward", "magnitude": 13.0})
    assert begin("aoa_v")(1.0).goal.position[0] == pytest.approx(13.0)
    by_purpose(chat, decision={"action": "forward", "magnitude": 300.0})
    cut = begin("aoa_v")(1.0)
    assert cut.goal.position[0] == pytest.approx(20.0) and "cut to 20" in cut.why
    by_purpose(chat, decision={"action": "turn_left", "magnitude": 60.0})
    assert begin("aoa_v")(1.0).goal.yaw == pytest.approx(math.radians(60.0))
    by_purpose(chat, decision={"action": "forward"})
    assert "magnitude: missing" in begin("aoa_v")(1.0).why
    by_purpose(chat, decision={"action": "forward", "magnitude": -5.0})
    assert "fell back" in begin("aoa_v")(1.0).why


def ray_of(row: float) -> tuple[float, float]:
    """Elevation (rad) of a row (of 1000) in the middle column, and that off the axis of the camera, 20 deg down."""
    above = math.atan2((0.5 - row / 1000) * 60, 40.0)
    return above - math.radians(20.0), above


@pytest.mark.parametrize(
    ("label", "length"), [(10, 30.0), (8, 30.0 * 0.8**1.8), (5, 30.0 * 0.5**1.8), (3, 5.0), (1, 5.0)]
)
def test_spf_flies_the_papers_step_along_the_ray(chat: ChatEndpoint, begin: Any, label: int, length: float) -> None:
    chat.answers(chat.says({"point": [500, 100], "label": "smoke", "distance": label}))
    goal = begin("spf")(1.0).goal
    elevation, _ = ray_of(100)
    assert 0.1 < elevation < 0.3, "above the horizon"
    assert goal.height_reference is HeightReference.MAP
    along = [length * math.cos(elevation), 0.0, 30.0 + length * math.sin(elevation)]
    np.testing.assert_allclose(goal.position, along, atol=0.01)


def test_spf_flies_up_or_down_to_the_point_itself_whatever_the_ground(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [500, 250], "distance": 10}))
    goal = begin("spf")(1.0, (0.0, 0.0, 130.0), height=30.0).goal  # ground 100 m above the map's origin
    elevation, _ = ray_of(250)
    assert goal.position[2] == pytest.approx(130.0 + 30.0 * math.sin(elevation), abs=0.01)
    chat.answers(chat.says({"point": [500, 900], "distance": 10}))
    low = begin("spf")(1.0, (0.0, 0.0, 130.0), height=14.0, goal_reached=True).goal
    assert low.position[2] == pytest.approx(126.0), "10 m above the ground, not into it"


def test_spf_ends_a_leg_before_what_depth_measures(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [500, 150], "label": "the path", "distance": 10}))
    decision = begin("spf", wall={"front": 25.0})(1.0)
    assert decision.action == "fly" and "the path" in decision.why and "28 m away" in decision.why
    elevation, above = ray_of(150)
    reach = 25.0 / math.cos(above) - 5.0
    np.testing.assert_allclose(
        decision.goal.position, [reach * math.cos(elevation), 0.0, 30.0 + reach * math.sin(elevation)], atol=0.1
    )
    blind = begin("spf@unmeasured", wall={"front": 25.0})
    assert blind(1.0).goal.position[0] == pytest.approx(30.0 * math.cos(elevation), abs=0.1)
    assert blind.method.name == "spf@unmeasured" and blind.method.details["legs"].endswith("as the model says")


def test_an_action_after_a_leg_counts_from_where_it_led(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [500, 100], "distance": 10}))
    step = begin("spf")
    z = float(step(1.0).goal.position[2])
    chat.answers(chat.status(500))
    fallback = step(9.0, (30.0, 0.0, z))
    assert fallback.action == "forward" and fallback.goal.position[2] == pytest.approx(z)


def test_spf_asks_for_the_target_and_how_far(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [500, 250]}))
    begin("spf")(1.0)
    prompt = chat.prompt_of(chat.requests[0][1])
    assert "a missing person, else a trace of one" in prompt and "1 when it is very close" in prompt
    assert "A hiker with a tent is missing." in prompt and "90 degrees wide" in prompt


def test_spf_turns_first_when_the_point_is_off_the_nose(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [0, 150], "label": "on the left", "distance": 10}))
    step = begin("spf")
    turn = step(1.0)
    assert turn.action == "turn_left" and turn.goal.position.tolist() == [0.0, 0.0, 30.0]
    yaw = turn.goal.yaw
    assert 0.6 < yaw < math.pi / 3
    fly = step(2.0, yaw=yaw)
    assert fly.action == "fly" and len(chat.requests) == 1
    assert math.atan2(fly.goal.position[1], fly.goal.position[0]) == pytest.approx(yaw)
    assert 20.0 < np.hypot(*fly.goal.position[:2]) <= 30.0


def test_spf_falls_back_on_points_that_mean_nothing(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"point": [5000, 150]}))
    assert "points beside the picture" in begin("spf")(1.0).why
    chat.answers(chat.says({"point": ["left", "up"]}))
    assert "does not fit: point.0" in begin("spf")(1.0).why
    chat.answers(chat.says({"point": [500, 150], "distance": 11}))
    assert "does not fit: distance" in begin("spf")(1.0).why


def test_clip_h_goes_where_the_view_fits_best(begin: Any, clue: Any) -> None:
    step = begin("clip_h_labels")
    decision = step(1.0, clues=(clue(1, "rope", (30.0, 0.0, 0.0)), clue(2, "tent", (0.0, 30.0, 0.0))))
    assert decision.action == "left" and decision.why == "the left view fits with 0.72"
    assert decision.goal.position[1] == pytest.approx(5.0)
    step = begin("clip_h_labels", wall={"left": 5.0})
    blocked = step(1.0, clues=(clue(1, "rope", (30.0, 0.0, 0.0)), clue(2, "tent", (0.0, 30.0, 0.0))))
    assert blocked.action == "forward", "the second best, as the best is blocked"


def test_clip_h_stops_when_a_view_fits_well_enough(begin: Any, clue: Any) -> None:
    step = begin("clip_h_labels", stop_from_step=2)
    person = clue(1, "person", (30.0, 0.0, 0.0), probability=0.95)
    first = step(1.0, clues=(person,))
    assert first.action == "forward" and not first.stop
    assert not step(2.0, (5.0, 0.0, 30.0), clues=(person,)).stop
    assert step(3.0, (10.0, 0.0, 30.0), clues=(person,)).stop


def pixel_box(camera: str, place: Any, look: Any) -> list[float]:
    """A box (0 to 1000) of 4 m around a place, in a camera's picture from 30 m above the start."""
    view = look()[camera]
    local = (np.asarray(place) - view.pose.position) @ view.pose.rotation
    pixel, inside = view.model.project(local)
    assert inside
    half = 2.0 * view.model.fx / local[2]
    return [float(v) for v in (np.concatenate([pixel - half, pixel + half]) / [80, 60, 80, 60] * 1000).clip(0, 1000)]


@pytest.mark.parametrize("camera", ["left", "right"])
def test_apex_turns_to_what_the_model_names_in_a_picture(
    chat: ChatEndpoint, begin: Any, look: Any, camera: str
) -> None:
    place = np.array([0.0, 30.0 if camera == "left" else -30.0, 0.0])
    hut = {"name": "a hut", "score": 0.95, "camera": camera, "box": pixel_box(camera, place, look)}
    pond = {"name": "a pond", "score": 0.1, "camera": "front", "box": [450, 500, 550, 600]}
    chat.answers(chat.says({"objects": [hut, pond]}))
    step = begin("apex")
    decision = step(1.0)
    assert decision.action == f"turn_{camera}" and decision.tokens_in == 100
    drawn = np.argwhere(step.method._maps.attraction.values > 0.9)
    centres = step.method._maps.attraction.lower + (drawn + 0.5) * 5.0
    assert len(drawn) and np.linalg.norm(centres - place, axis=1).max() < 10.0, "grounded where the picture shows it"
    assert "Found by the detector, with boxes:" in decision_prompt(chat)
    assert len(chat.images_of(chat.requests[0][1])) == 4


def test_apex_grounds_in_the_voxels_that_depth_shows_in_the_box(look: Any) -> None:
    view = look(wall={"front": 25.0})["front"]
    points = surface_in_box(view, (400, 0, 600, 200))
    local = (points - view.pose.position) @ view.pose.rotation
    np.testing.assert_allclose(local[:, 2], 25.0, atol=1e-3)
    np.testing.assert_allclose(np.abs(local[:, 0]).max(), 0.2 * 80 / 40 * 25 / 2, rtol=0.1)
    assert len(surface_in_box(view, (500, 100, 500, 100))) >= 1, "a point is a box of a pixel"
    assert len(surface_in_box(look()["front"], (400, 0, 600, 50))) == 0, "the sky"


def test_apex_tells_the_model_where_the_detector_found_something(
    chat: ChatEndpoint, begin: Any, clue: Any, look: Any
) -> None:
    chat.answers(chat.says({"objects": []}))
    begin("apex")(1.0, clues=(clue(1, "tent", (0.0, 40.0, 0.0)),))
    told = decision_prompt(chat).partition("left camera: ")[2].partition("\n")[0]
    box = json.loads(told.removeprefix("a tent (score 0.90) ").removesuffix("."))
    near = pixel_box("left", (0.0, 40.0, 0.0), look)
    assert np.abs(np.array(box) - near).max() < 30.0
    assert "front camera: nothing." in decision_prompt(chat)


def test_apex_in_the_box_around_the_start_and_around_the_vehicle(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    far = (300.0, 0.0, 60.0)
    moving, fixed = begin("apex"), begin("apex@start")
    for step in (moving, fixed):
        step(1.0)
        step(60.0, far)
    assert np.abs(moving.method._maps.attraction.lower[:2] - [200.0, -100.0]).max() < 5.0
    assert fixed.method._maps.attraction.lower[:2].tolist() == [-100.0, -100.0]
    assert moving.method._maps.exploration.values.max() > 0.0, "what is there is explored"
    assert (moving.method.details["window"], fixed.method.details["window"]) == (
        "200 m box around the vehicle, attraction to 100 m ahead at any height, no move undoes the last",
        "200 m box around the start, attraction to 50 m in view",
    )
    assert fixed.method.name == "apex@start"


@pytest.mark.parametrize(("name", "drawn"), [("apex", True), ("apex@start", False)])
def test_apex_is_drawn_as_far_as_its_maps_reach_and_the_papers_row_to_50_m(
    chat: ChatEndpoint, begin: Any, look: Any, name: str, drawn: bool
) -> None:
    wood = {"name": "the edge of the wood", "score": 0.95, "camera": "right", "box": [200, 500, 800, 560]}
    chat.answers(chat.says({"objects": [wood]}))
    points = surface_in_box(look()["right"], (200, 500, 800, 560))
    assert np.linalg.norm(points - [0.0, 0.0, 30.0], axis=1).min() > 60.0
    assert (begin(name)(1.0).action == "turn_right") is drawn


def test_apex_is_named_a_stand_in_where_the_model_sees_no_pictures(chat: ChatEndpoint, tmp_path: Any) -> None:
    own = tmp_path / "planners.yaml"
    own.write_text("model: {images: false}")
    with pytest.raises(UsageError, match="planner apex is apex@kinds with these settings: fly apex@kinds"):
        registry.create("apex", path=own)
    stand_in = registry.create("apex@kinds", path=own)
    assert stand_in.name == "apex@kinds" and details_of(stand_in)["grounding"].endswith("a stand-in")


def test_apex_by_kinds_flies_to_what_the_model_finds_attractive(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    clues = (clue(1, "rope", (0.0, 30.0, 0.0), views=2), clue(2, "tent", (0.0, -30.0, 0.0), views=2))
    chat.answers(chat.says({"objects": [{"kind": "tent", "score": 1.0}, {"kind": "rope", "score": 0.1}]}))
    decision = begin("apex@kinds")(1.0, clues=clues)
    assert decision.action == "turn_right" and decision.tokens_in == 100
    chat.answers(chat.says({"objects": [{"kind": "tent", "score": 0.1}, {"kind": "rope", "score": 1.0}]}))
    assert begin("apex@kinds")(1.0, clues=clues).action == "turn_left"


def test_apex_turns_away_from_what_it_has_explored(chat: ChatEndpoint, begin: Any, look: Any, observe: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    step = begin("apex")
    method = step.method
    here = observe(1.0, views=look())
    method.look(here)
    first = method.rewards(here)
    for _ in range(20):
        method.look(here)
    later = method.rewards(here)
    lost = {move: first[move] - later[move] for move in first}
    assert lost["forward"] > 1.0 and lost["forward"] > lost["turn_back"]
    assert step(2.0).action in ("turn_left", "turn_right")


def test_apex_does_not_sink(chat: ChatEndpoint, begin: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    step, place, yaw = begin("apex"), np.array([0.0, 0.0, 30.0]), 0.0
    heights = []
    for n in range(40):
        goal = step(1.0 + 3.0 * n, place, yaw).goal
        place, yaw = goal.position, goal.yaw
        heights.append(float(place[2]))
    assert np.median(heights) >= 20.0 and np.linalg.norm(place[:2]) > 100.0, "it explores, and stays up"


def test_apex_flies_to_what_is_named_looks_at_it_and_flies_on(chat: ChatEndpoint, begin: Any, look: Any) -> None:
    box = (100, 560, 900, 640)
    wood = {"name": "the edge of the wood", "score": 0.7, "camera": "front", "box": box}
    where = np.median(surface_in_box(look()["front"], box), axis=0)
    chat.answers(chat.says({"objects": [wood]}), chat.says({"objects": []}))
    step, place, yaw, poses = begin("apex"), np.array([0.0, 0.0, 30.0]), 0.0, []
    for n in range(30):
        goal = step(1.0 + 3.0 * n, place, yaw).goal
        place, yaw = goal.position, goal.yaw
        poses.append((*place.round(), round(math.cos(yaw)), round(math.sin(yaw))))
    away = [math.hypot(*(pose[:2] - where[:2])) for pose in poses]
    assert math.hypot(*where[:2]) > 55.0 and min(away[:10]) < 30.0, "it is flown to"
    assert max(away[12:]) > 40.0, "and left"
    assert all(one != other for one, other in zip(poses, poses[2:], strict=False)), "never to and fro"


def test_apex_takes_no_blocked_move(chat: ChatEndpoint, begin: Any, look: Any, observe: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    wall = {"front": 7.0}
    method, here = begin("apex", wall=wall).method, observe(1.0, views=look(wall=wall))
    method.look(here)
    rewards = method.rewards(here)
    assert math.isinf(rewards["forward"])
    assert all(math.isfinite(rewards[move]) for move in rewards if move != "forward")


def test_apex_goes_on_with_its_own_maps(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    chat.answers(chat.says("Sorry, no."))
    person = clue(1, "person", (0.0, 30.0, 0.0), views=2)
    decision = begin("apex")(1.0, clues=(person,))
    assert decision.action == "turn_left", "a person draws without the model"
    assert "fell back (the model's answer is no JSON)" in decision.why


def test_what_apex_has_looked_at_attracts_no_more(chat: ChatEndpoint, begin: Any, clue: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    step = begin("apex")
    person = clue(1, "person", (10.0, 5.0, 0.0), views=5)
    step(1.0, clues=(person,))
    assert step.method._maps.attraction.values.max() == 1.0
    for stamp in (2.0, 3.0):
        step(stamp, clues=(person,))
    assert step.method._maps.attraction.values.max() == 0.0
    step(4.0, clues=(person, clue(2, "person", (60.0, 10.0, 0.0), views=5)))
    assert step.method._maps.attraction.values.max() == 1.0
