"""The vehicle's start in a brief: located from a landmark, or itself the reference from which others are located.

The start is an entity of its own. In "you take off 300 m north of the hut" it is located, in "last seen 300 m north of
where you take off" it is the reference. `mark_start` replaces all wordings of the second kind by one sign, so that the
sentence is read like any other and no longer mentions the vehicle.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from esar_ros.planning.belief.brief.measures import Direction, Distance, directions, distances

START = "\N{HOUSE}"  # stands for the vehicle's start where something else is placed by it

_AIRCRAFT = r"(?:drone|uav|uas|aircraft|quadcopter|copter|vehicle|aerial\s+(?:team|unit)|air\s+(?:unit|team|crew))"
_FLIES = (  # after "where you", "where the drone"
    r"(?:\s+(?:will|'ll|are|is|to|be|been|being|have|has|was|were|now|first|stand|stands|take|takes|took|taking|lift|"
    r"lifts|go|goes|set|sets|off|up|out|start|starts|started|starting|begin|begins|launch|launches|launched|fly|flies|"
    r"from|wait|waits|waiting|deploy|deployed|parked|placed|put|stationed|positioned|staged)\b)+"
)
_SITE = r"(?:point|site|position|place|spot|pad|area|location)"
_OWN = r"(?:take[\s-]?off|launch|launching|lift[\s-]?off|start|starting|deployment|staging|home)"
_NOUN = r"(?:the\s+(?:(?!(?:and|or|of|from|to|is|are|was|lies|near|by|at)\b)[a-z'’-]+\s+){1,4}?)"
_PLACED_BY = (
    rf"(?:{_NOUN}?(?:where|from\s+where|(?:from|at)\s+which)\s+(?:you|(?:the|your)\s+{_AIRCRAFT}){_FLIES}"
    rf"|the\s+{_SITE}\s+(?:that\s+|which\s+)?(?:you|(?:the|your)\s+{_AIRCRAFT}){_FLIES}"
    rf"|(?:(?:the|your|our)\s+)?(?:{_AIRCRAFT}(?:['’]s)?\s+)?{_OWN}[\s-]?{_SITE}"
    rf"|(?:(?:the|your|our)\s+)?(?:{_AIRCRAFT}['’]s\s+)?(?:take[\s-]?off|start|lift[\s-]?off)"
    rf"|(?:your\s+|{_AIRCRAFT}['’]s\s+)?launch|your\s+(?:own\s+)?(?:{_SITE}|base)"
    rf"|(?:the|your|our)\s+{_AIRCRAFT}(?:['’]s\s+(?:own\s+)?(?:{_SITE}|base))?"
    rf"|you|home)\b"
    rf"(?:\s+of\s+(?:the|your)\s+{_AIRCRAFT}\b)?"
    rf"(?!['’-]\w|\s+of\b|\s+(?:{_SITE}|line|farm|town|village|country)\b)"
)
_SEEN_FROM = re.compile(  # after a distance or a direction
    rf"^(\W*(?:or\s+so\s+)?(?:away\s+)?(?:\w+ly\s+)?(?:of|from|beyond|past|above|below|behind)\s+){_PLACED_BY}", re.I
)
_COUNTED_FROM = re.compile(  # anywhere else
    rf"(^(?:from|beyond|past)\s+|\b(?:seen|viewed|counted|measured|starting|going|looking|heading)\s+from\s+)"
    rf"{_PLACED_BY}",
    re.I,
)
_OF_PEOPLE = re.compile(  # what is said of those who are missing, not of the vehicle
    r"\b(?:seen|sighted|spotted|noticed|disappeared|vanished|last\s+known|(?:is|are|was|were|went|been)\s+missing|"
    r"(?:he|she|they)\s+(?:is|are|was|were|went|walked|headed|lies|lie|lay|fell))\b",
    re.I,
)
_BACKWARDS = re.compile(  # "The hut is 300 m south of" the start
    rf"^((?:the|our|an?)\s+[^,.;:]{{2,40}}?)\s+(?:is|lies|stands|sits)\b[^.;:]*\b(?:of|from)\s+{START}", re.I
)
PAIR = 60  # characters between a direction and the distance that belongs to it


@dataclass(frozen=True)
class StartFact:
    """The vehicle's start: distance and direction from a landmark; None: not given, the distance is then small."""

    landmark: str
    distance: Distance | None
    direction: Direction | None

    @property
    def head(self) -> str:
        """The landmark's own words: "the tent place" of "the tent place south of the fork"."""
        return _QUALIFIED.split(self.landmark, maxsplit=1)[0]

    @property
    def tail(self) -> str:
        """The landmark's own reference: "south of the fork" of the same example; mostly empty."""
        tail = self.landmark[len(self.head) :]
        return tail if directions(tail) else ""


