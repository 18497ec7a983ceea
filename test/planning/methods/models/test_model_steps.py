"""NavGPT, AOA, SPF, CLIP-H and APEX: right decisions where they are known, and what remains without the model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.decision import Decision
from esar_ros.planning import registry

QUICK = {"timeout": 0.5, "attempts": 1, "pause": 0.0}


@pytest.fixture
def begin(chat: Any, brief: Any, observe: Any, look: Any) -> Callable[..., Any]:
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


def by_purpose(chat: Any, **answers: Any) -> None:
    """Captions get a caption, everything else what the test says."""

    def script(body: dict[str, Any]) -> Any:
        kind = "caption" if "Describe for its planner" in chat.prompt_of(body) else "decision"
        said = answers.get(kind, {"caption": "a grassy slope"})
        return said if callable(said) else chat.says(said)

    chat.script = script


def decision_prompt(chat: Any) -> str:
    return next(
        chat.prompt_of(body) for _, body in reversed(chat.requests)
        if "Describe for its planner" not in chat.prompt_of(body)
    )  # fmt: skip


def test_navgpt_reads_captions_objects_and_safe_actions(chat: Any, begin: Any, clue: Any) -> None:
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
    assert len(chat.requests) == 5 and decision.tokens_in == 500
    step(4.0, (0.0, -10.0, 30.0))
    assert "The tent lies on the right. -> right" in decision_prompt(chat)


def test_navgpt_does_not_fly_what_is_not_safe(chat: Any, begin: Any) -> None:
    by_purpose(chat, decision={"thought": "On!", "action": "forward"})
    decision = begin("navgpt", wall={"front": 8.0})(1.0)
    assert decision.action == "left" and "none of the safe ones" in decision.why


def test_navgpt_goes_on_without_captions(chat: Any, begin: Any) -> None:
    by_purpose(chat, caption=chat.status(500), decision={"thought": "blind", "action": "up"})
    decision = begin("navgpt")(1.0)
    assert decision.action == "up" and "[HTTP 500]" in decision.why
    assert "front: no caption Detected: nothing." in decision_prompt(chat)


def test_a_text_only_model_gets_no_pictures(chat: Any, begin: Any) -> None:
    by_purpose(chat, decision={"thought": "text", "action": "left"})
    step = begin("navgpt", model={**QUICK, "images": False})
    assert step(1.0).action == "left"
    assert len(chat.requests) == 1 and chat.images_of(chat.requests[0][1]) == []


def test_aoa_reads_depth_and_poses_and_takes_small_steps(chat: Any, begin: Any) -> None:
    by_purpose(chat, decision={"action": "turn_right", "reason": "look there"})
    step = begin("aoa_f", wall={"left": 8.0})
    decision = step(1.0)
    assert decision.action == "turn_right" and decision.goal.yaw == pytest.approx(math.radians(-15.0))
    prompt = decision_prompt(chat)
    assert "Depth: [8, 8, 8; 8, 8, 8; 8, 8, 8]" in prompt.partition("left: ")[2].partition("\n")[0]
    assert "Poses, oldest first: [0, 0, 30, 0]" in prompt


def test_aoa_variable_chooses_its_length_within_limits(chat: Any, begin: Any) -> None:
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


def test_spf_flies_to_the_pixel_it_points_at(chat: Any, begin: Any) -> None:
    chat.answers(chat.says({"point": [500, 150], "label": "the path"}))
    step = begin("spf", wall={"front": 25.0})
    decision = step(1.0)
    assert decision.action == "fly" and "the path" in decision.why
    x, y, height = decision.goal.position
    # The ray through row 150 of 1000 runs 20 degrees down less what the pixel lies above the axis.
    above = math.atan2((0.5 - 0.15) * 60, 40.0)
    down = math.radians(20.0) - above
    reach = 25.0 / math.cos(above) - 5.0
    assert x == pytest.approx(reach * math.cos(down), abs=0.1) and y == pytest.approx(0.0, abs=0.1)
    assert height == pytest.approx(30.0 - reach * math.sin(down), abs=0.1)


def test_spf_turns_first_when_the_point_is_off_the_nose(chat: Any, begin: Any) -> None:
    chat.answers(chat.says({"point": [0, 150], "label": "on the left"}))
    step = begin("spf")
    turn = step(1.0)
    assert turn.action == "turn_left" and turn.goal.position[:2].tolist() == [0.0, 0.0]
    yaw = turn.goal.yaw
    assert 0.6 < yaw < math.pi / 3
    fly = step(2.0, yaw=yaw)
    assert fly.action == "fly" and len(chat.requests) == 1
    assert math.atan2(fly.goal.position[1], fly.goal.position[0]) == pytest.approx(yaw)
    assert 20.0 < np.hypot(*fly.goal.position[:2]) <= 30.0


def test_spf_falls_back_on_points_that_mean_nothing(chat: Any, begin: Any) -> None:
    chat.answers(chat.says({"point": [5000, 150]}))
    assert "points beside the picture" in begin("spf")(1.0).why
    chat.answers(chat.says({"point": ["left", "up"]}))
    assert "does not fit: point.0" in begin("spf")(1.0).why
    chat.answers(chat.says({"point": [500, 990]}))
    low = begin("spf", least_height=10.0)(1.0)
    assert low.goal.position[2] >= 10.0, "pointing at the ground does not lead into it"


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


def test_apex_flies_to_what_the_model_finds_attractive(chat: Any, begin: Any, clue: Any) -> None:
    clues = (clue(1, "rope", (0.0, 26.0, 0.0), views=2), clue(2, "tent", (0.0, -26.0, 0.0), views=2))
    chat.answers(chat.says({"objects": [{"kind": "tent", "score": 1.0}, {"kind": "rope", "score": 0.1}]}))
    decision = begin("apex")(1.0, clues=clues)
    assert decision.action in ("right", "turn_right") and decision.tokens_in == 100
    chat.answers(chat.says({"objects": [{"kind": "tent", "score": 0.1}, {"kind": "rope", "score": 1.0}]}))
    assert begin("apex")(1.0, clues=clues).action in ("left", "turn_left")


def test_apex_turns_away_from_what_it_has_explored(chat: Any, begin: Any, look: Any, observe: Any) -> None:
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
    assert lost["forward"] > 1.0 and lost["forward"] > lost["turn_left"]
    assert step(2.0).action in ("turn_left", "turn_right", "left", "right")


def test_apex_takes_no_blocked_move(chat: Any, begin: Any, look: Any, observe: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    wall = {"front": 7.0, "left": 7.0}
    method, here = begin("apex", wall=wall).method, observe(1.0, views=look(wall=wall))
    method.look(here)
    rewards = method.rewards(here)
    assert math.isinf(rewards["forward"]) and math.isinf(rewards["left"])
    assert all(math.isfinite(rewards[move]) for move in ("right", "turn_left", "turn_right", "up"))


def test_apex_goes_on_with_its_own_scores(chat: Any, begin: Any, clue: Any) -> None:
    chat.answers(chat.says("Sorry, no."))
    person = clue(1, "person", (0.0, 26.0, 0.0), views=2)
    decision = begin("apex")(1.0, clues=(person,))
    assert decision.action in ("left", "turn_left")
    assert "fell back (the model's answer is no JSON)" in decision.why


def test_what_apex_has_looked_at_attracts_no_more(chat: Any, begin: Any, clue: Any) -> None:
    chat.answers(chat.says({"objects": []}))
    step = begin("apex")
    person = clue(1, "person", (5.0, 10.0, 0.0), views=5)
    step(1.0, clues=(person,))
    assert step.method._attraction.values.max() == 0.0
    step(2.0, clues=(person, clue(2, "person", (60.0, 10.0, 0.0), views=5)))
    assert step.method._attraction.values.max() == 1.0
