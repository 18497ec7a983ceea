"""Parts of a brief that it takes back: a way told anew in the next breath, or in a correction at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from esar_ros.planning.belief.brief.facts import Way
from esar_ros.planning.belief.brief.lexicon import word_set
from esar_ros.planning.belief.brief.tokens import Item
from esar_ros.planning.belief.brief.ways import Stated

CORRECTS = word_set("correction corrected corrigendum")
_AMENDS = re.compile(  # between two ways of which the second is meant
    r"\b(?:no,? wait|wait,? no|hang on|(?:strike|scratch|scrub|disregard|cancel|belay|ignore) (?:that|this|my|the)|"
    r"correction|amend\w*|revis\w+|i mean|or rather|make (?:that|it)|should (?:read|be|say)|not right|"
    r"(?:tell|told) a lie|my (?:mistake|error|fault)|i was wrong|misread|mix\w* up)\b|"
    r"(?:\b(?:sorry|wait|rather|instead|actually)|[,;.:–—-] ?no)\b(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_VOID = re.compile(  # right after a way that is not meant
    r"[^.;!?\n]{0,60}?(?:[.;] ?(?:but )?(?:that|this|it|which)\b[^.;!?\n]{0,30}?)?\b(?:void|withdrawn|cancelled|"
    r"superseded|retracted|disregard(?:ed)?|ruled out|"
    r"(?:is|was|were|been|be|proved) (?:wrong|incorrect|invalid|false|mistaken))\b",
    re.IGNORECASE,
)
_AMENDED = 200  # characters at most from a way to what corrects it


def correction(rows: Sequence[Sequence[Item]]) -> int:
    """Returns the first sentence of what corrects those before it, "Correction: two are missing"; else their number."""
    words = [next((item.low for item in row if item.tag not in '-"'), "") for row in rows]
    return next((n for n, word in enumerate(words) if n and word in CORRECTS), len(rows))


def amended(stated: Sequence[Stated], prompt: str, corrected: int) -> list[Stated]:
    """Returns the ways without those taken back in the next breath: "400 m north. No wait, south".

    corrected: sentence at which a correction of the whole begins, which `told_anew` reads.
    """
    out: list[Stated] = []
    for one in stated:
        last = out[-1] if out else None
        between = prompt[last.spans[-1][1] : one.spans[0][0]] if last is not None else ""
        is_near = last is not None and len(between) <= _AMENDED and one.number <= last.number + 2
        if last is None or not is_near or last.number < corrected <= one.number:
            out.append(one)
        elif _VOID.match(between) and None not in one.way:
            out[-1] = one
        elif (_AMENDS.search(between) or _VOID.match(between)) and last.is_start == (
            one.is_start and one.origin is not None
        ):
            way = Way(one.way.distance or last.way.distance, one.way.direction or last.way.direction)
            move = replace(one.move, kinds=last.move.kinds | one.move.kinds, certainty=last.move.certainty)
            out[-1] = replace(
                last, way=way, move=move, origin=one.origin or last.origin,
                is_weak=last.is_weak and one.is_weak, around=last.around | one.around, spans=last.spans + one.spans,
            )  # fmt: skip
        else:
            out.append(one)
    return out


def told_anew(stated: Sequence[Stated], first: int) -> list[Stated]:
    """Returns the ways without those that sentences from the first on tell anew: the vehicle's, or the others'."""
    anew = {one.is_start: n for n, one in reversed(list(enumerate(stated))) if one.number >= first}
    out = list(stated)
    for one in stated:
        n = anew.get(one.is_start, -1)
        if one.number < first and n >= 0 and None in out[n].way:  # "Correction: 950 metres"
            origin = out[n].origin
            way = Way(out[n].way.distance or one.way.distance, out[n].way.direction or one.way.direction)
            is_weak = out[n].is_weak and way.direction is None
            out[n] = replace(out[n], way=way, origin=origin or one.origin, is_weak=is_weak)
    return [one for one in out if one.number >= first or one.is_start not in anew]
