"""Base class of methods that search the bird's-eye map for people: seen persons first, then the best frontier."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue
from esar_ros.planning.methods.maps.exploration import Exploration, ExplorationSettings, Target
from esar_ros.planning.methods.maps.grid_walk import Frontier


class MapSettings(ExplorationSettings):
    """Parameters of every map-based method."""

    visit_radius: float = Field(default=25.0, gt=0, description="m from a seen person at which it counts as looked at")
    person_score: float = Field(default=0.4, ge=0, le=1, description="a seen person is flown to from this score on")


class MapMethod(Exploration):
    """Base class: flies to a seen person before any frontier, then to the frontier of the greatest value."""

    settings_type: ClassVar[type[ExplorationSettings]] = MapSettings
    _settings: MapSettings

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        self._visited: list[Vector] = []  # persons looked at
        super().reset(brief, seed)

    # -- what a method does ---------------------------------------------------------------------

    @abstractmethod
    def value(self, frontier: Frontier, observation: Observation, grid: Grid) -> float:
        """Returns the value of a frontier; the greatest is flown to."""

    def words(self) -> str:
        """Returns the text that the method adds to the reason of a choice."""
        return ""

    def keeps_frontier(self, observation: Observation, grid: Grid) -> bool:
        """Returns whether the present frontier remains the target; called at every observation."""
        return True

    # -- what the exploration asks --------------------------------------------------------------

    def targets(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[Target]:
        """Frontiers by their value."""
        frontiers = self._walk.frontiers(grid, observation)
        ranked = sorted(
            ((self.value(frontier, observation, grid), -index) for index, frontier in enumerate(frontiers)),
            reverse=True,
        )
        for value, index in ranked:
            why = f"best of {len(frontiers)} frontiers, worth {value:.2f}{self.words()}"
            yield Target(frontiers[-index].position, why, considered=len(frontiers))

    def object_target(self, observation: Observation) -> Target | None:
        """The nearest person not looked at from near."""
        persons = [
            clue
            for clue in observation.clues
            if clue.kind == PERSON and clue.probability >= self._settings.person_score and not self._was_visited(clue)
        ]
        if not persons:
            return None
        here = observation.pose.position[:2]
        best = min(persons, key=lambda clue: (float(np.linalg.norm(clue.position[:2] - here)), clue.id))
        distance = float(np.linalg.norm(best.position[:2] - here))
        return Target(best.position[:2], f"a person is seen {distance:.0f} m away", True, len(persons))

    def keeps(self, observation: Observation, grid: Grid) -> str:
        """Abandons a person once looked at, and a frontier that has lost its value."""
        assert self._aim is not None
        if not self._aim.is_object:
            return "" if self.keeps_frontier(observation, grid) else "another frontier is worth more now"
        looked_at = any(np.array_equal(self._aim.position, place) for place in self._visited)
        return "the person has been looked at" if looked_at else ""

    def arrived(self, target: Target) -> None:
        """Marks a person that was flown to, or could not be reached, as visited."""
        if target.is_object:
            self._visited.append(target.position[:2])

    def visit(self, observation: Observation) -> None:
        """Marks persons within the visit's radius as visited."""
        here = observation.pose.position[:2]
        places = [clue.position for clue in observation.clues if clue.kind == PERSON and clue.views >= 3]
        if self._aim is not None and self._aim.is_object:
            places.append(self._aim.position)
        known = {tuple(place) for place in self._visited}
        for place in places:
            near = float(np.linalg.norm(place[:2] - here)) <= self._settings.visit_radius
            if near and tuple(place[:2]) not in known:
                self._visited.append(place[:2])

    def _was_visited(self, clue: SeenClue) -> bool:
        return any(float(np.linalg.norm(clue.position[:2] - place[:2])) <= 10.0 for place in self._visited)


def closeness(position: Vector, observation: Observation, scale: float = 100.0) -> float:
    """1 at the vehicle, falling to 0 far away: exp(-distance / scale)."""
    return math.exp(-float(np.linalg.norm(position[:2] - observation.pose.position[:2])) / scale)
