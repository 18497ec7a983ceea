"""Rule-based reading of a brief: where the missing are, without a model.

The ways that the sentences state (ways.py) become a tree of places: each leads from the landmark by which the
vehicle's start is given, from that start itself, from a place that nothing is known of, or from the end of another
way. What ends at no other way's beginning is a reading of where somebody is; there may be several. Nothing is invented.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace

from esar_ros.planning.belief.brief.accounting import left_over
from esar_ros.planning.belief.brief.amending import amended, correction, told_anew
from esar_ros.planning.belief.brief.coordinates import Coordinates, Ground, found_in, ground_told, masked, placed
from esar_ros.planning.belief.brief.facts import (
    BriefFacts,
    Content,
    Distance,
    Move,
    Passage,
    Reference,
    StartFact,
    Way,
)
from esar_ros.planning.belief.brief.measures import measured
from esar_ros.planning.belief.brief.people import COUNTED, back_again, count_victims, names_in
from esar_ros.planning.belief.brief.places import PLACES, Kind, Place, head, stems
from esar_ros.planning.belief.brief.starts import start_of
from esar_ros.planning.belief.brief.staying import is_stationary
from esar_ros.planning.belief.brief.tokens import LONGEST, Item, Sentence, rewritten, sentences
from esar_ros.planning.belief.brief.tree import in_order, marks, move_of, parents_of, turned
from esar_ros.planning.belief.brief.ways import KINDS, Stated, said_of, stated_in
from esar_ros.planning.belief.brief.withheld import (
    denials_in,
    prohibitions_in,
    shares_in,
    to_nobody,
    without,
    without_missing,
)

_SHORT = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|will not|won't|has not|hasn't|never|did not|didn't) (?:have )?"
    r"(?:reach(?:ed)?|arrived?|made it|got(?:ten)? as far|got to|come as far)",
    re.IGNORECASE,
)
_OF_IT = re.compile(r"\b(?:it|that|there)\b", re.IGNORECASE)
_SAME_ANGLE = 0.5  # rad within which two directions are told of one way
_PACES = (25.0, 150.0)  # m a minute, at which people walk


def corrected(prompt: str, words: str) -> str:
    """Returns a brief with words that correct what it says: "two are missing", "last seen 300 m north of the hut"."""
    return f"{prompt.rstrip()}\nCorrection: {' '.join(words.split())}"


def parse_brief(prompt: str, ground: Ground | None = None) -> BriefFacts:
    """Facts of a brief; an empty or foreign text gives none, and one victim.

    ground: what its coordinates are placed by; None: they are not.
    """
    rest = [Passage(LONGEST, len(prompt), None, Content.REST)] if len(prompt) > LONGEST else []
    prompt = prompt[:LONGEST]
    points = found_in(prompt)
    orders = shares = shares_in(masked(prompt, [one[:2] for one in points]))
    away = [span for one in (*points, *orders) for span in (one[:2], getattr(one, "beside", None)) if span is not None]
    text = masked(prompt, away)  # what is not read as words: else "49S 251234" is 49 m south
    people = told = sentences(text)
    calm = text  # what may say that they wait
    if forbidden := prohibitions_in(told):
        orders = [*orders, *forbidden]
        people = sentences(masked(text, [one[:2] for one in without_missing(told, forbidden)]))
        calm = masked(text, [one[:2] for one in to_nobody(told, forbidden)])
        text = masked(text, [one[:2] for one in forbidden])
        told = sentences(text)
    names = names_in(people)
    plain = measured(sentence.items for sentence in told)
    spoken = measured(sentence.items for sentence in people) if forbidden else plain
    denied = denials_in(told, shares)
    heard, meant = _without(told, plain, denied)
    rows = [rewritten(row, PLACES) for row in meant]
    stated: list[Stated] = []
    for number, (sentence, row) in enumerate(zip(heard, rows, strict=True)):
        stated += stated_in(number, sentence, row, rows[number - 1] if number else [], names)
    safe = back_again(spoken, names)
    stated = [one.searched() if one.move.persons and one.move.persons <= safe else one for one in stated]
    anew = correction(rows)
    said = [span for one in stated for span in one.spans]
    stated = told_anew(amended(stated, text, anew), anew)
    if anew < len(told) and any(one.start >= told[anew].start for one in denied):
        stated = [one for one in stated if one.number >= anew or one.is_start]  # "Correction: she is not there"
    kept = {span for one in stated for span in one.spans}
    orders += [Passage(*span, None, Content.WAY, "taken back", True) for span in said if span not in kept]
    spans = [span for one in stated if one.way.distance or not one.is_weak for span in one.spans]
    pace = _pace(rows)
    if pace is not None:
        stated = [
            one.of(one.way._replace(distance=one.way.distance and one.way.distance.at_pace(pace))) for one in stated
        ]
    start, places, stated = start_of(stated, prompt, rows)
    stated = _joined(stated, start)
    stated = [_seen(one, start, stated) for one in stated]
    stated = _scaled(stated, rows)
    is_mark = marks(stated, rows)
    parents = parents_of(stated, start, is_mark)
    is_led_to = {parent for parent in parents if isinstance(parent, int)}
    dropped = [n for n, mark in enumerate(is_mark) if mark and n not in is_led_to]  # it lies there, nobody else
    moves = [move_of(one, parent) for one, parent in zip(stated, parents, strict=True)]
    read: dict[tuple[int, int], Move | StartFact | None] = {
        span: move for one, move in zip(stated, moves, strict=True) for span in one.spans
    }
    read |= {span: start for span in places}
    marked = [span for n in dropped for span in stated[n].spans]
    spans = [span for span in spans if span not in marked]
    orders += [Passage(*span, None, Content.LANDMARK, "a place's own", True) for span in marked]
    fixes = _fixes(points, prompt, told, names, ground, denied)
    ways = sorted(item.start for row in plain for item in row if item.tag in "LDT")
    is_way = [bisect_left(ways, one.start) < bisect_left(ways, one.end) for one in denied]
    orders += [one for one, tells in zip(denied, is_way, strict=True) if tells]
    start = start or next((one.fact for one in fixes if isinstance(one.fact, StartFact)), None)
    spans += [span for span in places if span not in spans]
    passages = [*(Passage(*span, read.get(span)) for span in spans), *fixes, *orders]
    used = [*away, *(one[:2] for one in passages)]
    if start is not None and len(start.landmark) > 2:  # "2800" of "the 2800 camp"; "the tent south of the fork"
        used += [match.span() for match in re.finditer(re.escape(start.landmark), prompt)]
    passages += left_over(told, plain, rows, used, *_landmarks(start, stated, parents))
    passages += [
        one._replace(is_aside=not _doubts(one, prompt, told, read))
        for one, tells in zip(denied, is_way, strict=True)
        if not tells
    ]
    last = told[anew].start if anew < len(told) else len(prompt)  # from where on it is corrected
    since = bisect_left([sentence.start for sentence in people], last)
    return BriefFacts(
        start=start,
        moves=(
            *(
                moves[n] if first else replace(moves[n], reference=Reference.PREVIOUS)
                for n, first in in_order(parents)
                if n not in dropped
            ),
            *(one.fact for one in fixes if isinstance(one.fact, Move)),
        ),
        victims=count_victims(spoken[since:], names, COUNTED) or count_victims(spoken[:since], names) or 1,
        names=names,
        stationary=is_stationary(calm, last),
        short_of_it=bool(_SHORT.search(" ".join(prompt.split()))),
        kinds=frozenset(kind for kind, words in KINDS.items() if words.search(prompt)),
        passages=(*sorted(passages, key=lambda one: one[:2]), *rest),
    )


def _fixes(
    points: Sequence[Coordinates], text: str, told: Sequence[Sentence], names: Sequence[str], ground: Ground | None,
    denied: Sequence[Passage],
) -> list[Passage]:  # fmt: skip
    """Returns what the coordinates of a text are read as, by what their sentences say."""
    starts = [sentence.start for sentence in told]
    at = [bisect_right(starts, one.start) - 1 for one in points]
    items = [told[n].items if n >= 0 else () for n in at]
    ground = ground_told(points, items, ground)
    moves = [said_of(told[n].text if n >= 0 else "", names) for n in at]
    out = []
    for one, words, move in zip(points, items, moves, strict=True):
        why = next((other.why for other in denied if other.start < one.end and one.start < other.end), "")
        left = Passage(*one[:2], None, Content.COORDINATES, why)
        out.append(left if why else placed(one, text, words, ground, move))
    return out


def _doubts(denial: Passage, text: str, told: Sequence[Sentence], read: Collection[tuple[int, int]]) -> bool:
    """Returns whether a denial that tells no way speaks of the place that its sentence tells: "it isn't his"."""
    sentence = next((one for one in told if one.start <= denial.start < one.start + len(one.text)), None)
    if sentence is None or _OF_IT.search(text, denial.start, denial.end) is None:
        return False
    return any(sentence.start <= start < sentence.start + len(sentence.text) for start, _ in read)


def _without(
    told: Sequence[Sentence], plain: Sequence[Sequence[Item]], denied: Sequence[Passage]
) -> tuple[list[Sentence], list[list[Item]]]:
    """Returns sentences and their items without what is denied."""
    heard, meant, at = [], [], 0
    for sentence, row in zip(told, plain, strict=True):
        end = sentence.start + len(sentence.text)
        spans = []
        while at < len(denied) and denied[at].start < end:
            spans.append(denied[at][:2])
            if denied[at].end > end:
                break  # it goes on in the next sentence
            at += 1
        one, items = without(sentence, row, spans) if spans else (sentence, list(row))
        heard.append(one)
        meant.append(items)
    return heard, meant


def _landmarks(
    start: StartFact | None, stated: Sequence[Stated], parents: Sequence[Reference | int]
) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the stems of landmarks that are located, and of those that are not, though ways are told from them."""
    placed = set(stems(start.landmark) if start is not None else ())
    adrift: set[str] = set()
    for one, parent in zip(stated, parents, strict=True):
        origin = stems(one.origin.words) if one.origin is not None and one.origin.kind is Kind.NAMED else frozenset()
        if parent in (Reference.OTHER, Reference.DEFINES_START) or (parent is Reference.START and start is None):
            adrift |= origin
        else:
            placed |= origin | one.around
    return frozenset(placed), frozenset(adrift - placed)


