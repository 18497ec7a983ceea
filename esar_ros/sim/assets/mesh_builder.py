"""Triangle meshes put together from tapered limbs, ellipsoids, boxes, lofts, tubes and sheets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.sim.assets.emitters import Emitter

Colour = tuple[float, float, float]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Indexed triangles in m, z up, standing on z = 0. Colours are linear albedo; emission is 0 (lit) to 1 (glows)."""

    positions: NDArray[np.float32]  # (V, 3)
    normals: NDArray[np.float32]  # (V, 3) unit, outwards
    colours: NDArray[np.float32]  # (V, 3); above 1 only where emission > 0
    emission: NDArray[np.float32]  # (V,)
    triangles: NDArray[np.int32]  # (T, 3) counter-clockwise seen from outside
    warmth: NDArray[np.float32]  # (V,) K above the air, as an infrared camera sees it
    own: int  # the first so many triangles are the thing, the others lie over it (snow, rock) and do not bear its id

    @property
    def radius(self) -> float:
        """Of the sphere about the mesh's origin that holds it, m."""
        return float(np.sqrt((self.positions.astype(np.float64) ** 2).sum(axis=1).max()))

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lower and upper corner, m."""
        return self.positions.min(axis=0), self.positions.max(axis=0)

    def scaled(self, factor: float) -> Mesh:
        """The same shape in another size."""
        return Mesh(
            (self.positions * np.float32(factor)).astype(np.float32),
            self.normals,
            self.colours,
            self.emission,
            self.triangles,
            self.warmth,
            self.own,
        )


@dataclass(frozen=True, eq=False)
class Model:
    """Model of an asset in its own frame: mesh, solids for collision, emitters."""

    mesh: Mesh
    solids: Floats  # (K, 15) oriented boxes: centre (3), half extents (3), axes as rows (9), m
    emitters: tuple[Emitter, ...] = ()
    limp: bool = False  # lies on the ground point by point, however uneven it is


class MeshBuilder:
    """Collects parts; every part gets one albedo and an emission.

    `warmth` (K above the air) and `foreign` (not the thing itself, but what lies over it) hold for the parts added
    after they are set; `limp` for the whole: see Model.
    """

    def __init__(self, sunk: float = 0.05) -> None:
        """sunk: depth (m) below which geometry is cut off; above it stays, so that nothing floats over dips."""
        self.warmth = 0.0
        self.limp = False
        self.foreign = False
        self._sunk = sunk
        self._positions: list[Floats] = []
        self._normals: list[Floats] = []
        self._colours: list[Floats] = []
        self._emission: list[Floats] = []
        self._warmth: list[Floats] = []
        self._triangles: list[NDArray[np.int64]] = []
        self._foreign: list[NDArray[np.bool_]] = []
        self._count = 0
        self._solids: list[Floats] = []
        self._emitters: list[Emitter] = []

    def add(
        self, positions: ArrayLike, normals: ArrayLike, triangles: ArrayLike, colour: ArrayLike, emission: float = 0.0
    ) -> None:
        """Raw part: (V, 3), (V, 3), (T, 3) and a colour (3,) or (V, 3)."""
        p = np.asarray(positions, dtype=np.float64)
        self._positions.append(p)
        self._normals.append(np.asarray(normals, dtype=np.float64))
        self._colours.append(np.broadcast_to(np.asarray(colour, dtype=np.float64), p.shape))
        self._emission.append(np.full(len(p), emission))
        self._warmth.append(np.full(len(p), self.warmth))
        faces = np.asarray(triangles, dtype=np.int64)
        self._triangles.append(faces + self._count)
        self._foreign.append(np.full(len(faces), self.foreign))
        self._count += len(p)

    def smooth(self, positions: ArrayLike, triangles: ArrayLike, colour: ArrayLike, emission: float = 0.0) -> None:
        """Raw part whose normals follow from its triangles."""
        self.add(positions, smooth_normals(positions, triangles), triangles, colour, emission)

    def flat(self, triangles: ArrayLike, colour: ArrayLike, emission: float = 0.0) -> None:
        """Facets (T, 3, 3) with their own normals; a colour (3,) or one a facet (T, 3)."""
        corners = np.asarray(triangles, dtype=np.float64)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        colours = np.broadcast_to(np.asarray(colour, dtype=np.float64), (len(corners), 3))
        self.add(
            corners.reshape(-1, 3),
            np.repeat(normal, 3, axis=0),
            np.arange(3 * len(corners)).reshape(-1, 3),
            np.repeat(colours, 3, axis=0),
            emission,
        )

    def quad(self, corners: ArrayLike, colour: ArrayLike, two_sided: bool = False) -> None:
        """Four corners (4, 3), counter-clockwise seen from the front."""
        a, b, c, d = np.asarray(corners, dtype=np.float64)
        self.flat([[a, b, c], [a, c, d]], colour)
        if two_sided:
            self.flat([[c, b, a], [d, c, a]], colour)

    def box(self, centre: ArrayLike, half: ArrayLike, colour: ArrayLike, yaw: float = 0.0, tilt: float = 0.0) -> None:
        """Box of half extents (3,), pitched by tilt about y (its +x face dips), then turned by yaw (rad)."""
        signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)
        corner = signs * np.asarray(half) @ _turn(yaw, tilt).T + np.asarray(centre)
        for face in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)):
            self.quad(corner[list(face)], colour)

    def ellipsoid(
        self,
        centre: ArrayLike,
        radii: ArrayLike,
        colour: ArrayLike,
        sides: int = 8,
        rings: int = 5,
        emission: float = 0.0,
        yaw: float = 0.0,
    ) -> None:
        """Smooth ellipsoid of the given radii (3,) along the axes, turned by yaw (rad)."""
        unit, triangles = unit_sphere(sides, rings)
        r = np.asarray(radii, dtype=np.float64)
        normals = unit / r
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        turn = _turn(yaw, 0.0).T
        self.add(unit * r @ turn + np.asarray(centre), normals @ turn, triangles, colour, emission)

    def lump(
        self,
        centre: ArrayLike,
        radii: ArrayLike,
        colour: ArrayLike,
        rng: np.random.Generator,
        rough: float = 0.2,
        sides: int = 8,
        rings: int = 5,
        faceted: bool = False,
    ) -> None:
        """Ellipsoid with a rough surface and a blotched colour: rocks, crumpled cloth, heaps."""
        unit, triangles = unit_sphere(sides, rings)
        swell = 1.0 + rng.uniform(-rough, rough, (len(unit), 1))
        points = unit * swell * np.asarray(radii) + np.asarray(centre)
        if faceted:
            shade = rng.uniform(1.0 - rough, 1.0 + rough, (len(triangles), 1))
            self.flat(points[triangles], np.minimum(np.asarray(colour) * shade, 1.0))
        else:
            shade = rng.uniform(1.0 - rough, 1.0 + rough, (len(unit), 1))
            self.smooth(points, triangles, np.minimum(np.asarray(colour) * shade, 1.0))

    def limb(
        self,
        start: ArrayLike,
        end: ArrayLike,
        start_radius: float,
        end_radius: float,
        colour: ArrayLike,
        sides: int = 7,
        emission: float = 0.0,
    ) -> None:
        """Tapered rod with closed ends, from start to end; an end radius of 0 makes a cone."""
        a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        axis = (b - a) / np.linalg.norm(b - a)
        side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side)
        angles = np.arange(sides) * (2.0 * np.pi / sides)
        ring = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(axis, side)
        positions = np.concatenate([a + start_radius * ring, b + end_radius * ring, [a, b]])
        normals = np.concatenate([ring, ring, [-axis, axis]])
        i = np.arange(sides)
        k = (i + 1) % sides
        faces = [
            np.stack([i, k, sides + k], axis=1),
            np.stack([i, sides + k, sides + i], axis=1),
            np.stack([np.full(sides, 2 * sides), k, i], axis=1),
            np.stack([np.full(sides, 2 * sides + 1), sides + i, sides + k], axis=1),
        ]
        if end_radius <= 0.0:
            faces = [faces[0], faces[2]]
        self.add(positions, normals, np.concatenate(faces), colour, emission)

    def loft(self, rings: ArrayLike, colour: ArrayLike, emission: float = 0.0) -> None:
        """Skin over rings (K, S, 3) of points, closed at both ends; one colour (3,) or one a ring (K, 3).

        Rings run counter-clockwise seen from the last one back to the first.
        """
        r = np.asarray(rings, dtype=np.float64)
        count, sides = r.shape[:2]
        points = np.concatenate([r.reshape(-1, 3), [r[0].mean(axis=0), r[-1].mean(axis=0)]])
        i = np.arange(sides)
        k = (i + 1) % sides
        faces = []
        for ring in range(count - 1):
            low, high = ring * sides, (ring + 1) * sides
            faces += [np.stack([low + i, low + k, high + k], axis=1), np.stack([low + i, high + k, high + i], axis=1)]
        first, last = count * sides, count * sides + 1
        top = (count - 1) * sides
        faces += [np.stack([np.full(sides, first), k, i], axis=1)]
        faces += [np.stack([np.full(sides, last), top + i, top + k], axis=1)]
        shades = np.asarray(colour, dtype=np.float64)
        if shades.ndim == 2:
            shades = np.concatenate([np.repeat(shades, sides, axis=0), shades[[0, -1]]])
        self.smooth(points, np.concatenate(faces), shades, emission)

    def body(self, path: ArrayLike, widths: ArrayLike, heights: ArrayLike, colour: ArrayLike, sides: int = 8) -> None:
        """Loft of ellipses about a path (K, 3): half widths (K,) level and half heights (K,) across that, m."""
        p = np.asarray(path, dtype=np.float64)
        angles = np.arange(sides) * (2.0 * np.pi / sides)
        along = np.gradient(p, axis=0)
        rings = []
        side = np.array([0.0, 1.0, 0.0])
        for point, axis, width, height in zip(p, along, np.asarray(widths), np.asarray(heights), strict=True):
            axis = axis / np.linalg.norm(axis)
            level = np.cross([0.0, 0.0, 1.0], axis)
            if np.linalg.norm(level) > 0.15:  # else upright: keep the last side
                side = level
            side = side - axis * (side @ axis)
            side /= np.linalg.norm(side)
            up = np.cross(axis, side)
            rings.append(point + width * np.cos(angles)[:, None] * side + height * np.sin(angles)[:, None] * up)
        self.loft(rings, colour)

    def tube(self, path: ArrayLike, radius: float, colour: ArrayLike, sides: int = 5) -> None:
        """Rope or wire of a radius (m) along a path (K, 3)."""
        count = len(np.asarray(path))
        self.body(path, np.full(count, radius), np.full(count, radius), colour, sides)

    def sheet(self, grid: ArrayLike, colour: ArrayLike, under: ArrayLike | None = None, thick: float = 0.004) -> None:
        """Cloth through points (R, C, 3), seen from both sides; a colour (3,) or one a point (R, C, 3).

        Seen from where rows run right and columns run up it shows its front.
        """
        g = np.asarray(grid, dtype=np.float64)
        rows, columns = g.shape[:2]
        index = np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
        faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
        points = g.reshape(-1, 3)
        normals = smooth_normals(points, faces)
        shade = np.asarray(colour, dtype=np.float64)
        shade = shade.reshape(-1, 3) if shade.ndim == 3 else shade
        self.add(points, normals, faces, shade)
        back = shade if under is None else np.asarray(under, dtype=np.float64)
        below = points - thick * normals
        self.add(below, -normals, faces[:, ::-1], back)
        rim = np.concatenate([index[:, 0], index[-1, 1:], index[-2::-1, -1], index[0, -2:0:-1]])
        nxt = np.roll(rim, -1)
        hem = back[rim] if back.ndim == 2 else back
        self.flat(np.stack([points[rim], below[rim], below[nxt]], axis=1), hem)
        self.flat(np.stack([points[rim], below[nxt], points[nxt]], axis=1), hem)

    def slab(self, outline: ArrayLike, low: float, high: float, colour: ArrayLike) -> None:
        """Level plate over an outline (N, 2), star-shaped about its mean, counter-clockwise, from z low to high."""
        o = np.asarray(outline, dtype=np.float64)
        top = np.column_stack([o, np.full(len(o), high)])
        bottom = np.column_stack([o, np.full(len(o), low)])
        nxt_top, nxt_bottom = np.roll(top, -1, axis=0), np.roll(bottom, -1, axis=0)
        mid = np.broadcast_to(top.mean(axis=0), top.shape)
        mid_low = np.broadcast_to(bottom.mean(axis=0), top.shape)
        facets = np.concatenate(
            [
                np.stack([mid, top, nxt_top], axis=1),
                np.stack([mid_low, nxt_bottom, bottom], axis=1),
                np.stack([bottom, nxt_bottom, nxt_top], axis=1),
                np.stack([bottom, nxt_top, top], axis=1),
            ]
        )
        self.flat(facets, colour)

    def solid(self, low: ArrayLike, high: ArrayLike) -> None:
        """Adds a solid for contacts and rays: a box from its minimum to its maximum corner (3,), m."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        self._solids.append(np.concatenate([(a + b) / 2, np.maximum((b - a) / 2, 0.005), np.eye(3).ravel()]))

    def solid_rod(self, start: ArrayLike, end: ArrayLike, radius: float) -> None:
        """A solid box about the line from start to end (3,)."""
        a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        axis = (b - a) / np.linalg.norm(b - a)
        side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side)
        half = [float(np.linalg.norm(b - a)) / 2, radius, radius]
        self._solids.append(np.concatenate([(a + b) / 2, half, axis, side, np.cross(axis, side)]))

    def emit(self, emitter: Emitter) -> None:
        """Something that gives light, heat or smoke."""
        self._emitters.append(emitter)

    def turn(self, rotation: ArrayLike) -> None:
        """Turn all that was added so far by a rotation (3, 3); solids and emitters come after."""
        r = np.asarray(rotation, dtype=np.float64)
        self._positions = [p @ r.T for p in self._positions]
        self._normals = [n @ r.T for n in self._normals]

    def shift(self, by: ArrayLike) -> None:
        """Move all that was added so far by (3,) m; solids and emitters come after."""
        self._positions = [p + np.asarray(by, dtype=np.float64) for p in self._positions]

    def map(self, move: Callable[[Floats], Floats]) -> None:
        """Move all points added so far, (V, 3) to (V, 3); small moves: normals stay as they are."""
        self._positions = [move(p) for p in self._positions]

    def mesh(self) -> Mesh:
        """Everything added so far, without what lies deep in the ground."""
        positions = np.concatenate(self._positions)
        triangles = np.concatenate(self._triangles)
        buried = positions[triangles][..., 2].max(axis=1) <= -self._sunk + 1e-6
        positions[:, 2] = np.maximum(positions[:, 2], -self._sunk)
        foreign = np.concatenate(self._foreign)
        own, cover = triangles[~buried & ~foreign], triangles[~buried & foreign]
        return Mesh(
            positions.astype(np.float32),
            np.concatenate(self._normals).astype(np.float32),
            np.concatenate(self._colours).astype(np.float32),
            np.concatenate(self._emission).astype(np.float32),
            np.concatenate([own, cover]).astype(np.int32),
            np.concatenate(self._warmth).astype(np.float32),
            len(own),
        )

    def model(self) -> Model:
        """The mesh with its solids; where none were named, the box about it."""
        mesh = self.mesh()
        if not self._solids:
            low, high = mesh.bounds
            self.solid([low[0], low[1], min(float(low[2]), 0.0)], high)
        return Model(mesh, np.array(self._solids), tuple(self._emitters), self.limp)


