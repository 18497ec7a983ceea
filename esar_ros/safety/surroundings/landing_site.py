"""The ground under a landing: what stands out of it, people who were detected there, and a clear spot beside it.

Ranges cannot tell a person from a stone, so whatever stands out of the plane of the ground within the clearance vetoes
a spot. The plane is fitted to the points by area; from each further fit those are left out that stand out of the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import SeenClue
from esar_ros.safety.inputs import RangeImageData
from esar_ros.safety.limits import Limits
from esar_ros.safety.surroundings.observed_space import points_under

_STANDS_OUT = 0.25  # m: a person who lies is 0.3 m high
_FITS = 6  # of the plane
_LEFT_OUT = 0.15  # m above the plane, from which a point is left out of the next fit
_MIN_POINTS = 12  # of a spot, fewer than which show nothing of it
_MIN_SIDES = 3  # of the four quarters of a spot, in which they must lie
_SURE = 0.5  # probability from which a detection is somebody
_PERSON_ROOM = 2.0  # m beyond the clearance: nine of ten detections are placed more precisely
_RINGS = (3.0, 4.5, 6.0)  # m to the spots beside
_WAYS = 16  # directions of them
_STEEPEST = 0.5  # m/m of a spot to go to
_DISTANCE_COST = 0.05  # 1/m: a spot that is so much flatter is worth a metre of way
_SPOTS = np.array(
    [
        (ring * math.cos(turn), ring * math.sin(turn))
        for ring in _RINGS
        for turn in 2.0 * math.pi / _WAYS * np.arange(_WAYS)
    ]
)
_ARRIVED = 0.5  # m, level, from a spot


@njit(cache=True, nogil=True)
def _ground_points(points, reach):  # type: ignore[no-untyped-def]
    """Returns x, y, z (m) and the area of those points (n, 5) of points_under that lie within reach (m, level)."""
    found = np.empty((points.shape[0], 4))
    count = 0
    for n in range(points.shape[0]):
        x, y, distance, elevation = points[n, 0], points[n, 1], points[n, 3], points[n, 4]
        if x * x + y * y > reach * reach:
            continue
        found[count, :3] = points[n, :3]
        # A cell of level ground covers range^2 cos / sin of it; one that looks along it no more than this.
        found[count, 3] = distance**2 * max(math.cos(elevation), 0.05) / max(abs(math.sin(elevation)), 0.05)
        count += 1
    return found[:count]


@njit(cache=True, nogil=True)
def _plane(points, x0, y0, used):  # type: ignore[no-untyped-def]
    """Returns height (m) at x0, y0 and both slopes (m/m) of the plane by least squares through the points used."""
    w, wx, wy, wxx, wxy, wyy, wz, wxz, wyz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in used:
        x, y, z, area = points[i, 0] - x0, points[i, 1] - y0, points[i, 2], points[i, 3]
        w, wx, wy, wz = w + area, wx + area * x, wy + area * y, wz + area * z
        wxx, wxy, wyy = wxx + area * x * x, wxy + area * x * y, wyy + area * y * y
        wxz, wyz = wxz + area * x * z, wyz + area * y * z
    little = 1e-6 * w  # of points on one line
    # The mean is eliminated first, then x.
    a, b, c = wxx + little - wx * wx / w, wxy - wx * wy / w, wyy + little - wy * wy / w
    right_x, right_y = wxz - wx * wz / w, wyz - wy * wz / w
    slope_y = (right_y - b / a * right_x) / (c - b / a * b)
    slope_x = (right_x - b * slope_y) / a
    return (wz - wx * slope_x - wy * slope_y) / w, slope_x, slope_y


@njit(cache=True, nogil=True)
def _spot(points, x0, y0, radius):  # type: ignore[no-untyped-def]
    """Returns how far (m) the highest point stands out of the ground within radius (m) of x0, y0, slope and z of it.

    points: x, y, z (m) and area of each. NaN: too few of them show the spot.
    """
    inside = np.empty(points.shape[0], np.int64)
    count = 0
    sides = np.zeros(4, np.bool_)
    for i in range(points.shape[0]):
        x, y = points[i, 0] - x0, points[i, 1] - y0
        if x * x + y * y <= radius * radius:
            inside[count] = i
            count += 1
            sides[(2 if x > 0.0 else 0) + (1 if y > 0.0 else 0)] = True
    if count < _MIN_POINTS or sides.sum() < _MIN_SIDES:
        return np.nan, np.nan, np.nan
    z0, slope_x, slope_y = _plane(points, x0, y0, inside[:count])
    used = np.empty(count, np.int64)
    last = count
    for _ in range(_FITS - 1):
        left, changed = 0, False
        for k in range(count):
            i = inside[k]
            x, y, z = points[i, 0] - x0, points[i, 1] - y0, points[i, 2]
            if z - z0 - slope_x * x - slope_y * y <= _LEFT_OUT:
                changed = changed or left >= last or used[left] != i
                used[left] = i
                left += 1
        if left == 0 or (left == last and not changed):
            break
        last = left
        z0, slope_x, slope_y = _plane(points, x0, y0, used[:left])
    slope = math.hypot(slope_x, slope_y)
    highest = -np.inf
    for i in inside[:count]:
        above = points[i, 2] - z0 - slope_x * (points[i, 0] - x0) - slope_y * (points[i, 1] - y0)
        highest = max(highest, above / math.sqrt(1.0 + slope * slope))
    return highest, slope, z0


@njit(cache=True, nogil=True)
def _cost_of_spots(points, spots, radius):  # type: ignore[no-untyped-def]
    """Returns the cost (n,) of going to each of the spots (n, 2) (m); inf: it is not clear, or too steep."""
    costs = np.full(spots.shape[0], np.inf)
    for n in range(spots.shape[0]):
        highest, slope, _ = _spot(points, spots[n, 0], spots[n, 1], radius)
        if highest <= _STANDS_OUT and slope <= _STEEPEST:
            costs[n] = slope + _DISTANCE_COST * math.hypot(spots[n, 0], spots[n, 1])
    return costs


@dataclass(frozen=True)
class LandingSite:
    """The verdict on the ground below."""

    veto: str = ""  # why the vehicle must not come down here; empty: it may
    aim: Vector | None = None  # (3,) m, map: where to go instead, at this height; None: nowhere


class Ground:
    """The ground around a vehicle that comes down, as one range image shows it, and the people detected there."""

    def __init__(self, image: RangeImageData, position: Vector, people: Sequence[Vector], limits: Limits) -> None:
        """position: m, map, of the vehicle. people: (3,) m, map."""
        self._position = position
        self._people = [where for where in people if np.isfinite(where).all()]
        self._limits = limits
        self._points = _ground_points(points_under(image, position, math.inf), _RINGS[-1] + limits.clearance)

    def site(self, aim: Vector | None, is_reachable: Callable[[Vector], bool]) -> LandingSite:
        """Returns the verdict; aim: m, map, where the vehicle is on its way to. is_reachable: of a place (m, map).

        On the way it does not come down before it is there. An aim that is no longer clear is given up.
        """
        veto = self.veto()
        if aim is not None and math.dist(aim[:2], self._position[:2]) > _ARRIVED and self._is_clear(aim):
            return LandingSite(veto or "going to a clear spot", aim)
        return LandingSite(veto, self._nearest_clear(is_reachable)) if veto else LandingSite()

    def veto(self) -> str:
        """Returns why the vehicle must not come down here; empty where nothing is known that forbids it."""
        gap = self._gap_to_people(self._position)
        if gap <= self._limits.clearance + _PERSON_ROOM:
            return f"a person was detected {gap:.1f} m beside the spot below"
        highest, _, ground = _spot(self._points, 0.0, 0.0, self._limits.clearance)
        # So near the ground of a spot that was clear the vehicle is down.
        if highest > _STANDS_OUT and -ground > self._limits.body_radius:
            return f"somebody or something stands {highest:.1f} m out of the ground below"
        return ""

    def _is_clear(self, place: Vector) -> bool:
        """Returns whether the vehicle may go to a place (m, map) to land."""
        away = (place - self._position)[:2]
        return self._is_away_from_people(place) and bool(
            np.isfinite(_cost_of_spots(self._points, away[None], self._limits.clearance)[0])
        )

    def _nearest_clear(self, is_reachable: Callable[[Vector], bool]) -> Vector | None:
        """Returns the clear spot (m, map, at the vehicle's height) that is flat and near; None: there is none."""
        costs = _cost_of_spots(self._points, _SPOTS, self._limits.clearance)
        # Rounded, so that of spots as good as each other it is the same one with every scan.
        for n in np.argsort(np.round(costs, 3), kind="stable"):
            if not np.isfinite(costs[n]):
                break
            place = self._position + [*_SPOTS[n], 0.0]
            if self._is_away_from_people(place) and is_reachable(place):
                return np.asarray(place)
        return None

    def _is_away_from_people(self, place: Vector) -> bool:
        return self._gap_to_people(place) > self._limits.clearance + _PERSON_ROOM

    def _gap_to_people(self, place: Vector) -> float:
        """Returns the level distance (m) from a place (m, map) to the nearest person detected; inf: there is none."""
        return min((math.dist(where[:2], place[:2]) for where in self._people), default=math.inf)


def people_of(clues: Sequence[SeenClue]) -> list[Vector]:
    """Returns where (m, map) a detector has seen people."""
    return [clue.position for clue in clues if clue.kind == PERSON and clue.probability >= _SURE]