def _pace(rows: Sequence[Sequence[Item]]) -> float | None:
    """Returns the pace (m a minute) at which they are said to walk; None: not told."""
    calm = [item for row in rows if not any(item.tag == "w" for item in row) for item in row if item.tag == "X"]
    paces = [float(item.value) for item in calm if item.value is not None]
    return next((pace for pace in paces if _PACES[0] <= pace <= _PACES[1]), None)


def _joined(stated: Sequence[Stated], start: StartFact | None) -> list[Stated]:
    """Returns the ways with those put together that tell halves of one way, or the same way twice."""
    out: list[Stated] = []
    for one in stated:
        is_other_half = bool(out) and out[-1].way.distance is None and _are_halves(out[-1], one)
        if out and out[-1].is_weak and (one.way.distance is not None or not out[-1].is_bound) and not is_other_half:
            out.pop()
        last = out[-1] if out else None
        if last is None or one.is_return or not _is_same(last, one):
            if last is not None and one.goes_on and one.way.direction is None and one.origin is None:
                one = one.of(one.way._replace(direction=turned(last.way.direction, math.pi if one.is_return else 0.0)))
                # "another 500 m in that line", "500 m back the way they came"
            out.append(one)
            continue
        way = Way(last.way.distance or one.way.distance, last.way.direction or one.way.direction)
        move = replace(
            last.move,
            kinds=last.move.kinds | one.move.kinds,
            persons=last.move.persons | one.move.persons,
            searched=last.move.searched and one.move.searched,
        )
        origin = last.origin if one.origin is None or one.origin.kind is Kind.THERE else one.origin
        merged = replace(last, way=way, move=move, origin=origin, around=last.around | one.around, is_weak=False)
        out[-1] = replace(merged, spans=last.spans + one.spans)
    return [one for one in out if not one.is_weak and (one.way.direction is not None or not one.is_bound)]


