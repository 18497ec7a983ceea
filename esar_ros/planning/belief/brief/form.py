"""The form in which a model returns the content of a brief, and its conversion to the facts that the prior is made of.

Every number is bounded, names that the brief does not contain are dropped, and nothing else of the answer is used: the
worst effect of a wrong answer is to expect a person where there is none, as with a brief that is wrong.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from pydantic import Field

from esar_ros.geometry.frames import wrap_angle
from esar_ros.mission.clues import KINDS
from esar_ros.planning.belief.brief.facts import (
    FARTHEST,
    MOST_PEOPLE,
    STATED_SPREAD,
    VAGUE_SPREAD,
    WALKED_SPREAD,
    WALKING_SPEED,
    BriefFacts,
    Content,
    Direction,
    Distance,
    Move,
    Reference,
    StartFact,
)
from esar_ros.planning.exchange import Form, clean

_MIN_DISTANCE = 10.0  # m: what is nearer is said to be at the place
_FORMLESS = (Content.COORDINATES, Content.SHARES, Content.PROHIBITION, Content.CATEGORY, Content.REST)
_REFERENCES = {
    "landmark": Reference.START,
    "drone_start": Reference.VEHICLE,
    "previous": Reference.PREVIOUS,
    "other_place": Reference.OTHER,
    "leads_to_landmark": Reference.DEFINES_START,
}


class Measured(Form):
    """How far and which way; null where it is not told."""

    metres: float | None = Field(default=None, ge=0.0, le=FARTHEST, allow_inf_nan=False)
    minutes: float | None = Field(
        default=None, ge=0.0, le=FARTHEST / WALKING_SPEED, allow_inf_nan=False, description="of walking, if so told"
    )
    rough: bool = Field(default=False, description="told in words like 'a few' or 'several'")
    bearing: float | None = Field(
        default=None, ge=0.0, le=360.0, allow_inf_nan=False, description="degrees clockwise from north: 90 is east"
    )

    @property
    def distance(self) -> Distance | None:
        """The distance with its spread; None: not given, or negligible."""
        if self.metres is not None:
            way, spread = self.metres, STATED_SPREAD
        elif self.minutes is not None:
            way, spread = self.minutes * WALKING_SPEED, WALKED_SPREAD
        else:
            return None
        return Distance(way, max(spread, VAGUE_SPREAD if self.rough else 0.0)) if way >= _MIN_DISTANCE else None

    @property
    def direction(self) -> Direction | None:
        """The direction; None: not given."""
        return None if self.bearing is None else Direction(wrap_angle(math.radians(90.0 - self.bearing)))


class StartOfVehicle(Measured):
    """Where the drone starts, from a landmark TO the drone; metres 0 when it starts there."""

    landmark: str = Field(min_length=1, max_length=200)


class Way(Measured):
    """One leg that somebody went or was seen on, or a place told by distance and bearing, in the order told."""

    counts_from: Literal["landmark", "drone_start", "previous", "other_place", "leads_to_landmark"] = Field(
        description="the start's landmark; where the drone itself starts; where the last leg ended; a place of unknown "
        "position; or the leg leads from somewhere to the start's landmark"
    )
    names: list[str] = Field(default_factory=list, max_length=12, description="of those it is told of; empty: all")
    kinds: list[Literal[KINDS]] = Field(  # type: ignore[valid-type]
        default_factory=list, max_length=len(KINDS), description="objects left or seen there"
    )
    searched: bool = Field(default=False, description="it was searched in vain")


class BriefReading(Form):
    """What the brief says; leave out what it does not say."""

    missing: int = Field(ge=1, le=MOST_PEOPLE, description="people to be found")
    names: list[str] = Field(default_factory=list, max_length=12, description="of those, as written")
    waiting: bool = Field(default=False, description="they were told to wait, or cannot walk")
    short_of_landmark: bool = Field(default=False, description="they have not come as far as the start's landmark")
    start: StartOfVehicle | None = None
    ways: list[Way] = Field(default_factory=list, max_length=12)


def facts_of(reading: BriefReading, prompt: str) -> BriefFacts:
    """A model's reading of a brief as facts."""

    def quoted(names: list[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in (clean(one, 40) for one in names) if name and name in prompt))

    start = reading.start
    return BriefFacts(
        start=None if start is None else StartFact(clean(start.landmark), start.distance, start.direction),
        moves=tuple(
            Move(
                way.distance,
                way.direction,
                _REFERENCES[way.counts_from],
                frozenset(way.kinds),
                frozenset(quoted(way.names)) & frozenset(quoted(reading.names)),
                way.searched,
            )
            for way in reading.ways
        ),
        victims=reading.missing,
        names=quoted(reading.names),
        stationary=reading.waiting,
        short_of_it=reading.short_of_landmark,
        kinds=frozenset(kind for way in reading.ways for kind in way.kinds),
    )


def completed(facts: BriefFacts, rules: BriefFacts) -> BriefFacts:
    """Returns a model's facts with what its form has no place for, as the rules read the same brief.

    Those are coordinates, and the orders, shares and kinds of person that nothing reads: who reads the brief makes no
    difference to what is said of them, nor to how they widen the prior.
    """
    kept = tuple(one for one in rules.passages if one.content in _FORMLESS and not one.is_aside)
    fixes = tuple(one.fact for one in kept if isinstance(one.fact, Move))
    return replace(facts, moves=(*facts.moves, *fixes), passages=kept)


def reading_of(facts: BriefFacts) -> BriefReading:
    """Returns the reading that gives these facts: the inverse of `facts_of`."""

    def measured(distance: Distance | None, direction: Direction | None) -> dict[str, float | bool | None]:
        out: dict[str, float | bool | None] = {}
        if distance is not None:
            walked = distance.spread >= WALKED_SPREAD
            way = min(distance.metres, FARTHEST)
            out = {"minutes": way / WALKING_SPEED} if walked else {"metres": way}
            out["rough"] = distance.spread >= VAGUE_SPREAD and not walked
        if direction is not None:
            out["bearing"] = (90.0 - math.degrees(direction.angle)) % 360.0
        return out

    words = {reference: word for word, reference in _REFERENCES.items()}
    start = facts.start
    return BriefReading.model_validate(
        {
            "missing": facts.victims,
            "names": facts.names[:12],
            "waiting": facts.stationary,
            "short_of_landmark": facts.short_of_it,
            "start": start and {"landmark": start.landmark[:200], **measured(start.distance, start.direction)},
            "ways": [
                {
                    **measured(move.distance, move.direction),
                    "counts_from": words[move.reference],
                    "names": sorted(move.persons)[:12],
                    "kinds": sorted(move.kinds),
                    "searched": move.searched,
                }
                for move in facts.moves[-12:]
            ],
        }
    )
