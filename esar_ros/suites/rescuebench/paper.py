"""Tables 3 to 5 of the RescueBench paper: completion and likeness per cent, points of 100 and of 25, seconds, counts.

OmniNav is the paper's OmniNav(Visual); rows and averages are as printed, also where tables 3 to 5 differ by points.
"""

from __future__ import annotations

from esar_ros.benchmark.report.comparison import OVERALL
from esar_ros.benchmark.report.table import PaperRows
from esar_ros.mission.rescue import level_name
from esar_ros.suites.rescuebench.files.points import LEVELS

_LEVEL_SCORES = ("tcr", "ts", "seconds", "collisions", "hs")
_OVERALL_SCORES = ("s1", "s2", "s3", "s4", "steps", "hs")

# Table 3, and HS of tables 4 and 5: in the order of LEVELS.
_BY_LEVEL = {
    "LLM-YOLO Planner": (
        (48.0, 72.2, 91.5, 23.8, 80.5),
        (0.0, 12.1, 175.9, 67.6, 43.4),
        (0.0, 5.7, 237.2, 96.2, 43.9),
        (0.0, 6.0, 300.4, 147.9, 50.1),
        (0.0, 6.2, 300.5, 152.6, 56.0),
    ),
    "Uni-NaVid": (
        (24.0, 67.4, 103.4, 27.8, 82.7),
        (11.8, 21.9, 165.5, 45.6, 53.4),
        (5.1, 14.2, 234.8, 68.1, 35.5),
        (2.7, 12.9, 286.8, 120.2, 51.6),
        (0.0, 12.2, 300.3, 86.1, 53.3),
    ),
    "ViNT": (
        (0.0, 14.2, 180.2, 172.2, 51.6),
        (0.0, 8.2, 180.2, 110.6, 53.4),
        (0.0, 4.7, 240.2, 199.2, 50.5),
        (0.0, 4.3, 300.2, 272.0, 65.4),
        (0.0, 1.8, 300.2, 274.6, 58.7),
    ),
    "NoMaD": (
        (0.0, 10.0, 180.2, 162.0, 33.4),
        (0.0, 6.4, 180.3, 111.0, 47.9),
        (0.0, 3.9, 240.3, 155.1, 40.6),
        (0.0, 7.0, 300.3, 226.3, 51.0),
        (0.0, 5.8, 300.5, 229.5, 51.8),
    ),
    "SG-Nav": (
        (0.0, 62.3, 198.5, 0.0, 92.4),
        (0.0, 14.1, 199.4, 0.7, 73.6),
        (0.0, 8.4, 240.3, 0.7, 72.3),
        (0.0, 10.0, 330.5, 1.4, 61.7),
        (0.0, 2.0, 323.9, 0.8, 47.4),
    ),
    "OmniNav": (
        (0.0, 15.6, 176.6, 4.6, 42.4),
        (0.0, 11.0, 184.9, 3.4, 58.4),
        (0.0, 4.5, 240.4, 3.8, 60.7),
        (0.0, 6.8, 305.0, 5.9, 53.6),
        (0.0, 3.3, 304.8, 8.4, 48.7),
    ),
    "ROCKET-2": (
        (16.0, 59.0, 125.3, 20.6, 65.2),
        (14.7, 57.2, 130.2, 25.4, 60.9),
        (10.0, 42.6, 193.4, 54.2, 42.2),
        (2.5, 32.2, 254.7, 84.2, 59.7),
        (0.0, 8.2, 296.7, 106.9, 48.7),
    ),
    "Uni-NaVid (fine-tuned)": (
        (52.0, 80.9, 66.5, 21.6, 84.9),
        (11.8, 26.1, 166.4, 62.8, 55.3),
        (11.9, 18.2, 221.3, 61.0, 44.5),
        (10.1, 27.3, 275.5, 86.3, 48.2),
        (0.0, 7.0, 300.3, 132.3, 47.2),
    ),
    "ViNT (fine-tuned)": (
        (8.0, 18.2, 172.0, 66.9, 43.4),
        (3.4, 10.5, 170.8, 94.2, 56.0),
        (1.6, 8.4, 236.9, 148.5, 57.5),
        (0.0, 6.6, 300.3, 193.9, 53.3),
        (0.0, 2.8, 300.3, 219.8, 56.3),
    ),
    "NoMaD (fine-tuned)": (
        (8.0, 25.3, 175.2, 9.2, 70.8),
        (1.7, 11.3, 179.4, 21.1, 58.1),
        (0.0, 3.2, 240.3, 29.5, 55.0),
        (0.0, 11.5, 300.3, 49.3, 72.7),
        (0.0, 1.0, 300.3, 49.0, 69.8),
    ),
    "ROCKET-2 (fine-tuned)": (
        (32.0, 66.0, 102.8, 11.0, 69.2),
        (11.8, 66.8, 125.2, 20.6, 64.7),
        (15.0, 52.0, 192.6, 50.1, 42.5),
        (5.2, 29.0, 252.5, 99.9, 59.4),
        (0.0, 4.5, 300.3, 103.7, 48.4),
    ),
    "Human Player": (
        (100.0, 100.0, 19.2, 0.0, 100.0),
        (100.0, 100.0, 47.1, 0.0, 100.0),
        (100.0, 100.0, 56.3, 2.1, 100.0),
        (100.0, 100.0, 76.4, 10.3, 100.0),
        (93.5, 95.2, 107.8, 24.2, 100.0),
    ),
    "Oracle": (
        (100.0, 100.0, 15.2, 0.0, 97.8),
        (100.0, 100.0, 34.5, 16.9, 93.1),
        (100.0, 100.0, 45.2, 17.2, 92.0),
        (100.0, 100.0, 55.3, 60.3, 90.1),
        (100.0, 100.0, 81.7, 83.2, 86.4),
    ),
}


