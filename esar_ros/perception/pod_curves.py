"""The share of people that the shipped detector finds in one picture, by how many pixels a person has there.

models/esar-clues-pod.json holds it as measured on real photographs (`benchmarks/real_pictures.py --page`), on real
thermal pictures (`benchmarks/thermal.py --page`) and, with depth, on the simulator's by day in fair weather
(`benchmarks/detector.py --page`), each with intervals. Planner and debrief read the first two and say which one they
took; in the simulator they go by range, as the model card has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings

FILE = "models/esar-clues-pod.json"
PHOTOGRAPHS: Final = "photographs"
THERMAL: Final = "thermal"
SIMULATOR: Final = "simulator"
Measured = Literal["photographs", "thermal", "simulator"]
EDGES = (3.0, 6.0, 9.0, 13.0, 18.0, 26.0, 40.0, 60.0, 300.0)  # px, of the bins of a person's size
SIDE = (
    0.97  # m, the root of the area of a person's box: median of drawn people (training.cutouts), any posture and view
)
_ROUNDS, _SEED = 1000, 0
_ENOUGH = 8  # people that a bin needs to count


class PodCurve(StrictModel):
    """Shares found by bins of the root of a person's box (px)."""

    edges: tuple[float, ...] = Field(min_length=2, description="px, rising")
    recall: tuple[float | None, ...] = Field(description="share found in each bin; null: nobody was there")
    intervals: tuple[tuple[float, float] | None, ...] = Field(description="95 %")
    people: tuple[int, ...] = Field(description="in each bin")

    @model_validator(mode="after")
    def _same_bins(self) -> PodCurve:
        if not len(self.recall) == len(self.intervals) == len(self.people) == len(self.edges) - 1:
            raise ValueError("one recall, interval and count a bin")
        return self

    @property
    def rows(self) -> Iterator[tuple[float, float, float, tuple[float, float], int]]:
        """Each bin with people in it: its edges, share, interval and people."""
        for (low, high), share, interval, count in zip(
            pairwise(self.edges), self.recall, self.intervals, self.people, strict=True
        ):
            if share is not None and interval is not None:
                yield low, high, share, interval, count

    def at(self, pixels: ArrayLike) -> NDArray[np.float64]:
        """Returns the POD of people of these sizes (px): straight lines over the logarithm of the size, from 0 at the
        first edge on; it falls where the measured shares do, since nearer people need not be found more often."""
        known = [(math.sqrt(low * high), share, n) for low, high, share, _, n in self.rows if n >= _ENOUGH]
        sizes, shares = [self.edges[0], *(row[0] for row in known)], [0.0, *(row[1] for row in known)]
        return np.interp(np.log(np.maximum(pixels, 1e-6)), np.log(sizes), shares)


class PodFile(StrictModel):
    """models/esar-clues-pod.json."""

    schema_: Literal["esar-pod/1"] = Field(default="esar-pod/1", alias="schema")
    curves: dict[Measured, PodCurve] = Field(default_factory=dict)


def load_curve(of: Measured, path: Path | None = None) -> PodCurve | None:
    """Returns the curve measured on such pictures; None where the file has none. Raises UsageError."""
    return load_settings(PodFile, path or resource(FILE), "measured POD").curves.get(of)


def write_curve(of: Measured, curve: PodCurve) -> None:
    """Puts a curve into the package's file, in place of the one before."""
    path = resource("models") / Path(FILE).name
    known = load_settings(PodFile, path, "measured POD") if path.exists() else PodFile()
    made = PodFile(curves=known.curves | {of: curve})
    path.write_text(made.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")


def measured_curve(found: Sequence[tuple[float, bool, str]]) -> PodCurve:
    """Returns the curve of people of whom the size (px), whether they were found, and the clip are given.

    Intervals are of resampled clips.
    """
    clips = sorted({clip for *_, clip in found}) or [""]
    shape = (len(clips), len(EDGES) - 1)
    hits, count = np.zeros(shape), np.zeros(shape)
    for size, hit, clip in found:
        row, column = clips.index(clip), int(np.searchsorted(EDGES, size, side="right")) - 1
        if 0 <= column < shape[1]:
            count[row, column] += 1
            hits[row, column] += hit
    picks = np.random.default_rng(_SEED).integers(len(clips), size=(_ROUNDS, len(clips)))
    recall: list[float | None] = []
    intervals: list[tuple[float, float] | None] = []
    for column in range(shape[1]):
        people = count[:, column].sum()
        if not people:
            recall.append(None)
            intervals.append(None)
            continue
        drawn = count[picks, column].sum(axis=1)
        shares = hits[picks, column].sum(axis=1)[drawn > 0] / drawn[drawn > 0]
        low, high = (round(float(v), 3) for v in np.percentile(shares, (2.5, 97.5)))
        recall.append(round(float(hits[:, column].sum() / people), 3))
        intervals.append((low, high))
    return PodCurve(
        edges=EDGES,
        recall=tuple(recall),
        intervals=tuple(intervals),
        people=tuple(count.sum(axis=0).astype(int).tolist()),
    )
