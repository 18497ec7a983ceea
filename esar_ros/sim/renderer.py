"""Pictures of a World: RGB, planar depth and instance ids of several cameras in one pass and one read-back.

The cameras are stacked in one column of a frame buffer, so that each one's picture is a contiguous block.
Colour's alpha carries the id (nothing blends), a second target the depth as 32-bit float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.sim import shaders
from esar_ros.sim.detail_textures import SIDE, cloud_pattern, detail_patterns, paint_noise
from esar_ros.sim.flora_drawing import FloraDrawing
from esar_ros.sim.graphics import headless_context, program
from esar_ros.sim.ground_bake import LIT_RANGE, GroundBake
from esar_ros.sim.object_drawing import ObjectDrawing
from esar_ros.sim.scene import SceneObject
from esar_ros.sim.sky import Lighting
from esar_ros.sim.terrain_lod import TerrainLod
from esar_ros.sim.views import UNIFORM_FLOATS, View, sun_matrix
from esar_ros.sim.world import World

_DETAIL_RANGE = 140.0  # m to which surface patterns show
_SHADOW_REACH = 100.0  # m, half side of the shadow map
_SHADOW_FADE = 78.0  # m from the eye where baked shade has taken over
_SHADOW_SIDE = 1536  # px
_SHADOW_GRID = 24.0  # m the shadow map's centre snaps to: pictures depend on the pose, not on the way there
_TOLERANCE_PX = 1.2  # of the ground's silhouette
_NEAR_ERROR = 0.10  # m, greatest height error of the ground within _DETAIL_RANGE

_LIT, _SURFACE, _DETAIL, _SHADOW, _CLOUDS, _ATLAS = range(6)  # texture units


@dataclass(frozen=True, eq=False)
class Frame:
    """What the cameras saw; arrays are the caller's own.

    ids: 1..254 the pixel shows the spawned object with that instance id, 0 everything else (ground, plants, sky).
    depth: along the optical axis, m, +inf for sky.
    """

    rgb: NDArray[np.uint8]  # (C, H, W, 3)
    depth: NDArray[np.float32]  # (C, H, W)
    ids: NDArray[np.uint8]  # (C, H, W)


class Renderer:
    """Belongs to the thread that made it. Raises UsageError when the machine has no OpenGL through EGL."""

    def __init__(self, world: World, width: int, height: int, fov: float) -> None:
        """Cameras of width x height px with a horizontal field of view in rad."""
        self.camera = CameraModel.from_horizontal_fov(width, height, fov)
        self._fov = fov
        self._world = world
        self._context = context = headless_context()
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky lies at the far end
        place = world.place
        self._uniforms = context.buffer(reserve=4 * UNIFORM_FLOATS, dynamic=True)
        self._uniforms.bind_to_uniform_block(0)
        self._cameras = 0
        self._target: moderngl.Framebuffer

        self._terrain = TerrainLod(place.heights, place.size)
        self._bake = GroundBake(place, paint_noise())
        side = (self._bake.size, self._bake.size)
        self._lit = self._texture(side, 4)
        self._surface = self._texture(side, 4)
        self._details = self._texture((SIDE, SIDE), 4, detail_patterns(place), repeat=True)
        self._clouds = self._texture((SIDE, SIDE), 1, cloud_pattern(world.seed), repeat=True)
        self._shadow_map = context.depth_texture((_SHADOW_SIDE, _SHADOW_SIDE))
        self._shadow_map.compare_func = "<="
        self._shadow_map.repeat_x = self._shadow_map.repeat_y = False
        self._shadow_target = context.framebuffer(depth_attachment=self._shadow_map)
        self._flora = FloraDrawing(context, world.flora, world.ground, _DETAIL, _ATLAS)
        self._objects = ObjectDrawing(context, _SHADOW)

        near = program(
            context,
            shaders.TERRAIN_VERTEX,
            shaders.TERRAIN_NEAR_FRAGMENT,
            lit=_LIT,
            surface=_SURFACE,
            detail=_DETAIL,
            shadow_map=_SHADOW,
        )
        near["detail_range"] = _DETAIL_RANGE
        far = program(context, shaders.TERRAIN_VERTEX, shaders.TERRAIN_FAR_FRAGMENT, lit=_LIT, surface=_SURFACE)
        self._ground_vertices = context.buffer(reserve=160_000 * 12, dynamic=True)
        self._ground_faces = [context.buffer(reserve=160_000 * 12, dynamic=True) for _ in range(2)]
        self._ground = [
            context.vertex_array(made, [(self._ground_vertices, "3f", "position")], faces)
            for made, faces in zip((near, far), self._ground_faces, strict=True)
        ]
        sky = program(context, shaders.SKY_VERTEX, shaders.SKY_FRAGMENT, clouds=_CLOUDS)
        corners = context.buffer(np.array([-1, -1, 3, -1, -1, 3], dtype=np.float32).tobytes())
        self._sky = context.vertex_array(sky, [(corners, "2f", "corner")])

        self._light: Lighting
        self._baked: tuple[Any, ...] | None = None
        self._shadow_of: tuple[Any, ...] | None = None
        self._shadow_matrix = np.eye(4)
        self._sync()

    def sync(self) -> None:
        """Take over the world's environment now; every picture does so by itself, at no cost when nothing changed."""
        with self._context:
            self._sync()

    def _sync(self) -> None:
        self._light = self._world.environment.lighting(self._world.place)
        key = (*self._light.to_sun, *self._light.sun, *self._light.ambient)
        if key != self._baked:
            self._baked = key
            self._lit.write(self._bake.light(self._light, self._world.flora))
            self._surface.write(self._bake.surface)
            for texture in (self._lit, self._surface):
                texture.build_mipmaps()
                texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
            self._flora.lod.set_light(self._bake.sun_share_at(self._world.flora.positions[:, :2]))
            self._shadow_of = None

    def render(self, camera_poses: Sequence[Pose], time: float) -> Frame:
        """Pictures of the cameras' optical frames in the map, at a simulation time in s (it moves the clouds)."""
        if not camera_poses:
            raise ValueError("a frame needs a camera pose")
        with self._context:  # several renderers may live in one thread
            return self._render(camera_poses, time)

    def _render(self, camera_poses: Sequence[Pose], time: float) -> Frame:
        self._sync()
        width, height = self.camera.width, self.camera.height
        count = len(camera_poses)
        self._make_target(count)
        views = [View.of(pose, width, height, self._fov) for pose in camera_poses]
        self._draw_shadows(np.mean([view.eye for view in views], axis=0))
        for unit, texture in (
            (_LIT, self._lit),
            (_SURFACE, self._surface),
            (_DETAIL, self._details),
            (_SHADOW, self._shadow_map),
            (_CLOUDS, self._clouds),
        ):
            texture.use(unit)
        self._target.use()
        self._context.viewport = (0, 0, width, count * height)
        self._target.clear(depth=1.0)
        for index, view in enumerate(views):
            self._context.viewport = (0, index * height, width, height)
            self._draw(view, time)
        return self._read(count)

    def close(self) -> None:
        """Free the context and all it holds."""
        self._context.release()

    def _draw(self, view: View, time: float) -> None:
        world = self._world
        self._uniforms.write(
            view.uniforms(self._light, self._shadow_matrix, world.place.size / 2, _SHADOW_FADE, time, LIT_RANGE)
        )
        focal = self.camera.fx
        self._objects.draw(view, world.objects.values(), focal, self._light_at)
        self._flora.draw(view, world.flora_present, focal)
        vertices, *faces = self._terrain.select(
            view.eye, view.planes, _TOLERANCE_PX / focal, _NEAR_ERROR, _DETAIL_RANGE
        )
        if len(vertices):
            self._ground_vertices.write(vertices)
        for array, buffer, part in zip(self._ground, self._ground_faces, faces, strict=True):
            if len(part):
                buffer.write(part)
                array.render(vertices=part.size)
        self._sky.render()

    def _draw_shadows(self, eye: NDArray[np.float64]) -> None:
        """Renew the shadow map when the sun, the objects or the (snapped) place have changed."""
        world = self._world
        xy = np.round(eye[:2] / _SHADOW_GRID) * _SHADOW_GRID
        key = (*xy, *self._light.to_sun, world.revision)
        if key == self._shadow_of:
            return
        self._shadow_of = key
        self._shadow_target.use()
        self._context.viewport = (0, 0, _SHADOW_SIDE, _SHADOW_SIDE)
        self._shadow_target.clear(depth=1.0)
        centre = np.array([*xy, float(world.ground_height(xy))])
        self._shadow_matrix = sun_matrix(centre, self._light.to_sun, _SHADOW_REACH)
        if self._light.sun.max() > 1e-3:
            self._flora.draw_shadow(self._shadow_matrix, world.flora_present, xy, _SHADOW_REACH)
            self._objects.draw_shadow(self._shadow_matrix, world.objects.values(), xy, _SHADOW_REACH)

    def _light_at(self, thing: SceneObject) -> tuple[float, float]:
        """Sun share and tree shade where an object stands."""
        xy = thing.pose.position[None, :2].astype(np.float32)
        share = float(self._bake.sun_share_at(xy)[0])
        texel = ((xy[0] + self._world.place.size / 2) / self._world.place.size * self._bake.size).astype(int)
        column, row = np.clip(texel, 0, self._bake.size - 1)
        return share, float(self._bake.surface[row, column, 3]) / 255.0

    def _make_target(self, cameras: int) -> None:
        if cameras == self._cameras:
            return
        if self._cameras:
            for attachment in self._target.color_attachments:
                attachment.release()
            self._target.depth_attachment.release()
            self._target.release()
        size = (self.camera.width, cameras * self.camera.height)
        limit = self._context.info["GL_MAX_TEXTURE_SIZE"]
        if max(size) > limit:
            raise ValueError(f"{cameras} pictures of {self.camera.width}x{self.camera.height} px exceed {limit} px")
        self._target = self._context.framebuffer(
            [self._context.texture(size, 4), self._context.texture(size, 1, dtype="f4")],
            self._context.depth_renderbuffer(size),
        )
        self._cameras = cameras

    def _read(self, count: int) -> Frame:
        width, height = self.camera.width, self.camera.height
        rgba = np.empty((count * height, width, 4), dtype=np.uint8)
        depth = np.empty((count, height, width), dtype=np.float32)
        self._target.read_into(rgba, components=4, attachment=0)
        self._target.read_into(depth, components=1, attachment=1, dtype="f4")
        rgb = cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB).reshape(count, height, width, 3)
        ids = cv2.extractChannel(rgba, 3).reshape(count, height, width)
        return Frame(np.asarray(rgb, dtype=np.uint8), depth, np.asarray(ids, dtype=np.uint8))

    def _texture(
        self, size: tuple[int, int], channels: int, content: NDArray[np.uint8] | None = None, repeat: bool = False
    ) -> moderngl.Texture:
        texture = self._context.texture(size, channels, None if content is None else content.tobytes())
        texture.repeat_x = texture.repeat_y = repeat
        if content is not None:
            texture.build_mipmaps()
            texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        return texture
