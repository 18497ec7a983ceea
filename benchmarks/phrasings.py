"""The share of briefs that `belief`'s rules understand, of those whose words the rules were not made for.

    python benchmarks/phrasings.py

test/data/briefs/phrasings.jsonl: sixty briefs and what they say, written before the templates of the task generator and
the rules of the parser were read. A `start` is [m, bearing] of the vehicle from the landmark, [0, null] at it; `ways`
are [m, bearing] in order, with "on" where one begins at the end of the one before. The rules were then improved on
every second one (the 1st, 3rd ...); the others are held out.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from page import Table, add_page, markdown, write_page
from scipy.stats import binomtest  # type: ignore[import-untyped]

from esar_ros.planning.belief.brief.parser import BriefFacts, Reference, parse_brief

FILE = Path(__file__).parents[1] / "test" / "data" / "briefs" / "phrasings.jsonl"
BRIEFS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
HALVES = {"improved on": BRIEFS[0::2], "held out": BRIEFS[1::2]}


def bearing(direction: Any) -> float | None:
    """Returns the compass bearing, degrees."""
    return None if direction is None else (90.0 - math.degrees(direction.angle)) % 360.0


def is_turned(got: float | None, expected: float | None) -> bool:
    """Returns whether both are within 23 degrees, or both are not stated."""
    if got is None or expected is None:
        return got is expected
    return abs((got - expected + 180.0) % 360.0 - 180.0) <= 23.0


def is_long(got: Any, expected: float | None) -> bool:
    """Returns whether the length is within a quarter or 30 m, or both are not stated."""
    if got is None or expected is None:
        return got is expected
    return bool(abs(got.metres - expected) <= max(0.25 * expected, 30.0))


def is_start(facts: BriefFacts, expected: list[Any] | None) -> bool:
    """Returns whether the landmark lies where the brief has it."""
    start = facts.start
    if expected is None:
        return start is None
    if expected[0] == 0:
        return start is None or (start.direction is None and (start.distance is None or start.distance.metres <= 30.0))
    length, direction = expected
    return start is not None and is_long(start.distance, length) and is_turned(bearing(start.direction), direction)


def are_ways(facts: BriefFacts, expected: list[list[Any]]) -> bool:
    """Returns whether the ways are those of the brief, in order."""
    moves = [move for move in facts.moves if not move.searched]
    return len(moves) == len(expected) and all(
        is_long(move.distance, way[0])
        and is_turned(bearing(move.direction), way[1])
        and (number == 0 or (move.reference is Reference.PREVIOUS) == (len(way) > 2))
        for number, (move, way) in enumerate(zip(moves, expected, strict=True))
    )


def understood(brief: dict[str, Any]) -> dict[str, bool]:
    """Returns for each field of the brief whether it is right, and whether all are."""
    facts = parse_brief(brief["text"])
    fields = {
        "victims": facts.victims == brief["victims"],
        "stationary": facts.stationary == brief["stationary"],
        "start": is_start(facts, brief["start"]),
        "ways": are_ways(facts, brief["ways"]),
    }
    return {"all": all(fields.values()), **fields}


def counts(briefs: list[dict[str, Any]]) -> dict[str, int]:
    """Returns for each field how many of the briefs have it right."""
    marks = [understood(brief) for brief in briefs]
    return {field: sum(mark[field] for mark in marks) for field in marks[0]}


def main() -> None:
    """Prints the table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_page(parser)
    arguments = parser.parse_args()
    figures = {half: counts(briefs) for half, briefs in HALVES.items()}
    rows = []
    for half, briefs in HALVES.items():
        for field, right in figures[half].items():
            low, high = binomtest(right, len(briefs)).proportion_ci(method="wilson")
            rows.append((half, field, right, len(briefs), f"{right / len(briefs):.0%} [{low:.0%}, {high:.0%}]"))
    table = Table(("half", "field", "right", "of", "share [95 %, Wilson]"), rows)
    print(markdown(table))
    print(json.dumps({"benchmark": "phrasings", "figures": figures, "goals": {}, "met": {}}))
    if arguments.page:
        about = (
            "Sixty briefs, written before the templates of the task generator and the parser's rules were read; the "
            "rules were then improved on every second one, and the other thirty are held out. A field counts when it "
            "is right: directions within 23 degrees, lengths within a quarter or 30 m. *all* wants every field of a "
            "brief right."
        )
        write_page(__file__, "What `belief`'s rules understand", about, {}, [table])


if __name__ == "__main__":
    main()
