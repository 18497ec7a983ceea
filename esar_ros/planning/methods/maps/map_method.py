"""Base class of methods that search the bird's-eye map for people: seen persons first, then the best frontier.

Adapted for the air, for all of them: a frontier is the rim of the ground that cameras have searched
(searched_ground.py), cut into pieces, each a place to fly to. The papers' own, the rim of the known free space, whole,
flies as `<method>@air`. A row's details name which of the two it flew by.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import Brief, Grid, Observation, SeenClue
from esar_ros.planning.method import GRID, VIEWS
from esar_ros.planning.methods.maps.exploration import Exploration, ExplorationSettings, Target
from esar_ros.planning.methods.maps.grid_walk import Frontier
from esar_ros.planning.methods.maps.searched_ground import SearchedGround

AIR = "air"  # as a setting, and as the name of the variant


class MapSettings(ExplorationSettings):
    """Parameters of every map-based method."""

    frontiers: Literal["ground", "air"] = Field(
        default="ground",
        description="ground: rim of the ground that cameras have searched; air: rim of the known air at flight level",
    )
    look_range: float = Field(default=60.0, gt=0, description="m, range up to which a person is seen")
    piece: float = Field(default=50.0, gt=0, description="m, longest piece of a rim of searched ground")
    visit_radius: float = Field(default=25.0, gt=0, description="m from a seen person at which it counts as looked at")
    person_score: float = Field(default=0.4, ge=0, le=1, description="a seen person is flown to from this score on")


class MapMethod(Exploration):
    """Base class: flies to a seen person before any frontier, then to the frontier of the greatest value."""

    needs: frozenset[str] = frozenset({GRID, VIEWS})
    settings_type: ClassVar[type[ExplorationSettings]] = MapSettings
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {AIR: {"frontiers": AIR}}
    _settings: MapSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if self._settings.frontiers == AIR:
            self.name = f"{self.name}@{AIR}"

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return {"frontiers": self.frontiers_in_words}

    @property
    def frontiers_in_words(self) -> str:
        """The frontiers that are flown to, as results name them."""
        settings = self._settings
        if settings.frontiers == AIR:
            return "of known air"
        return f"of ground searched to {settings.look_range:g} m in pieces of {settings.piece:g} m"

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission. Raises UsageError when the brief cannot be worked with."""
        self._visited: list[Vector] = []  # persons looked at
        super().reset(brief, seed)
        self._searched = SearchedGround(self._area, self._settings.look_range)

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

    def frontiers(self, observation: Observation, grid: Grid) -> list[Frontier]:
        """Returns the frontiers to choose from."""
        if self._settings.frontiers == AIR:
            return self._walk.frontiers(grid, observation)
        return self._walk.frontiers(self._searched.grid(), observation, self._settings.piece)

    # -- what the exploration asks --------------------------------------------------------------

    def look(self, observation: Observation) -> None:
        """Count what the images show as searched."""
        self._searched.observe(observation.views.values())

    def targets(self, observation: Observation, grid: Grid, passable: NDArray[np.bool_]) -> Iterator[Target]:
        """Frontiers by their value."""
        frontiers = self.frontiers(observation, grid)
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
