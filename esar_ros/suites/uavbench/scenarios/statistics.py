"""Statistics of a set of scenarios, and agreement of the labels in their files with those of our rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from esar_ros.suites.uavbench.scenarios.risk import label
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.validate import Checked

_AXES = {"mission": "/mission/type", "airspace": "/environment/airspace", "vehicle": "/uav/type"}
_NUMBERS = {
    "mass_kg": "/uav/mass_kg",
    "battery_Wh": "/uav/battery_Wh",
    "max_speed_mps": "/uav/max_speed_mps",
    "wind_mps": "/environment/weather/wind_mps",
    "gust_mps": "/environment/weather/gust_mps",
}


@dataclass
class Statistics:
    """Counts over documents that are added one by one."""

    documents: int = 0
    with_errors: int = 0
    axes: dict[str, Counter[str]] = field(default_factory=dict)
    findings: Counter[str] = field(default_factory=Counter)  # by code and severity
    _numbers: dict[str, list[float]] = field(default_factory=dict)

    def add(self, checked: Checked) -> None:
        """Counts one document."""
        self.documents += 1
        self.with_errors += checked.has_error
        self.findings.update({f"{finding.code} {finding.severity}" for finding in checked.findings})
        scene = checked.scene
        if scene is None:
            return
        for axis, pointer in _AXES.items():
            self._count(axis, _value(scene, pointer))
        phenomena = _value(scene, "/environment/weather/phenomena")
        self._count("weather (first)", phenomena[0] if phenomena else None)
        self._count("risk level", label(scene)["risk_level"])
        for name, pointer in _NUMBERS.items():
            if (value := _value(scene, pointer)) is not None:
                self._numbers.setdefault(name, []).append(float(value))

    def _count(self, axis: str, token: Any) -> None:
        self.axes.setdefault(axis, Counter())[str(token)] += 1

    def document(self) -> dict[str, Any]:
        """Returns everything for JSON; of numbers least, median and greatest."""
        spread = {
            name: dict(
                zip(("min", "median", "max"), np.percentile(values, (0, 50, 100)).round(3).tolist(), strict=True)
            )
            for name, values in self._numbers.items()
        }
        return {
            "schema": "esar-scenario-statistics/1",
            "documents": self.documents,
            "with_errors": self.with_errors,
            "axes": {axis: dict(counts.most_common()) for axis, counts in self.axes.items()},
            "numbers": spread,
            "findings": dict(sorted(self.findings.items())),
        }


def _value(scene: Scene, pointer: str) -> Any:
    try:
        return scene.get(pointer)
    except Broken:
        return None


@dataclass(frozen=True)
class Agreement:
    """Agreement of the labels in files with ours."""

    matrix: list[list[int]]  # rows: the file's level, columns: ours
    accuracy: float
    commonest: float  # accuracy of always saying the file's commonest level
    kappa: float | None  # Cohen's; None where chance agrees always


def agreement(pairs: Sequence[tuple[int, int]]) -> Agreement:
    """Returns the agreement of (file's level, our level); at least one pair."""
    matrix = np.zeros((3, 3), dtype=np.int64)
    for theirs, ours in pairs:
        matrix[theirs - 1, ours - 1] += 1
    share = matrix / matrix.sum()
    observed, chance = float(np.trace(share)), float(share.sum(axis=1) @ share.sum(axis=0))
    kappa = (observed - chance) / (1.0 - chance) if chance < 1.0 else None
    return Agreement(matrix.tolist(), observed, float(share.sum(axis=1).max()), kappa)
