"""Second looks at objects not certain enough to be reported: their probability at this place, and a look's value.

The probability that comes with a find is right on average over the places where the detector was measured. The belief
about this place enters by Bayes' rule: false finds lie wherever the vehicle flies, people where the belief is. And a
detector that errs in one mission's snow or stones errs there again and again, so the results of second looks so far
scale the odds of the next ones (a gamma prior on how often the stated odds come true, of one find's weight).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.belief.detection_probability import TABLE_RANGE

_TRUE = 0.5  # probability of a find from which on a second look has borne it out
_SUREST = 1.0 - 1e-6


class ConfirmSettings(StrictModel):
    """Parameters of second looks at objects that are not certain enough to be reported."""

    score: float = Field(default=0.25, ge=0, le=1, description="from which a person is looked at again at once")
    least: float = Field(
        default=0.05, ge=0, le=1, description="from which anything is, when that is worth more a second than search"
    )
    standoff: float = Field(default=14.0, gt=0, description="m beside it, at most")
    height: float = Field(default=18.0, gt=0, description="m above ground, at most")
    sharp: float = Field(default=0.7, ge=0, le=1, description="POD of one picture from which it is near enough")
    nearest: float = Field(default=13.0, gt=0, description="m, range that is near enough in any case")
    looks: int = Field(default=2, ge=1, description="from so many sides before it is given up")
    certain: float = Field(default=0.8, gt=0, le=1, description="probability from which a find is not doubted")
    area: float = Field(
        default=150_000.0, gt=0, description="m^2 on which one person is spread where stated probabilities hold"
    )
    swing: tuple[float, float] = Field(
        default=(0.1, 3.0), description="least and largest factor of the odds by what is believed of a place"
    )


class SecondLooks:
    """The unsure things of a mission."""

    def __init__(self, settings: ConfirmSettings) -> None:
        self.settings = settings
        self._sides: dict[int, int] = {}  # id -> sides it was looked at from
        self._staked: dict[int, tuple[bool, float]] = {}  # id -> a person, and its probability at the first of them
        self._borne_out: set[int] = set()
        self._share = 1.0  # of the greatest standoff and height

    def take_in(self, clues: Iterable[SeenClue]) -> None:
        """Records which of the objects looked at again have been confirmed."""
        self._borne_out |= {clue.id for clue in clues if clue.id in self._staked and clue.probability >= _TRUE}

    def see_with(self, pod: NDArray[np.float64]) -> None:
        """Chooses the range of the looks: the farthest at which an image finds a person well enough.

        pod: of a person by whole metres of range. Small images have to be taken from nearer.
        """
        longest = math.hypot(self.settings.standoff, self.settings.height)
        sharp = np.flatnonzero(pod[: int(longest) + 1] >= self.settings.sharp)
        reach = max(self.settings.nearest, float(sharp[-1]) if len(sharp) else 0.0)
        self._share = min(1.0, reach / longest)

    @property
    def height(self) -> float:
        """Height (m above ground) from which a thing is looked at."""
        return self._share * self.settings.height

    @property
    def slant(self) -> int:
        """Range (whole m, as curves of detection have it) from which a thing is looked at."""
        return min(TABLE_RANGE, round(math.hypot(self._standoff, self.height)))

    @property
    def _standoff(self) -> float:
        return self._share * self.settings.standoff

    @property
    def finished(self) -> frozenset[int]:
        """Ids of the things that were looked at from all sides."""
        return frozenset(id for id, sides in self._sides.items() if sides >= self.settings.looks)

    def is_open(self, clue: SeenClue) -> bool:
        """Returns whether it has not been looked at from all sides yet."""
        return self._sides.get(clue.id, 0) < self.settings.looks

    def probability(self, clue: SeenClue, density: float | None) -> float:
        """Returns the probability that it is there; density: believed (1/m^2) of its sort there, None: unknown."""
        person = clue.kind == PERSON
        staked = [p for id, (sort, p) in self._staked.items() if sort == person and id != clue.id]
        right = sum(1 for id in self._borne_out if self._staked[id][0] == person and id != clue.id)
        factor = (1.0 + right) / (1.0 + sum(staked))
        if density is not None:
            factor *= float(np.clip(density * self.settings.area, *self.settings.swing))
        p = min(clue.probability, _SUREST)
        return factor * p / (1.0 - p + factor * p)

    def begin(self, clue: SeenClue, probability: float) -> None:
        """Records that a look at it is flown."""
        self._staked.setdefault(clue.id, (clue.kind == PERSON, probability))

    def done(self, identity: int) -> None:
        """Counts a look at it from one more side."""
        self._sides[identity] = self._sides.get(identity, 0) + 1

    def viewpoint(self, clue: SeenClue, here: Vector) -> Vector:
        """Returns the viewpoint (2,; m) for a look at it: beside it, the second time on its other side."""
        away = here[:2] - clue.position[:2]
        distance = float(np.linalg.norm(away))
        unit = away / distance if distance > 1.0 else np.array([1.0, 0.0])
        side = -1.0 if self._sides.get(clue.id, 0) % 2 else 1.0
        return np.asarray(clue.position[:2] + side * self._standoff * unit)

    def seconds(self, clue: SeenClue, here: Vector, speed: float, turn: float) -> float:
        """Returns the time (s) a look costs at a speed (m/s); turn: s that a leg costs beside its length."""
        distance = math.dist(clue.position[:2], here[:2])
        return max(0.0, distance - self._standoff) / speed + 2.0 * turn
