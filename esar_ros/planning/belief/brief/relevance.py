"""Measures of a sentence that tell a way, and not anything else that has a length or a side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from esar_ros.planning.belief.brief.facts import Way
from esar_ros.planning.belief.brief.lexicon import word_set
from esar_ros.planning.belief.brief.tokens import Item

_ALONG = word_set("further farther along on away down up off out below beyond again")
_UPON = word_set("along up down across through over into")
_HEARD_FROM = word_set("heard hears crying cries shouting shouts calling calls whistle whistling voice voices")
_TOLD = word_set(
    "prob probably likely guess direction heading headed towards bearing course hdg brg azimuth o'clock sorry rather "
    "correction amended revised mean means meaning"
)
NEAR = 4  # items before or after a way that belong to it


def is_told(row: Sequence[Item], way: Way, first: int, last: int) -> bool:
    """Returns whether half a way is told of somebody's way, not of anything else that has a length or a side."""
    if way.distance is not None and way.direction is not None:
        return True
    before, after = row[max(first - NEAR, 0) : first], row[last + 1 : last + 2]
    if way.distance is not None and after and after[0].tag == "j":
        after = row[last + 2 : last + 3] if _leads_from(row[last + 2 : last + 3]) else after
    tags = "".join(item.tag for item in before)
    if way.distance is not None:
        said = row[:first] if way.distance.is_walked else row[max(first - 8, 0) : first]
        if any(item.tag == "G" for item in said) and not (
            way.distance.is_walked and any(item.tag == "n" for item in said)
        ):
            return True
        if _is_led(row[max(first - 7, 0) : first]):
            return True
        more = row[first].low.split()[0], before[-1].low if before else ""
        if {"another", "further"} & set(more) and not way.distance.is_walked:
            return True
        is_alone = not way.distance.is_walked and all(item.tag in ".!?,j" for item in row if item is not row[first])
        if is_alone or any(_leads(item) for item in after):
            return True
        is_on = bool(_ALONG & {item.low for item in after}) and not way.distance.is_walked
        return is_on and any(item.tag in "PQG" for item in row[:first])
    if re.search(r"f[aA]?$", tags):
        return bool(_HEARD_FROM & {item.low for item in row[:first]})  # not "they came from the north"
    return (
        _leads_on(row[last + 1 : last + 4])
        or re.search(r"[Gk]|g[aA]?$|b[:=]?$|l[aA]$|:$", tags) is not None
        or bool(_TOLD & {item.low for item in before} or _TOLD & set(row[first].low.split()[:1]))
        or (before[-1:] != [] and before[-1].tag == "O" and before[-1].low.startswith(("from", "fm", "le", "dep")))
        or (row[0].low in _TOLD and row[1:2] != [] and row[1].tag == ":")
        or (re.search(r"tB?$", tags) is not None and all(item.tag in ",.;)" for item in after))
        or bool(_UPON & {item.low for item in after})
        or row[first].low.endswith(("ward", "wards", "bound", "erly"))
        or len([item for item in row if item.tag not in ".!?,j"]) == 1
        or (tags.endswith(",") and all(item.tag in ",.;" for item in after))
    )


def _leads_from(after: Sequence[Item]) -> bool:
    """Returns whether "from somewhere" follows: "a kilometre down from the pier"."""
    return bool(after) and _leads(after[0]) and after[0].low.startswith(("from ", "fm "))


def _leads_on(after: Sequence[Item]) -> bool:
    """Returns whether a direction is followed by the place that it is told of: "south and downhill of it"."""
    at = next((n for n, item in enumerate(after) if item.tag == "O"), None)
    return at is not None and all(item.tag in "&xj" for item in after[:at])


def _is_led(before: Sequence[Item]) -> bool:
    """Returns whether a distance follows the place that it counts from: "From the helipad: 600 yards"."""
    at = next((n for n in range(len(before) - 1, -1, -1) if _leads(before[n])), None)
    return at is not None and not any(item.tag in "iPtY" for item in before[at:])


def _leads(item: Item) -> bool:
    """Returns whether an item is a place that a distance alone may count from."""
    return item.tag == "O" and not item.low.startswith("of ")
