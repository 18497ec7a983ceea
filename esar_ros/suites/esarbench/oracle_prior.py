"""Belief whose prior knows where people are, to within some metres: what reading the brief perfectly would give.

Source: none; a ceiling for `belief`, beside the one that ideal detection gives. Ineligible; it finds its task as the
oracle does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.planning.belief.brief.facts import BriefFacts
from esar_ros.planning.belief.prior import Hypotheses
from esar_ros.planning.belief.search import BeliefSearch
from esar_ros.suites.esarbench.oracle import task_of

SPREAD = 30.0  # m, standard deviation of the prior along each axis: what a brief calls close to a place


class OraclePrior(BeliefSearch):
    """`belief` in all else."""

    name = "oracle_prior"
    eligible = False

    def reset(self, brief: Brief, seed: int) -> None:
        """Looks the task up. Raises UsageError where no shipped task has this brief."""
        self._places = {victim.name: np.array(victim.position) for victim in task_of(brief.prompt).victims}
        super().reset(brief, seed)

    def _initialise(self, facts: BriefFacts) -> None:
        super()._initialise(replace(facts, victims=len(self._places), names=tuple(self._places)))

    def _sample_hypotheses(self, name: str | None, home: Vector) -> Hypotheses:
        assert name is not None  # those who are known are all named
        spread = self._random.normal(0.0, SPREAD, (self._settings.prior.samples, 2))
        ends = self._places[name] + spread
        return Hypotheses(np.stack([np.broadcast_to(home, ends.shape), ends], axis=1), (frozenset(), frozenset()))
