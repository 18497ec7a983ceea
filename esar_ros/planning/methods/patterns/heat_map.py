"""Patterns over a heat map of the missing: by published distances around the start, or by what `belief` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.planning.belief.search import BeliefSearch
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons
from esar_ros.planning.methods.patterns.pattern import Pattern, PatternSettings
from esar_ros.planning.parameters import configured
from esar_ros.planning.search_area import AREA_MARGIN, distance_to_edge

CELLS = 4  # of a fine heat map across the width that is seen
_MOST = 400  # cells a side


class HeatMapSettings(PatternSettings):
    """Section `greedy` of config/planners.yaml, and part of `hedac`."""

    reads_brief: bool = Field(default=False, description="over the prior of `belief` (the row @brief)")


class FineHeat(NamedTuple):
    """The missing expected in square cells, a few across the width that is seen."""

    cell: float  # m
    half: int  # cells from its edge to home's
    expected: NDArray[np.float64]  # (R, C) of the missing, 0 where the way may not lead
    allowed: NDArray[np.bool_]  # (R, C) where the way may lead


class HeatMapPattern(Pattern):
    """A way laid by where the missing are expected; its variant `brief` asks what `belief` reads from the brief."""

    settings_type: ClassVar[type[PatternSettings]] = HeatMapSettings
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"brief": {"reads_brief": True}}
    _settings: HeatMapSettings

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__(parameters)
        if self._settings.reads_brief:
            self.name = f"{self.name}@brief"

    @property
    def reads_by_rules(self) -> bool:
        """See planning.method.ReadsByRules."""
        return self._settings.reads_brief

    def reset(self, brief: Brief, seed: int) -> None:
        """Begin a mission: lay the path."""
        self._brief, self._seed = brief, seed
        super().reset(brief, seed)

    def _heat(self, home: Vector, half: int, cell: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns what is expected in each of 2 half + 1 square cells (m) around home, and their middles (R, C, 2)."""
        offsets = np.arange(-half, half + 1) * cell
        centres = home + np.stack(np.meshgrid(offsets, offsets), axis=-1)
        if self._settings.reads_brief:
            return _by_brief(self._brief, self._seed, home, half, cell), centres
        distance = np.linalg.norm(centres - home, axis=-1)
        return load_lost_persons().category("hiker").density(np.maximum(distance, cell / 2.0)), centres

    def _fine_heat(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> FineHeat:
        """Returns the heat map around home as far as a path of `longest` m leads; parameters as `_lay` has them."""
        cell = spacing / CELLS
        half = min(_MOST // 2, math.ceil(min(float(np.abs(corners - home).max()), longest) / cell))
        expected, centres = self._heat(home, half, cell)
        allowed = distance_to_edge(corners, centres) >= AREA_MARGIN
        return FineHeat(cell, half, np.where(allowed, expected, 0.0), allowed)


def _by_brief(brief: Brief, seed: int, home: Vector, half: int, cell: float) -> NDArray[np.float64]:
    """Returns how many of the missing `belief` expects, before it flies, in each cell."""
    search = BeliefSearch(configured(BeliefSearch.name, {}))
    search.reset(brief, seed)
    expected = np.sum([person.posterior for person in search.people], axis=0)
    places = np.stack(np.meshgrid(search.looks.x, search.looks.y), axis=-1).reshape(-1, 2)
    column, row = np.floor((places - home) / cell + 0.5).astype(int).T + half
    near = (np.minimum(column, row) >= 0) & (np.maximum(column, row) <= 2 * half)
    heat = np.zeros((2 * half + 1, 2 * half + 1))
    np.add.at(heat, (row[near], column[near]), expected.reshape(-1)[near])
    return heat