def _are_halves(last: Stated, one: Stated) -> bool:
    """Returns whether one way tells a distance alone and the other a direction alone."""
    (far, way), (other_far, other_way) = last.way, one.way
    return (far is None) != (other_far is None) and (way is None) != (other_way is None)


def _is_same(last: Stated, one: Stated) -> bool:
    """Returns whether a way is the one before told again, or its other half."""
    if last.move.persons and one.move.persons and not last.move.persons & one.move.persons:
        return False
    if one.move.persons and not last.move.persons and one.way.distance is None:
        further = {"may", "might"} & one.around if one.origin is None else stems(one.origin.words) & last.around
        if further:
            return False  # "their car is north-west of the track; Bao may have gone a little way north-west"
    (far, way), (other_far, other_way) = last.way, one.way
    turn = 0.0 if way is None or other_way is None else abs(math.remainder(way.angle - other_way.angle, math.tau))
    is_as_far = far is None or other_far is None or math.isclose(far.metres, other_far.metres, rel_tol=0.05)
    if turn > _SAME_ANGLE or not is_as_far or one.number != last.number:
        return False
    if other_far is None and far is not None and one.origin is None:
        return True  # "four hundred metres north. North."
    return not one.goes_on


def _scaled(stated: Sequence[Stated], rows: Sequence[Sequence[Item]]) -> list[Stated]:
    """Returns the ways with the one cut short of which a part was gone: "two thirds of the way"."""
    out = list(stated)
    shares = [(number, at, _share(row, at)) for number, row in enumerate(rows) for at in range(len(row))]
    for number, at, share in shares:
        if share is not None:
            before = [n for n, one in enumerate(out) if (one.number, one.first) < (number, at)]
            n = before[-1] if before else 0
            far = out[n].way.distance if n < len(out) else None
            if far is not None:
                out[n] = out[n].of(out[n].way._replace(distance=Distance(far.metres * share, max(far.spread, 0.2))))
            break
    return out


