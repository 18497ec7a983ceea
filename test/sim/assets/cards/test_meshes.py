"""Plants of cards and cut stones: within what rays and collisions meet, and cheap enough to be drawn by thousands."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.sim.assets.cards.card_mesh import FLOATS, CardMesh
from esar_ros.sim.assets.cards.meshes import WHOLE, card_meshes
from esar_ros.sim.assets.cards.pictures import SIDE, Picture, draw_pictures
from esar_ros.sim.assets.plant_meshes import CONIFER_CROWN_BASE, SHAPES, meshes
from esar_ros.sim.world.scatter import SPECIES, VARIANTS


def outside(species: str, points: NDArray[np.float32]) -> float:
    """Reach of points (V, 3) of a mesh of unit height out of its solid at most, in heights."""
    centre, wide, high = SHAPES[species]
    across, z = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    if species in ("conifer", "larch"):
        radius = wide * np.clip((1.0 - z) / (1.0 - CONIFER_CROWN_BASE), 0.0, 1.0)
        return float((across - radius)[z > CONIFER_CROWN_BASE].max())
    scale = np.sqrt((across / wide) ** 2 + ((z - centre) / high) ** 2)
    above = z > 0.3  # a trunk and what is buried are no part of the crown
    return float((np.hypot(across, z - centre) * (1.0 - 1.0 / np.maximum(scale, 1e-9)))[above].max())


def drawn(mesh: CardMesh) -> NDArray[np.float32]:
    """Points (K, 3) of a mesh that its pictures do not cut out."""
    steps = np.linspace(0.0, 1.0, 9)
    shares = np.array([(a, b, 1.0 - a - b) for a in steps for b in steps if a + b <= 1.0])
    rows = np.einsum("sk,tkf->tsf", shares, mesh.vertices[mesh.triangles]).reshape(-1, FLOATS)
    texel = np.floor(rows[:, 9:11] * SIDE).astype(int) % SIDE
    there = draw_pictures()[np.rint(rows[:, 11]).astype(int), texel[:, 1], texel[:, 0], 1] > 107
    return np.asarray(rows[there, :3], dtype=np.float32)


@pytest.mark.parametrize("variant", range(VARIANTS))
@pytest.mark.parametrize("species", SPECIES)
def test_cards_keep_to_the_solids_as_plain_meshes_do(species: str, variant: int) -> None:
    plain = max(outside(species, mesh.positions) for mesh in meshes(species, variant))
    for mesh in card_meshes(species, variant):
        assert outside(species, drawn(mesh)) < max(plain, 0.0) + 0.08
        assert drawn(mesh)[:, 2].max() == pytest.approx(meshes(species, variant)[0].positions[:, 2].max(), abs=0.15)


@pytest.mark.parametrize("species", SPECIES)
def test_meshes_are_sound(species: str) -> None:
    full, coarse = card_meshes(species, 0)
    for mesh, most in ((full, 420), (coarse, 160)):
        assert mesh.vertices.shape[1] == FLOATS and np.isfinite(mesh.vertices).all()
        assert len(mesh.vertices) <= most and mesh.triangles.max() < len(mesh.vertices)
        assert np.linalg.norm(mesh.vertices[:, 3:6], axis=1) == pytest.approx(1.0, abs=1e-3)
        assert (mesh.vertices[:, 6:9] > 0.0).all() and (mesh.vertices[:, 6:9] < 1.0).all()
    assert len(coarse.vertices) < len(full.vertices) or species == "salt_block"
    assert {*full.vertices[:, 11]} <= {float(picture) for picture in Picture}
    assert ({*full.vertices[:, 11]} == {float(Picture.SOLID)}) == (species in WHOLE)


def test_variants_differ() -> None:
    one, other = (card_meshes("conifer", variant)[0].positions for variant in range(2))
    assert one.shape == other.shape and not np.allclose(one, other)


def test_pictures_are_cut_and_solid_ones_are_not() -> None:
    pictures = draw_pictures()
    share = (pictures[..., 1] > 107).mean(axis=(1, 2))
    assert share[Picture.SOLID] == 1.0
    for picture in (Picture.FROND, Picture.SPIRE, Picture.LEAVES):
        assert 0.2 < share[picture] < 0.8
