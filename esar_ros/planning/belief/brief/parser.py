"""Rule-based reading of a brief: where the missing are, without a model.

A brief is split into sentences. One of them says where the vehicle starts, seen from a landmark (start.py); others say
where people went, seen from that landmark, from the vehicle's start itself, from another place, or from where the
sentence before has led. Statements whose reference is not understood are kept as weak ones; nothing is invented. Wind
and weather are left out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import Enum

from esar_ros.planning.belief.brief.measures import Direction, Distance, directions, distances
from esar_ros.planning.belief.brief.people import count_victims, names_in, sentences_of
from esar_ros.planning.belief.brief.start import PAIR, START, StartFact, alike, find_start, mark_start


class Reference(Enum):
    """Reference point of a move."""

    START = "start"  # the landmark that the vehicle's start is given by
    VEHICLE = "vehicle"  # the vehicle's start itself
    PREVIOUS = "previous"  # where the last statement has led
    OTHER = "other"  # a place that nothing is known of
    DEFINES_START = "defines start"  # it leads from another place to the start's landmark


@dataclass(frozen=True)
class Move:
    """One statement of a route: distance and direction; None where not given."""

    distance: Distance | None
    direction: Direction | None
    reference: Reference
    kinds: frozenset[str] = frozenset()  # clue kinds that the sentence speaks of
    persons: frozenset[str] = frozenset()  # names in the sentence
    searched: bool = False  # the place was searched, nobody is there
    text: str = ""


@dataclass(frozen=True)
class BriefFacts:
    """All that was understood."""

    start: StartFact | None
    moves: tuple[Move, ...]
    victims: int  # people missing, at least one
    names: tuple[str, ...]  # of those, as far as told
    stationary: bool  # told to wait, or cannot walk
    short_of_it: bool  # has not come as far as the start's landmark
    kinds: frozenset[str]  # clue kinds that the brief speaks of


KIND_WORDS: dict[str, str] = {
    "tent": r"tents?|bivouac",
    "backpack": r"back-?packs?|ruck-?sacks?|day-?packs?|packs?",
    "clothing": r"jackets?|clothe[sd]?|clothing|shirts?|trousers|coats?|parkas?|scarf|hats?|gloves?",
    "campfire": r"camp-?fires?|fire-?places?|fires?|ashes|glow|embers|pyre",
    "signal_flare": r"flares?|smoke",
    "light": r"lamps?|head-?lamps?|lanterns?|torch(?:es)?|flash-?lights?|lights",
    "sleeping_bag": r"sleeping[\s-]bags?|quilts?",
    "trekking_pole": r"(?:walking|trekking|hiking)?[\s-]?(?:poles?|sticks?)",
    "water_bottle": r"bottles?|flasks?|canteens?",
    "food_wrapper": r"wrappers?|food|packets?",
    "rope": r"ropes?|cords?",
    "footprints": r"(?:foot|boot)?[\s-]?prints?|foot-?steps|tracks? of|trail of",
}
_KINDS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in KIND_WORDS.items()}

_WIND = re.compile(
    r"\b(?:wind|breeze|gale|gusts?|storm|blowing|swell)\w*\b[^,.;]*?\bfrom\s+(?:the\s+)?[\w-]+|"
    r"\b(?:north|south|east|west)[\w-]*\s+(?:wind|breeze|gale|swell)s?\b",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:of|from|beyond|past|below|above|behind|after|off|begins\s+at|starts\s+at)\s+((?:the|it|there|here|that|this|where|his|"
    rf"her|their|its|our)\b[^,.;:]*|{START})",
    re.IGNORECASE,
)
_OF_START = re.compile(rf"^[\w\s]{{0,20}}?\b(?:of|from|beyond|past|above|below|behind)\s+{START}", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:it|there|here|that\s+(?:point|place|spot)|this|where\s+(?:he|she|they)|his|her|their)\b", re.IGNORECASE
)
_CHAINED = re.compile(
    r"\b(?:from\s+(?:there|that|it|here)|beyond|onwards?|farther|further|goes\s+on|went\s+on)\b", re.I
)
_LEAVES = re.compile(
    r"\b(?:left|leav(?:es|ing)|depart(?:ed|s)|set\s+(?:off|out)\s+from)\s+((?:the|its|their)\s+[^.;]+)$", re.I
)
_TOWARDS = re.compile(
    r"\b(?:towards?|reached|reach|arrived\s+at|up\s+to|as\s+far\s+as)\s+((?:the|its|their)\s+[^,.;]+)", re.IGNORECASE
)
_SEARCHED = re.compile(
    r"\b(?:searched|checked|combed|empty|not\s+there|nobody|no\s+one|without\s+result|has\s+been\s+walked)\b", re.I
)
_STATIONARY = re.compile(
    r"\b(?:stays?|wait(?:s|ing)?|left\s+him|left\s+her|left\s+them|cannot\s+(?:walk|move|go)|could\s+not\s+go\s+on|covered|"
    r"unconscious|trapped|stuck|broken\s+leg|laid|stay(?:ing)?\s+(?:put|where|in|with|beside|there)|immobile|immobili[sz]ed|"
    r"(?:man|woman|boy|girl|child|person|climber|hiker|walker|casualty|victim|\bhe|\bshe)\s+(?:now\s+)?(?:lies|is\s+lying)|"
    r"remain(?:s|ed|ing)?\s+(?:with|where|there|at|in)|(?:not|un)\s?able\s+to\s+(?:walk|move|go|get)|"
    r"(?:broken|fractured|dislocated|twisted|sprained)\s+(?:ankle|knee|hip|foot|femur))\b",
    re.IGNORECASE,
)
_WAITING_VEHICLE = re.compile(r"\b(?:drone|uav|aircraft|vehicle|team|you)\s+(?:is\s+|are\s+)?wait(?:s|ing)?\b", re.I)
_NAMED_PLACE = re.compile(  # "the south beach": the direction is part of a name
    r"^\s+(?!side|slopes?|edge|end|bank|face|flank|part|half|corner)"
    r"(?:beach|track|trail|path|road|ridge|camp|glacier|valley|col|peak|summit|summits|wall|route|"
    r"peninsula|shore|coast|bay|cove|cape|pier|fork|wood|woods|forest|lake|sea|spur|gate|hut)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(  # between two ways of a sentence: the second begins where the first ends
    r"\b(?:then|turn(?:ed|ing)\s+(?:north|south|east|west)\w*|another|(?:a\s+)?further|farther|went\s+on|goes\s+on|from\s+there|onwards?)\b",
    re.IGNORECASE,
)
_SHORT = re.compile(
    r"\b(?:cannot|can't|could\s+not|couldn't|will\s+not|won't|has\s+not|hasn't|never|did\s+not|didn't)\s+(?:have\s+)?"
    r"(?:reach(?:ed)?|arrived?|made\s+it|got(?:ten)?\s+as\s+far|got\s+to|come\s+as\s+far)",
    re.IGNORECASE,
)
_FROM_THE = re.compile(
    r"\b(?:come|came|coming|walking|approach\w*|up|in|arriv\w*)\s+from\s+(?:the\s+)?$", re.IGNORECASE
)
_AHEAD = 8  # characters into a way: "a further 500 metres"
_ACROSS = 0.1  # cosine of the angle between two ways that are coordinates


def parse_brief(prompt: str) -> BriefFacts:
    """Facts of a brief; an empty or foreign text gives none, and one victim."""
    prompt = " ".join(prompt.split())
    text = _WIND.sub(" ", prompt)
    sentences = sentences_of(text)
    marked = [mark_start(sentence) for sentence in sentences]
    start, used = find_start(sentences, marked)
    names = names_in(prompt)
    moves: list[Move] = []
    for number, sentence in enumerate(marked):
        stated = _moves(sentence, start, names)
        if number == used and start is not None:  # what else it tells is somebody's place by the start
            stated = [
                move for move in stated if move.reference is Reference.VEHICLE and move.distance != start.distance
            ]
        moves += stated
    return BriefFacts(
        start=start,
        moves=tuple(_merged(moves)),
        victims=count_victims(prompt, names),
        names=names,
        stationary=bool(_STATIONARY.search(_WAITING_VEHICLE.sub(" ", text))),
        short_of_it=bool(_SHORT.search(text)),
        kinds=frozenset(kind for kind, words in _KINDS.items() if words.search(prompt)),
    )


def _moves(sentence: str, start: StartFact | None, names: tuple[str, ...]) -> list[Move]:
    """Returns the moves that a sentence states."""
    found = [direction for direction in directions(sentence) if _is_move(sentence, direction)]
    lengths = distances(sentence)
    taken: set[int] = set()
    pairs: list[tuple[Distance | None, Direction | None]] = []
    for direction in found:
        near = [
            (
                abs(direction.start - length.end) if length.end <= direction.start else length.start - direction.end,
                index,
            )
            for index, length in enumerate(lengths)
            if index not in taken
        ]
        gap, index = min(near, default=(PAIR + 1, -1))
        if gap <= PAIR:
            taken.add(index)
            pairs.append((lengths[index], direction))
        else:
            pairs.append((None, direction))
    pairs += [
        (length, None) for index, length in enumerate(lengths) if index not in taken and _is_walked(sentence, length)
    ]
    pairs.sort(key=lambda pair: min(part.start for part in pair if part is not None))
    kinds = frozenset(kind for kind, words in _KINDS.items() if words.search(sentence))
    persons = frozenset(name for name in names if re.search(rf"\b{re.escape(name)}\b", sentence))
    searched = bool(_SEARCHED.search(sentence))
    moves: list[Move] = []
    last = 0
    for pair in pairs:
        first = min(part.start for part in pair if part is not None)
        end = max(part.end for part in pair if part is not None)
        reference = _reference(sentence, first, end, start)
        goes_on = _GOES_ON.search(sentence[last : first + _AHEAD]) and not _OF_START.match(sentence[end:])
        if moves and (goes_on or _is_second_offset(moves[-1], pair, sentence[last:first])):
            reference = Reference.PREVIOUS
        last = end
        moves.append(Move(*pair, reference, kinds, persons, searched, sentence))
    if not moves and start is not None:
        goal = _TOWARDS.search(sentence)
        if goal and alike(goal[1], start.head):
            moves.append(Move(None, None, Reference.START, kinds, persons, searched, sentence))
    return moves


def _is_second_offset(before: Move, pair: tuple[Distance | None, Direction | None], between: str) -> bool:
    """Returns whether a move is the other coordinate of a place: "1100 m north, 300 m east of it"."""
    if before.distance is None or before.direction is None or pair[0] is None or pair[1] is None:
        return False
    across = abs(math.cos(before.direction.angle - pair[1].angle)) < _ACROSS
    return across and re.fullmatch(r"\s*(?:,|and|,\s*and|plus|/)\s*(?:about\s+|some\s+)?", between, re.I) is not None


def _is_move(sentence: str, direction: Direction) -> bool:
    """Returns whether a direction states a move and is no part of a name."""
    before, after = sentence[: direction.start], sentence[direction.end :]
    if _NAMED_PLACE.match(after) and re.search(r"\b(?:the|a|this|that|whole)\s+$", before, re.IGNORECASE):
        return False
    return not _FROM_THE.search(before)


def _is_walked(sentence: str, length: Distance) -> bool:
    """A distance alone counts when it leads from or to something."""
    after = sentence[length.end : length.end + 40]
    return bool(
        re.match(
            r"\W*(?:or\s+so\s+|of\s+\w+ing\s+)?(?:\w+\s+){0,3}?(?:from|of|beyond|past|below|above|on|away|farther|further|down|up|to|off|out|at\s+most|along)\b",
            after,
            re.I,
        )
    ) or bool(
        re.search(r"\b(?:past|beyond|within|from|fell|went|walked)\b[^,.;]{0,30}$", sentence[: length.start], re.I)
    )


def _reference(sentence: str, first: int, end: int, start: StartFact | None) -> Reference:
    """Returns the reference of a move at these characters: the place left, else the words after it, else before it."""
    match = _FROM.search(sentence[end:]) or _FROM.search(sentence)
    if match is not None and match[1] == START:
        return Reference.VEHICLE
    left = _LEAVES.search(sentence[:first])
    if left is not None and start is not None and alike(left[1], start.head):
        return Reference.START
    if match is None or _PRONOUN.match(match[1]):
        if match is not None and start is not None and alike(match[1], start.head):
            return Reference.START
        return Reference.PREVIOUS
    if start is None:
        return Reference.OTHER
    if alike(match[1], start.head):
        return Reference.START
    goal = _TOWARDS.search(sentence[end:])
    leads_there = goal is not None and alike(goal[1], start.head)
    defines = leads_there or alike(match[1], start.tail) or alike(sentence[:end], start.head)
    return Reference.DEFINES_START if defines else Reference.OTHER


def _merged(moves: list[Move]) -> list[Move]:
    """Merges two successive statements that give halves of one move, or the same move twice."""
    out: list[Move] = []
    for move in moves:
        last = out[-1] if out else None
        if last is not None and _is_same_move(last, move):
            reference = last.reference if move.reference is Reference.PREVIOUS else move.reference
            out[-1] = replace(
                last,
                distance=last.distance or move.distance,
                direction=last.direction or move.direction,
                reference=reference,
                kinds=last.kinds | move.kinds,
                persons=last.persons | move.persons,
                searched=last.searched and move.searched,
            )
        else:
            out.append(move)
    return out


def _is_same_move(last: Move, move: Move) -> bool:
    if last.persons and move.persons and last.persons != move.persons:
        return False
    if last.reference is Reference.DEFINES_START or move.reference is Reference.DEFINES_START:
        return False
    if _CHAINED.search(move.text) and move.text != last.text:
        return False
    if last.direction is not None and move.direction is not None:
        turn = abs((move.direction.angle - last.direction.angle + 3.1416) % 6.2832 - 3.1416)
        return turn < 0.5 and (last.distance is None or move.distance is None)
    return (last.distance is None) != (move.distance is None) or (last.distance is None and move.distance is None)
