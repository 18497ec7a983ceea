"""Draws what stands on the ground: exact ids and depth at pixel centres, colour from several samples a pixel.

Small objects decide whether somebody is found, and one sample a pixel makes a gamble of which of their colours, if
any, a pixel gets. So their colour is drawn larger into tiles of an atlas, cut off where the scene lies before it, and
the mean of the samples is blended over the image by the share of them that were hit. Ids and depth are never mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.mesh_builder import Mesh
from esar_ros.sim.render.graphics import COLOUR_ALONE, EVERYTHING, mask_colour, program, variants
from esar_ros.sim.render.shaders import common
from esar_ros.sim.render.views import View
from esar_ros.sim.world.scene import SceneObject

_MIN_PX = 0.15  # projected radius below which nothing of an object can be seen
_ATLAS = 1024  # px, side
_BUDGET = 50_000  # samples of one tile; large objects get fewer a pixel, since edges are a small part of them
SAMPLES = (4, 3, 2, 1)  # along a side of a pixel
_MARGIN = 1  # px about an object
_MESHES = 1024  # held on the GPU at a time

LightAt = Callable[[SceneObject], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class _Tile:
    """Things whose rectangles in the image touch: view, things, rectangle (x0, y0, x1, y1) px, samples a side."""

    view: int
    things: list[SceneObject]
    box: tuple[int, int, int, int]
    samples: int
    corner: tuple[int, int]  # in the atlas


class ObjectDrawing:
    """Meshes on the GPU by mesh, uploaded when first seen."""

    def __init__(self, context: moderngl.Context, shadow_unit: int, depth_unit: int, tiles_unit: int) -> None:
        self._context = context
        self._depth_unit, self._tiles_unit = depth_unit, tiles_unit
        self._colour = variants(
            context, common.OBJECT_VERTEX, common.OBJECT_FRAGMENT, shadow_map=shadow_unit, scene_depth=depth_unit
        )
        self._ids = program(context, common.OBJECT_VERTEX, common.OBJECT_ID_FRAGMENT)
        self._warmth = program(context, common.OBJECT_VERTEX, common.WARMTH_FRAGMENT)
        self._shadow = program(context, common.OBJECT_SHADOW_VERTEX, common.EMPTY_FRAGMENT)
        self._resolve = program(context, common.RESOLVE_VERTEX, common.RESOLVE_FRAGMENT, tiles=tiles_unit)
        self._corners = context.buffer(reserve=32, dynamic=True)
        self._quad = context.vertex_array(self._resolve, [(self._corners, "2f", "corner")])
        self._tiles = context.texture((_ATLAS, _ATLAS), 4)
        self._tiles.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._target = context.framebuffer([self._tiles], context.depth_renderbuffer((_ATLAS, _ATLAS)))
        self._arrays: dict[
            int, tuple[Mesh, dict[str, moderngl.VertexArray], tuple[moderngl.Buffer, moderngl.Buffer]]
        ] = {}

    def draw_colour(
        self,
        views: Sequence[View],
        shown: Sequence[list[SceneObject]],
        bind: Callable[[int], None],
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        light_at: LightAt,
        samples: int,
        lamplit: bool,
    ) -> None:
        """Blend the things shown in each view over the images (size: of one, px) in target, one below the other.

        bind(k) makes view k the Frame block's; samples: maximum number along a side of a pixel;
        lamplit: whether the frame has lamps.
        """
        pending = [tile for k, things in enumerate(shown) for tile in _tiles(views[k], k, things, size, samples)]
        while pending:
            batch, pending, used = _pack(pending)
            self._target.use()
            self._target.clear(viewport=(0, 0, _ATLAS, used), depth=1.0)
            target.color_attachments[1].use(self._depth_unit)  # type: ignore[union-attr]
            for tile in batch:
                bind(tile.view)
                self._fill(tile, size, light_at, lamplit)
            self._context.scissor = None
            target.use()
            self._tiles.use(self._tiles_unit)
            mask_colour(target, COLOUR_ALONE)
            self._context.disable(moderngl.DEPTH_TEST)
            self._context.enable(moderngl.BLEND)
            self._context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
            for tile in batch:
                self._lay(tile, size)
            self._context.disable(moderngl.BLEND)
            self._context.enable(moderngl.DEPTH_TEST)
            mask_colour(target, EVERYTHING)

    def draw_ids(self, things: Sequence[SceneObject]) -> None:
        """Ids and depth of things in the view that is bound; the caller has masked the colour."""
        for thing in things:
            array = self._place(self._ids, "ids", thing)
            own, every = 3 * thing.mesh.own, thing.mesh.triangles.size
            self._ids["id"] = thing.id / 255.0
            array.render(vertices=own)
            if own < every:  # what lies over it
                self._ids["id"] = 0.0
                array.render(first=own, vertices=every - own)

    def draw_warmth(self, things: Sequence[SceneObject]) -> None:
        """Kelvin above the air."""
        for thing in things:
            self._place(self._warmth, "warmth", thing).render()

    def draw_shadow(
        self, to_light: NDArray[np.float64], objects: Sequence[SceneObject], xy: NDArray[np.float64], reach: float
    ) -> None:
        """Depth of the objects within reach (m) of a point, seen from the sun."""
        self._shadow["to_light"].write(to_light.T.astype(np.float32).tobytes())  # type: ignore[union-attr]
        for thing in objects:
            if float(np.hypot(*(thing.pose.position[:2] - xy))) < reach:
                self._shadow["model"].write(_matrices(thing)[0])  # type: ignore[union-attr]
                self._upload(thing.mesh)["shadow"].render()

    def _fill(self, tile: _Tile, size: tuple[int, int], light_at: LightAt, lamplit: bool) -> None:
        used = self._colour[lamplit]
        n, (left, low) = tile.samples, tile.corner
        x0, y0, x1, y1 = tile.box
        row = tile.view * size[1]
        self._context.scissor = (left, low, (x1 - x0) * n, (y1 - y0) * n)
        self._context.viewport = (left - x0 * n, low - y0 * n, size[0] * n, size[1] * n)
        used["tile"] = (float(left), float(low), 1.0 / n, 1.0005)
        used["picture"] = (x0, y0 + row, row, row + size[1] - 1)
        for thing in tile.things:
            array = self._place(used, "lamplit" if lamplit else "colour", thing)
            used["sun_share"], used["tree_shade"] = light_at(thing)
            array.render()

    def _lay(self, tile: _Tile, size: tuple[int, int]) -> None:
        x0, y0, x1, y1 = tile.box
        row = tile.view * size[1]
        self._context.viewport = (x0, y0 + row, x1 - x0, y1 - y0)
        self._corners.write(np.array([-1, -1, 1, -1, -1, 1, 1, 1], dtype=np.float32))
        self._resolve["tile"] = (*tile.corner, x0, y0 + row)
        self._resolve["samples"] = tile.samples
        self._quad.render(moderngl.TRIANGLE_STRIP)

    def _place(self, used: moderngl.Program, kind: str, thing: SceneObject) -> moderngl.VertexArray:
        model, turn = _matrices(thing)
        used["model"].write(model)  # type: ignore[union-attr]
        if "turn" in used:
            used["turn"].write(turn)  # type: ignore[union-attr]
        return self._upload(thing.mesh)[kind]

    def _upload(self, mesh: Mesh) -> dict[str, moderngl.VertexArray]:
        # Keyed by identity; the mesh is kept beside, so that its id is not given to another.
        if id(mesh) not in self._arrays:
            if len(self._arrays) >= _MESHES:  # things draped over the ground bring a mesh each
                self._forget()
            table = np.column_stack([mesh.positions, mesh.normals, mesh.colours, mesh.emission, mesh.warmth])
            vertices = self._context.buffer(table.astype(np.float32).tobytes())
            faces = self._context.buffer(mesh.triangles.tobytes())
            layouts = {
                "colour": (self._colour[0], "3f 3f 3f 2f", ("position", "normal", "albedo", "glow")),
                "lamplit": (self._colour[1], "3f 3f 3f 2f", ("position", "normal", "albedo", "glow")),
                "ids": (self._ids, "3f 12x 3f 8x", ("position", "albedo")),
                "warmth": (self._warmth, "3f 24x 2f", ("position", "glow")),
                "shadow": (self._shadow, "3f 32x", ("position",)),
            }
            made = {
                kind: self._context.vertex_array(used, [(vertices, layout, *names)], faces)
                for kind, (used, layout, names) in layouts.items()
            }
            self._arrays[id(mesh)] = (mesh, made, (vertices, faces))
        return self._arrays[id(mesh)][1]

    def _forget(self) -> None:
        for _, made, buffers in self._arrays.values():
            for array in made.values():
                array.release()
            for buffer in buffers:
                buffer.release()
        self._arrays.clear()


def visible(view: View, things: Sequence[SceneObject], focal: float) -> list[SceneObject]:
    """Things that may show in a view."""
    planes = view.planes
    shown = []
    for thing in things:
        position = thing.pose.position
        if (planes[:, :3] @ position + planes[:, 3] < -thing.radius).any():
            continue
        if focal * thing.radius >= _MIN_PX * float(np.linalg.norm(position - view.eye)):
            shown.append(thing)
    return shown


def _tiles(view: View, index: int, things: Sequence[SceneObject], size: tuple[int, int], samples: int) -> list[_Tile]:
    groups: list[tuple[list[SceneObject], list[int]]] = []
    for thing in things:
        box = _rectangle(view, thing, size)
        if box is None:
            continue
        members = [thing]
        merged = True
        while merged:
            merged = False
            for other in groups:
                theirs = other[1]
                apart = box[0] >= theirs[2] or theirs[0] >= box[2] or box[1] >= theirs[3] or theirs[1] >= box[3]
                if not apart:
                    lows, highs = zip(box[:2], theirs[:2], strict=True), zip(box[2:], theirs[2:], strict=True)
                    box = [*(min(pair) for pair in lows), *(max(pair) for pair in highs)]
                    members = other[0] + members
                    groups.remove(other)
                    merged = True
                    break
        groups.append((members, box))
    tiles = []
    for members, (x0, y0, x1, y1) in groups:
        area = (x1 - x0) * (y1 - y0)
        n = next(n for n in SAMPLES if n <= samples and (n == 1 or area * n * n <= _BUDGET))
        step = _ATLAS // n
        for x in range(x0, x1, step):
            for y in range(y0, y1, step):
                box = [x, y, min(x + step, x1), min(y + step, y1)]
                tiles.append(_Tile(index, members, (box[0], box[1], box[2], box[3]), n, (0, 0)))
    return tiles


def _rectangle(view: View, thing: SceneObject, size: tuple[int, int]) -> list[int] | None:
    """Pixels (x0, y0, x1, y1) that a thing's bounding box covers; None when outside the image."""
    corners = thing.scale * _corners(thing.mesh) @ thing.pose.rotation.T
    seen = (thing.pose.position + corners - view.eye) @ view.axes.T
    width, height = size
    if (seen[:, 2] <= 0.2).all():
        return None
    if (seen[:, 2] < 0.2).any():
        return [0, 0, width, height]
    x = (seen[:, 0] / (seen[:, 2] * view.half_width) * 0.5 + 0.5) * width
    y = (seen[:, 1] / (seen[:, 2] * view.half_height) * 0.5 + 0.5) * height
    x0, y0 = max(0, int(np.floor(x.min())) - _MARGIN), max(0, int(np.floor(y.min())) - _MARGIN)
    x1, y1 = min(width, int(np.ceil(x.max())) + _MARGIN), min(height, int(np.ceil(y.max())) + _MARGIN)
    return [x0, y0, x1, y1] if x1 > x0 and y1 > y0 else None