def _seen(one: Stated, start: StartFact | None, stated: Sequence[Stated]) -> Stated:
    """Returns a way that leads from somebody to the start's landmark for one from there: "the hut due north of her".

    "The hut is 400 m south of the deposit" tells where the deposit is, if nothing else tells where anybody is.
    """
    if start is None and one.origin == Place(Kind.PERSON) and one.subject:
        start = StartFact(" ".join(one.subject), None, None)
    if one.origin is None or one.is_start or start is None or one.way.direction is None:
        return one
    landmark, origin = stems(head(start.landmark)), stems(head(one.origin.words))
    if one.origin == Place(Kind.LAST) and landmark and landmark <= one.around - one.subject:
        return replace(
            one, origin=Place(Kind.NAMED, start.landmark)
        )  # "your start is the mill; the hut is north of it"
    is_mark = bool(landmark & one.subject) and start.distance is None and start.direction is None
    if one.origin.kind is Kind.PERSON:
        is_sought = bool(landmark & one.around)
    elif one.origin.kind is Kind.HOME:
        is_sought = is_mark and one.origin.words in ("us", "me")  # whoever says so is not with the vehicle
    else:
        others = [other for other in stated if other is not one and not other.move.searched]
        counted = [other for other in others if other.origin is None or not origin & stems(head(other.origin.words))]
        is_sought = is_mark and not origin & landmark and not counted and not any(origin & i.around for i in others)
    if not is_sought:
        return one
    around = one.around | origin
    return replace(
        one.of(Way(one.way.distance, turned(one.way.direction, math.pi))),
        origin=Place(Kind.NAMED, start.landmark),
        around=around,
    )


def _share(row: Sequence[Item], at: int) -> float | None:
    """Returns the part of a way that is told at an item."""
    after = row[at + 1].low if at + 1 < len(row) else ""
    if re.search(r"\b(?:half|mid)-?way\b", row[at].low) and after not in ("up", "down"):
        return 0.5
    if row[at].tag != "N" or row[at].value.value >= 1.0:
        return None
    is_part = re.match(r"(?:of )?the (?:way|distance|route)\b", after) or (not after and at and row[at - 1].low == "at")
    return float(row[at].value.value) if is_part else None
