"""Place where the vehicle starts: by a way from a landmark, or at one of which a brief says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from esar_ros.planning.belief.brief.facts import StartFact
from esar_ros.planning.belief.brief.lexicon import TAG_OF, word_set
from esar_ros.planning.belief.brief.places import Kind, alike, head, stems, tail
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.belief.brief.ways import Stated

_SPOT = re.compile(r"(?:V|H|Z[xsH]|Y|F)[sHVBxFjGUDA:=]{0,4}([RO])")  # "the drone is at the hut"
_SPOT_WHERE = re.compile(  # "at the quarry, where we set up the drone"; "of the hut you are launching from"
    r"[RO](?:,[^,;.:()LDT]{1,4})?(?:,W[^,;.:()]{0,6}V|,W[YZ][xjB]{0,3}[HF]|"
    r"[YZ][xjB]{0,2}[HF](?=[f.,;]|$)|,tY(?=[.,;]|$))"  # "the hostel, that's you"
)
_IS_SPOT = re.compile(  # "the mill is where you launch", "the gate is your place of launch", "chapel = UAV"
    r"(?:^|[;,&])A?([xsC](?:['-]?[xsC]){0,3})(?:[B=]W(?:(?:Y|[AZ]?V)[xjB]{0,2}[HF]|[xC]{1,3}[HF]A?V)|BZ(?:sO|s?H)|BW(?:YGZ|A?VB)|=V)"
)
_LABELLED_SPOT = re.compile(  # "T/O bridge", "drone at: the gate", "your take-off is the pump house"
    r"(?:[VH]s?(?:l?[:=])?A?([xsC](?:['-]?[xsC]){0,3}N?)[.]?$|HBA([xsC](?:['-]?[xsC]){0,3})[.;,])"
)
_UNNAMED = "it"  # a landmark that is not named
_LOOKS = word_set("look looking face facing see seeing search searching")  # no way of being at a place


def start_of(
    stated: Sequence[Stated], prompt: str, rows: Sequence[Sequence[Item]]
) -> tuple[StartFact | None, list[tuple[int, int]], list[Stated]]:
    """Returns where the vehicle starts, the words that tell it, and the other ways."""
    spoken = [item.value for row in rows for item in row if item.tag == "O" and item.value.kind is Kind.NAMED]
    for one in stated:
        if one.is_start and one.origin is not None and one.origin.kind is not Kind.PERSON:
            place = one.origin if one.origin.kind is Kind.NAMED else next(iter(spoken), one.origin)
            fact = StartFact(prompt[place.start : place.end] or place.words or _UNNAMED, *one.way)
            return fact, list(one.spans), [other for other in stated if other is not one]
    told = sorted(rows, key=lambda row: not any(item.tag in "VH" for item in row))  # "you're at" only after these
    spots = [spot for row in told for spot in _spots(row)]
    origins = [one.origin.words for one in stated if one.origin is not None]
    named = [spot for spot in spots if any(alike(prompt[slice(*spot)], words) for words in origins)] or spots
    if not named:
        return None, [], list(stated)
    landmark = prompt[slice(*named[0])]
    for one in stated:
        if _places(one, landmark, [other for other in stated if other is not one]) and one.origin is not None:
            fact = StartFact(prompt[one.origin.start : one.origin.end] or one.origin.words, *one.way)
            return fact, list(one.spans), [other for other in stated if other is not one]
    return StartFact(landmark, None, None), [named[0]], list(stated)


def _places(one: Stated, landmark: str, others: Sequence[Stated]) -> bool:
    """Returns whether a way tells where the vehicle's place lies from the landmark that the others count from."""
    if None in one.way or one.origin is None or one.origin.kind is not Kind.NAMED:
        return False
    mark = stems(head(landmark))
    origins = [stems(i.origin.words) for i in others if i.origin is not None and i.origin.kind is Kind.NAMED]
    return bool(one.subject & mark and origins) and not any(mark & i for i in (*origins, stems(one.origin.words)))


def _spots(row: Sequence[Item]) -> list[tuple[int, int]]:
    """Returns where words stand for what a sentence says the vehicle is at: "drone at the hut", "T/O bridge"."""
    tags = "".join("H" if item.tag == "K" and TAG_OF.get(item.low.split()[-1]) == "H" else item.tag for item in row)
    found = [
        row[match.start(1)].value
        for match in _SPOT.finditer(tags)
        if not any(item.low in _LOOKS for item in row[match.start() : match.start(1)])
    ]
    found += [row[match.start()].value for match in _SPOT_WHERE.finditer(tags)]
    for at, item in enumerate(row[2:], 2):
        if item.tag == "O" and item.value.kind is Kind.HOME and "which " in item.low and row[at - 1].tag == ",":
            found += [row[at - 2].value] if row[at - 2].tag in "ORK" else []  # "the camp, from which you fly"
    spots = [(place.start, place.end) for place in found if place.kind is Kind.NAMED]
    spots += [(row[one.start(1)].start, row[one.end(1) - 1].end) for one in _IS_SPOT.finditer(tags)]
    label = _LABELLED_SPOT.search(tags)
    return spots + (
        [(row[label.start(n)].start, row[label.end(n) - 1].end)] if label and (n := label.lastindex) else []
    )


def is_spot(start: StartFact | None, words: str) -> bool:
    """Returns whether words mean the landmark at which the vehicle starts."""
    return start is not None and start.distance is None and start.direction is None and alike(words, start.landmark)


def defines(one: Stated, start: StartFact | None) -> bool:
    """Returns whether a way leads from some other place to the landmark of the start."""
    if start is None:
        return False
    landmark = stems(head(start.landmark))
    goal = stems(one.goal.words) if one.goal is not None else frozenset()
    if one.origin is None or one.origin.kind is not Kind.NAMED:
        return one.origin is None and bool(landmark & goal)
    if landmark & stems(head(one.origin.words)):
        return False
    return alike(one.origin.words, tail(start.landmark)) or bool(landmark & (one.around | goal))
