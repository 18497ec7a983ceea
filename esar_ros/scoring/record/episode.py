"""Record of one mission, reduced to what scoring and viewing need, in an order independent of arrival."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.stamps import NANO
from esar_ros.scoring.record.rows import REDUCED

PLACE_AGE = NANO  # ns of odometry after which nobody knows where a vehicle is


class EpisodeRecord:
    """Rows of one mission per vehicle and topic.

    Feed it in any order, any number of times: what comes out is sorted by (stamp, content), and of rows that answer
    the same stamp (a step may be asked twice) or carry the same report number, the first in that order stays.
    """

    def __init__(self) -> None:
        self.cut = False  # it comes from a bag that ends too early
        self.topics: tuple[str, ...] = ()  # all of the bag that it comes from, those that are not read too
        self.damaged = 0  # chunks of the bag it comes from that their checksums contradict
        self._rows: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self._sorted: dict[tuple[str, str], list[Any]] = {}

    def add(self, vehicle: str, topic: str, message: Any) -> Any:
        """Take one message of a topic in mission/names.py; returns its row, None when the topic is of no use here."""
        how = REDUCED.get(topic)
        row = how.reduce(message) if how else None
        if row is not None:
            self.take(vehicle, topic, row)
        return row

    def take(self, vehicle: str, topic: str, row: Any) -> None:
        """Take one row, made of a message or where there are no messages."""
        self._rows[vehicle, topic].append(row)
        self._sorted.pop((vehicle, topic), None)

    @property
    def vehicles(self) -> tuple[str, ...]:
        """Names of the vehicles that sent odometry, reports or safety status, sorted."""
        tell = (names.ODOMETRY, names.REPORTS, names.SAFETY_STATUS)
        return tuple(sorted({vehicle for vehicle, topic in self._rows if topic in tell}))

    def rows(self, vehicle: str, topic: str, start: int | None = None, end: int | None = None) -> list[Any]:
        """Rows of one topic with start <= stamp <= end (ns), sorted, without repetitions."""
        key = (vehicle, topic)
        if key not in self._sorted:
            self._sorted[key] = _unique(sorted(self._rows.get(key, ())), REDUCED[topic].identity)
        rows = self._sorted[key]
        if start is None and end is None:
            return rows
        low = -1 if start is None else start
        return [row for row in rows if row.stamp >= low and (end is None or row.stamp <= end)]

    def knows_place(self, vehicle: str, stamp: int) -> bool:
        """Returns whether a vehicle's odometry tells where it was at a stamp (ns); True before the first of it.

        A drawing server knows nothing of a vehicle whose pose it is not told: what it draws may touch anything.
        """
        rows = self.rows(vehicle, names.ODOMETRY)
        after = bisect_right(rows, stamp, key=lambda row: row.stamp)
        return not after or bool(stamp - rows[after - 1].stamp <= PLACE_AGE)

    def all_rows(self, topic: str) -> list[tuple[str, Any]]:
        """(vehicle, row) of one topic over all vehicles, sorted by stamp, vehicle, content."""
        found = [(vehicle, row) for vehicle, name in self._rows if name == topic for row in self.rows(vehicle, topic)]
        return sorted(found, key=lambda pair: (pair[1].stamp, pair[0], pair[1]))

    def track(
        self, vehicle: str, start: int | None = None, end: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Stamps (N,) int64 ns and positions (N, 3) m in <vehicle>/odom."""
        rows = self.rows(vehicle, names.ODOMETRY, start, end)
        stamps = np.array([row.stamp for row in rows], dtype=np.int64)
        positions = np.array([row[1:4] for row in rows], dtype=np.float64).reshape(-1, 3)
        return stamps, positions

    @property
    def origin(self) -> Origin | None:
        """Geodetic origin of the map frame, as a brief states it; None where none does."""
        briefs = (row.origin for _, row in self.all_rows(names.BRIEF) if _is_known(row.origin))
        return next((Origin(*place) for place in briefs), None)

    @property
    def last_stamp(self) -> int:
        """Newest stamp (ns) of any odometry; 0 without any."""
        return max((row.stamp for _, row in self.all_rows(names.ODOMETRY)), default=0)

    @property
    def truth_text(self) -> str | None:
        """JSON of mission/truth, None before the mission has ended."""
        texts = sorted({row.text for _, row in self.all_rows(names.TRUTH)})
        return texts[0] if texts else None


def _unique(rows: Iterable[Any], identity: Callable[[Any], Any] | None) -> list[Any]:
    """The first row of each identity, in order."""
    first: dict[Any, Any] = {}
    for row in rows:
        first.setdefault(identity(row) if identity else row, row)
    return list(first.values())


def _is_known(origin: tuple[float, float, float]) -> bool:
    """Returns whether a brief states an origin: finite, and not the zeros of a message that nobody filled in."""
    return all(map(math.isfinite, origin)) and any(origin[:2])
