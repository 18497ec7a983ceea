"""Path following of the map-based methods: a path over the bird's-eye grid to a target, flown leg by leg."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.geometry.frames import Vector
from esar_ros.mission.decision import Goal
from esar_ros.mission.observation import Grid, Observation
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.leg import LegSettings, Progress, waypoint
from esar_ros.planning.methods.maps.frontier import (
    Frontiers,
    clear_disc,
    find_frontiers,
    nearer_than,
    nearest_cell,
    passable_cells,
    pieces,
    polygon_cells,
)
from esar_ros.planning.methods.maps.grid_path import GridPath, farthest_visible, nearest_target
from esar_ros.planning.search_area import AREA_MARGIN
from esar_ros.planning.team import team_places

REACHED = "target reached"  # why a walk has ended
_SEED_REACH = 20.0  # m from the vehicle within which the path may begin, should its own cell not be free


class WalkSettings(StrictModel):
    """Parameters of finding frontiers and flying to them."""

    height: float = Field(default=30.0, gt=0, description="m above ground")
    speed: float = Field(default=5.0, gt=0, description="m/s")
    least_cells: int = Field(default=4, ge=1, description="cells of a frontier cluster")
    clearance: float = Field(default=4.0, ge=0, description="m between the way and occupied cells")
    least_distance: float = Field(default=12.0, ge=0, description="m, nearer frontiers are not flown to")
    closed_radius: float = Field(default=12.0, ge=0, description="m around a target flown to or found blocked")
    settle: int = Field(default=5, ge=1, description="decisions in a row without a frontier before the search stops")
    leg: LegSettings = Field(default_factory=LegSettings)


@dataclass(frozen=True)
class Frontier:
    """A cluster of frontier cells or a piece of one, and the cell of it that serves as target."""

    cells: NDArray[np.int64]  # (K, 2) row, column
    target: tuple[int, int]
    position: Vector  # (2,) m, map frame, of the target


@dataclass(frozen=True)
class Followed:
    """State of the walk: a new waypoint or None; done: why it has ended, '' while it goes on."""

    goal: Goal | None
    done: str
    remaining: float = math.inf  # m


class GridWalk:
    """Follows shortest ways over free cells that keep clear of obstacles, and remembers where it has been."""

    def __init__(
        self,
        settings: WalkSettings,
        area: NDArray[np.float64],
        height: float,
        slack: float = _SEED_REACH,
        collisions: bool = True,
    ) -> None:
        """height: m above ground; area (N, 2).

        slack: distance (m) from an unreachable target within which the path may end; collisions: keep clear of
        positions where the pilot was blocked from then on.
        """
        self._settings, self._area, self._height = settings, area, height
        self._slack, self._collisions = slack, collisions
        self.finished_targets: list[Vector] = []  # whose walks have ended
        self.blocked_points: list[Vector] = []  # places where the pilot was blocked: SemExp's collision map
        self.target: Vector | None = None
        self._inside: tuple[Any, NDArray[np.bool_]] | None = None  # geometry of a grid, and its cells inside the area

    def passable(self, grid: Grid) -> NDArray[np.bool_]:
        """Cells that may be flown over: free, clear of obstacles, and not where the path was found blocked."""
        cells = passable_cells(grid, self._settings.clearance)
        for point in self.blocked_points:
            clear_disc(cells, grid, point, self._settings.clearance)
        return cells

    def frontier_cells(self, grid: Grid, observation: Observation, mine: bool = False) -> Frontiers:
        """Returns the frontiers inside the area that are not near a finished target and not too near.

        mine: only those that no teammate is nearer to.
        """
        settings = self._settings
        geometry = grid.cells.shape, grid.resolution, grid.origin
        if self._inside is None or self._inside[0] != geometry:
            self._inside = geometry, polygon_cells(grid, self._area, AREA_MARGIN)
        allowed = self._inside[1].copy()
        for target in self.finished_targets:
            clear_disc(allowed, grid, target, settings.closed_radius)
        clear_disc(allowed, grid, observation.pose.position, settings.least_distance)
        if mine:
            allowed &= nearer_than(grid, observation.pose.position, team_places(observation))
        return find_frontiers(grid, allowed, settings.least_cells)

    def frontiers(self, grid: Grid, observation: Observation, longest: float = math.inf) -> list[Frontier]:
        """Returns the frontiers of frontier_cells, cluster by cluster; those longer than `longest` (m) in pieces."""
        return _clusters(self.frontier_cells(grid, observation), grid, longest / grid.resolution)

    def nearest(
        self, grid: Grid, passable: NDArray[np.bool_], observation: Observation, targets: NDArray[np.bool_]
    ) -> GridPath | None:
        """Shortest path from the vehicle to any of the target cells (rows, columns), None when there is none."""
        reach = math.ceil(_SEED_REACH / grid.resolution)
        start = nearest_cell(passable, grid.cell_of(observation.pose.position), reach)
        return None if start is None else nearest_target(passable, targets, start)

    def path(self, grid: Grid, passable: NDArray[np.bool_], observation: Observation, xy: Vector) -> GridPath | None:
        """Returns the path to a map-frame place, or to the nearest passable cell beside it."""
        end = nearest_cell(passable, grid.cell_of(xy), math.ceil(self._slack / grid.resolution))
        if end is None:
            return None
        targets = np.zeros(grid.cells.shape, np.bool_)
        targets[end] = True
        return self.nearest(grid, passable, observation, targets)

    def start(self, target: Vector, path: GridPath | None = None) -> None:
        """Sets a map-frame target (2,); path: the path there, if known for the present observation."""
        self.target = np.array(target[:2], dtype=np.float64)
        self._known = path
        self._progress = Progress(self._settings.leg.patience)
        self._flown_to: Vector | None = None
        self._last: Vector | None = None

    def follow(self, grid: Grid, passable: NDArray[np.bool_], observation: Observation) -> Followed:
        """Returns the next waypoint towards the target, which is finished when the walk to it has ended."""
        assert self.target is not None
        path, self._known = self._known or self.path(grid, passable, observation, self.target), None
        here = observation.pose.position[:2]
        if path is None:
            return self._end("no way to the target")
        end = grid.center_of(*path.cells[-1])
        at_end = self._flown_to is not None and np.array_equal(self._flown_to, end)
        if float(np.linalg.norm(end - here)) <= self._settings.leg.tolerance or (at_end and observation.goal_reached):
            return self._end(REACHED)
        if observation.goal_blocked and self._flown_to is not None:
            if self._collisions:
                ahead = self._flown_to - here
                length = max(float(np.linalg.norm(ahead)), 0.1)
                self.blocked_points.append(here + ahead * min(1.0, 2.0 * self._settings.clearance / length))
            return self._end("target blocked")
        remaining = path.length * grid.resolution
        if self._progress.stalled(remaining, observation.stamp):
            return self._end("no progress towards the target")
        point = grid.center_of(*farthest_visible(passable, path))
        if self._flown_to is not None and np.array_equal(point, self._flown_to):
            return Followed(None, "", remaining)
        self._flown_to = point
        return Followed(waypoint(point[0], point[1], self._height, self._settings.speed), "", remaining)

    def drop(self) -> None:
        """Leaves the target without finishing it: something better was found."""
        self.target = None

    def _end(self, why: str) -> Followed:
        assert self.target is not None
        self.finished_targets.append(self.target)
        self.target = None
        return Followed(None, why)


def _clusters(frontiers: Frontiers, grid: Grid, longest: float) -> list[Frontier]:
    """Returns the clusters in the order of their first cells; the target of each is the cell nearest its centre.

    longest: of a piece, in cells.
    """
    rows, columns = np.flatnonzero(frontiers.cells.any(axis=1)), np.flatnonzero(frontiers.cells.any(axis=0))
    if not len(rows):
        return []
    top, left = 2 * (rows[0] // 2), 2 * (columns[0] // 2)  # OpenCV numbers clusters by blocks of 2 x 2 cells
    box = frontiers.cells[top : rows[-1] + 1, left : columns[-1] + 1]
    _, labels = cv2.connectedComponents(box.view(np.uint8), connectivity=8)
    rows, columns = np.nonzero(box)
    order = np.argsort(labels[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    cells = (np.stack([rows, columns], axis=1) + (top, left)).astype(np.int64)
    out = []
    for cluster in np.split(cells, np.flatnonzero(np.diff(labels[rows, columns])) + 1):
        for piece in pieces(cluster, longest) if len(cluster) else ():
            off = ((piece - piece.mean(axis=0)) ** 2).sum(axis=1)
            row, column = (int(v) for v in piece[int(np.argmin(off))])
            out.append(Frontier(piece, (row, column), grid.center_of(row, column)))
    return out
