"""Team search: division of the area, and suppression of duplicate reports.

Methods that plan with their teammates (`plans_with_team`) see all of them and share the area as they go. The others
each get a sector of it around the start, so that any method can search in a team.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import Brief, Observation, SeenClue, Teammate
from esar_ros.planning.method import Method

SAME = 5.0  # m between two vehicles' reports of one object, as between those of one vehicle (reporting.same_object)
_FOREIGN_ID = 1 << 40  # ids of messages have 32 bits
_KEPT_BACK = 5  # decisions that a report waits for the teammate who knows of the same thing
_PATIENCE = 5.0  # s after the start for which the later vehicles wait to hear where the earlier ones go


def own_brief(brief: Brief, method: Method) -> Brief:
    """The brief as a method gets it: in a team, with its sector of the area unless it plans with the others."""
    if len(brief.team) < 2 or getattr(method, "plans_with_team", False):
        return brief
    index = brief.team.index(brief.vehicle)
    return replace(brief, area=sector(brief.area, brief.home[:2], index, len(brief.team)))


def sector(area: NDArray[np.float64], centre: Vector, index: int, count: int) -> NDArray[np.float64]:
    """Corners (M, 2) of the part of a convex area (N, 2) that lies in one of `count` equal sectors around a point (2,).

    Sector `index` begins at the bearing 2 pi index / count, counter-clockwise from east. The whole area comes back
    where the sector holds none of it.
    """
    first, last = (2.0 * math.pi * n / count for n in (index, index + 1))
    part = _left_of(area, centre, first)
    if count > 2:  # two sectors are half-planes, whose other edge is the same line
        part = _left_of(part, centre, last + math.pi)
    return part if len(part) >= 3 else area


def _left_of(corners: NDArray[np.float64], point: Vector, bearing: float) -> NDArray[np.float64]:
    """A convex polygon (N, 2) cut by a line through a point: what lies to the left (Sutherland and Hodgman, 1974)."""
    normal = np.array([-math.sin(bearing), math.cos(bearing)])
    sides = (corners - point[:2]) @ normal
    out = []
    for here, there, side, following in zip(
        corners, np.roll(corners, -1, axis=0), sides, np.roll(sides, -1), strict=True
    ):
        if side >= 0.0:
            out.append(here)
        if side * following < 0.0:
            out.append(here + (there - here) * side / (side - following))
    return np.array(out).reshape(-1, 2)


def unreported(reports: Sequence[Report], team: Sequence[Teammate]) -> tuple[Report, ...]:
    """Returns those of a vehicle's reports that no teammate has made already."""
    reported = [report for mate in team for report in mate.reports]
    return tuple(report for report in reports if not any(_same(report, other) for other in reported))


def _same(one: Report, other: Report) -> bool:
    same_kind = one.type is other.type and (one.type is ReportType.VICTIM or one.kind == other.kind)
    return same_kind and _near(one.position, other.position)


def _near(one: Vector, other: Vector) -> bool:
    return float(np.linalg.norm(one - other)) <= SAME


def _holds(clues: Sequence[SeenClue], kind: str, position: Vector) -> bool:
    """Returns whether one of the clues is of this kind and within SAME (m) of the position."""
    return any(clue.kind == kind and _near(clue.position, position) for clue in clues)


class OneVoice:
    """Reports of one vehicle of a team, held back so that each object is reported by one vehicle.

    Two vehicles that see an object at once would report it at once. So a vehicle that comes later in the team's order
    keeps a report back for some decisions while an earlier one has a clue of its kind there.
    """

    def __init__(self, brief: Brief) -> None:
        rank = brief.team.index(brief.vehicle) if brief.vehicle in brief.team else 0
        self._earlier = frozenset(brief.team[:rank])
        self._kept: list[tuple[Report, int]] = []  # and for how many decisions

    def pass_on(self, reports: Sequence[Report], observation: Observation, last: bool) -> tuple[Report, ...]:
        """Returns the reports that are due, of new ones and those kept back; last: no further report will follow."""
        waiting = [*self._kept, *((report, 0) for report in reports)]
        self._kept = []
        due = []
        for report, decisions in waiting:
            if not unreported([report], observation.team):
                continue
            if last or decisions >= _KEPT_BACK or not self._is_known_to_earlier(report, observation):
                due.append(report)
            else:
                self._kept.append((report, decisions + 1))
        return tuple(due)

    def _is_known_to_earlier(self, report: Report, observation: Observation) -> bool:
        return any(
            mate.vehicle in self._earlier and _holds(mate.clues, report.kind, report.position)
            for mate in observation.team
        )


def clues_of_all(observation: Observation) -> tuple[SeenClue, ...]:
    """The vehicle's own clues and those that only teammates know; ids of the latter are their own no more."""
    known = list(observation.clues)
    for number, mate in enumerate(observation.team, 1):
        own = tuple(known)
        known += [
            replace(clue, id=clue.id + number * _FOREIGN_ID)
            for clue in mate.clues
            if not _holds(own, clue.kind, clue.position)
        ]
    return tuple(known)


def waits_its_turn(brief: Brief, observation: Observation) -> bool:
    """Returns whether a vehicle should wait at the start until the team's earlier vehicles have published a goal."""
    if observation.elapsed >= _PATIENCE:
        return False
    earlier = brief.team[: brief.team.index(brief.vehicle)] if brief.vehicle in brief.team else ()
    return any(mate.vehicle in earlier and mate.goal is None for mate in observation.team)


def has_its_turn(brief: Brief, frame: int) -> bool:
    """Returns whether a vehicle may choose a new goal in a frame (counted from the start) while it still has one.

    Each vehicle knows the goals that the others chose in the frame before. Those of a team take turns, or two that
    change their goal on the same news would choose the same place.
    """
    return brief.vehicle not in brief.team or frame % len(brief.team) == brief.team.index(brief.vehicle)


def team_places(observation: Observation) -> tuple[Vector, ...]:
    """Returns each teammate's goal, or its position where it has none: (3,) m each, map frame."""
    return tuple(mate.pose.position if mate.goal is None else mate.goal for mate in observation.team)
