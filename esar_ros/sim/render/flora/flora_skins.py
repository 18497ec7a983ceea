"""Skins of plants and rocks: plain facets, or cards with pictures in images of high quality."""

from __future__ import annotations

from typing import Protocol

import cv2
import moderngl
import numpy as np

from esar_ros.mission.names import HIGH
from esar_ros.sim.assets.cards.meshes import WHOLE, card_meshes
from esar_ros.sim.assets.cards.pictures import SIDE, draw_pictures
from esar_ros.sim.assets.mesh_builder import Mesh
from esar_ros.sim.assets.plant_meshes import meshes
from esar_ros.sim.render.graphics import Unit, program, variants
from esar_ros.sim.render.shaders import cards, flora
from esar_ros.sim.render.shaders.common import defined
from esar_ros.sim.world.scatter import SPECIES, VARIANTS

Buffers = tuple[moderngl.Buffer, moderngl.Buffer]  # vertices, triangles
Programs = tuple[moderngl.Program, moderngl.Program, moderngl.Program]  # by Look
_CUT = 0.4  # alpha below which a billboard is cut


class PlantSkin(Protocol):
    """Shaders and meshes of plants; layouts of their vertices: lit, without colour, painted into the atlas."""

    lit: tuple[str, ...]
    flat: tuple[str, ...]
    painted: tuple[str, ...]
    atlas_cell: tuple[int, int]  # px, of a tree's side view

    def programs(self, kind: int) -> Programs:
        """Programs of a species and variant."""

    def painter(self) -> moderngl.Program:
        """Program that paints the billboards' atlas."""

    def upload(self, kind: int) -> tuple[Buffers, Buffers, Buffers]:
        """Full and coarse mesh of a species and variant, and the one that throws its shadow."""

    def shrink(self, atlas: moderngl.Texture) -> None:
        """Make the smaller levels of the atlas."""


class PlainSkin:
    """Facets that are lit at their vertices."""

    lit: tuple[str, ...] = ("3f 3f 3f", "position", "normal", "albedo")
    flat: tuple[str, ...] = ("3f 24x", "position")
    painted: tuple[str, ...] = ("3f 12x 3f", "position", "albedo")
    atlas_cell = (64, 128)

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        vertex, fragment = flora.PLANT_VERTEX, flora.PLANT_FRAGMENT
        self._programs = (
            *variants(context, vertex, fragment, detail=Unit.DETAIL),
            program(context, vertex, flora.PLANT_BARE_FRAGMENT),
        )

    def programs(self, kind: int) -> Programs:
        return self._programs

    def painter(self) -> moderngl.Program:
        return program(self._context, flora.ATLAS_VERTEX, flora.ATLAS_FRAGMENT)

    def upload(self, kind: int) -> tuple[Buffers, Buffers, Buffers]:
        full, coarse = (_plain(self._context, mesh) for mesh in _meshes(kind))
        return full, coarse, coarse

    def shrink(self, atlas: moderngl.Texture) -> None:
        atlas.build_mipmaps()


class CardSkin:
    """Cards cut out by pictures; shadows are thrown by the plain coarse meshes."""

    lit: tuple[str, ...] = ("3f 3f 3f 3f", "position", "normal", "albedo", "leaf")
    flat: tuple[str, ...] = ("3f 24x 3f", "position", "leaf")
    painted: tuple[str, ...] = ("3f 12x 3f 3f", "position", "albedo", "leaf")
    atlas_cell = (128, 128)  # as many across as up, or tips would be lost

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        pictures = np.ascontiguousarray(draw_pictures())
        leaves = context.texture_array((SIDE, SIDE, len(pictures)), 2, pictures.tobytes())
        leaves.build_mipmaps()
        leaves.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        leaves.use(Unit.LEAVES)
        vertex, fragment, bare = (
            cards.CARD_VERTEX, cards.CARD_FRAGMENT, cards.CARD_BARE_FRAGMENT,
        )  # fmt: skip
        self._whole: Programs = (
            *variants(context, vertex, fragment, leaves=Unit.LEAVES),
            program(context, vertex, bare),
        )
        self._cut: Programs = (
            *variants(context, vertex, fragment, "CUT", leaves=Unit.LEAVES),
            program(context, vertex, defined(bare, "CUT"), leaves=Unit.LEAVES),
        )

    def programs(self, kind: int) -> Programs:
        return self._whole if SPECIES[kind // VARIANTS] in WHOLE else self._cut

    def painter(self) -> moderngl.Program:
        fragment = defined(cards.CARD_ATLAS_FRAGMENT, "CUT")
        return program(self._context, cards.CARD_ATLAS_VERTEX, fragment, leaves=Unit.LEAVES)

    def upload(self, kind: int) -> tuple[Buffers, Buffers, Buffers]:
        full, coarse = (
            (self._context.buffer(mesh.vertices.tobytes()), self._context.buffer(mesh.triangles.tobytes()))
            for mesh in card_meshes(SPECIES[kind // VARIANTS], kind % VARIANTS)
        )
        return full, coarse, _plain(self._context, _meshes(kind)[1])

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


def plant_skin(context: moderngl.Context, quality: str) -> PlantSkin:
    """Returns the skin of plants in images of a quality."""
    return CardSkin(context) if quality == HIGH else PlainSkin(context)


def _meshes(kind: int) -> tuple[Mesh, Mesh]:
    """Full and coarse mesh of a species and variant, of plain facets."""
    return meshes(SPECIES[kind // VARIANTS], kind % VARIANTS)


def _plain(context: moderngl.Context, mesh: Mesh) -> Buffers:
    vertices = np.hstack([mesh.positions, mesh.normals, mesh.colours]).astype(np.float32)
    return context.buffer(vertices.tobytes()), context.buffer(mesh.triangles.tobytes())
