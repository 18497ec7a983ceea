"""Draws spawned objects, each with its instance id, and their depth for the shadow map."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim import shaders
from esar_ros.sim.graphics import program
from esar_ros.sim.mesh_builder import Mesh
from esar_ros.sim.scene import SceneObject
from esar_ros.sim.views import View

_LEAST_PX = 0.35  # projected radius below which nothing of an object can be seen


class ObjectDrawing:
    """Meshes on the GPU by mesh, uploaded when first seen."""

    def __init__(self, context: moderngl.Context, shadow_unit: int) -> None:
        self._context = context
        self._program = program(context, shaders.OBJECT_VERTEX, shaders.OBJECT_FRAGMENT, shadow_map=shadow_unit)
        self._shadow = program(context, shaders.OBJECT_SHADOW_VERTEX, shaders.EMPTY_FRAGMENT)
        self._arrays: dict[int, tuple[Mesh, moderngl.VertexArray, moderngl.VertexArray]] = {}

    def draw(
        self,
        view: View,
        objects: Iterable[SceneObject],
        focal: float,
        light_at: Callable[[SceneObject], tuple[float, float]],
    ) -> None:
        """Objects in the view; light_at gives sun share and tree shade of an object's place."""
        planes = view.planes
        for thing in objects:
            position = thing.pose.position
            if (planes[:, :3] @ position + planes[:, 3] < -thing.radius).any():
                continue
            if focal * thing.radius < _LEAST_PX * float(np.linalg.norm(position - view.eye)):
                continue
            array = self._upload(thing.asset.mesh)[1]
            model, turn = _matrices(thing)
            self._program["model"].write(model)  # type: ignore[union-attr]
            self._program["turn"].write(turn)  # type: ignore[union-attr]
            self._program["id"] = thing.id / 255.0
            self._program["sun_share"], self._program["tree_shade"] = light_at(thing)
            array.render()

    def draw_shadow(
        self, to_light: NDArray[np.float64], objects: Iterable[SceneObject], xy: NDArray[np.float64], reach: float
    ) -> None:
        """Depth of the objects within reach (m) of a point, seen from the sun."""
        self._shadow["to_light"].write(to_light.T.astype(np.float32).tobytes())  # type: ignore[union-attr]
        for thing in objects:
            if float(np.hypot(*(thing.pose.position[:2] - xy))) < reach:
                self._shadow["model"].write(_matrices(thing)[0])  # type: ignore[union-attr]
                self._upload(thing.asset.mesh)[2].render()

    def _upload(self, mesh: Mesh) -> tuple[Mesh, moderngl.VertexArray, moderngl.VertexArray]:
        # Keyed by identity; the mesh is kept beside, so that its id is not given to another.
        if id(mesh) not in self._arrays:
            table = np.hstack([mesh.positions, mesh.normals, mesh.colours, mesh.emission[:, None]]).astype(np.float32)
            vertices = self._context.buffer(table.tobytes())
            faces = self._context.buffer(mesh.triangles.tobytes())
            layout = [(vertices, "3f 3f 3f 1f", "position", "normal", "albedo", "emission")]
            self._arrays[id(mesh)] = (
                mesh,
                self._context.vertex_array(self._program, layout, faces),
                self._context.vertex_array(self._shadow, [(vertices, "3f 28x", "position")], faces),
            )
        return self._arrays[id(mesh)]


def _matrices(thing: SceneObject) -> tuple[bytes, bytes]:
    """Model matrix and rotation, column by column."""
    model = thing.pose.matrix
    turn = model[:3, :3].copy()
    model[:3, :3] *= thing.scale
    return model.T.astype(np.float32).tobytes(), turn.T.astype(np.float32).tobytes()
