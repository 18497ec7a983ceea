"""Whose find each reported person is, and how sure that is.

A report cannot be taken back, but what is believed of it can: a person who was reported is found with the probability
that his pictures and the place give him, now and after later looks. The rest of him is still to be searched for, so a
boulder reported as a person does not end a mission. From a probability on a find counts as certain: to go on for the
last few per cent of somebody costs more than they are worth.
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
    """The team's reports, and the missing whom they tell of."""

    def __init__(self, people: Sequence[PersonBelief], certain: float) -> None:
        """certain: probability from which a find is not doubted."""
        self._people, self._certain = people, certain
        self.reports: list[Report] = []  # taken in so far
        self._mates_told: dict[str, int] = {}  # reports taken in of each teammate

    def retell(self, people: Sequence[PersonBelief]) -> None:
        """Others are missing than was thought: they are told of all reports so far."""
        self._people, told, self.reports = people, self.reports, []
        self.take_in(told)

    @property
    def expected(self) -> float:
        """How many of the missing are found, in expectation."""
        return sum(person.sure for person in self._people)

    def of_mates(self, observation: Observation) -> list[Report]:
        """Reports of teammates that were not asked for yet."""
        fresh: list[Report] = []
        for mate in observation.team:
            fresh += mate.reports[self._mates_told.get(mate.vehicle, 0) :]
            self._mates_told[mate.vehicle] = len(mate.reports)
        return fresh

    def take_in(self, reports: Iterable[Report]) -> bool:
        """Tell whose find each reported person is: his whose belief is greatest there; whether there was one."""
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
        """Whether something of its kind was reported where it is, and is not in doubt."""
        if clue.kind == PERSON and any(_is_at(one, clue.position) and one.sure < 1.0 for one in self._people):
            return False
        return any(
            report.kind == clue.kind and float(np.linalg.norm(report.position - clue.position)) <= _SAME
            for report in self.reports
        )

    def missing_at(self, place: Vector) -> float:
        """How many people of a prior with clues are in the cell of a place, but those who are found elsewhere."""
        return sum(one.density_at(place) * (1.0 if _is_at(one, place) else 1.0 - one.sure) for one in self._people)


def _is_at(person: PersonBelief, place: Vector) -> bool:
    return person.found is not None and float(np.linalg.norm(person.found - place[:2])) <= _SAME
