"""The facts of a brief: where the vehicle starts, on which ways people went or were seen, who and how many they are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

MOST_PEOPLE = 24  # that a brief is read to tell of
# Naismith's rule and DIN 33466 give 4 to 5 km/h on the level, far less on rough ground.
WALKING_SPEED = 4000.0 / 60.0  # m a minute
# Relative standard deviations of a way told in metres, in walking time, and in words like "a few hundred".
STATED_SPREAD, WALKED_SPREAD, VAGUE_SPREAD = 0.12, 0.4, 0.35
FARTHEST = 200_000.0  # m; what is told to be farther is no way that a drone flies
PACED_SPREAD = 0.15  # in paces, feet and miles, and of walking time at a pace that is told


@dataclass(frozen=True)
class Distance:
    """A distance on the ground: median m, relative standard deviation."""

    metres: float
    spread: float

    @property
    def is_walked(self) -> bool:
        """Returns whether it is told as walking time."""
        return self.spread >= WALKED_SPREAD

    def at_pace(self, pace: float) -> Distance:
        """Returns the way that walking at a pace (m a minute) takes as long."""
        return Distance(self.metres * pace / WALKING_SPEED, PACED_SPREAD) if self.is_walked else self


@dataclass(frozen=True)
class Direction:
    """A compass direction: mathematical angle, rad, 0 = east, counter-clockwise."""

    angle: float


class Way(NamedTuple):
    """A distance and a direction; None where it is not told."""

    distance: Distance | None
    direction: Direction | None


class Reference(Enum):
    """Reference point of a move."""

    START = "start"  # the landmark that the vehicle's start is given by
    VEHICLE = "vehicle"  # the vehicle's start itself
    PREVIOUS = "previous"  # where the last statement has led
    OTHER = "other"  # a place that nothing is known of
    DEFINES_START = "defines start"  # it leads from another place to the start's landmark


@dataclass(frozen=True)
class StartFact:
    """The vehicle's start: distance and direction from a landmark; None: not given, the distance is then small."""

    landmark: str
    distance: Distance | None
    direction: Direction | None


class Fix(NamedTuple):
    """A position told by coordinates: m east and north of the vehicle's start, standard deviation of each (m)."""

    east: float
    north: float
    sigma: float


@dataclass(frozen=True)
class Move:
    """One statement of a route: distance and direction; None where not given."""

    distance: Distance | None
    direction: Direction | None
    reference: Reference
    kinds: frozenset[str] = frozenset()  # clue kinds that the sentence speaks of
    persons: frozenset[str] = frozenset()  # names in the sentence
    searched: bool = False  # the place was searched, nobody is there
    certainty: float = 1.0  # weight beside other statements
    fix: Fix | None = None  # where it ends, if coordinates tell that


class Content(Enum):
    """Kinds of what words of a brief tell, on which a search may depend."""

    WAY = "distance or direction"
    NUMBER = "number"
    SHARES = "percentages or shares"
    COORDINATES = "coordinates"
    PROHIBITION = "order or prohibition"
    DENIAL = "denied, or of others"
    CATEGORY = "kind of person"
    SLOPE = "direction without a compass"
    LANDMARK = "place"
    REST = "end of the text"


_WEIGHTS = {Content.LANDMARK: 0.25, Content.CATEGORY: 0.5}  # beside others: most briefs name places that matter little


class Passage(NamedTuple):
    """Words of a brief that tell something on which a search may depend."""

    start: int  # characters, from start to before end
    end: int
    fact: Move | StartFact | None  # that they were read as; None: not understood
    content: Content = Content.WAY
    why: str = ""  # they are not used, or as what they are left aside
    is_aside: bool = False  # it was recognised as what tells of no place: an age, a height, a time, a number of people


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
    passages: tuple[Passage, ...] = ()  # in the order of the text

    @property
    def left(self) -> tuple[Passage, ...]:
        """The passages that no reading used."""
        return tuple(passage for passage in self.passages if passage.fact is None and not passage.is_aside)

    @property
    def unread(self) -> float:
        """Share of what the text tells that no reading used; 1 where it tells nothing."""
        read = float(sum(passage.fact is not None for passage in self.passages))
        read = read or float(len(self.moves) + (self.start is not None))
        left = sum(_WEIGHTS.get(passage.content, 1.0) for passage in self.left)
        return left / (left + read) if left or read else 1.0
