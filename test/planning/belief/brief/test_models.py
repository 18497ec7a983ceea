"""The brief reads the same through any model: the facts survive the form, and a model that says so is flown so."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import phrasings
import pytest

from esar_ros.planning import registry
from esar_ros.planning.belief.brief.facts import BriefFacts
from esar_ros.planning.belief.brief.form import BriefReading, completed, facts_of, reading_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief_model import ModelBelief
from esar_ros.planning.belief.search import BeliefSearch
from esar_ros.planning.model.settings import SCRIPTED
from helpers.chat_server import ChatEndpoint

STORIES = [brief["text"] for brief in phrasings.HALVES["written, improved on"][::5]]


def told(facts: BriefFacts) -> list[tuple[object, ...]]:
    """Returns what of the facts makes the prior."""

    def way(one: Any) -> tuple[object, ...]:
        far = None if one.distance is None else (round(one.distance.metres, 3), one.distance.is_walked)
        return far, None if one.direction is None else round(math.degrees(one.direction.angle) % 360.0, 6)

    moves = [(*way(move), move.reference, move.kinds, move.searched) for move in facts.moves[-12:]]
    start = [] if facts.start is None else [way(facts.start)]
    return [(facts.victims, facts.stationary, facts.short_of_it), *start, *moves]


@pytest.mark.parametrize("text", STORIES)
def test_the_form_holds_what_the_rules_read(text: str) -> None:
    facts = parse_brief(text)
    answer = reading_of(facts).model_dump_json()
    assert told(facts_of(BriefReading.model_validate_json(answer), text)) == told(facts)


@pytest.mark.parametrize("name", ["belief_model", "mllm"])
@pytest.mark.parametrize("text", STORIES[::8])
def test_a_model_that_reads_as_the_rules_do_is_flown_as_belief(
    chat: ChatEndpoint, brief: Any, observe: Any, look: Any, name: str, text: str
) -> None:
    chat.answers(chat.says(reading_of(parse_brief(text)).model_dump()), chat.says({"ranking": [1], "reason": "there"}))
    read, ruled = registry.create(name, {"model": {"attempts": 1, "pause": 0.0}}), registry.create("belief")
    assert isinstance(read, ModelBelief) and isinstance(ruled, BeliefSearch)
    for method in (read, ruled):
        method.reset(brief(half=600.0, prompt=text), 0)
    decision = read.act(observe(0.0, views=look()))
    assert not decision.trouble and told(read.facts) == told(ruled.facts)
    assert len(read.people) == len(ruled.people)


@pytest.mark.parametrize("text", [text for text in STORIES if "\n" not in text][::4])  # a model gets one line
def test_the_scripted_model_reads_what_the_rules_read(brief: Any, observe: Any, text: str) -> None:
    method = registry.create(f"belief_model@{SCRIPTED}")
    assert isinstance(method, ModelBelief)
    method.reset(brief(half=600.0, prompt=text), 0)
    decision = method.act(observe(0.0))
    assert not decision.trouble and told(method.facts) == told(parse_brief(text))


def test_what_a_form_has_no_place_for_is_kept_whoever_reads() -> None:
    text = (
        "The drone is at 34.0000N 107.3100E. She was seen at 34.0050N 107.3100E. POA 50/30/20. Do not fly at the dam."
    )
    rules = parse_brief(text)
    facts = completed(facts_of(BriefReading(missing=2), text), rules)
    assert facts.victims == 2 and facts.moves == rules.moves and facts.moves[0].fix is not None
    assert [text[one.start : one.end] for one in facts.left] == ["50/30/20", "Do not fly at the dam"]


def test_a_reading_turns_with_its_bearings() -> None:
    """A model's form turned by a quarter gives the facts turned by a quarter."""
    facts = parse_brief(
        "You take off 200 m north of the hut. He was last seen 300 m east of the hut, going on 400 m south."
    )
    reading = reading_of(facts)
    turned = reading.model_copy(
        update={
            "start": reading.start and _by_a_quarter(reading.start),
            "ways": [_by_a_quarter(way) for way in reading.ways],
        }
    )
    expected = replace(
        facts,
        start=facts.start and replace(facts.start, direction=_turned(facts.start)),
        moves=tuple(replace(move, direction=_turned(move)) for move in facts.moves),
    )
    assert len(facts.moves) == 2 and told(facts_of(turned, "")) == told(expected)


def _by_a_quarter(one: Any) -> Any:
    return one if one.bearing is None else one.model_copy(update={"bearing": (one.bearing + 90.0) % 360.0})


def _turned(one: Any) -> Any:
    return one.direction and replace(one.direction, angle=one.direction.angle - math.pi / 2.0)
