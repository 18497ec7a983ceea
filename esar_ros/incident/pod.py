"""The probability of detection (POD) of what was searched, and what it leaves of the probability of area (POA).

Of a camera: by the detector's measured curve over the distance, in the light and weather of the look, through the
canopy. Of people on foot: by coverage, Koester, Chiacchia, Twardy, Cooper, Frost and Robe (*Use of the Visual Range of
Detection to Estimate Effective Sweep Width for Land Search and Rescue Based on 10 Detection Experiments in North
America*, Wilderness & Environmental Medicine 25, 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from esar_ros.incident.features import Floats, Track
from esar_ros.incident.ground import Ground
from esar_ros.incident.visibility import Seen
from esar_ros.mission.observation import Brief
from esar_ros.planning.belief.detection_probability import TABLE_RANGE, Detection, DetectionSettings

CONSPICUITY = 2.5
"""Variance of how easily one person is seen beside another (1: the mean), from a gamma distribution: what he wears, how
he lies and what lies about him hides him from every look. The likeliest to 600 simulated flights straight by people,
none of them of those on which PODs are judged; 1.5 to 4 are plausible (benchmarks/pod_reliability.py --seed 1)."""
_STEP = 5.0  # m, that a receiver at rest wanders
_FASTEST = 3.0  # m/s, on foot: what is faster is a ride
_HOURS = 24.0
_DAY = 86_400.0  # s


class Target(Enum):
    """The visibility of the missing person: the effective sweep width as a multiple of the range of detection."""

    HIGH = 1.8
    MEDIUM = 1.6
    LOW = 1.1


class Curves:
    """The curves of whoever looks at pictures, in the light of each look's time and in one weather.

    Their shape over the distance is the detector's, as measured in simulation or on real photographs.
    """

    def __init__(self, detector: str, weather: str, recall: float | None = None, photographs: bool = False) -> None:
        """recall: share of people near and in the open by day who are found on such pictures; None: as measured.

        photographs: measured on real ones, by pixels on the person, instead of in simulation.

        Raises UsageError where the detector's model card cannot be used.
        """
        self._detector, self._weather, self._recall = detector, weather, recall
        self._settings = DetectionSettings(measured_on="photographs" if photographs else "simulator")
        self._made: dict[tuple[float, int], Detection] = {}

    def of(self, focal: float, time: float | None, longitude: float) -> Detection:
        """Returns the curves of pictures of a focal length (px).

        time: s since 1970, UTC, from which the hour follows by the sun; None: by day. longitude: degrees.
        """
        hour = 12 if time is None else int((time / _DAY * _HOURS + longitude / 15.0) % _HOURS)
        if (focal, hour) not in self._made:
            nowhere = np.zeros((0, 2))
            brief = Brief("", "", "", self._weather, f"2000-01-01T{hour:02d}:00", 0.0, nowhere, 0.0, np.zeros(3), 0)
            self._made[focal, hour] = Detection(self._settings, brief, self._detector, focal)
        return self._made[focal, hour]

    @property
    def source(self) -> str:
        """Returns in words where the POD by distance comes from."""
        on = "real photographs" if self._settings.measured_on == "photographs" else "pictures of the simulator"
        return f"POD as {self._detector} was measured on {on}"

    def share(self, focal: float) -> float:
        """Returns the share of the curves' POD that holds for pictures of a focal length (px)."""
        return 1.0 if self._recall is None else self._recall / float(self.of(focal, None, 0.0).person.max())


def pod_of_look(seen: Seen, detection: Detection, transmission: Floats | None = None) -> Floats:
    """Returns the POD (N,) of a person in each cell that one look shows.

    transmission: (H, W) share of the ground that no crown covers, to the power of how slanted the line of sight is
    (canopy.py).
    """
    metres = np.minimum(np.rint(seen.slant), TABLE_RANGE).astype(int)
    pod = detection.person[metres] * detection.angle_factor(seen.sine)
    if transmission is not None:
        up = np.maximum(seen.toward[:, 2], 1e-3)
        pod = pod * np.clip(transmission[seen.row, seen.column], 0.0, 1.0) ** (1.0 / up)
    return np.asarray(pod)


