"""Draws plants and rocks: instanced meshes near, billboards far, depth alone for the shadow map."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.plant_meshes import BILLBOARD_CORNERS, TREES
from esar_ros.sim.render.flora.flora_lod import BILLBOARD_SPECIES, BILLBOARDS, FloraLod
from esar_ros.sim.render.flora.flora_skins import Buffers, PlantSkin
from esar_ros.sim.render.graphics import Look, Unit, program, variants
from esar_ros.sim.render.shaders import common
from esar_ros.sim.render.shaders import flora as glsl
from esar_ros.sim.render.views import View
from esar_ros.sim.world.raycast import Ground
from esar_ros.sim.world.scatter import SPECIES, VARIANTS, Flora

_ROW = 32  # bytes of an instance

_CORNERS = np.array([BILLBOARD_CORNERS[name] for name in TREES], dtype=np.float32)  # (trees, 3, 2)


class FloraDrawing:
    """GPU side of a Flora."""

    def __init__(self, context: moderngl.Context, flora: Flora, ground: Ground, skin: PlantSkin) -> None:
        self._context = context
        self.lod = FloraLod(flora, ground)
        self._shadow = program(context, glsl.PLANT_SHADOW_VERTEX, common.EMPTY_FRAGMENT)
        sprite = (
            *variants(context, glsl.BILLBOARD_VERTEX, glsl.BILLBOARD_FRAGMENT, atlas=Unit.ATLAS),
            program(context, glsl.BILLBOARD_VERTEX, glsl.BILLBOARD_BARE_FRAGMENT, atlas=Unit.ATLAS),
        )
        for made in sprite:
            made["plants"] = float(BILLBOARD_SPECIES * VARIANTS)
        self._rows = context.buffer(reserve=16_384 * _ROW, dynamic=True)
        self._draw: list[list[list[moderngl.VertexArray]]] = []  # by kind; fine, coarse; look
        self._draw_shadow: list[moderngl.VertexArray] = []
        instance = (self._rows, "4f 4f/i", "foot", "look")
        trees = []  # full meshes, for the atlas
        for kind in range(len(SPECIES) * VARIANTS):
            full, coarse, shadow = skin.upload(kind)
            programs = skin.programs(kind)
            trees += [full] if kind < BILLBOARD_SPECIES * VARIANTS else []
            self._draw.append(
                [
                    [
                        context.vertex_array(used, [(rows, *layout), instance], faces)
                        for used, layout in zip(programs, (skin.lit, skin.lit, skin.flat), strict=True)
                    ]
                    for rows, faces in (full, coarse)
                ]
            )
            content = [(shadow[0], "3f 24x", "position"), instance]
            self._draw_shadow.append(context.vertex_array(self._shadow, content, shadow[1]))
        self._sprites = context.buffer(reserve=BILLBOARDS * 3 * 40, dynamic=True)
        sprites = [(self._sprites, "2f 4f 4f", "corner", "foot", "look")]
        self._sprite_arrays = [context.vertex_array(used, sprites) for used in sprite]
        self._atlas = self._paint_atlas(skin, trees)
        self._atlas.use(Unit.ATLAS)

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

    def _paint_atlas(self, skin: PlantSkin, trees: list[Buffers]) -> moderngl.Texture:
        """Side views of the trees' full meshes, one cell each, alpha where there is tree."""
        width, height = skin.atlas_cell[0] * len(trees), skin.atlas_cell[1]
        texture = self._context.texture((width, height), 4)
        target = self._context.framebuffer([texture], self._context.depth_renderbuffer((width, height)))
        painter = skin.painter()
        target.use()
        self._context.viewport = (0, 0, width, height)
        target.clear(0.17, 0.22, 0.14, 0.0, depth=1.0)
        for kind, (vertices, faces) in enumerate(trees):
            painter["cell"] = (float(len(trees)), float(kind))
            self._context.vertex_array(painter, [(vertices, *skin.painted)], faces).render()
        skin.shrink(texture)
        texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        texture.repeat_x = texture.repeat_y = False
        return texture
