"""What plants and rocks are made of: plain facets, or cards with pictures in images of high quality."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.names import HIGH
from esar_ros.sim.assets.cards.meshes import card_meshes
from esar_ros.sim.assets.cards.pictures import SIDE, draw_pictures
from esar_ros.sim.assets.mesh_builder import Mesh
from esar_ros.sim.assets.plant_meshes import meshes
from esar_ros.sim.render import shaders_cards, shaders_flora
from esar_ros.sim.render.graphics import Unit
from esar_ros.sim.world.scatter import SPECIES, VARIANTS

Buffers = tuple[moderngl.Buffer, moderngl.Buffer]  # vertices, triangles
_CUT = 0.4  # alpha below which a billboard is cut


@dataclass(frozen=True)
class PlantSkin:
    """Shaders of plants, layouts of their vertices (lit; without colour; painted into the atlas), and their meshes."""

    vertex: str = shaders_flora.PLANT_VERTEX
    fragment: str = shaders_flora.PLANT_FRAGMENT
    bare: str = shaders_flora.PLANT_BARE_FRAGMENT
    atlas_vertex: str = shaders_flora.ATLAS_VERTEX
    atlas_fragment: str = shaders_flora.ATLAS_FRAGMENT
    lit: tuple[str, ...] = ("3f 3f 3f", "position", "normal", "albedo")
    flat: tuple[str, ...] = ("3f 24x", "position")
    painted: tuple[str, ...] = ("3f 12x 3f", "position", "albedo")
    atlas_cell: tuple[int, int] = (64, 128)  # px
    cut = False  # whether the shaders without colour need the samplers, too

    @property
    def samplers(self) -> dict[str, int]:
        """Texture units by sampler."""
        return {"detail": Unit.DETAIL}

    def prepare(self, context: moderngl.Context) -> None:
        """Bind textures of its own."""

    def upload(self, context: moderngl.Context, kind: int) -> tuple[Buffers, Buffers, Buffers]:
        """Full and coarse mesh of a species and variant, and the one that throws its shadow."""
        full, coarse = (_plain(context, mesh) for mesh in _meshes(kind))
        return full, coarse, coarse

    def shrink(self, atlas: moderngl.Texture) -> None:
        """Make the smaller levels of the billboards' atlas."""
        atlas.build_mipmaps()


class CardSkin(PlantSkin):
    """Cards cut out by pictures; shadows are thrown by the plain coarse meshes."""

    cut = True

    def __init__(self) -> None:
        super().__init__(
            shaders_cards.CARD_VERTEX,
            shaders_cards.CARD_FRAGMENT,
            shaders_cards.CARD_BARE_FRAGMENT,
            shaders_cards.CARD_ATLAS_VERTEX,
            shaders_cards.CARD_ATLAS_FRAGMENT,
            ("3f 3f 3f 3f", "position", "normal", "albedo", "leaf"),
            ("3f 24x 3f", "position", "leaf"),
            ("3f 12x 3f 3f", "position", "albedo", "leaf"),
            (128, 128),  # as many across as up, or tips would be lost
        )

    @property
    def samplers(self) -> dict[str, int]:
        return {"leaves": Unit.LEAVES}

    def prepare(self, context: moderngl.Context) -> None:
        pictures = np.ascontiguousarray(draw_pictures())
        leaves = context.texture_array((SIDE, SIDE, len(pictures)), 2, pictures.tobytes())
        leaves.build_mipmaps()
        leaves.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        leaves.use(Unit.LEAVES)

    def upload(self, context: moderngl.Context, kind: int) -> tuple[Buffers, Buffers, Buffers]:
        full, coarse = (
            (context.buffer(mesh.vertices.tobytes()), context.buffer(mesh.triangles.tobytes()))
            for mesh in card_meshes(SPECIES[kind // VARIANTS], kind % VARIANTS)
        )
        return full, coarse, _plain(context, _meshes(kind)[1])

    def shrink(self, atlas: moderngl.Texture) -> None:
        """The smaller levels cover as much as the painting: means alone would blunt the tips of firs."""
        side = self.atlas_cell[0]
        image = np.frombuffer(atlas.read(), dtype=np.uint8).reshape(side, -1, side, 4).swapaxes(0, 1)
        cells = list(image.astype(np.float32))
        covered = [float((cell[..., 3] > 255.0 * _CUT).mean()) for cell in cells]
        atlas.build_mipmaps()
        for level in range(1, side.bit_length()):
            side //= 2
            cells = [cv2.resize(cell, (side, side), interpolation=cv2.INTER_AREA) for cell in cells]
            wide = np.array(cells)
            for cell, share in zip(wide, covered, strict=True):
                limit = max(float(np.quantile(cell[..., 3], 1.0 - share)), 1.0)
                cell[..., 3] = np.minimum(255.0, cell[..., 3] * max(1.0, 255.0 * _CUT / limit))
            atlas.write(np.ascontiguousarray(wide.swapaxes(0, 1) + 0.5, dtype=np.uint8).tobytes(), level=level)


def plant_skin(quality: str) -> PlantSkin:
    """What plants are made of in images of a quality."""
    return CardSkin() if quality == HIGH else PlantSkin()


def _meshes(kind: int) -> tuple[Mesh, Mesh]:
    """Full and coarse mesh of a species and variant, of plain facets."""
    return meshes(SPECIES[kind // VARIANTS], kind % VARIANTS)


def _plain(context: moderngl.Context, mesh: Mesh) -> Buffers:
    vertices: NDArray[np.float32] = np.hstack([mesh.positions, mesh.normals, mesh.colours]).astype(np.float32)
    return context.buffer(vertices.tobytes()), context.buffer(mesh.triangles.tobytes())
