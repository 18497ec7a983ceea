"""The report policy all methods share: the conditions under which a seen object is reported as a clue or victim.

A report cannot be taken back. So an object is reported once it is likely enough to be there and of its kind (its
calibrated probability, perception/fusion/evidence.py) and its position is accurate enough to lie within the scoring's
radius; a victim needs a second look from another place beside. A method that takes second looks reports a victim who is
more likely there than not after the last of them, since no further evidence will come. Every object is reported once;
near the cap the last reports are kept for victims. The effect on the scores: docs/explanation/localisation.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache

import numpy as np
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import Observation, SeenClue
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated
from esar_ros.planning.parameters import SHARED


class Requirement(StrictModel):
    """Thresholds that a seen object must meet to be reported."""

    probability: float = Field(default=0.5, ge=0, le=1, description="that it is there and of its kind")
    views: int = Field(default=1, ge=1, description="looks from places apart")
    sigma: float = Field(default=3.0, gt=0, description="m, largest standard deviation of its position")
    last: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="probability that suffices once no further look will be taken; none: as is",
    )


class ReportingSettings(StrictModel):
    """Section `reporting` of config/planners.yaml."""

    clue: Requirement = Field(default_factory=Requirement)
    victim: Requirement = Field(default_factory=lambda: Requirement(probability=0.6, views=2, last=0.5))
    same_object: float = Field(default=5.0, ge=0, description="m, a merged object's new place against its report")
    kept_for_victims: int = Field(default=10, ge=0, description="reports below the cap that only victims may use")

    def need(self, kind: str) -> Requirement:
        """Returns what an object of a kind must meet."""
        return self.victim if kind == PERSON else self.clue

    def is_candidate(self, kind: str, probability: float) -> bool:
        """Returns whether an object is less probable than any that is reported: too unlikely to be shown as a clue."""
        need = self.need(kind)
        return probability < (need.probability if need.last is None else need.last)


@cache
def shared_settings() -> ReportingSettings:
    """Returns the section `reporting` of config/planners.yaml. Raises UsageError."""
    path = resource("config/planners.yaml")
    return validated(ReportingSettings, read_yaml(path, "planners' parameters").get(SHARED, {}), path)


def sigma_of(covariance: Vector) -> float:
    """Returns the largest standard deviation (m) of a position, infinite where its covariance is not finite."""
    if not np.isfinite(covariance).all():
        return math.inf
    return math.sqrt(max(0.0, float(np.linalg.eigvalsh(covariance)[-1])))


class ReportPolicy:
    """Turns the observation's objects into reports, each once a mission."""

    def __init__(self, settings: ReportingSettings) -> None:
        self._settings = settings
        self.reset(0)

    def reset(self, cap: int) -> None:
        """Begin a mission with at most cap reports."""
        self._left = cap
        self._reported: dict[int, tuple[str, Vector]] = {}  # object id -> kind and place as reported

    def reports(self, observation: Observation, looked_at: Collection[int] = ()) -> tuple[Report, ...]:
        """Reports due now: victims first, then the surest. looked_at: ids that the method will not look at again."""
        present = {clue.id for clue in observation.clues}
        fresh = [clue for clue in observation.clues if clue.id not in self._reported]
        due = [clue for clue in fresh if self.due(clue, clue.id in looked_at)]
        due.sort(key=lambda clue: (clue.kind != PERSON, -clue.probability, clue.id))
        out = []
        for clue in due:
            if self._was_reported_as_another(clue, present):
                self._reported[clue.id] = (clue.kind, clue.position)
            elif self._left > (0 if clue.kind == PERSON else self._settings.kept_for_victims):
                self._left -= 1
                self._reported[clue.id] = (clue.kind, clue.position)
                out.append(_report(clue))
        return tuple(out)

    def due(self, clue: SeenClue, looked_at: bool = False) -> bool:
        """Returns whether an object meets its kind's requirement; looked_at: no further look at it will be taken."""
        need = self._settings.need(clue.kind)
        min_probability = need.last if looked_at and need.last is not None else need.probability
        sigma = sigma_of(clue.covariance)
        return (
            clue.probability >= min_probability
            and clue.views >= need.views
            and sigma <= need.sigma
            and bool(np.isfinite(clue.position).all())
        )

    def _was_reported_as_another(self, clue: SeenClue, present: set[int]) -> bool:
        """Returns whether fusion has merged an object reported under another id into this one."""
        return any(
            kind == clue.kind
            and identity not in present
            and float(np.linalg.norm(place - clue.position)) <= self._settings.same_object
            for identity, (kind, place) in self._reported.items()
        )


def _report(clue: SeenClue) -> Report:
    return Report(
        type=ReportType.VICTIM if clue.kind == PERSON else ReportType.CLUE,
        kind=clue.kind,
        text=clue.text or clue.kind.replace("_", " "),
        position=clue.position.copy(),
        confidence=clue.probability,
    )
