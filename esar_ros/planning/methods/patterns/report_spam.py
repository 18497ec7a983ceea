"""ReportSpam: reports a grid of places without looking. A reference row: what guessing is worth under the metrics.

Source: none; ESARBench puts no price on a report, so a method may claim every place it cannot rule out. This one
spends the whole report cap on two square grids around the start, one of victims and one of clues, nearest first, at
the start's height and with the spacing at which circles of radius E cover the plane. Kinds of clues take turns.
Needs no model.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.clues import PERSON, ClueKind
from esar_ros.mission.decision import Decision, Report, ReportType
from esar_ros.mission.observation import Brief, Observation
from esar_ros.planning.methods.patterns.reference_row import ReferenceRow, ReferenceSettings
from esar_ros.planning.registry import register


class ReportSpamSettings(ReferenceSettings):
    """Section `flooder` of config/planners.yaml."""

    reach: float = Field(default=10.0, gt=0, description="m, the benchmark's E: what one report covers")
    victim_share: float = Field(default=0.5, ge=0, le=1, description="of the report cap spent on victims")
    per_decision: int = Field(default=20, ge=1, description="reports sent with one decision")


def grid_around(count: int, spacing: float) -> NDArray[np.float64]:
    """(count, 2) offsets (m) of a square grid, nearest to its middle first."""
    half = math.ceil(math.sqrt(count) / 2) + 1
    axis = np.arange(-half, half + 1, dtype=np.float64)
    x, y = (part.ravel() for part in np.meshgrid(axis, axis))
    order = np.lexsort((x, y, np.hypot(x, y)))[:count]
    return np.column_stack((x, y))[order] * spacing


@register("flooder")
class ReportSpam(ReferenceRow[ReportSpamSettings]):
    """Claims everything near the start and stops; it asks for no goal."""

    name = "flooder"
    settings_type = ReportSpamSettings

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: lay the grids around home."""
        settings = self._settings
        spacing = settings.reach * math.sqrt(2.0)
        victims = round(settings.victim_share * brief.report_cap)
        home = np.asarray(brief.home, dtype=np.float64)
        kinds = [kind.value for kind in ClueKind]
        persons = [
            Report(ReportType.VICTIM, PERSON, "person", home + [x, y, 0.0], 0.0)
            for x, y in grid_around(victims, spacing)
        ]
        things = [
            Report(ReportType.CLUE, kinds[i % len(kinds)], kinds[i % len(kinds)], home + [x, y, 0.0], 0.0)
            for i, (x, y) in enumerate(grid_around(brief.report_cap - victims, spacing))
        ]
        self._waiting: list[Report] = persons + things

    def act(self, observation: Observation) -> Decision:
        """The next reports; stop when all are out."""
        count = self._settings.per_decision
        now, self._waiting = self._waiting[:count], self._waiting[count:]
        return Decision("report", f"{len(now)} places unseen", reports=tuple(now), stop=not self._waiting)