_VEHICLE = re.compile(
    r"\b(?:drone|uav|uas|aircraft|quadcopter|copter|aerial\s+(?:team|unit)|air\s+(?:unit|team|crew)|take-?off|take\s+off|"
    r"launch(?:ed|ing)?|deploy\w*|staged|start(?:ing)?\s+(?:you|point|from|there|at|some|about|place|position|close|near)|"
    r"start\b|you\s+(?:will\s+|are\s+to\s+)?(?:start|fly|begin|launch)|your\s+(?:start|position|team)|lift[\s-]off)\b",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(  # the vehicle itself, not a launch site that somebody stands at
    r"\b(?:you|your|drone|uav|uas|aircraft|quadcopter|copter|aerial\s+(?:team|unit)|air\s+(?:unit|team|crew)|vehicle)\b",
    re.I,
)
_BEGINS = re.compile(
    r"\byou(?:'ll|\s+will|\s+are\s+to)?\s+(?:start|begin|fly|launch|operate|take\s+off|lift\s+off|set\s+off|"
    r"are\s+(?:launched|deployed|set\s+down|brought))\b",
    re.IGNORECASE,
)
_WHERE = re.compile(  # "the car park, where your aircraft is waiting"
    r"((?:the|our|her|his|their)\s+[^,.;]{2,40}?),?\s+(?:where|from\s+(?:which|where))\s+(?:you\b|(?:your|the)\s+(?:drone|uav|"
    r"aircraft|vehicle)\b)",
    re.IGNORECASE,
)
_AT = re.compile(  # all that a short sentence says: "Drone: the hut", "You start from the camp", "UAV at hut"
    r"^(?:so\s+)?(?:you(?:'ll|\s+will)?\s+(?:are|start|begin|fly|launch|operate|take\s+off|lift\s+off|set\s+off)|"
    r"(?:the\s+)?(?:drone|uav|aircraft|vehicle|flight|search|start|take-?off(?:\s+point)?|launch\s+(?:site|pad)|"
    r"your\s+(?:start|launch\s+(?:site|pad)|take-?off\s+point))(?:\s+(?:is|lies|stands|waits|begins|starts|position))*)\W+"
    r"(?:(?:now|brought|launched|placed)\s+)?(?:(?:at|from|on|in|beside|by|to|out\s+of)\s+)?(?:the\s+foot\s+of\s+)?"
    r"((?:the\s+)?[a-z][\w\s'-]*?)\s*(?:with\b.*)?[.!]?$",
    re.IGNORECASE,
)
_NEAR = re.compile(r"\b(?:close\s+to|next\s+to|near|beside|right\s+at|by|at)\s+(the\s+[^,.;]+)", re.IGNORECASE)
_OF = re.compile(r"^\W*(?:or\s+so\s+)?(?:away\s+)?(?:\w+ly\s+)?(?:of|from|to)\s+([^,.;:]+)", re.IGNORECASE)

_STOP = frozenset(
    re.split(
        r"\s+",
        "the a an of from to at in on and or by with where which that this place spot point some about was were is are "
        "his her their its it he she they who there here up down out off",
    )
)

_QUALIFIED = re.compile(
    r"\s+(?:above|below|beside|on|near|under|behind|(?:to\s+the\s+)?(?:north|south|east|west)[\w-]*)\b(?!\s+(?:beach|side|end))",
    re.IGNORECASE,
)

_DIRECTION_WORD = 12  # characters: "to the north-east" is a direction, no landmark


def mark_start(sentence: str) -> str:
    """The sentence with START in place of every wording of the start that something is placed by."""
    ends = {one.end for one in directions(sentence)} | {one.end for one in distances(sentence)}
    for end in sorted(ends, reverse=True):
        sentence = sentence[:end] + _SEEN_FROM.sub(rf"\1{START}", sentence[end:])
    return _COUNTED_FROM.sub(rf"\1{START}", sentence)


def find_start(sentences: list[str], marked: list[str]) -> tuple[StartFact | None, int]:
    """Returns the start of the vehicle and the index of the sentence that states it (-1: none); marked: by mark_start.

    Sentences addressed to the vehicle take precedence over those about some launch site.
    """
    numbers = range(len(marked))
    stating = [n for n in numbers if _VEHICLE.search(marked[n]) or _BEGINS.search(marked[n])]
    addressed = [n for n in numbers if _ADDRESSED.search(marked[n])]
    readers = [
        (_start_by_offset, [n for n in stating if n in addressed]),
        (_start_at, addressed),
        (_start_by_offset, stating),
    ]
    for read, candidates in readers:
        for number in candidates:
            fact = read(marked[number])
            if fact is not None:
                return fact, number
    for sentence in sentences:
        where = _WHERE.search(sentence)
        if where and stems(where[1]) and not distances(where[1]) and not directions(where[1]):
            return StartFact(where[1].strip(), None, None), -1  # the rest of the sentence may tell of a way
    for number in numbers:
        others = " ".join(marked[:number] + marked[number + 1 :])
        fact = _start_backwards(marked[number], others) or _start_at(marked[number])
        if fact is not None:
            return fact, number
    return None, -1


def _start_by_offset(sentence: str) -> StartFact | None:
    """From "300 m north of the hut", or near it."""
    lengths = distances(sentence)
    for direction in directions(sentence):
        landmark = _OF.match(sentence[direction.end :])
        if landmark and _is_of_vehicle(sentence[: direction.start], landmark[1]):
            length = next((length for length in reversed(lengths) if 0 <= direction.start - length.end < PAIR), None)
            return StartFact(landmark[1].strip(), length, direction)
    for length in lengths:
        landmark = _OF.match(sentence[length.end :])
        if landmark is None or directions(landmark[1][:_DIRECTION_WORD]):
            continue
        if _is_of_vehicle(sentence[: length.start], landmark[1]):
            return StartFact(landmark[1].strip(), length, None)
    verb = _VEHICLE.search(sentence) or _BEGINS.search(sentence)
    near = _NEAR.search(sentence, verb.end()) if verb else None
    return StartFact(near[1].strip(), None, None) if near and not lengths else None


def _is_of_vehicle(before: str, landmark: str) -> bool:
    """Returns whether a relation after these words locates the vehicle: not by its own start, nor one of the people."""
    people = max((match.end() for match in _OF_PEOPLE.finditer(before)), default=-1)
    vehicle = max((match.end() for words in (_VEHICLE, _ADDRESSED) for match in words.finditer(before)), default=-1)
    return people <= vehicle and not landmark.startswith(START)


def _start_backwards(sentence: str, others: str) -> StartFact | None:
    """Reads the start from "The hut is 300 m south of" the start, if other sentences mention that hut."""
    subject = _BACKWARDS.match(sentence)
    if subject is None or not alike(subject[1], others):
        return None
    length = next(iter(distances(sentence)), None)
    direction = next(iter(directions(sentence)), None)
    if direction is not None:
        direction = replace(direction, angle=math.remainder(direction.angle + math.pi, math.tau))
    return StartFact(subject[1], length, direction)


def _start_at(sentence: str) -> StartFact | None:
    """From "Drone: the hut", "You are at the ramp"."""
    at = _AT.match(sentence)
    if at is None or distances(sentence) or directions(sentence):
        return None
    return StartFact(at[1].strip(), None, None)


def alike(words: str, landmark: str) -> bool:
    """Returns whether two descriptions share a significant word."""
    return bool(stems(words) & stems(landmark))


def stems(words: str) -> frozenset[str]:
    """Returns the significant words without their endings."""
    tokens = re.findall(r"[a-z0-9]+", words.lower())
    return frozenset(re.sub(r"(?:ing|es|s|ed)$", "", token) for token in tokens if token not in _STOP)
