"""Place where the vehicle starts: by a way from a landmark, or at one of which a brief says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from esar_ros.planning.belief.brief.facts import StartFact
from esar_ros.planning.belief.brief.lexicon import word_set
from esar_ros.planning.belief.brief.places import Kind, alike
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.belief.brief.ways import Stated

_SPOT = re.compile(r"(?:V|H|Z[xsH]|Y|F)[sHVBxFjGUDA:=]{0,4}([RO])")  # "the drone is at the hut"
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
    return StartFact(landmark, None, None), [named[0]], list(stated)


def _spots(row: Sequence[Item]) -> list[tuple[int, int]]:
    """Returns where words stand for what a sentence says the vehicle is at: "drone at the hut", "T/O bridge"."""
    tags = "".join(item.tag for item in row)
    found = [
        row[match.start(1)].value
        for match in _SPOT.finditer(tags)
        if not any(item.low in _LOOKS for item in row[match.start() : match.start(1)])
    ]
    spots = [(place.start, place.end) for place in found if place.kind is Kind.NAMED]
    label = _LABELLED_SPOT.search(tags)
    return spots + (
        [(row[label.start(n)].start, row[label.end(n) - 1].end)] if label and (n := label.lastindex) else []
    )
