"""Triangle meshes put together from tapered limbs, ellipsoids, boxes and sheets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Colour = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Indexed triangles in m, z up, standing on z = 0. Colours are linear albedo; emission is 0 (lit) to 1 (glows)."""

    positions: NDArray[np.float32]  # (V, 3)
    normals: NDArray[np.float32]  # (V, 3) unit, outwards
    colours: NDArray[np.float32]  # (V, 3); above 1 only where emission > 0
    emission: NDArray[np.float32]  # (V,)
    triangles: NDArray[np.int32]  # (T, 3) counter-clockwise seen from outside

    @property
    def radius(self) -> float:
        """Of the sphere about the mesh's origin that holds it, m."""
        return float(np.sqrt((self.positions.astype(np.float64) ** 2).sum(axis=1).max()))

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Least and greatest corner, m."""
        return self.positions.min(axis=0), self.positions.max(axis=0)

    def scaled(self, factor: float) -> Mesh:
        """The same shape in another size."""
        return Mesh(
            (self.positions * np.float32(factor)).astype(np.float32),
            self.normals,
            self.colours,
            self.emission,
            self.triangles,
        )


class MeshBuilder:
    """Collects parts; every part gets one albedo and an emission."""

    def __init__(self) -> None:
        self._positions: list[NDArray[np.float64]] = []
        self._normals: list[NDArray[np.float64]] = []
        self._colours: list[NDArray[np.float64]] = []
        self._emission: list[NDArray[np.float64]] = []
        self._triangles: list[NDArray[np.int64]] = []
        self._count = 0

    def add(
        self, positions: ArrayLike, normals: ArrayLike, triangles: ArrayLike, colour: ArrayLike, emission: float = 0.0
    ) -> None:
        """Raw part: (V, 3), (V, 3), (T, 3) and a colour (3,) or (V, 3)."""
        p = np.asarray(positions, dtype=np.float64)
        self._positions.append(p)
        self._normals.append(np.asarray(normals, dtype=np.float64))
        self._colours.append(np.broadcast_to(np.asarray(colour, dtype=np.float64), p.shape))
        self._emission.append(np.full(len(p), emission))
        self._triangles.append(np.asarray(triangles, dtype=np.int64) + self._count)
        self._count += len(p)

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

    def box(self, centre: ArrayLike, half: ArrayLike, colour: ArrayLike, yaw: float = 0.0) -> None:
        """Box of half extents (3,), turned by yaw (rad)."""
        signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)
        c, s = np.cos(yaw), np.sin(yaw)
        corner = signs * np.asarray(half) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + np.asarray(centre)
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
    ) -> None:
        """Smooth ellipsoid of the given radii (3,) along the axes."""
        unit, triangles = unit_sphere(sides, rings)
        r = np.asarray(radii, dtype=np.float64)
        normals = unit / r
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        self.add(unit * r + np.asarray(centre), normals, triangles, colour, emission)

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

    def mesh(self) -> Mesh:
        """Everything added so far."""
        return Mesh(
            np.concatenate(self._positions).astype(np.float32),
            np.concatenate(self._normals).astype(np.float32),
            np.concatenate(self._colours).astype(np.float32),
            np.concatenate(self._emission).astype(np.float32),
            np.concatenate(self._triangles).astype(np.int32),
        )


def unit_sphere(sides: int, rings: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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