# Table 5, average of L1 to L5.
_OVERALL = {
    "LLM-YOLO Planner": (7.0, 4.9, 2.0, 1.8, 748.8, 52.0),
    "Uni-NaVid": (8.1, 6.8, 3.7, 3.5, 1364.5, 51.3),
    "ViNT": (3.9, 1.7, 0.4, 0.1, 1654.9, 55.6),
    "NoMaD": (5.0, 5.0, 0.0, 0.0, 1340.7, 44.9),
    "SG-Nav": (7.8, 4.4, 1.9, 0.8, 43.5, 68.9),
    "OmniNav": (4.1, 2.4, 0.5, 0.5, 103.7, 54.3),
    "ROCKET-2": (14.0, 12.7, 6.9, 6.0, 948.0, 53.3),
    "Uni-NaVid (fine-tuned)": (8.9, 8.3, 5.6, 5.2, 1237.0, 53.0),
    "ViNT (fine-tuned)": (4.9, 3.0, 1.1, 0.8, 1265.2, 54.3),
    "NoMaD (fine-tuned)": (4.7, 3.3, 0.8, 0.4, 1203.2, 63.8),
    "ROCKET-2 (fine-tuned)": (14.9, 14.4, 7.9, 6.7, 917.2, 54.5),
    "Human Player": (24.9, 24.9, 24.7, 24.7, 291.6, 100.0),
    "Oracle": (25.0, 25.0, 25.0, 25.0, 468.25, 91.7),
}

CAVEAT = (
    "The paper's numbers were measured in its scenes of Unreal Engine, by wall time, with its authors' models. "
    "Places here are of this project's own, and time is simulated unless it is said: compare methods within one table, "
    "never across."
)


def _row(method: str) -> dict[tuple[str, str], float]:
    row: dict[tuple[str, str], float] = {}
    for level, values in zip(LEVELS, _BY_LEVEL[method], strict=True):
        row |= {(level_name(level), score): value for score, value in zip(_LEVEL_SCORES, values, strict=True)}
    return row | {(OVERALL, score): value for score, value in zip(_OVERALL_SCORES, _OVERALL[method], strict=True)}


PAPER = PaperRows("RescueBench, tables 3 to 5", {method: _row(method) for method in _BY_LEVEL}, CAVEAT)
