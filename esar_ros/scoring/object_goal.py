"""Scores of object-goal navigation under three named rules (UAV-ON, section 5.4 and its public code).

`CODE` scores as the public code does, of which the paper's tables are made; `PAPER` is equations 1 to 4 to the letter;
`STRICT` is the wording of sections 3 and 4.2: the agent stops, and any contact fails. Pure functions over frozen
records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import ObjectGoalEpisode, SizeClass

DECIMALS = 2
"""Decimals to which the public code's logs round metres."""
TOTAL = "total"

Poses = Literal["commanded", "measured"]


@dataclass(frozen=True)
class Terms:
    """The terms of an episode, by the name of who published them."""

    name: str
    near: float  # m, tau of equations 1, 2 and 4
    actions: int  # at most, the stop included


UAV_ON = Terms("uav-on", 20.0, 150)
APEX = Terms("apex", 10.0, 200)  # of APEX's own rows on UAV-ON's scenes
TERMS = {terms.name: terms for terms in (UAV_ON, APEX)}


class Rules(str, Enum):
    """Definitions of success, oracle success, DTS and SPL."""

    CODE = "code"
    PAPER = "paper"
    STRICT = "strict"


class GoalOutcome(str, Enum):
    """Outcomes that the public code tells apart."""

    SUCCESS = "success"
    ORACLE = "oracle"
    FAILURE = "failure"


class Ending(str, Enum):
    """Terminations of table 3."""

    STOP = "stop"
    STEP_LIMIT = "step_limit"
    COLLISION = "collision"


@dataclass(frozen=True)
class NavigationRecord:
    """One flown episode. Frame 0 is the start, frame t the pose after action t; a stop adds no frame. Distances in m.

    Raises ValueError on a record that no episode can leave.
    """

    episode: str
    scene: str
    size: SizeClass | None
    shortest: float  # l of equation 4
    distances: tuple[float, ...]  # of frames 0 to T, to the nearest of the target's positions
    contacts: tuple[bool, ...]  # of frames 0 to T: something was touched on the way there
    path: float  # p of equation 4
    logged_distance: float  # of frame T as the public code logs it: rounded, to the last of the target's positions
    logged_path: float  # path as the public code logs it: rounded
    stopped: bool  # the agent ended it
    contact_at_stop: bool = False  # something was touched during the stop
    poses: Poses = "commanded"  # what distances and path are of
    recorded: GoalOutcome | None = None  # by the public code itself, by the name of the log's folder
    failed: bool = False  # the agent failed, or what flies it: a success under no rules
    terms: Terms = UAV_ON

    def __post_init__(self) -> None:
        lengths = (self.shortest, self.path, self.logged_distance, self.logged_path, *self.distances)
        if not all(math.isfinite(length) and length >= 0.0 for length in lengths):
            raise ValueError("a length is negative or not finite")
        if not self.distances or len(self.distances) != len(self.contacts):
            raise ValueError("distances and contacts are not of the same frames")
        if self.actions > self.terms.actions:
            raise ValueError(f"{self.actions} actions, of at most {self.terms.actions}")
        if not (self.stopped or self.contacts[-1] or self.steps == self.terms.actions or self.failed):
            raise ValueError("it ends without stop, contact or step limit")
        if self.contact_at_stop and not self.stopped:
            raise ValueError("a contact in the stop of an episode that was not stopped")

    @property
    def steps(self) -> int:
        """T, the number of the last frame."""
        return len(self.distances) - 1

    @property
    def actions(self) -> int:
        """Actions taken, the stop included."""
        return self.steps + self.stopped

    @property
    def touched(self) -> bool:
        """True when there was any contact, the stop included."""
        return any(self.contacts) or self.contact_at_stop

    @property
    def near(self) -> bool:
        """True when it ended within the success distance."""
        return self.distances[-1] <= self.terms.near

    @property
    def ending(self) -> Ending:
        """Termination as table 3 counts it, by the last frame: a contact in the stop and a failure count as a stop."""
        if self.contacts[-1]:
            return Ending.COLLISION
        return Ending.STEP_LIMIT if self.steps == self.terms.actions else Ending.STOP


def navigation_record(
    episode: ObjectGoalEpisode,
    positions: ArrayLike,
    contacts: Sequence[bool],
    stopped: bool,
    contact_at_stop: bool = False,
    poses: Poses = "commanded",
    failed: bool = False,
    terms: Terms = UAV_ON,
) -> NavigationRecord:
    """Record of an episode from the positions of its frames, (T + 1, 3) m in the map frame. Raises ValueError."""
    track = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
    apart = np.linalg.norm(track[:, None, :] - np.asarray(episode.targets)[None, :, :], axis=2)  # (T + 1, N)
    path = float(path_lengths(track)[-1])
    return NavigationRecord(
        episode=episode.id,
        scene=episode.scene,
        size=episode.goal.size_class,
        shortest=episode.shortest,
        distances=tuple(apart.min(axis=1).tolist()),
        contacts=tuple(contacts),
        path=path,
        logged_distance=logged_distances(episode, track)[-1],
        logged_path=round(path, DECIMALS),
        stopped=stopped,
        contact_at_stop=contact_at_stop,
        poses=poses,
        failed=failed,
        terms=terms,
    )


