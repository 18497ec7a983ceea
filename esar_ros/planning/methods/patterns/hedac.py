"""HEDAC: up the gradient of a potential that what was not yet detected feeds, as heat spreads.

Source: Ivic, Crnkovic and Mezic, *Ergodicity-based cooperative multiagent area coverage via a potential field* (IEEE
Trans. Cybernetics 2017), in the form for searches of Ivic, *Motion control for autonomous heterogeneous multi-agent
area search in uncertain conditions* (arXiv 1911.09137): the undetected probability m falls by the sensor's rate along
the way; the potential u solves the equation alpha lap(u) = beta u - m, with no flow over the border; the agent flies
along grad(u).
Adapted: one agent, so without the cooling that keeps agents apart; a vehicle that turns on the spot, so without
the smallest radius of a turn; the way is laid at the start by the expected looks. alpha / beta is the square of a
length, `smoothing`, which the papers tune by hand. The prior is as `greedy`'s. Needs no model.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.fft import dctn, idctn

from esar_ros.geometry.frames import Vector
from esar_ros.planning.methods.patterns.heat_map import CELLS, HeatMapPattern, HeatMapSettings
from esar_ros.planning.methods.patterns.pattern import PatternSettings, cut
from esar_ros.planning.registry import register

_PASS = 3.0  # exposure of what is flown over once: a twentieth of it stays undetected
_STEP = 1.0  # cells a step
_FLAT = 1e-9  # slope of the potential's logarithm, a cell


class HedacSettings(HeatMapSettings):
    """Section `hedac` of config/planners.yaml."""

    smoothing: float = Field(default=100.0, gt=0, description="m, root of alpha / beta: how far the potential reaches")


@register("hedac")
class Hedac(HeatMapPattern):
    """Flies the way of HEDAC from home and stops when the time for it is used."""

    name = "hedac"
    settings_type: ClassVar[type[PatternSettings]] = HedacSettings
    _settings: HedacSettings

    def _lay(self, home: Vector, corners: NDArray[np.float64], spacing: float, longest: float) -> NDArray[np.float64]:
        heat = self._fine_heat(home, corners, spacing, longest)
        way = trajectory(heat.expected, heat.allowed, self._settings.smoothing / heat.cell, longest / heat.cell)
        return cut(home + (way - heat.half) * heat.cell, home, longest)


def trajectory(
    prior: NDArray[np.float64], allowed: NDArray[np.bool_], smoothing: float, longest: float
) -> NDArray[np.float64]:
    """Points (N, 2) as column and row of HEDAC's way from the middle cell; lengths in cells.

    prior (R, C): of somebody in each cell; allowed (R, C): where the way may lead. Ends when it is `longest` long, or
    a millionth of the prior is left.
    """
    left, rows, columns = prior / max(float(prior.sum()), 1e-300), *np.indices(prior.shape)
    here, length, way = np.array([prior.shape[1] // 2, prior.shape[0] // 2], dtype=np.float64), 0.0, []
    heading = np.array([1.0, 0.0])
    waves = [np.square(np.pi * np.arange(n) / n) for n in prior.shape]
    damping = 1.0 + smoothing**2 * (waves[0][:, None] + waves[1][None, :])
    while length < longest and left.sum() > 1e-6:
        potential = idctn(dctn(left, type=2) / damping, type=2)
        down, right = np.gradient(np.log(np.maximum(potential, 1e-300)))  # of the same direction, and never too flat
        at = tuple(np.rint(here[::-1]).astype(int))
        slope = np.array([right[at], down[at]])
        steep = float(np.linalg.norm(slope))
        if steep < _FLAT:  # on top of a symmetric hill: straight on
            slope, steep = heading, 1.0
        ahead = here + _STEP * slope / steep
        if not _inside(allowed, ahead):  # along the border, as its condition has it
            sides = [here + _STEP * np.array(side) * np.sign(slope) for side in ((1.0, 0.0), (0.0, 1.0))]
            sides = [side for side in sides if _inside(allowed, side)]
            if not sides:
                break
            ahead = max(sides, key=lambda side: float((side - here) @ slope))
        heading, here, length = ahead - here, ahead, length + _STEP
        away = np.hypot(columns - here[0], rows - here[1])
        left = left * np.exp(-np.where(away <= CELLS / 2.0, _PASS * _STEP / CELLS, 0.0))
        way.append(here)
    return np.array(way).reshape(-1, 2)


def _inside(allowed: NDArray[np.bool_], point: NDArray[np.float64]) -> bool:
    column, row = (int(v) for v in np.rint(point))
    return 0 <= row < allowed.shape[0] and 0 <= column < allowed.shape[1] and bool(allowed[row, column])