@lru_cache(_MESHES)
def _corners(mesh: Mesh) -> NDArray[np.float64]:
    low, high = mesh.bounds
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _pack(tiles: list[_Tile]) -> tuple[list[_Tile], list[_Tile], int]:
    """Tiles that fit into the atlas with their places, those that do not, and the rows used."""
    placed, left = [], []
    x = y = tall = 0
    for tile in sorted(tiles, key=lambda t: -(t.box[3] - t.box[1]) * t.samples):
        wide, high = (tile.box[2] - tile.box[0]) * tile.samples, (tile.box[3] - tile.box[1]) * tile.samples
        if x + wide > _ATLAS:
            x, y, tall = 0, y + tall, 0
        if y + high > _ATLAS:
            left.append(tile)
            continue
        placed.append(_Tile(tile.view, tile.things, tile.box, tile.samples, (x, y)))
        x, tall = x + wide, max(tall, high)
    return placed, left, min(_ATLAS, y + tall)


def _matrices(thing: SceneObject) -> tuple[bytes, bytes]:
    """Model matrix and rotation, column by column."""
    model = thing.pose.matrix
    turn = model[:3, :3].copy()
    model[:3, :3] *= thing.scale
    return model.T.astype(np.float32).tobytes(), turn.T.astype(np.float32).tobytes()
