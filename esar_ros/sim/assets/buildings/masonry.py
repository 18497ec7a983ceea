"""Facets and solids of one piece of scenery, many at a time: scenery has ten thousands of them, all flat."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.sim.assets.mesh_builder import Colour, unit_sphere

Floats = NDArray[np.float64]

_FACES = np.array(((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)))
_SIGNS = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)


def turn(yaw: float) -> Floats:
    """Rotation (3, 3) about z by yaw (rad)."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


class Masonry:
    """Collects flat facets, those that show from afar and fine ones, and solids, in a piece's own frame."""

    def __init__(self) -> None:
        self._facets: tuple[list[Floats], list[Floats]] = ([], [])  # coarse, fine: (T, 3, 3)
        self._tones: tuple[list[Floats], list[Floats]] = ([], [])  # (T, 3)
        self._solids: list[Floats] = []

    def facets(self, fine: bool) -> tuple[Floats, Floats]:
        """Corners (T, 3, 3), counter-clockwise seen from outside, and albedo (T, 3)."""
        if not self._facets[fine]:
            return np.zeros((0, 3, 3)), np.zeros((0, 3))
        return np.concatenate(self._facets[fine]), np.concatenate(self._tones[fine])

    @property
    def solids(self) -> Floats:
        """Oriented boxes (K, 15): centre, half extents, axes as rows."""
        return np.array(self._solids).reshape(-1, 15)

    def triangles(self, corners: ArrayLike, tone: ArrayLike, fine: bool = False) -> None:
        """Facets (T, 3, 3) of an albedo (3,) or (T, 3)."""
        c = np.asarray(corners, dtype=np.float64)
        self._facets[fine].append(c)
        self._tones[fine].append(np.broadcast_to(np.asarray(tone, dtype=np.float64), (len(c), 3)))

    def quads(self, corners: ArrayLike, tone: ArrayLike, fine: bool = False) -> None:
        """Quadrangles (Q, 4, 3) of an albedo (3,) or (Q, 3)."""
        q = np.asarray(corners, dtype=np.float64)
        tones = np.broadcast_to(np.asarray(tone, dtype=np.float64), (len(q), 3))
        self.triangles(q[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3), np.repeat(tones, 2, axis=0), fine)

    def boxes(
        self,
        centres: ArrayLike,
        halves: ArrayLike,
        tone: ArrayLike,
        yaw: float = 0.0,
        fine: bool = False,
        solid: bool = False,
    ) -> None:
        """Boxes at centres (N, 3) of half extents (3,) or (N, 3), turned by yaw (rad)."""
        c = np.asarray(centres, dtype=np.float64).reshape(-1, 3)
        h = np.broadcast_to(np.asarray(halves, dtype=np.float64), c.shape)
        corners = c[:, None] + (_SIGNS * h[:, None]) @ turn(yaw).T
        tones = np.broadcast_to(np.asarray(tone, dtype=np.float64), c.shape)
        self.quads(corners[:, _FACES].reshape(-1, 4, 3), np.repeat(tones, 6, axis=0), fine)
        if solid:
            axes = turn(yaw).T.ravel()
            self._solids += [np.concatenate([p, q, axes]) for p, q in zip(c, h, strict=True)]

    def block(self, low: ArrayLike, high: ArrayLike, tone: ArrayLike, fine: bool = False, solid: bool = False) -> None:
        """Box from its minimum to its maximum corner (3,)."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        self.boxes((a + b) / 2, (b - a) / 2, tone, 0.0, fine, solid)

    def prism(
        self, outline: ArrayLike, low: float, high: float, tone: ArrayLike, top: float = 1.0, fine: bool = False
    ) -> None:
        """Upright body over an outline (N, 2), star-shaped about the origin, counter-clockwise; its top scaled."""
        o = np.asarray(outline, dtype=np.float64)
        foot, head = np.column_stack([o, np.full(len(o), low)]), np.column_stack([o * top, np.full(len(o), high)])
        next_foot, next_head = np.roll(foot, -1, axis=0), np.roll(head, -1, axis=0)
        self.quads(np.stack([foot, next_foot, next_head, head], axis=1), tone, fine)
        if top > 0.01:
            middle = np.broadcast_to([0.0, 0.0, high], head.shape)
            self.triangles(np.stack([middle, head, next_head], axis=1), tone, fine)

    def rod(self, start: ArrayLike, end: ArrayLike, radius: float, tone: ArrayLike, sides: int = 5, fine: bool = False,
            solid: bool = False) -> None:  # fmt: skip
        """Round bar, open at its ends, from start to end (3,)."""
        a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        axis = (b - a) / np.linalg.norm(b - a)
        side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side)
        other = np.cross(axis, side)
        angles = np.arange(sides) * (2.0 * np.pi / sides)
        ring = radius * (np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * other)
        following = np.roll(ring, -1, axis=0)
        self.quads(np.stack([a + ring, a + following, b + following, b + ring], axis=1), tone, fine)
        if solid:
            half = [float(np.linalg.norm(b - a)) / 2, radius, radius]
            self._solids.append(np.concatenate([(a + b) / 2, half, axis, side, other]))

    def lump(self, centre: ArrayLike, radii: ArrayLike, tone: Colour, rng: np.random.Generator, rough: float = 0.15,
             sides: int = 8, rings: int = 5) -> None:  # fmt: skip
        """Faceted ellipsoid with a rough surface in shades of a tone."""
        unit, faces = unit_sphere(sides, rings)
        points = unit * (1.0 + rng.uniform(-rough, rough, (len(unit), 1))) * np.asarray(radii) + np.asarray(centre)
        shade = rng.uniform(1.0 - rough, 1.0 + rough, (len(faces), 1))
        self.triangles(points[faces], np.minimum(np.asarray(tone) * shade, 1.0))

    def solid(self, low: ArrayLike, high: ArrayLike) -> None:
        """A solid from its minimum to its maximum corner (3,)."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        self._solids.append(np.concatenate([(a + b) / 2, (b - a) / 2, np.eye(3).ravel()]))

    def turned_solid(self, centre: ArrayLike, half: ArrayLike, yaw: float) -> None:
        """A solid about a centre (3,) of half extents (3,), turned by yaw (rad)."""
        self._solids.append(np.concatenate([np.asarray(centre), np.asarray(half), turn(yaw).T.ravel()]))

    def ramp(self, low: ArrayLike, high: ArrayLike, tone: ArrayLike) -> None:
        """A solid wedge that climbs along +x from z of low to z of high: the box between these corners (3,), cut."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        run, rise = b[0] - a[0], b[2] - a[2]
        length, y = float(np.hypot(run, rise)), (a[1] + b[1]) / 2
        axes = np.array([[run / length, 0.0, rise / length], [0.0, 1.0, 0.0], [-rise / length, 0.0, run / length]])
        half = np.array([length / 2, (b[1] - a[1]) / 2, rise / 4])
        centre = np.array([(a[0] + b[0]) / 2, y, (a[2] + b[2]) / 2]) - half[2] * axes[2]
        self._solids.append(np.concatenate([centre, half, axes.ravel()]))
        right, left = ([(a[0], v, a[2]), (b[0], v, a[2]), (b[0], v, b[2])] for v in (a[1], b[1]))
        self.triangles([right, left[::-1]], tone)
        self.quads([[right[0], right[2], left[2], left[0]]], tone)

    def slope(self, low: ArrayLike, high: ArrayLike, length: float, thick: float, tone: ArrayLike) -> None:
        """A solid roof slab along x, of a length: from its eaves' middle `low` to its ridge's middle `high` (3,)."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        up = (b - a) / np.linalg.norm(b - a)
        along = np.array([1.0, 0.0, 0.0])
        normal = np.cross(along, up)
        normal *= np.sign(normal[2])
        axes = np.stack([along, up, normal])
        half = np.array([length / 2, float(np.linalg.norm(b - a)) / 2, thick / 2])
        centre = (a + b) / 2 + normal * thick / 2
        corners = centre + (_SIGNS * half) @ axes
        if np.linalg.det(axes) < 0.0:  # a mirrored box: its facets run the other way round
            self.quads(corners[_FACES[:, ::-1]], tone)
        else:
            self.quads(corners[_FACES], tone)
        self._solids.append(np.concatenate([centre, half, axes.ravel()]))
