"""A flown mission on disk, opened for looking at: its folder holds result.json and bag/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.bags.topics import odometry_frames, read_last
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import NANO
from esar_ros.scoring.bag import bag_truth, read_bag
from esar_ros.scoring.flight import Flight, fly_over
from esar_ros.scoring.flight_truth import load_truth
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import Result, parse_result
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import Truth
from esar_ros.sim.terrain.maps import PlaceMap, load_map


@dataclass(frozen=True)
class Coverage:
    """Ground that was looked at: seen is (rows = y, columns = x), origin its lower corner in the map frame (m)."""

    seen: NDArray[np.bool_]
    resolution: float
    origin: tuple[float, float]


@dataclass(frozen=True)
class MissionRecord:
    """Everything the scorecard and the report are made of."""

    result: Result
    truth: Truth
    record: EpisodeRecord
    flights: tuple[Flight, ...]
    place: PlaceMap | None  # None for a place this machine does not have
    coverage: Coverage | None
    bag: Path | None

    @property
    def home(self) -> NDArray[np.float64]:
        """First position of the first vehicle that flew, map frame (m); the task's start where nothing was flown."""
        for flight in self.flights:
            if len(flight.positions):
                return flight.positions[0]
        return np.array([*self.truth.task.start.position, 0.0])

    def seconds(self, stamp: int) -> float:
        """Mission time (s) of a stamp (ns)."""
        return (stamp - self.truth.start) / NANO


def open_record(folder: Path, truth_file: Path | None = None) -> MissionRecord:
    """A mission from its folder, or from a bag alone, which is then scored. Raises UsageError.

    truth_file: ground truth that the bag does not hold; then the bag is scored against it.
    """
    bag = folder / "bag" if (folder / "bag").exists() else folder
    record = read_bag(bag)
    truth = load_truth(truth_file, record, odometry_frames(bag)) if truth_file else bag_truth(record, bag)
    file = folder / "result.json"
    if file.is_file() and truth_file is None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {file}: {error}", "score the bag again") from None
        result = parse_result(text, str(file))
    else:
        result = score(record, truth, OfflineJudge())
    return assemble(result, truth, record, bag)


def assemble(result: Result, truth: Truth, record: EpisodeRecord, bag: Path | None) -> MissionRecord:
    """A mission from its parts."""
    return MissionRecord(result, truth, record, fly_over(record, truth), _place(truth), _coverage(bag), bag)


def _place(truth: Truth) -> PlaceMap | None:
    try:
        return load_map(truth.task.map)
    except UsageError:
        return None


def _coverage(bag: Path | None) -> Coverage | None:
    """Union over the vehicles of the newest coverage grids; None when the bag holds none or they differ in shape."""
    grids = list(read_last(bag, names.MAP_COVERAGE).values()) if bag else []
    if not grids:
        return None
    info = grids[0].info
    shape = (int(info.height), int(info.width))
    seen = np.zeros(shape, dtype=bool)
    for grid in grids:
        if (int(grid.info.height), int(grid.info.width)) != shape:
            return None
        seen |= np.asarray(grid.data, dtype=np.int8).reshape(shape) >= 0
    return Coverage(seen, float(info.resolution), (float(info.origin.position.x), float(info.origin.position.y)))
