"""Meshes whose vertices have a place in one of the pictures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.sim.assets.cards.pictures import Picture
from esar_ros.sim.assets.mesh_builder import Mesh

FLOATS = 12  # of a vertex


def of_length_one(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns vectors (..., 3) of length 1; of length 0 where they have none."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))


@dataclass(frozen=True, eq=False)
class CardMesh:
    """Triangles of unit height, z up, standing on z = 0."""

    vertices: NDArray[np.float32]  # (V, FLOATS) position, normal, linear albedo, place in the picture and its number
    triangles: NDArray[np.int32]  # (T, 3)

    @property
    def positions(self) -> NDArray[np.float32]:
        """(V, 3)."""
        return self.vertices[:, :3]


class CardBuilder:
    """Collects cards and solid parts."""

    def __init__(self) -> None:
        self._rows: list[NDArray[np.float32]] = []
        self._faces: list[NDArray[np.int32]] = []
        self._count = 0

    def add(
        self, positions: ArrayLike, normals: ArrayLike, colours: ArrayLike, place: ArrayLike, triangles: ArrayLike
    ) -> None:
        """Raw part: (V, 3) each, or one (3,) for all but the positions; triangles (T, 3)."""
        points = np.asarray(positions, dtype=np.float32)
        table = np.empty((len(points), FLOATS), dtype=np.float32)
        table[:, :3], table[:, 3:6], table[:, 6:9], table[:, 9:] = points, normals, colours, place
        self._rows.append(table)
        self._faces.append((np.asarray(triangles) + self._count).astype(np.int32))
        self._count += len(points)

    def card(self, corners: ArrayLike, normal: ArrayLike, colours: ArrayLike, picture: Picture) -> None:
        """Corners (4, 3) about (0, 0), (1, 0), (1, 1), (0, 1) of the picture; one normal and colour or four."""
        at = np.array([[0.01, 0.01], [0.99, 0.01], [0.99, 0.99], [0.01, 0.99]])  # pictures wrap
        place = np.column_stack([at, np.full(4, float(picture))])
        self.add(corners, normal, colours, place, [[0, 1, 2], [0, 2, 3]])

    def blade(self, corners: ArrayLike, normals: ArrayLike, colours: ArrayLike, picture: Picture) -> None:
        """Corners (3, 3) about (0, 0), (1, 0.5), (0, 1): half a card, for what narrows to a tip."""
        place = np.array([[0.01, 0.0, picture], [0.99, 0.5, picture], [0.01, 1.0, picture]], dtype=np.float32)
        self.add(corners, normals, colours, place, [[0, 1, 2]])

    def solid(self, mesh: Mesh, shade: float = 1.0) -> None:
        """A mesh that nothing is cut out of."""
        x, y, z = mesh.positions.T
        place = np.column_stack([2.0 * (x + 0.6 * y), 2.0 * (z - 0.5 * y), np.full(len(x), float(Picture.SOLID))])
        self.add(mesh.positions, mesh.normals, mesh.colours * shade, place, mesh.triangles)

    def mesh(self) -> CardMesh:
        """All that was added."""
        return CardMesh(np.concatenate(self._rows), np.concatenate(self._faces))
