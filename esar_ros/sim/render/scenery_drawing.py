"""Draws scenery: facets that never move, sorted into squares; fine ones only near the eye. One sample a pixel."""

from __future__ import annotations

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.graphics import Look, Unit, program, variants
from esar_ros.sim.render.shaders import common
from esar_ros.sim.render.views import View
from esar_ros.sim.world.scenery import Facets, Scenery

_SQUARE = 32.0  # m, side
_FINE_RANGE = 90.0  # m from the eye to a square's nearest point, beyond which nothing fine is drawn
_FLOATS = 9  # of a vertex: position, normal, albedo


class SceneryDrawing:
    """GPU side of a Scenery."""

    def __init__(self, context: moderngl.Context, scenery: Scenery) -> None:
        self._layers = [
            _Layer(context, facets, reach)
            for facets, reach in ((scenery.coarse, np.inf), (scenery.fine, _FINE_RANGE))
            if len(facets.corners)
        ]
        if not self._layers:
            return
        programs = (
            *variants(
                context,
                common.SCENERY_VERTEX,
                common.SCENERY_FRAGMENT,
                detail=Unit.DETAIL,
                shadow_map=Unit.SHADOW,
            ),
            program(context, common.SCENERY_VERTEX, common.SCENERY_BARE_FRAGMENT),
        )
        self._shadow = program(context, common.OBJECT_SHADOW_VERTEX, common.EMPTY_FRAGMENT)
        self._shadow["model"].write(np.eye(4, dtype=np.float32).tobytes())  # type: ignore[union-attr]
        for layer in self._layers:
            layer.bind(context, programs, self._shadow)

    def draw(self, view: View, look: Look) -> None:
        """Everything the view shows, near squares first; the Frame block is bound already."""
        for layer in self._layers:
            layer.draw(view, look)

    def draw_shadow(self, to_light: NDArray[np.float64], xy: NDArray[np.float64], reach: float) -> None:
        """Depth of what stands within reach (m) of a point, seen from the sun."""
        if self._layers:
            self._shadow["to_light"].write(to_light.T.astype(np.float32).tobytes())  # type: ignore[union-attr]
            self._layers[0].draw_shadow(xy, reach)


class _Layer:
    """Facets of one fineness."""

    def __init__(self, context: moderngl.Context, facets: Facets, reach: float) -> None:
        self._reach = reach
        corners = facets.corners
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        square = np.floor(corners[:, :, :2].mean(axis=1) / _SQUARE).astype(np.int64)
        order = np.lexsort((square[:, 1], square[:, 0]))
        table = np.empty((len(corners), 3, _FLOATS), dtype=np.float32)
        table[:, :, :3], table[:, :, 3:6], table[:, :, 6:] = corners, normals[:, None], facets.tones[:, None]
        table, square = table[order], square[order]
        first = np.flatnonzero(np.r_[True, (np.diff(square, axis=0) != 0).any(axis=1)])
        self._spans = [(int(a), int(b - a)) for a, b in zip(first, np.r_[first[1:], len(table)], strict=True)]
        spheres = []
        for start, count in self._spans:
            points = table[start : start + count, :, :3].reshape(-1, 3).astype(np.float64)
            middle = (points.min(axis=0) + points.max(axis=0)) / 2
            spheres.append((*middle, float(np.linalg.norm(points - middle, axis=1).max())))
        self._spheres = np.array(spheres)  # (S, 4) of the squares
        self._vertices = context.buffer(table.tobytes())

    def bind(self, context: moderngl.Context, programs: tuple[moderngl.Program, ...], shadow: moderngl.Program) -> None:
        """Make the vertex arrays of each look."""
        content = (self._vertices, "3f 3f 3f", "position", "normal", "albedo")
        self._arrays = [context.vertex_array(used, [content]) for used in programs]
        self._shadow = context.vertex_array(shadow, [(self._vertices, "3f 24x", "position")])

    def draw(self, view: View, look: Look) -> None:
        planes, spheres = view.planes, self._spheres
        away = np.linalg.norm(spheres[:, :3] - view.eye, axis=1) - spheres[:, 3]
        inside = (spheres[:, :3] @ planes[:, :3].T + planes[:, 3] > -spheres[:, 3:]).all(axis=1)
        for k in np.flatnonzero(inside & (away < self._reach))[np.argsort(away[inside & (away < self._reach)])]:
            start, count = self._spans[k]
            self._arrays[look].render(vertices=3 * count, first=3 * start)

    def draw_shadow(self, xy: NDArray[np.float64], reach: float) -> None:
        near = np.linalg.norm(self._spheres[:, :2] - xy, axis=1) - self._spheres[:, 3] < reach
        for k in np.flatnonzero(near):
            start, count = self._spans[k]
            self._shadow.render(vertices=3 * count, first=3 * start)