class Coverage:
    """The cumulative POD of many looks: see `together`."""

    def __init__(self, shape: tuple[int, int]) -> None:
        """shape: rows and columns of the ground."""
        self.shown = np.zeros(shape, np.bool_)  # by any look
        self._told = np.zeros(shape)

    def add(self, seen: Seen, pod: Floats) -> None:
        """Counts a look; pod: (N,), each below 1."""
        self.shown[seen.row, seen.column] = True
        self._told[seen.row, seen.column] += _told(pod)

    @property
    def pod(self) -> Floats:
        """Cumulative POD (H, W)."""
        return _pod(self._told)


def together(pods: Sequence[Floats]) -> Floats:
    """Returns the cumulative POD of looks, or of what several looks together have, each below 1.

    Misses depend on each other since a person who is hard to see is so for all looks: with conspicuity Z, gamma
    distributed with mean 1 and variance v, each look misses with exp(-Z l), and of all people together with
    (1 + v l)^(-1/v). So l of all looks is the sum of theirs (frailty: Clayton, Biometrika 65, 1978). It does not matter
    in which order looks are put together.
    """
    return _pod(np.sum([_told(pod) for pod in pods], axis=0))


def _told(pod: Floats) -> Floats:
    return np.asarray(((1.0 - pod) ** -CONSPICUITY - 1.0) / CONSPICUITY)


def _pod(told: Floats) -> Floats:
    return np.asarray(1.0 - (1.0 + CONSPICUITY * told) ** (-1.0 / CONSPICUITY))


def sweep_width(detection_range: float, target: Target) -> float:
    """Returns the effective sweep width (m) of searchers on foot.

    detection_range: m, mean distance at which they lose and find such an object in that vegetation (the average maximum
    detection range, walked on the spot).
    """
    return target.value * detection_range


def pod_on_foot(width: float, length: float, area: float) -> float:
    """Returns the POD of searchers who walk a length (m, of all together) in an area (m²): 1 - exp(-W L / A)."""
    return -math.expm1(-width * length / area)


def pod_of_walks(tracks: Sequence[Track], ground: Ground, width: float) -> Floats:
    """Returns the POD (H, W) of people on foot by the ground that they walked: within half of their sweep width (m) of
    each cell, its coverage is what was walked there times the width over the area.

    A receiver's wander about a place of rest and rides are not walked.
    """
    rows, columns = ground.heights.shape
    walked = np.zeros((rows, columns))
    for track in tracks:
        for start, end in _walked(ground.cells(track.latitude, track.longitude), track.time, ground.cell):
            count = math.ceil(2.0 * float(np.linalg.norm(end - start)))
            at = start + (end - start) * ((np.arange(count) + 0.5) / count)[:, None]
            column, row = np.floor(at).astype(int).T
            inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
            length = float(np.linalg.norm(end - start)) * ground.cell / count
            np.add.at(walked, (row[inside], column[inside]), length)
    reach = int(width / 2.0 / ground.cell)
    offset = np.arange(-reach, reach + 1.0) * ground.cell
    disc = np.asarray(offset[:, None] ** 2 + offset**2 <= (width / 2.0) ** 2, dtype=np.float64)
    from scipy.signal import oaconvolve  # type: ignore[import-untyped]  # a second to load, for who walks alone

    near = oaconvolve(walked, disc, mode="same")
    return np.asarray(-np.expm1(-width * np.maximum(near, 0.0) / (disc.sum() * ground.cell**2)))


def _walked(cells: Floats, time: Floats, cell: float) -> Iterator[tuple[Floats, Floats]]:
    """Yields the legs, start and end (2,) in cells, of a track (N, 2): from each point that is a step away from the
    last one; none that were faster than people walk."""
    last = 0
    for n in range(1, len(cells)):
        moved = float(np.linalg.norm(cells[n] - cells[last])) * cell
        if moved < _STEP:
            continue
        if not moved > _FASTEST * (time[n] - time[last]):  # also where times are not told
            yield cells[last], cells[n]
        last = n


class Shifted(NamedTuple):
    """POA after a search without a find: as mass that is left, and made to sum to 1."""

    left: Floats  # (H, W), POA (1 - POD)
    rest: float  # the rest of the world, which nobody searched
    success: float  # POS, the mass that the search would have found
    normalised: Floats  # (H, W)
    normalised_rest: float


def shift(poa: Floats, rest: float, pod: Floats) -> Shifted:
    """Returns what a search leaves of POA (H, W), of which rest lies outside the map; all sum to 1 before."""
    left = poa * (1.0 - pod)
    remaining = float(left.sum()) + rest
    success = float((poa * pod).sum())
    return Shifted(left, rest, success, left / remaining, rest / remaining)
