"""Scores of search and rescue on the ground under two named rules (RescueBench, section 3.2 and its public code).

`CODE` scores as the public code does, of which the paper's tables are made; `PAPER` is equation 2, whose distances the
paper leaves open: those to the victim until the pick for the first two stages, those to the stretcher from then on for
the others. Pure functions over frozen records. Distances are level (XY), of the interaction position, in m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from numpy.typing import ArrayLike

from esar_ros.geometry.frames import Vector, vector

NEAR = 7.5
"""m, R: from there on a stage counts, and proximity earns."""
HAND_OVER = 2.0
"""m from the stretcher within which a hand-over counts, and S4 is full without one."""
HEIGHT = 2.2
"""m between walker and target, upwards or downwards, beyond which nothing is picked up or handed over."""
STAGE = 25.0
"""Points of a stage."""
COOL_DOWN = 5
"""Steps after a hit in which no other counts."""
EPSILON = 1e-6  # m, of equation 2


class Rules(str, Enum):
    """Definitions of the stages' scores."""

    CODE = "code"
    PAPER = "paper"


@dataclass(frozen=True)
class Approach:
    """Distances to a target, m."""

    initial: float
    best: float
    last: float

    def after(self, distance: float) -> Approach:
        """Returns the approach with one more distance."""
        return Approach(self.initial, min(self.best, distance), distance)


@dataclass(frozen=True)
class StageScores:
    """Points of the four stages, 0 to 25 each."""

    explore: float = 0.0
    rescue: float = 0.0
    carry_back: float = 0.0
    hand_over: float = 0.0

    @property
    def total(self) -> float:
        """TS, 0 to 100."""
        return self.explore + self.rescue + self.carry_back + self.hand_over


@dataclass(frozen=True)
class RescueRecord:
    """One episode. Raises ValueError on a record that no episode can leave."""

    level: int
    point: int
    victim: Approach  # until the pick, its step included
    stretcher: Approach  # from the pick on; until then of no meaning to any score
    picked: bool
    handed_over: bool
    seconds: float
    steps: int
    path: float  # m, in 3D
    effectiveness: float  # share of steps that ended nearer to the target they were for
    collisions: int | None = None  # None: not recorded
    similarity: float | None = None  # to a person's track, None: none to compare with
    recorded: StageScores | None = None  # by the public code itself
    failed: bool = False  # ended by an exception: nothing counts

    def __post_init__(self) -> None:
        approaches = (self.victim, self.stretcher)
        lengths = [value for way in approaches for value in (way.initial, way.best, way.last)]
        if not all(math.isfinite(value) and value >= 0.0 for value in (*lengths, self.seconds, self.path)):
            raise ValueError("a length or the time is negative or not finite")
        if self.handed_over and not self.picked:
            raise ValueError("handed over without a pick")
        if self.steps < 0 or (self.collisions or 0) < 0:
            raise ValueError("a negative count")
        shares = (self.effectiveness, 0.0 if self.similarity is None else self.similarity)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError("effectiveness or similarity is no share of 1")

    @property
    def completed(self) -> bool:
        """TCR of the episode."""
        return self.picked and self.handed_over and not self.failed


def stage_scores(record: RescueRecord, rules: Rules) -> StageScores:
    """Returns the points of the stages; under CODE those that the public code recorded, where it did."""
    if record.failed:
        return StageScores()
    if rules is Rules.CODE:
        return record.recorded or code_scores(record)
    towards_victim, towards_stretcher = _progress(record.victim), _progress(record.stretcher)
    if not record.picked:
        return StageScores(towards_victim, towards_victim)
    handed_over = STAGE if record.handed_over else towards_stretcher
    return StageScores(towards_victim, STAGE, towards_stretcher, handed_over)


def code_scores(record: RescueRecord) -> StageScores:
    """Returns the points that the public code's rules give to a record's distances."""
    if not record.picked:
        last = record.victim.last
        return StageScores(STAGE if last <= NEAR else 0.0, _proximity(last, 0.0))
    last = record.stretcher.last
    handed_over = STAGE if record.handed_over else _proximity(last, HAND_OVER)
    return StageScores(STAGE, STAGE, STAGE if last <= NEAR else 0.0, handed_over)


def _progress(approach: Approach) -> float:
    """Returns the points of equation 2."""
    return STAGE * min(max(1.0 - approach.best / max(approach.initial, EPSILON), 0.0), 1.0)


def _proximity(distance: float, full: float) -> float:
    """Returns points that fall from all at a distance `full` to none at R."""
    return STAGE * min(max((NEAR - distance) / (NEAR - full), 0.0), 1.0)


