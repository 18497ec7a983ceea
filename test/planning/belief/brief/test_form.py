"""A model's reading of a brief: what it may say, and the facts that become of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.chat import NoAnswer
from esar_ros.planning.belief.brief.facts import (
    VAGUE_SPREAD,
    WALKED_SPREAD,
    WALKING_SPEED,
    BriefFacts,
    Reference,
)
from esar_ros.planning.belief.brief.form import BriefReading, facts_of, reading_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.model.client import parse

BRIEFS = Path(__file__).parents[3] / "data" / "briefs" / "phrasings.jsonl"
PROMPT = "Ana and Ben left the hut. You start 300 m south of the hut. They walked a few minutes east, then 400 m north."
ANSWER: dict[str, Any] = {
    "missing": 2,
    "names": ["Ana", "Ben", "Zoe"],
    "waiting": True,
    "start": {"landmark": "the hut", "metres": 300, "bearing": 180},
    "ways": [
        {"minutes": 4, "rough": True, "bearing": 90, "counts_from": "landmark"},
        {"metres": 400, "bearing": 0, "counts_from": "previous", "names": ["Ben", "Eve"], "kinds": ["rope"]},
    ],
}


def read(**changed: Any) -> BriefReading:
    reading = parse(json.dumps({**ANSWER, **changed}), BriefReading)
    assert isinstance(reading, BriefReading)
    return reading


def test_an_answer_becomes_facts() -> None:
    facts = facts_of(read(), PROMPT)
    assert (facts.victims, facts.names, facts.stationary) == (2, ("Ana", "Ben"), True), "Zoe is not in the brief"
    assert facts.start is not None and facts.start.distance is not None and facts.start.direction is not None
    assert facts.start.distance.metres == 300.0 and facts.start.direction.angle == pytest.approx(-math.pi / 2)
    east, north = facts.moves
    assert east.reference is Reference.START and north.reference is Reference.PREVIOUS
    assert east.distance is not None and east.distance.metres == 4 * WALKING_SPEED
    assert east.distance.spread == WALKED_SPREAD > VAGUE_SPREAD
    assert north.direction is not None and north.direction.angle == pytest.approx(math.pi / 2)
    assert north.persons == {"Ben"} and north.kinds == facts.kinds == {"rope"}


def test_at_the_landmark_is_no_distance() -> None:
    facts = facts_of(read(start={"landmark": "the hut", "metres": 0}), PROMPT)
    assert facts.start is not None and facts.start.distance is None and facts.start.direction is None


@pytest.mark.parametrize(
    "changed",
    [
        {"missing": 0}, {"missing": 5000}, {"missing": "all of them"}, {"ways": [{"metres": 5, "counts_from": "moon"}]},
        {"start": {"landmark": "the hut", "metres": 1e9}}, {"start": {"landmark": "the hut", "metres": float("nan")}},
        {"ways": [{"bearing": -90, "counts_from": "landmark"}]}, {"ways": [{"counts_from": "landmark"}] * 13},
        {"ways": [{"minutes": float("inf"), "counts_from": "landmark"}]}, {"names": ["A"] * 13},
        {"ways": [{"counts_from": "landmark", "kinds": ["bomb"]}]},
    ],
)  # fmt: skip
def test_what_is_out_of_bounds_is_no_reading(changed: dict[str, Any]) -> None:
    with pytest.raises(NoAnswer, match="does not fit"):
        read(**changed)


def is_like(one: Any, other: Any) -> bool:
    """The same way, or both not told."""
    if None in (one.distance, other.distance):
        far = one.distance is other.distance
    else:
        far = math.isclose(one.distance.metres, other.distance.metres)
    if None in (one.direction, other.direction):
        return far and one.direction is other.direction
    return far and abs(wrap_angle(one.direction.angle - other.direction.angle)) < 1e-6


def same(one: BriefFacts, other: BriefFacts) -> bool:
    """The same but for the words they were read from."""
    starts = one.start, other.start
    pairs = [*zip(one.moves, other.moves, strict=True), *([starts] if None not in starts else [])]
    return (
        (one.victims, one.names, one.stationary, one.short_of_it, one.start is None)
        == (other.victims, other.names, other.stationary, other.short_of_it, other.start is None)
        and [(m.reference, m.persons, m.kinds, m.searched) for m in one.moves]
        == [(m.reference, m.persons, m.kinds, m.searched) for m in other.moves]
        and all(is_like(a, b) for a, b in pairs)
    )


def test_the_form_holds_all_that_the_rules_read() -> None:
    briefs = [json.loads(line)["text"] for line in BRIEFS.read_text(encoding="utf-8").splitlines()]
    for prompt in [*briefs, "Last seen 300 m north of where you take off."]:
        facts = parse_brief(prompt)
        again = facts_of(BriefReading.model_validate_json(reading_of(facts).model_dump_json()), prompt)
        assert same(again, facts), prompt
