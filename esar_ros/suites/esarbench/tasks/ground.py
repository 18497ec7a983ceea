"""Suitable ground of a map: where people lie, objects are dropped, tents stand, parties walk and drones take off."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.world import World

Points = NDArray[np.float64]

EDGE = 80.0  # m kept from the map's edge; the search area ends 50 m inside it
LOOK_RANGE = 60.0  # m from which a person still shows in an image
VIEW_HEIGHTS = (15.0, 30.0)  # m above ground
VIEW_DISTANCES = (0.0, 20.0, 40.0)  # m, horizontal
BODY = 0.4  # m above ground: what is looked at of a person or thing
_GAP = 0.6  # m between a thing and the nearest trunk, bush or rock
_NEVER = (LandCover.WATER, LandCover.ROCK)
_WALK_CELL = 6.0  # m
_WALK_STEEPEST = math.radians(65.0)  # on hands and feet
_TAKE_OFF_FREE = 3.0  # m without plant or structure about a take-off spot
_TAKE_OFF_GRID = {"lop_nur": 12.0}  # m between candidate spots; elsewhere:
_TAKE_OFF_FINE = 4.0
_FLATTEST = {"k2": 12.0}  # degrees a take-off spot may slope; elsewhere:
_FLAT = 8.0
_FOOTING, _FACE = 2.5, 20.0  # m about a take-off spot that slope less than this, degrees


class Site:
    """A map's ground as tasks need it; plants and rocks stand where the simulator has them."""

    def __init__(self, place: PlaceMap) -> None:
        self.place = place
        self.world = World(place, seed=0)
        flora = self.world.flora
        self._plants = cKDTree(flora.positions[:, :2].astype(np.float64)) if len(flora) else None
        self._crowns = flora.crown_radius.astype(np.float64)
        self._widest = float(self._crowns.max()) if len(flora) else 0.0
        self._structures = [
            (np.asarray(s.xy, dtype=np.float64), assets()[s.asset].radius * s.scale if s.asset in assets() else 5.0)
            for s in place.structures
        ]

    def slope(self, xy: Points, reach: float = 0.8) -> NDArray[np.float64]:
        """Steepness (rad) at points (N, 2), the worst within a stride (m)."""
        around = xy[:, None, :] + reach * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        return np.asarray(np.arccos(np.clip(self.place.normal(around)[..., 2], -1.0, 1.0)).max(axis=1))

    def stand(self, xy: Sequence[float]) -> Vector:
        """Point (3,) on the ground."""
        return np.array([xy[0], xy[1], float(self.place.ground_height(np.array(xy, dtype=np.float64)))])

    def free_of(self, xy: Points, gap: float) -> NDArray[np.bool_]:
        """Returns whether points (N, 2) keep a gap (m) from every plant's crown, rock and structure."""
        free = np.ones(len(xy), dtype=np.bool_)
        if self._plants is not None:
            for row, near in enumerate(self._plants.query_ball_point(xy, self._widest + gap)):
                if near:
                    away = np.linalg.norm(self._plants.data[near] - xy[row], axis=1)
                    free[row] = bool((away >= self._crowns[near] + gap).all())
        for centre, radius in self._structures:
            free &= np.linalg.norm(xy - centre, axis=1) >= radius + gap
        return free

    def usable(self, xy: Points, slope: float, on: Sequence[str] = (), gap: float = _GAP) -> NDArray[np.bool_]:
        """Returns whether something may lie at points (N, 2): dry, no bare rock, slope (degrees) and cover as asked."""
        half = self.place.size / 2 - EDGE
        cover = self.place.cover_at(xy)
        good = (np.abs(xy) <= half).all(axis=1) & ~np.isin(cover, _NEVER) & ~self.place.is_water(xy)
        if on:
            good &= np.isin(cover, [LandCover[name] for name in on])
        good[good] &= self.slope(xy[good]) <= math.radians(slope)
        good[good] &= self.free_of(xy[good], gap)
        return np.asarray(good)

    def nearest(
        self,
        xy: Sequence[float],
        slope: float,
        on: Sequence[str] = (),
        within: float = 150.0,
        min_distance: float = 0.0,
    ) -> tuple[float, float] | None:
        """The usable spot nearest to xy, `min_distance` to `within` m away, on a spiral of 1 m steps; None if none."""
        steps = np.arange(0, int((within**2) * 0.8) + 1, dtype=np.float64)
        radius, angle = 1.1 * np.sqrt(steps), steps * 2.399963229728653  # a sunflower's spiral
        spiral = np.array(xy, dtype=np.float64) + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        spiral = np.round(spiral[(radius >= min_distance) & (radius <= within)], 1)
        for start in range(0, len(spiral), 256):
            part = spiral[start : start + 256]
            good = np.flatnonzero(self.usable(part, slope, on))
            if len(good):
                return float(part[good[0], 0]), float(part[good[0], 1])
        return None

    def walk(self, places: Sequence[tuple[float, float]]) -> Points:
        """The easiest way (N, 2) over dry ground through places in order, smoothed, a point every 5 m."""
        legs = [self._leg(a, b) for a, b in itertools.pairwise(places)]
        line = np.concatenate([leg if n == 0 else leg[1:] for n, leg in enumerate(legs)])
        return resample(line, 5.0)

    def view_points(self, xy: Sequence[float]) -> Points:
        """Viewpoints (N, 3) over and about a spot, within look range, as a drone at search height has them."""
        points = []
        for away in VIEW_DISTANCES:
            for angle in np.arange(8) * math.pi / 4 if away else (0.0,):
                at = (xy[0] + away * math.cos(angle), xy[1] + away * math.sin(angle))
                points += [self.stand(at) + (0.0, 0.0, height) for height in VIEW_HEIGHTS]
        views = np.array(points)
        return views[np.linalg.norm(views - self.stand(xy), axis=1) <= LOOK_RANGE]

    def seen_from(self, xy: Sequence[float]) -> NDArray[np.bool_]:
        """From which viewpoints a spot is seen past ground, plants and structures, with plants on the spot itself."""
        target = self.stand(xy) + (0.0, 0.0, BODY)
        views = self.view_points(xy)
        sight = target - views
        length = np.linalg.norm(sight, axis=1)
        ranges, _ = self.world.raycast(views, sight / length[:, None], LOOK_RANGE + 1.0)
        # The last half metre is the thing's own ground and grass.
        return np.asarray(ranges >= length - 0.5)

    @cached_property
    def take_off_spots(self) -> Points:
        """Spots (N, 3) on flat dry ground under free air, on a jittered grid all over the search area."""
        half = self.place.size / 2 - EDGE
        step = _TAKE_OFF_GRID.get(self.place.id, _TAKE_OFF_FINE)
        axis = np.arange(-half, half, step)
        rng = np.random.default_rng(self.place.seed)
        xy = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        xy = np.round(xy + rng.uniform(-step / 4, step / 4, xy.shape), 1)
        xy = xy[self.slope(xy) <= math.radians(flattest(self.place.id))]
        # Level enough under the legs, and no mere step in a face.
        xy = xy[self.slope(xy, reach=_FOOTING) <= math.radians(_FACE)]
        xy = xy[self.usable(xy, 45.0, gap=_TAKE_OFF_FREE)]
        spots = np.column_stack([xy, self.place.ground_height(xy)])
        free = [self.world.contact(spot + (0.0, 0.0, 3.0), 2.0) is None for spot in spots]
        return np.asarray(spots[np.array(free, dtype=np.bool_)])

    @cached_property
    def _walking(self) -> tuple[coo_matrix, int]:
        """Costs between neighbouring cells: m of way, dearer on slopes, in woods and on stones."""
        count = int(self.place.size / self._cell)
        axis = (np.arange(count) + 0.5) * self._cell - self.place.size / 2
        xy = np.stack(np.meshgrid(axis, axis), axis=-1)
        z = self.place.ground_height(xy)
        cover = self.place.cover_at(xy)
        rough = np.ones(cover.shape)
        rough[np.isin(cover, [LandCover.FOREST, LandCover.BLOCKFIELD, LandCover.SCRUB])] = 1.6
        rough[np.isin(cover, [LandCover.ROCK])] = 3.0
        rough[self.place.is_water(xy)] = 25.0  # a few steps through the surf rather than nowhere
        number = np.arange(count * count).reshape(count, count)
        rows, columns, costs = [], [], []
        for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
            a = np.s_[: count - di, max(0, -dj) : count - max(0, dj)]
            b = np.s_[di:, max(0, dj) : count + min(0, dj)]
            far = self._cell * math.hypot(di, dj)
            slope = np.abs(z[b] - z[a]) / far
            cost = far * (1.0 + (slope / 0.35) ** 2) * 0.5 * (rough[a] + rough[b])
            fine = slope <= math.tan(_WALK_STEEPEST)
            rows.append(number[a][fine])
            columns.append(number[b][fine])
            costs.append(cost[fine])
        graph = coo_matrix(
            (np.concatenate(costs), (np.concatenate(rows), np.concatenate(columns))), shape=(count**2, count**2)
        )
        return graph.tocsr(), count

    @property
    def _cell(self) -> float:
        return _WALK_CELL * max(1.0, self.place.size / 2500.0)

    def _leg(self, a: tuple[float, float], b: tuple[float, float]) -> Points:
        graph, count = self._walking

        def cell(xy: tuple[float, float]) -> int:
            column, row = (int((value + self.place.size / 2) / self._cell) for value in xy)
            return min(max(row, 0), count - 1) * count + min(max(column, 0), count - 1)

        start, goal = cell(a), cell(b)
        _, before = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
        chain = [goal]
        while chain[-1] != start:
            previous = int(before[chain[-1]])
            if previous < 0:
                raise UsageError(f"map {self.place.id}: nobody walks from {a} to {b}", "move the story's places")
            chain.append(previous)
        cells = np.array(chain[::-1])
        line = np.stack([cells % count, cells // count], axis=1) * self._cell + self._cell / 2 - self.place.size / 2
        line = np.concatenate([[a], line[1:-1], [b]])
        for _ in range(3):  # corners of the grid are walked by nobody
            line[1:-1] = 0.25 * line[:-2] + 0.5 * line[1:-1] + 0.25 * line[2:]
        return line


@lru_cache(maxsize=4)
def site(map_id: str) -> Site:
    """The site of a map. Raises UsageError."""
    return Site(load_map(map_id))


def flattest(map_id: str) -> float:
    """Degrees that a take-off spot may slope: on steep maps hardly anything is level."""
    return _FLATTEST.get(map_id, _FLAT)


def steepest(map_id: str, kind: str) -> float:
    """Degrees of slope that something of a kind may lie on."""
    if kind in ("tent", "campfire", "sleeping_bag"):
        return 20.0 if map_id == "k2" else 15.0
    return 40.0 if map_id == "k2" else 32.0


def resample(line: Points, step: float) -> Points:
    """Points of a polyline (N, 2) every `step` m, its ends kept."""
    along = arc_length(line)
    count = max(2, int(along[-1] / step) + 1)
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, line[:, k]) for k in (0, 1)], axis=1)


def arc_length(line: Points) -> NDArray[np.float64]:
    """Length (N,) of a polyline (N, 2) up to each point, m."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def point_on(line: Points, share: float) -> tuple[tuple[float, float], float]:
    """Point of a polyline at a share of its length, and the heading there (rad)."""
    along = arc_length(line)
    at = share * along[-1]
    x, y = (float(np.interp(at, along, line[:, k])) for k in (0, 1))
    i = min(max(int(np.searchsorted(along, at)), 1), len(line) - 1)
    step = line[i] - line[i - 1]
    return (x, y), math.atan2(step[1], step[0])