def path_lengths(track: Vector) -> Vector:
    """Length (m) of a track (T + 1, 3) up to each of its points, (T + 1,)."""
    return np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(track, axis=0), axis=1))))


def logged_distances(episode: ObjectGoalEpisode, track: Vector) -> list[float]:
    """Distances (m) of a track (T + 1, 3) as the public code logs them: to the last of the target's positions, rounded;
    at frame 0 the straight distance of the episode's file."""
    apart = np.linalg.norm(track[1:] - np.asarray(episode.targets)[-1], axis=1)
    return [round(float(distance), DECIMALS) for distance in (episode.straight, *apart)]


def succeeded(record: NavigationRecord, rules: Rules) -> bool:
    """SR of one episode, equation 1."""
    if record.failed:
        return False
    if rules is Rules.PAPER:
        return record.near
    if rules is Rules.CODE and record.recorded is not None:
        return record.recorded is GoalOutcome.SUCCESS
    return record.stopped and not record.touched and record.near


def oracle_succeeded(record: NavigationRecord, rules: Rules) -> bool:
    """OSR of one episode, equation 2."""
    if record.failed:
        return False
    near = record.terms.near
    if rules is Rules.PAPER:
        return min(record.distances) <= near
    if rules is Rules.STRICT:
        free = takewhile(lambda frame: not frame[1], zip(record.distances, record.contacts, strict=True))
        return any(distance <= near for distance, _ in free)
    if record.recorded is not None:
        return record.recorded is not GoalOutcome.FAILURE
    passed = not record.touched and any(distance < near for distance in record.distances[1:])
    return succeeded(record, rules) or passed or (record.actions == record.terms.actions and record.near)


def outcome(record: NavigationRecord, rules: Rules) -> GoalOutcome:
    """Outcome that names the folder of a log."""
    if succeeded(record, rules):
        return GoalOutcome.SUCCESS
    return GoalOutcome.ORACLE if oracle_succeeded(record, rules) else GoalOutcome.FAILURE


def final_distance(record: NavigationRecord, rules: Rules) -> float:
    """DTS of one episode in m, equation 3."""
    return record.logged_distance if rules is Rules.CODE else record.distances[-1]


def path_flown(record: NavigationRecord, rules: Rules) -> float:
    """p of one episode in m: as logged under CODE, unrounded under the others."""
    return record.logged_path if rules is Rules.CODE else record.path


def path_efficiency(record: NavigationRecord, rules: Rules) -> float:
    """SPL of one episode, equation 4. A path of length 0 gives 0 under CODE and 1 under the others."""
    if not succeeded(record, rules):
        return 0.0
    flown = path_flown(record, rules)
    if flown == 0.0:
        return 0.0 if rules is Rules.CODE else 1.0
    return record.shortest / max(flown, record.shortest)


@dataclass(frozen=True)
class GoalScores:
    """Means over episodes: a row of tables 2 and 3. Rates are shares of 1, lengths in m."""

    episodes: int
    dts: float
    sr: float
    osr: float
    spl: float
    stop: float
    step_limit: float
    collision: float
    steps: float  # number of the last frame
    path: float  # length flown, "Safe Dist." of table 3


def mean_scores(records: Sequence[NavigationRecord], rules: Rules) -> GoalScores:
    """Means over at least one episode. Raises UsageError when commanded and measured poses, or terms, are mixed."""
    kinds = sorted({record.poses for record in records})
    if len(kinds) > 1:
        raise UsageError(f"episodes of {' and of '.join(kinds)} poses in one score", "score them apart")
    terms = sorted({record.terms.name for record in records})
    if len(terms) > 1:
        raise UsageError(f"episodes on the terms of {' and of '.join(terms)} in one score", "score them apart")

    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / len(values)

    endings = [record.ending for record in records]
    return GoalScores(
        episodes=len(records),
        dts=mean([final_distance(record, rules) for record in records]),
        sr=mean([succeeded(record, rules) for record in records]),
        osr=mean([oracle_succeeded(record, rules) for record in records]),
        spl=mean([path_efficiency(record, rules) for record in records]),
        stop=endings.count(Ending.STOP) / len(records),
        step_limit=endings.count(Ending.STEP_LIMIT) / len(records),
        collision=endings.count(Ending.COLLISION) / len(records),
        steps=mean([record.steps for record in records]),
        path=mean([path_flown(record, rules) for record in records]),
    )


def scores_by_size(records: Sequence[NavigationRecord], rules: Rules) -> dict[str, GoalScores]:
    """Scores of each size class that has episodes, and of all under `TOTAL`, where those of no class count too."""
    groups = {size.value: [record for record in records if record.size is size] for size in SizeClass}
    return {name: mean_scores(group, rules) for name, group in (*groups.items(), (TOTAL, records)) if group}
