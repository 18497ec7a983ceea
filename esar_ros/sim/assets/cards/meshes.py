"""Meshes of cards by species, as plant_meshes.meshes has the plain ones."""

from __future__ import annotations

from functools import cache

from esar_ros.sim.assets.cards.card_mesh import CardBuilder, CardMesh
from esar_ros.sim.assets.cards.plants import crown, fir, tamarisk
from esar_ros.sim.assets.cards.stones import cut_stone
from esar_ros.sim.assets.mesh_builder import Colour, Mesh
from esar_ros.sim.assets.plant_meshes import meshes

_FIR, _LARCH = (0.036, 0.060, 0.024), (0.098, 0.112, 0.038)
_STONES: dict[str, tuple[Colour, Colour]] = {  # of the stone, of its spots
    "rock": ((0.165, 0.160, 0.148), (0.170, 0.176, 0.112)),
    "boulder": ((0.200, 0.162, 0.120), (0.105, 0.092, 0.078)),
    "gobi_stone": ((0.120, 0.098, 0.080), (0.200, 0.165, 0.130)),
    "ice_block": ((0.480, 0.640, 0.740), (0.780, 0.830, 0.870)),
}

WHOLE = (*_STONES, "salt_block")  # species that nothing is cut out of


@cache
def card_meshes(species: str, variant: int) -> tuple[CardMesh, CardMesh]:
    """Full and coarse mesh of a species."""
    v = variant
    if species == "conifer":
        return fir(31 + v, 10, 6, _FIR, 2, True), fir(41 + v, 5, 5, _FIR, 1, False)
    if species == "larch":
        return fir(131 + v, 9, 6, _LARCH, 2, True), fir(141 + v, 5, 5, _LARCH, 1, False)
    if species == "broadleaf":
        green, bark = (0.060, 0.094, 0.026), (0.30, 0.28, 0.25)
        full = crown(51 + v, species, green, 44, 0.42, (6, 5), bark)
        return full, crown(61 + v, species, green, 14, 0.62, (5, 3), None)
    if species == "evergreen":
        green, bark = (0.048, 0.082, 0.022), (0.115, 0.098, 0.080)
        full = crown(151 + v, species, green, 60, 0.36, (7, 5), bark)
        return full, crown(161 + v, species, green, 20, 0.50, (6, 4), None)
    if species == "bush":
        green = (0.062, 0.088, 0.032)
        return (
            crown(71 + v, species, green, 18, 0.52, (5, 4), None),
            crown(81 + v, species, green, 8, 0.56, (4, 3), None),
        )
    if species == "tamarisk":
        return tamarisk(171 + v, 14, 0.24, (9, 6)), tamarisk(181 + v, 5, 0.34, (6, 4))
    if species in _STONES:
        worn, colours = 0.45 if species == "boulder" else 0.0, _STONES[species]
        full = cut_stone(211 + v, species, colours, (10, 8), 11, worn)
        return full, cut_stone(211 + v, species, colours, (6, 3), 11, worn)
    full, coarse = (_solid(mesh) for mesh in meshes(species, variant))
    return full, coarse


def _solid(mesh: Mesh) -> CardMesh:
    made = CardBuilder()
    made.solid(mesh, 0.85)
    return made.mesh()
