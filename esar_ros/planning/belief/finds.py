"""Assignment of reported persons to the missing, and the probability of each assignment.

A report cannot be taken back, but the belief in it can change: a person who was reported is found with the probability
given by his images and the place, now and after later looks. The remaining probability is still searched for, so a
boulder reported as a person does not end a mission. From a threshold on a find counts as certain: the search for the
last few per cent of a person costs more than it gains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import Observation, SeenClue
from esar_ros.planning.belief.belief_map import PersonBelief

_SAME = 10.0  # m: a second report of a person this near to a first is of the same


class Finds:
    """The team's reports, and their assignment to the missing."""

    def __init__(self, people: Sequence[PersonBelief], certain: float) -> None:
        """certain: probability from which a find is not doubted."""
        self._people, self._certain = people, certain
        self.reports: list[Report] = []  # taken in so far
        self._mates_taken: dict[str, int] = {}  # reports taken in of each teammate

    def retell(self, people: Sequence[PersonBelief]) -> None:
        """Assigns all reports so far anew, to another set of missing people."""
        self._people, earlier, self.reports = people, self.reports, []
        self.take_in(earlier)

    @property
    def expected(self) -> float:
        """Expected number of missing people found."""
        return sum(person.sure for person in self._people)

    def of_mates(self, observation: Observation) -> list[Report]:
        """Returns the reports of teammates that were not returned yet."""
        fresh: list[Report] = []
        for mate in observation.team:
            fresh += mate.reports[self._mates_taken.get(mate.vehicle, 0) :]
            self._mates_taken[mate.vehicle] = len(mate.reports)
        return fresh

    def take_in(self, reports: Iterable[Report]) -> bool:
        """Assigns each reported person to the missing one likeliest there; returns whether any was assigned."""
        found = False
        for report in reports:
            self.reports.append(report)
            if report.type is not ReportType.VICTIM or any(_is_at(one, report.position) for one in self._people):
                continue
            open_to_it = [one for one in self._people if one.sure < report.confidence]
            if open_to_it:
                owner = max(open_to_it, key=lambda one: one.density_at(report.position) * (1.0 - one.sure))
                owner.settle(report.position, self._sure(report.confidence))
                found = True
        return found

    def weigh(self, seen: Iterable[tuple[Vector, float]]) -> None:
        """Believe in finds as in what is seen there now: places of people, and the probabilities of each."""
        there = list(seen)
        for person in self._people:
            here = [probability for place, probability in there if _is_at(person, place)]
            if here:
                person.be_sure(self._sure(max(here)))

    def _sure(self, probability: float) -> float:
        return 1.0 if probability >= self._certain else probability

    def covers(self, clue: SeenClue) -> bool:
        """Returns whether an object of the clue's kind was reported at its position and is not in doubt."""
        if clue.kind == PERSON and any(_is_at(one, clue.position) and one.sure < 1.0 for one in self._people):
            return False
        return any(
            report.kind == clue.kind and float(np.linalg.norm(report.position - clue.position)) <= _SAME
            for report in self.reports
        )

    def missing_at(self, place: Vector) -> float:
        """Returns the expected people in a place's cell by the prior with clues, those found elsewhere excluded."""
        return sum(one.density_at(place) * (1.0 if _is_at(one, place) else 1.0 - one.sure) for one in self._people)


def _is_at(person: PersonBelief, place: Vector) -> bool:
    return person.found is not None and float(np.linalg.norm(person.found - place[:2])) <= _SAME
