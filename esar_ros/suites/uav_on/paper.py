"""Tables 2 and 3 of the UAV-ON paper: rates and SPL per cent, lengths in its simulator's units (m), steps.

Columns are the size classes and the total; "mid" and "big" are the paper's medium and large.
"""

from __future__ import annotations

from esar_ros.benchmark.report.table import PaperRows
from esar_ros.mission.object_goal import SizeClass
from esar_ros.scoring.object_goal import TOTAL

EPISODES = {SizeClass.SMALL.value: 629, SizeClass.MID.value: 210, SizeClass.BIG.value: 161, TOTAL: 1000}
"""Test episodes of each column. The classes' are those of which table 2's rates are whole counts; Random's small ones
are counts of 628."""

_SIZE_SCORES = ("dts", "sr", "osr", "spl")
_FLIGHT_SCORES = ("stop", "step_limit", "collision", "steps", "path")

# Table 2: (DTS, SR, OSR, SPL) in the order of EPISODES.
_BY_SIZE = {
    "Random": (
        (43.08, 4.14, 7.80, 2.80),
        (42.62, 3.33, 8.10, 3.05),
        (40.59, 2.48, 8.07, 1.62),
        (42.57, 3.70, 8.00, 2.66),
    ),
    "CLIP-H": (
        (48.64, 2.86, 8.43, 1.51),
        (43.91, 10.95, 16.67, 7.17),
        (40.38, 13.04, 19.25, 10.53),
        (46.31, 6.20, 11.90, 4.15),
    ),
    "AOA-V": (
        (50.56, 2.86, 25.44, 0.54),
        (48.96, 5.71, 27.62, 1.73),
        (46.58, 7.45, 27.95, 1.038),
        (49.58, 4.20, 26.30, 0.87),
    ),
    "AOA-F": (
        (50.67, 4.45, 16.38, 1.61),
        (48.14, 10.48, 17.62, 6.36),
        (39.68, 14.29, 21.74, 10.66),
        (48.37, 7.30, 17.50, 4.06),
    ),
}

# Table 3: terminations by stop, step limit and collision, mean number of steps, "Safe Dist.".
_FLIGHT = {
    "Random": (62.1, 0.0, 37.9, 12.09, 31.68),
    "CLIP-H": (36.8, 11.8, 51.4, 30.25, 125.21),
    "AOA-V": (19.9, 35.1, 45.0, 85.65, 232.08),
    "AOA-F": (30.6, 3.9, 65.5, 36.88, 144.25),
}

CAVEAT = (
    "The paper's numbers were measured in scenes of Unreal Engine with its authors' models and code. Other scenes are "
    "another world: compare methods within one table, never across."
)


def _row(method: str) -> dict[tuple[str, str], float]:
    row: dict[tuple[str, str], float] = {}
    for size, values in zip(EPISODES, _BY_SIZE[method], strict=True):
        row |= {(size, score): value for score, value in zip(_SIZE_SCORES, values, strict=True)}
    return row | {(TOTAL, score): value for score, value in zip(_FLIGHT_SCORES, _FLIGHT[method], strict=True)}


PAPER = PaperRows("UAV-ON, tables 2 and 3", {method: _row(method) for method in _BY_SIZE}, CAVEAT)
