"""A reading in words, for the person who wrote the brief: each sentence, what was understood of it, and as what."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from esar_ros.planning.belief.brief.coordinates import RADIUS, SURE
from esar_ros.planning.belief.brief.facts import (
    BriefFacts,
    Content,
    Direction,
    Distance,
    Move,
    Passage,
    Reference,
    StartFact,
)
from esar_ros.planning.belief.brief.staying import is_stationary
from esar_ros.planning.belief.brief.tokens import Sentence, sentences

_COMPASS = (
    "north", "north-north-east", "north-east", "east-north-east", "east", "east-south-east", "south-east",
    "south-south-east", "south", "south-south-west", "south-west", "west-south-west", "west", "west-north-west",
    "north-west", "north-north-west",
)  # fmt: skip


_UNTOLD = "a place that may be where the drone starts"
_COUNTED = "a number of people"  # why a number is left aside as a place, which tells how many
_LONGEST = 120  # characters of a passage that are shown
_QUESTIONS = {  # to a person, where something of a kind was not read
    Content.PROHIBITION: "What must not be flown over? Give it as a zone {zones}, or see to it yourself:",
    Content.COORDINATES: "Who or what is at these coordinates? Say how far and which way it is from the drone's start:",
    Content.SHARES: "To which ground do these belong? Say where to look first, by a distance and a direction:",
    Content.WAY: "What do these say of where somebody is? Say from which place they count:",
    Content.DENIAL: "Nothing of this is searched, or left out of the search. What does it say of where somebody is?",
    Content.NUMBER: "What do these numbers say of where somebody is?",
    Content.SLOPE: "Which way is this by the compass?",
    Content.CATEGORY: "Their ways are not a walker's, which is all that is expected. Where would you look for them?",
    Content.LANDMARK: "Where are these places, from the drone's start?",
    Content.REST: "The text is too long to be read whole. What of its end tells where they are?",
}
_WHENCE = "Where does the drone start, seen from the place that these ways count from? It may be another place."


class Run(NamedTuple):
    """Neighbouring words of a sentence."""

    words: str
    is_read: bool | None  # whether what they tell was understood; None: they tell nothing on which a search depends


class Told(NamedTuple):
    """A sentence of a brief as it was read."""

    runs: tuple[Run, ...]  # its words in order
    meanings: tuple[str, ...]  # of what was understood
    warnings: tuple[str, ...]  # of what was not, and of what is not obeyed
    unused: str  # the sentence, if no word of it tells a place, a number or a name and no warning says so; else empty
    aside: tuple[str, ...]  # what was recognised as telling of no place: "14:00 (a time)"


def told(text: str, facts: BriefFacts) -> list[Told]:
    """Returns the sentences of a brief with what was understood of each; facts: as the rules read this text."""
    landmark = facts.start.landmark if facts.start is not None else _UNTOLD
    lines = []
    passages = sorted(facts.passages, key=lambda passage: passage[:2])
    starts = [passage.start for passage in passages]
    for sentence in sentences(text):
        end = sentence.start + len(sentence.text)
        inside = passages[bisect_left(starts, sentence.start) : bisect_left(starts, end)]
        meant = dict.fromkeys(passage.fact for passage in inside if passage.fact is not None)
        meanings = tuple(_meaning(fact, landmark) for fact in meant)
        left = tuple(_warning(text, passage) for passage in inside if _is_left(passage))
        aside = tuple(f"{_words(text, passage)} ({passage.why})" for passage in inside if passage.is_aside)
        is_used = meant or left or any(passage.why == _COUNTED for passage in inside) or _is_named(sentence, facts)
        is_used = is_used or (facts.stationary and is_stationary(sentence.text))
        unused = "" if is_used else _words(text, Passage(sentence.start, end, None))
        unused = unused if any(map(str.isalnum, unused)) else ""
        lines.append(Told(_runs(text, sentence.start, end, inside), meanings, left, unused, aside))
    return lines


def summary(facts: BriefFacts) -> tuple[str, ...]:
    """Returns in words who is missing, where the vehicle starts, and whether it is known where to look."""
    names = f": {', '.join(facts.names[: facts.victims])}" if facts.names else ""
    waiting = "; waiting, or unable to move" if facts.stationary else ""
    start = "the drone's start is not told" if facts.start is None else _meaning(facts.start, facts.start.landmark)
    lost = () if facts.moves else ("nothing was understood of where they are",)
    orders = sum(passage.content is Content.PROHIBITION for passage in facts.left)
    unread = len(facts.left) - orders
    left = (f"{unread} passage{'s were' if unread > 1 else ' was'} not read, which widens the search",) * (unread > 0)
    left += (f"{orders} order{'s are' if orders > 1 else ' is'} not obeyed",) * (orders > 0)
    return f"missing: {facts.victims}{names}{waiting}", start, *lost, *left


def questions(text: str, facts: BriefFacts, zones: str = "with --keep-out FILE") -> tuple[str, ...]:
    """Returns what a person must decide, in words: a question for each kind of what was not read.

    zones: how what must not be flown over is given.
    """
    words: dict[Content, dict[str, None]] = {}
    for passage in facts.left:
        words.setdefault(passage.content, {})[_words(text, passage)] = None
    asked = tuple(
        f"{question.format(zones=zones)} {'; '.join(words[kind])}"
        for kind, question in _QUESTIONS.items()
        if kind in words
    )
    is_adrift = facts.start is None and any(move.reference is Reference.START for move in facts.moves)
    return (*asked, *(_WHENCE,) * is_adrift)


def measure(distance: Distance | None, direction: Direction | None) -> str:
    """Returns a way in words: "300 m north-east (45°)"; empty where nothing of it is told."""
    words = []
    if distance is not None:
        words.append(f"{distance.metres:.0f} m" + (" by walking time" if distance.is_walked else ""))
    if direction is not None:
        degrees = (90.0 - math.degrees(direction.angle)) % 360.0
        words.append(f"{_COMPASS[round(degrees / 22.5) % 16]} ({round(degrees) % 360}°)")
    return " ".join(words)


def _is_named(sentence: Sentence, facts: BriefFacts) -> bool:
    """Returns whether a sentence names one of the missing."""
    words = {item.low.removesuffix("'s") for item in sentence.items}
    return any(words >= set(name.lower().split()) for name in facts.names)


def _is_left(passage: Passage) -> bool:
    return passage.fact is None and not passage.is_aside


def _words(text: str, passage: Passage) -> str:
    """Returns a passage on one line, cut where it is long."""
    words = " ".join(text[passage.start : passage.end][: 2 * _LONGEST].split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def _warning(text: str, passage: Passage) -> str:
    words = _words(text, passage)
    if passage.content is Content.PROHIBITION:
        return f"not obeyed: {words}"
    if passage.content is Content.DENIAL:
        return f"not used: {words} ({passage.why})"
    about = ": ".join(part for part in (passage.content.value, passage.why) if part)
    return f"not understood: {words}" if passage.content is Content.WAY else f"not understood: {words} ({about})"


def _runs(text: str, start: int, end: int, passages: Sequence[Passage]) -> tuple[Run, ...]:
    """Returns the words between two places of a text, cut where passages begin and end."""
    runs: list[Run] = []
    for passage in passages:
        if passage.start >= start and not passage.is_aside:  # not within the one before
            last = min(passage.end, end)
            runs += [Run(text[start : passage.start], None), Run(text[passage.start : last], passage.fact is not None)]
            start = last
    return tuple(run for run in (*runs, Run(text[start:end], None)) if run.words)


def _meaning(fact: Move | StartFact, landmark: str) -> str:
    """Returns a fact in words; landmark: the one by which the vehicle's start is told."""
    way = measure(fact.distance, fact.direction)
    fix = fact.fix if isinstance(fact, Move) else None
    if fix is not None:
        assumed = ", which is assumed" if fix.sigma == SURE else ""
        way += f", within {RADIUS * fix.sigma:.0f} m (two times of three{assumed}),"
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
