"""A reading in words, for the person who wrote the brief: each sentence, what was understood of it, and as what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from esar_ros.planning.belief.brief.facts import BriefFacts, Direction, Distance, Move, Passage, Reference, StartFact
from esar_ros.planning.belief.brief.tokens import sentences

_COMPASS = (
    "north", "north-north-east", "north-east", "east-north-east", "east", "east-south-east", "south-east",
    "south-south-east", "south", "south-south-west", "south-west", "west-south-west", "west", "west-north-west",
    "north-west", "north-north-west",
)  # fmt: skip


class Run(NamedTuple):
    """Neighbouring words of a sentence."""

    words: str
    is_read: bool | None  # whether the distance or direction that they tell was understood; None: they tell none


class Told(NamedTuple):
    """A sentence of a brief as it was read."""

    runs: tuple[Run, ...]  # its words in order
    meanings: tuple[str, ...]  # of what was understood


def told(text: str, facts: BriefFacts) -> list[Told]:
    """Returns the sentences of a brief with what was understood of each; facts: as the rules read this text."""
    landmark = facts.start.landmark if facts.start is not None else "where the drone starts, or near it"
    lines = []
    for sentence in sentences(text):
        end = sentence.start + len(sentence.text)
        inside = sorted(passage for passage in facts.passages if sentence.start <= passage.start < end)
        meant = dict.fromkeys(passage.fact for passage in inside if passage.fact is not None)
        meanings = tuple(_meaning(fact, landmark) for fact in meant)
        lines.append(Told(_runs(text, sentence.start, end, inside), meanings))
    return lines


def summary(facts: BriefFacts) -> tuple[str, ...]:
    """Returns in words who is missing, where the vehicle starts, and whether it is known where to look."""
    names = f": {', '.join(facts.names[: facts.victims])}" if facts.names else ""
    waiting = "; waiting, or unable to move" if facts.stationary else ""
    start = "the drone's start is not told" if facts.start is None else _meaning(facts.start, facts.start.landmark)
    lost = () if facts.moves else ("nothing was understood of where they are",)
    return f"missing: {facts.victims}{names}{waiting}", start, *lost


def measure(distance: Distance | None, direction: Direction | None) -> str:
    """Returns a way in words: "300 m north-east (45°)"; empty where nothing of it is told."""
    words = []
    if distance is not None:
        words.append(f"{distance.metres:.0f} m" + (" by walking time" if distance.is_walked else ""))
    if direction is not None:
        degrees = (90.0 - math.degrees(direction.angle)) % 360.0
        words.append(f"{_COMPASS[round(degrees / 22.5) % 16]} ({round(degrees) % 360}°)")
    return " ".join(words)


def _runs(text: str, start: int, end: int, passages: Sequence[Passage]) -> tuple[Run, ...]:
    """Returns the words between two places of a text, cut where passages begin and end."""
    runs: list[Run] = []
    for passage in passages:
        if passage.start >= start:  # not within the one before
            runs += [
                Run(text[start : passage.start], None),
                Run(text[passage.start : passage.end], passage.fact is not None),
            ]
            start = passage.end
    return tuple(run for run in (*runs, Run(text[start:end], None)) if run.words)


def _meaning(fact: Move | StartFact, landmark: str) -> str:
    """Returns a fact in words; landmark: the one by which the vehicle's start is told."""
    way = measure(fact.distance, fact.direction)
    if isinstance(fact, StartFact):
        return f"the drone starts {way} from {fact.landmark}" if way else f"the drone starts at {fact.landmark}"
    origin = {
        Reference.START: f"from {landmark}",
        Reference.VEHICLE: "from the drone's start",
        Reference.PREVIOUS: "from there",
        Reference.OTHER: "from a place that is not located",
        Reference.DEFINES_START: f"to {landmark}, from a place that is not located",
    }[fact.reference]
    who = f"{', '.join(sorted(fact.persons))}: " if fact.persons else ""
    searched = ", searched in vain" if fact.searched else ""
    doubt = ", doubtful" if fact.certainty < 1.0 else ""
    return f"{who}{way or 'somewhere'} {origin}{searched}{doubt}"
