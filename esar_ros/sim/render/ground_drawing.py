"""Draws the ground: the map's triangles as fine as each view needs them, and what lies beyond the map."""

from __future__ import annotations

from collections.abc import Callable

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.graphics import Look, Unit, program, variants
from esar_ros.sim.render.shaders import common
from esar_ros.sim.render.terrain_lod import CAPACITY, TerrainLod
from esar_ros.sim.render.tiles.ground_shaders import GRAIN_RANGE
from esar_ros.sim.render.tiles.ground_tiles import GroundTiles
from esar_ros.sim.render.views import View
from esar_ros.sim.terrain.far_terrain import Grid, build_far_terrain, paint_far_terrain
from esar_ros.sim.terrain.maps import PlaceMap

_DETAIL_RANGE = 140.0  # m to which surface patterns show
_TOLERANCE_PX = 1.6  # of the ground's silhouette
_NEAR_ERROR = 0.14  # m, greatest height error of the ground within _DETAIL_RANGE


class GroundDrawing:
    """GPU side of a place's heights. Drawn bare until it is painted."""

    def __init__(self, context: moderngl.Context, place: PlaceMap, far: Grid) -> None:
        self._context, self._place = context, place
        self._terrain = TerrainLod(place.heights, place.size)
        self._vertices = context.buffer(reserve=12 * CAPACITY, dynamic=True)
        self._faces = [context.buffer(reserve=12 * CAPACITY, dynamic=True) for _ in range(2)]
        self._far = far
        apron = build_far_terrain(place, far)
        self._apron_up = apron.vertices[:, 5] if far.rough else None
        self._apron_vertices = context.buffer(apron.vertices.tobytes())
        self._apron_faces = [context.buffer(part.tobytes()) for part in apron.faces]
        self._apron_spheres = apron.spheres
        bare = program(context, common.TERRAIN_VERTEX, common.GROUND_BARE_FRAGMENT)
        arrays = self._terrain_arrays(bare, bare)
        # By look, whether the camera is lower than GRAIN_RANGE, and whether water stands on the ground.
        self._grounds = {(Look.BARE, low, False): arrays for low in (False, True)}
        self._make_wet: Callable[[], None] | None = None
        self._apron = {Look.BARE: self._apron_arrays(bare, (self._apron_vertices, "3f 12x", "position"))}

    def paint(self, albedo: NDArray[np.uint8], tiles: GroundTiles | None) -> None:
        """Make the other looks; albedo (m, m, 3): the ground's texture, square roots of linear colour.

        tiles: those of pictures of high quality.
        """
        context = self._context
        names = () if self._place.water_level is None else ("WATER",)
        ripples = {"ripples": Unit.DETAIL} if names else {}
        units = {"albedo": Unit.ALBEDO, "light": Unit.LIGHT, **ripples}
        made_by = tiles.programs if tiles else self._plain_programs

        def ground(*extra: str) -> None:
            near, far, close = made_by(context, *names, *extra, **units)
            for made in (*near, *close):
                made["detail_range"] = _DETAIL_RANGE
            for look, one, low, other in zip((Look.PLAIN, Look.LAMPLIT), near, close, far, strict=True):
                self._grounds[look, False, bool(extra)] = self._terrain_arrays(one, other)
                self._grounds[look, True, bool(extra)] = self._terrain_arrays(low, other)

        ground()
        self._make_wet = (lambda: ground("PUDDLES")) if tiles else None
        if tiles:
            around = tiles.far_program(context, *names, **ripples)
        else:
            around = program(context, common.APRON_VERTEX, common.defined(common.APRON_FRAGMENT, *names), **ripples)
        paint = context.buffer(paint_far_terrain(self._place, albedo, self._far, self._apron_up).tobytes())
        vertices = (self._apron_vertices, "3f 3f", "position", "normal")
        apron = self._apron_arrays(around, vertices, (paint, "3f", "paint"))
        self._apron |= {Look.PLAIN: apron, Look.LAMPLIT: apron}

    def draw(self, view: View, focal: float, look: Look, wet: bool = False) -> None:
        """The map's triangles that the view shows, near ones first, and what lies beyond.

        wet: water stands in hollows; ground without tiles shows it by itself.
        """
        wet = wet and look is not Look.BARE and self._make_wet is not None
        if wet and self._make_wet and (look, False, True) not in self._grounds:
            self._make_wet()
        planes = view.planes
        vertices, *faces = self._terrain.select(view.eye, planes, _TOLERANCE_PX / focal, _NEAR_ERROR, _DETAIL_RANGE)
        if len(vertices):
            self._vertices.write(vertices)
        above = float(view.eye[2]) - float(self._place.ground_height(view.eye[:2]))
        arrays = self._grounds[look, above < GRAIN_RANGE, wet]
        for array, buffer, part in zip(arrays, self._faces, faces, strict=True):
            if len(part):
                buffer.write(part)
                array.render(vertices=part.size)
        for array, (x, y, z, radius) in zip(self._apron[look], self._apron_spheres, strict=True):
            if (planes[:, :3] @ (x, y, z) + planes[:, 3] > -radius).all():
                array.render()

    @staticmethod
    def _plain_programs(
        context: moderngl.Context, *names: str, **units: int
    ) -> tuple[tuple[moderngl.Program, ...], ...]:
        """As GroundTiles.programs; those for low cameras are the same."""
        surface = {"detail": Unit.DETAIL, "shadow_map": Unit.SHADOW, **units}
        near = variants(context, common.TERRAIN_VERTEX, common.TERRAIN_NEAR_FRAGMENT, *names, **surface)
        far = variants(context, common.TERRAIN_VERTEX, common.TERRAIN_FAR_FRAGMENT, *names, **units)
        return near, far, near

    def _terrain_arrays(self, *used: moderngl.Program) -> list[moderngl.VertexArray]:
        content = [(self._vertices, "3f", "position")]
        return [self._context.vertex_array(one, content, faces) for one, faces in zip(used, self._faces, strict=True)]

    def _apron_arrays(self, used: moderngl.Program, *content: tuple[object, ...]) -> list[moderngl.VertexArray]:
        return [self._context.vertex_array(used, list(content), faces) for faces in self._apron_faces]
