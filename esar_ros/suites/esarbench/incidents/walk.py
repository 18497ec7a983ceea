"""People on foot: how fast they go, which way they give in to the ground, and the trace that this leaves.

Speed is Tobler's hiking function ("Three presentations on geographical analysis and modeling", 1993), slowed by what
grows or lies underfoot. Someone without a path chooses, every few metres, among headings: what is wanted, what is
quick, and the habit of going on as before weigh against each other, with some chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap

Points = NDArray[np.float64]  # (N, 2) m, map frame
STRIDE = 6.0  # m between two choices of heading
_HEADINGS = 24
_EDGE = 60.0  # m kept from the map's edge
_SHORE = 8.0  # m kept from open water
_HABIT, _HURRY = 0.9, 0.8  # weights of the heading so far and of speed, against 1 of what is wanted
_RELIEF_SCALE = 18.0  # m over which one feels which way is down
_SLOWED = {LandCover.FOREST: 0.6, LandCover.SCRUB: 0.5, LandCover.BLOCKFIELD: 0.45, LandCover.ROCK: 0.4,
           LandCover.SNOW: 0.5, LandCover.ICE: 0.35, LandCover.SAND: 0.65, LandCover.SALT: 0.6,
           LandCover.CLAY: 0.7}  # fmt: skip
_SPEED_SHARE = np.array([_SLOWED.get(kind, 1.0) for kind in LandCover])


class Footing(NamedTuple):
    """Slopes that people cross: walkers, or climbers with crampons."""

    walk: float  # rad, steepest that they cross
    rest: float  # rad, steepest on which they stay or put things down


WALKER = Footing(math.radians(36.0), math.radians(30.0))
CLIMBER = Footing(math.radians(52.0), math.radians(38.0))


class Stage(Enum):
    """Of a trip that goes wrong."""

    ROUTE = "on the way that was meant"
    LOST = "off it"
    NIGHT = "stopped until daylight"


class Mark(NamedTuple):
    """A moment of the trip."""

    at: Points  # (2,)
    time: float  # s since setting out
    stage: Stage


@dataclass
class Walk:
    """Somebody's way so far."""

    place: PlaceMap
    footing: Footing
    random: np.random.Generator
    at: Points  # (2,)
    heading: float  # rad
    time: float = 0.0  # s since setting out
    fitness: float = 1.0  # of Tobler's speed
    marks: list[Mark] = field(default_factory=list)

    def follow(self, line: Points, stage: Stage) -> None:
        """Along a path, on its own terms: paths go where slopes off them would stop one."""
        for point in line:
            away = point - self.at
            if float(np.hypot(*away)) > 0.1:
                self._go_to(point, 1.0, stage)

    def roam(self, want: Callable[[Walk], float], length: float, firmness: float) -> float:
        """Without a path for up to some metres, towards want(walk) rad; the metres that the ground allowed.

        firmness: 0 wanders, 1 goes by habit and want alike, 3 holds its course. Ends where nothing can be walked.
        """
        gone = 0.0
        while gone < length:
            choice = self._choose(want(self), firmness)
            if choice is None:
                break
            self.heading = choice
            target = self.at + STRIDE * np.array([math.cos(choice), math.sin(choice)])
            self._go_to(target, float(_SPEED_SHARE[int(self.place.cover_at(target))]), Stage.LOST)
            gone += STRIDE
        return gone

    def wait(self, seconds: float, stage: Stage) -> None:
        """Stay."""
        self.time += seconds
        self.marks.append(Mark(self.at, self.time, stage))

    def settle(self) -> bool:
        """Take the few last steps to ground that one can stay on; whether there is any."""
        for reach in np.arange(0.0, 40.0, 2.0):
            ring = self.at + reach * _COMPASS
            fit = can_rest(self.place, ring, self.footing)
            if fit.any():
                self._go_to(ring[int(self.random.choice(np.flatnonzero(fit)))], 0.5, Stage.LOST)
                return True
        return False

    def _choose(self, want: float, firmness: float) -> float | None:
        headings = self.heading + np.arange(_HEADINGS) * (2.0 * math.pi / _HEADINGS)
        ahead = self.at + STRIDE * np.stack([np.cos(headings), np.sin(headings)], axis=1)
        open_ground = can_walk(self.place, ahead, self.footing)
        if not open_ground.any():
            return None
        rise = (self.place.ground_height(ahead) - self.place.ground_height(self.at)) / STRIDE
        quick = tobler(rise) * _SPEED_SHARE[self.place.cover_at(ahead)]
        value = firmness * np.cos(headings - want) + _HABIT * np.cos(headings - self.heading)
        value += _HURRY * quick / quick.max() + 0.35 * self.random.gumbel(size=_HEADINGS)
        return float(headings[int(np.argmax(np.where(open_ground, value, -np.inf)))])

    def _go_to(self, target: Points, share: float, stage: Stage) -> None:
        run = max(float(np.hypot(*(target - self.at))), 1e-6)
        rise = float(self.place.ground_height(target) - self.place.ground_height(self.at)) / run
        if run > 0.1:
            self.heading = math.atan2(target[1] - self.at[1], target[0] - self.at[0])
        self.time += run / max(float(tobler(np.array(rise))) * share * self.fitness, 0.08)
        self.at = np.asarray(target, dtype=np.float64)
        self.marks.append(Mark(self.at, self.time, stage))