class Progress:
    """An episode's distances, path and pick, kept step by step as the public code keeps them."""

    def __init__(self, victim: ArrayLike, stretcher: ArrayLike, start: ArrayLike, hand_over: float = HAND_OVER) -> None:
        """Positions (3,) m; hand_over: m within which a hand-over counts."""
        self._victim, self._stretcher, self._position = vector(victim), vector(stretcher), vector(start)
        self._hand_over = hand_over
        to_victim, to_stretcher = self._distances(self._position)
        self._before = to_victim
        self.victim = Approach(to_victim, to_victim, to_victim)
        self.stretcher = Approach(to_stretcher, to_stretcher, to_stretcher)
        self.picked = self.handed_over = self._at_stretcher = False
        self.path = 0.0
        self._steps = self._nearer = 0

    @property
    def effectiveness(self) -> float:
        """Share of steps that ended nearer to the target they were for; 0 without a step."""
        return self._nearer / self._steps if self._steps else 0.0

    def update(self, position: ArrayLike, carrying: bool) -> None:
        """Takes in where the walker is after a step, (3,) m, and whether it carries the victim."""
        here = vector(position)
        self.path += math.dist(here, self._position)
        self._position = here
        to_victim, to_stretcher = self._distances(here)
        self._steps += 1
        self._nearer += (to_stretcher if self.picked else to_victim) < self._before
        if not self.picked:
            self.victim = self.victim.after(to_victim)
            if carrying:
                self.picked = True
                self.stretcher = Approach(to_stretcher, to_stretcher, to_stretcher)
        self.stretcher = Approach(
            self.stretcher.initial,
            min(self.stretcher.best, to_stretcher) if self.picked else self.stretcher.best,
            to_stretcher,
        )
        self._before = to_stretcher if self.picked else to_victim

    def put_down(self, position: ArrayLike) -> None:
        """Takes in where the walker begins to put the victim down: whether that is inside the gate decides."""
        here = vector(position)
        to_stretcher = self._distances(here)[1]
        self.stretcher = Approach(self.stretcher.initial, min(self.stretcher.best, to_stretcher), self.stretcher.last)
        height = abs(float(here[2] - self._stretcher[2]))
        self._at_stretcher = to_stretcher <= self._hand_over and height <= HEIGHT

    def confirm(self, position: ArrayLike) -> bool:
        """Takes in where the walker is when nobody is carried any more; returns whether that was the hand-over."""
        self.stretcher = self.stretcher.after(self._distances(vector(position))[1])
        self.handed_over = self.handed_over or (self.picked and self._at_stretcher)
        return self.handed_over

    def record(
        self,
        level: int,
        point: int,
        seconds: float,
        steps: int,
        handed_over: bool,
        collisions: int | None = None,
        similarity: float | None = None,
    ) -> RescueRecord:
        """Returns what is scored of the episode so far. handed_over: without a pick it counts for nothing."""
        return RescueRecord(
            level,
            point,
            self.victim,
            self.stretcher,
            self.picked,
            self.picked and handed_over,
            seconds,
            steps,
            self.path,
            self.effectiveness,
            collisions,
            similarity,
        )

    def _distances(self, position: Vector) -> tuple[float, float]:
        """Returns the level distances to victim and stretcher, m."""
        x, y = float(position[0]), float(position[1])
        return (
            math.hypot(x - self._victim[0], y - self._victim[1]),
            math.hypot(x - self._stretcher[0], y - self._stretcher[1]),
        )


class HitCounter:
    """Collisions as the public code counts them: after a hit none for five steps."""

    def __init__(self) -> None:
        self.count = self._waiting = 0

    def update(self, hit: bool) -> bool:
        """Takes in whether anything was hit in a step; returns whether it counts."""
        if self._waiting:
            self._waiting -= 1
            return False
        if hit:
            self.count += 1
            self._waiting = COOL_DOWN
        return hit


@dataclass(frozen=True)
class RescueScores:
    """Means over episodes: a row of tables 3 to 5. Rates and shares of 1, points, s, m."""

    episodes: int
    tcr: float
    ts: float
    explore: float
    rescue: float
    carry_back: float
    hand_over: float
    seconds: float
    steps: float
    path: float
    effectiveness: float
    fps: float  # mean of each episode's steps over its time
    collisions: float | None  # of the episodes in which they were recorded
    similarity: float | None  # of the episodes that have a track to compare with
    compared: int  # how many those are


def mean_scores(records: Sequence[RescueRecord], rules: Rules) -> RescueScores:
    """Returns the means over at least one episode."""

    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / len(values)

    def mean_of_known(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return mean(known) if known else None

    points = [stage_scores(record, rules) for record in records]
    return RescueScores(
        episodes=len(records),
        tcr=mean([record.completed for record in records]),
        ts=mean([point.total for point in points]),
        explore=mean([point.explore for point in points]),
        rescue=mean([point.rescue for point in points]),
        carry_back=mean([point.carry_back for point in points]),
        hand_over=mean([point.hand_over for point in points]),
        seconds=mean([record.seconds for record in records]),
        steps=mean([record.steps for record in records]),
        path=mean([record.path for record in records]),
        effectiveness=mean([record.effectiveness for record in records]),
        fps=mean([record.steps / record.seconds if record.seconds else 0.0 for record in records]),
        collisions=mean_of_known([record.collisions for record in records]),
        similarity=mean_of_known([record.similarity for record in records]),
        compared=sum(record.similarity is not None for record in records),
    )