def smooth_normals(positions: ArrayLike, triangles: ArrayLike) -> Floats:
    """Area-weighted unit normals (V, 3) of shared vertices."""
    p = np.asarray(positions, dtype=np.float64)
    t = np.asarray(triangles)
    facet = np.cross(p[t[:, 1]] - p[t[:, 0]], p[t[:, 2]] - p[t[:, 0]])
    normals = np.zeros_like(p)
    for corner in range(3):
        np.add.at(normals, t[:, corner], facet)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 1e-12, normals / np.maximum(length, 1e-12), [0.0, 0.0, 1.0])


def _turn(yaw: float, tilt: float) -> Floats:
    c, s = np.cos(yaw), np.sin(yaw)
    d, t = np.cos(tilt), np.sin(tilt)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ np.array(
        [[d, 0.0, t], [0.0, 1.0, 0.0], [-t, 0.0, d]]
    )


def unit_sphere(sides: int, rings: int) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices (V, 3) and outward triangles (T, 3) of a sphere with poles on z."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2.0 * np.pi * np.arange(sides) / sides
    belt = np.stack(
        [
            np.outer(np.sin(polar), np.cos(around)),
            np.outer(np.sin(polar), np.sin(around)),
            np.outer(np.cos(polar), np.ones(sides)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], belt, [[0.0, 0.0, -1.0]]])
    i = np.arange(sides)
    k = (i + 1) % sides
    faces = [np.stack([np.zeros(sides, dtype=np.int64), 1 + i, 1 + k], axis=1)]
    for ring in range(rings - 2):
        top, low = 1 + ring * sides, 1 + (ring + 1) * sides
        faces.append(np.stack([top + i, low + i, low + k], axis=1))
        faces.append(np.stack([top + i, low + k, top + k], axis=1))
    last = 1 + (rings - 2) * sides
    faces.append(np.stack([last + i, np.full(sides, len(vertices) - 1), last + k], axis=1))
    return vertices, np.concatenate(faces)
