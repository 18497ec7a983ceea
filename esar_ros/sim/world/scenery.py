"""Scenery: what a settlement's plan has built, standing on its ground; solid and drawn, and no objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.buildings.builders import BUILDERS, DRAPED
from esar_ros.sim.assets.buildings.masonry import Masonry, turn
from esar_ros.sim.terrain.maps import PlaceMap


@dataclass(frozen=True, eq=False)
class Facets:
    """Flat triangles of scenery in the map frame."""

    corners: NDArray[np.float32]  # (T, 3, 3) m, counter-clockwise seen from outside
    tones: NDArray[np.float32]  # (T, 3) linear albedo


@dataclass(frozen=True, eq=False)
class Scenery:
    """All pieces of a place; their order is their identity."""

    names: tuple[str, ...]  # of the pieces: kind and number
    solids: NDArray[np.float64]  # (K, 15) boxes: centre (3), half extents (3), axes as rows (9), map frame, m
    owners: NDArray[np.int32]  # (K,) piece of each solid
    coarse: Facets  # shows from afar
    fine: Facets  # shows from near


@lru_cache(4)
def scenery_of(place: PlaceMap) -> Scenery:
    """Everything built on a place: a piece stands upright at its middle's height, or follows the ground."""
    pieces = () if place.plan is None else place.plan.pieces
    solids: list[NDArray[np.float64]] = []
    owners: list[NDArray[np.int32]] = []
    facets: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
    tones: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
    for index, piece in enumerate(pieces):
        masonry, rotation = Masonry(), turn(piece.yaw)
        BUILDERS[piece.kind](masonry, piece)
        foot = np.array([*piece.xy, float(place.ground_height(piece.xy))])
        own = masonry.solids
        axes = own[:, 6:].reshape(-1, 3, 3) @ rotation.T
        solids.append(np.hstack([foot + own[:, :3] @ rotation.T, own[:, 3:6], axes.reshape(-1, 9)]))
        owners.append(np.full(len(own), index, dtype=np.int32))
        for fine in (False, True):
            corners, albedo = masonry.facets(fine)
            at = corners @ rotation.T + foot
            if piece.kind in DRAPED:
                at[..., 2] += place.ground_height(at[..., :2]) - foot[2]
            facets[fine].append(at)
            tones[fine].append(albedo)
    return Scenery(
        names=tuple(f"{piece.kind}_{index}" for index, piece in enumerate(pieces)),
        solids=np.concatenate(solids) if solids else np.zeros((0, 15)),
        owners=np.concatenate(owners) if owners else np.zeros(0, dtype=np.int32),
        coarse=_facets(facets[0], tones[0]),
        fine=_facets(facets[1], tones[1]),
    )


def _facets(corners: list[NDArray[np.float64]], tones: list[NDArray[np.float64]]) -> Facets:
    if not corners:
        return Facets(np.zeros((0, 3, 3), dtype=np.float32), np.zeros((0, 3), dtype=np.float32))
    return Facets(np.concatenate(corners).astype(np.float32), np.concatenate(tones).astype(np.float32))