_COMPASS = np.stack([np.cos(np.arange(16) * math.pi / 8), np.sin(np.arange(16) * math.pi / 8)], axis=1)


def tobler(rise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Walking speed (m/s) by rise over run."""
    return np.asarray(6.0 / 3.6 * np.exp(-3.5 * np.abs(rise + 0.05)))


def can_walk(place: PlaceMap, points: Points, footing: Footing) -> NDArray[np.bool_]:
    """Returns whether people of that footing go to points (..., 2): on the map, dry, off the shore, not too steep."""
    shore = points[..., None, :] + _SHORE * _COMPASS[::4]
    dry = ~place.is_water(points) & ~place.is_water(shore).any(axis=-1)
    inside = np.abs(points).max(axis=-1) <= place.size / 2 - _EDGE
    return np.asarray(inside & dry & (place.slope(points) <= footing.walk))


def can_rest(place: PlaceMap, points: Points, footing: Footing) -> NDArray[np.bool_]:
    """Returns whether a person or an object can lie at points (..., 2): also not on bare rock."""
    soft = place.cover_at(points) != LandCover.ROCK
    return np.asarray(soft & can_walk(place, points, footing) & (place.slope(points) <= footing.rest))


def downhill(walk: Walk) -> float:
    """The way (rad) in which the ground falls most."""
    heights = walk.place.ground_height(walk.at + _RELIEF_SCALE * _COMPASS)
    fall = -(heights[:, None] * _COMPASS).sum(axis=0)
    return math.atan2(fall[1], fall[0])


def uphill(walk: Walk) -> float:
    """The way (rad) in which it rises most."""
    return downhill(walk) + math.pi


def onward(walk: Walk) -> float:
    """The way one goes already (rad)."""
    return walk.heading


def towards(target: Points) -> Callable[[Walk], float]:
    """The way (rad) to a point, as long as one is not there."""

    def want(walk: Walk) -> float:
        away = target - walk.at
        return math.atan2(away[1], away[0]) if float(np.hypot(*away)) > 2.0 * STRIDE else walk.heading

    return want


def drifting(walk: Walk) -> float:
    """The way of people who see nothing (rad): none they hold, so that they turn without knowing it.

    Souman et al. ("Walking straight into circles", Current Biology 2009): headings without sight wander at random.
    """
    return walk.heading + walk.random.normal(0.0, 0.6)
