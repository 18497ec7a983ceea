"""Draws plants and rocks: instanced meshes near, billboards far, depth alone for the shadow map."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.mesh_builder import Mesh
from esar_ros.sim.assets.plant_meshes import BILLBOARD_CORNERS, TREES, meshes
from esar_ros.sim.render import shaders, shaders_flora
from esar_ros.sim.render.flora_lod import BILLBOARD_SPECIES, BILLBOARDS, FloraLod
from esar_ros.sim.render.graphics import Look, program, variants
from esar_ros.sim.render.views import View
from esar_ros.sim.world.raycast import Ground
from esar_ros.sim.world.scatter import SPECIES, VARIANTS, Flora

_ROW = 32  # bytes of an instance
_ATLAS_CELL = (64, 128)

_CORNERS = np.array([BILLBOARD_CORNERS[name] for name in TREES], dtype=np.float32)  # (trees, 3, 2)


def _meshes(kind: int) -> tuple[Mesh, Mesh]:
    """Full and coarse mesh of a species and variant."""
    return meshes(SPECIES[kind // VARIANTS], kind % VARIANTS)


class FloraDrawing:
    """GPU side of a Flora."""

    def __init__(
        self, context: moderngl.Context, flora: Flora, ground: Ground, detail_unit: int, atlas_unit: int
    ) -> None:
        self._context = context
        self.lod = FloraLod(flora, ground)
        self._programs = (
            *variants(context, shaders_flora.PLANT_VERTEX, shaders_flora.PLANT_FRAGMENT, detail=detail_unit),
            program(context, shaders_flora.PLANT_VERTEX, shaders_flora.PLANT_BARE_FRAGMENT),
        )
        self._shadow = program(context, shaders_flora.PLANT_SHADOW_VERTEX, shaders.EMPTY_FRAGMENT)
        sprite = (
            *variants(context, shaders_flora.BILLBOARD_VERTEX, shaders_flora.BILLBOARD_FRAGMENT, atlas=atlas_unit),
            program(context, shaders_flora.BILLBOARD_VERTEX, shaders_flora.BILLBOARD_BARE_FRAGMENT, atlas=atlas_unit),
        )
        for made in sprite:
            made["plants"] = float(BILLBOARD_SPECIES * VARIANTS)
        self._rows = context.buffer(reserve=16_384 * _ROW, dynamic=True)
        self._draw: list[list[list[moderngl.VertexArray]]] = []  # by kind; fine, coarse; look
        self._draw_shadow: list[moderngl.VertexArray] = []
        for kind in range(len(SPECIES) * VARIANTS):
            full, coarse = (self._upload(mesh) for mesh in _meshes(kind))
            instance = (self._rows, "4f 4f/i", "foot", "look")
            lit, bare = ("3f 3f 3f", "position", "normal", "albedo"), ("3f 24x", "position")
            self._draw.append(
                [
                    [
                        context.vertex_array(used, [(rows, *layout), instance], faces)
                        for used, layout in zip(self._programs, (lit, lit, bare), strict=True)
                    ]
                    for rows, faces in (full, coarse)
                ]
            )
            self._draw_shadow.append(context.vertex_array(self._shadow, [(coarse[0], *bare), instance], coarse[1]))
        self._sprites = context.buffer(reserve=BILLBOARDS * 3 * 40, dynamic=True)
        content = [(self._sprites, "2f 4f 4f", "corner", "foot", "look")]
        self._sprite_arrays = [context.vertex_array(used, content) for used in sprite]
        self._atlas = self._paint_atlas()
        self._atlas.use(atlas_unit)

    def draw(self, view: View, present: NDArray[np.bool_], focal: float, look: Look) -> None:
        """Everything the view shows; the Frame block is bound already."""
        buckets, sprites = self.lod.select(present, view.eye, view.planes, focal)
        for kind, coarse, rows in buckets:
            self._rows.write(rows)
            self._draw[kind][coarse][look].render(instances=len(rows))
        if len(sprites):
            self._draw_sprites(sprites, look)

    def draw_shadow(
        self, to_light: NDArray[np.float64], present: NDArray[np.bool_], xy: NDArray[np.float64], reach: float
    ) -> None:
        """Depth of what stands within reach (m) of a point, seen from the sun."""
        self._shadow["to_light"].write(to_light.T.astype(np.float32).tobytes())  # type: ignore[union-attr]
        for array, rows in zip(self._draw_shadow, self.lod.around(present, xy, reach), strict=True):
            for start in range(0, len(rows), 16_384):
                part = rows[start : start + 16_384]
                self._rows.write(part)
                array.render(instances=len(part))

    def _draw_sprites(self, sprites: NDArray[np.float32], look: Look) -> None:
        # Plain triangles: drivers without a GPU spend more on an instance of three vertices than on the vertices.
        table = np.empty((len(sprites), 3, 10), dtype=np.float32)
        table[:, :, :2] = _CORNERS[sprites[:, 3].astype(np.int64) // VARIANTS]
        table[:, :, 2:] = sprites[:, None, :]
        self._sprites.write(table)
        self._sprite_arrays[look].render(vertices=3 * len(sprites))

    def _upload(self, mesh: Mesh) -> tuple[moderngl.Buffer, moderngl.Buffer]:
        vertices = np.hstack([mesh.positions, mesh.normals, mesh.colours]).astype(np.float32)
        return self._context.buffer(vertices.tobytes()), self._context.buffer(mesh.triangles.tobytes())

    def _paint_atlas(self) -> moderngl.Texture:
        """Side views of the trees' full meshes, one cell each, alpha where there is tree."""
        kinds = BILLBOARD_SPECIES * VARIANTS
        width, height = _ATLAS_CELL[0] * kinds, _ATLAS_CELL[1]
        texture = self._context.texture((width, height), 4)
        target = self._context.framebuffer([texture], self._context.depth_renderbuffer((width, height)))
        painter = program(self._context, shaders_flora.ATLAS_VERTEX, shaders_flora.ATLAS_FRAGMENT)
        target.use()
        self._context.viewport = (0, 0, width, height)
        target.clear(0.17, 0.22, 0.14, 0.0, depth=1.0)
        for kind in range(kinds):
            vertices, faces = self._upload(_meshes(kind)[0])
            layout = [(vertices, "3f 12x 3f", "position", "albedo")]
            painter["cell"] = (float(kinds), float(kind))
            self._context.vertex_array(painter, layout, faces).render()
        texture.build_mipmaps()
        texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        texture.repeat_x = texture.repeat_y = False
        return texture
