"""The table of rules. Order of stages: reading, schema, constraints, geometry, physics, safety, data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from esar_ros.suites.uavbench.scenarios import constraints, physics, space, words
from esar_ros.suites.uavbench.scenarios.constraints import Told
from esar_ros.suites.uavbench.scenarios.scene import Scene


@dataclass(frozen=True)
class Rule:
    """One check and the code of what it finds; without a check it is the reader's or the schema's."""

    code: str
    stage: str
    check: Callable[[Scene], Told] | None
    text: str

    @staticmethod
    def of(stage: str, check: Callable[[Scene], Told]) -> Rule:
        """Returns the rule of a check, whose docstring is `CODE: what holds`."""
        code, _, text = (check.__doc__ or "").partition(": ")
        return Rule(code, stage, check, " ".join(text.split()))


RULES: tuple[Rule, ...] = (
    Rule("J1", "reading", None, "the document is UTF-8 without a byte order mark, of 1 MiB at most."),
    Rule("J2", "reading", None, "it is JSON, with numbers that a double holds."),
    Rule("J3", "reading", None, "no object has a key twice."),
    Rule("J4", "reading", None, "an object is at the top, and nothing is nested deeper than 32 levels."),
    Rule("S1", "schema", None, "no key is missing."),
    Rule("S2", "schema", None, 'a value has its type ("5" is no number, true is no number, 3.0 is whole).'),
    Rule("S3", "schema", None, "a value is in its range, a list has its length."),
    Rule("S4", "schema", None, "a token is known; the nearest is told."),
    Rule("S7", "schema", None, "a key is known; others are kept and told in a note."),
    *(
        Rule.of("constraints", check)
        for check in (
            constraints.rate, constraints.band_order, constraints.zone_order, constraints.window_order,
            constraints.profile_order, constraints.sources, constraints.together, constraints.controls,
            constraints.blocks, constraints.runway, constraints.pattern, constraints.link, constraints.clear_sky,
            constraints.length, constraints.faults_in_time,
constraints.windows_in_time,
        )
    ),
    *(
        Rule.of("geometry", check)
        for check in (
            space.fence, space.inside_fence, space.inside_band, space.sites_below_band, space.outside_zones,
            space.legs_clear, space.meetings, space.legs_inside,
        )
    ),
    *(
        Rule.of("physics", check)
        for check in (physics.hover, physics.stall, physics.energy, physics.time, physics.wind, physics.load)
    ),
    *(
        Rule.of("safety", check)
        for check in (space.apart_at_start, space.swarm_apart, space.time_to_collision, space.instant_failure)
    ),
    *(
        Rule.of("data", check)
        for check in (words.numbers_told, words.degenerate, words.hazards_told, words.labelled, words.tagged)
    ),
)  # fmt: skip
