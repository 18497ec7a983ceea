"""Images of a World: RGB, planar depth and instance ids of several cameras in one pass and one read-back.

The cameras are stacked in one column of a frame buffer, so that each one's image is a contiguous block. Colour's alpha
carries the id (nothing blends into it), a second target the depth as 32-bit float. Where colours are not needed, depth
and ids alone are drawn, with the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.names import DEFAULT_QUALITY, HIGH
from esar_ros.sim.render.contact_shadow import ContactShadow
from esar_ros.sim.render.detail_textures import paint_noise
from esar_ros.sim.render.flora.flora_drawing import FloraDrawing
from esar_ros.sim.render.flora.flora_skins import plant_skin
from esar_ros.sim.render.graphics import (
    ALL_BUT_COLOUR,
    COLOUR_ALONE,
    EVERYTHING,
    Look,
    Unit,
    headless_context,
    mask_colour,
)
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.ground_drawing import GroundDrawing
from esar_ros.sim.render.illumination import Illumination
from esar_ros.sim.render.infrared import celsius, warmth_of
from esar_ros.sim.render.lens import finish
from esar_ros.sim.render.object_drawing import ObjectDrawing, visible
from esar_ros.sim.render.scenery_drawing import SceneryDrawing
from esar_ros.sim.render.thermal_camera import thermal_picture
from esar_ros.sim.render.tiles.ground_tiles import GroundTiles
from esar_ros.sim.render.views import FAR, NEAR, SHARED_FLOATS, UNIFORM_FLOATS, View
from esar_ros.sim.terrain.far_terrain import far_grid
from esar_ros.sim.terrain.surroundings import REACH
from esar_ros.sim.world.scene import SceneObject
from esar_ros.sim.world.world import World


@dataclass(frozen=True, eq=False)
class Shapes:
    """Images of the cameras without colours; arrays are the caller's own. See Frame."""

    depth: NDArray[np.float32]  # (C, H, W)
    ids: NDArray[np.uint8]  # (C, H, W)
    celsius: NDArray[np.float32] | None = None  # (C, H, W)


@dataclass(frozen=True, eq=False)
class Frame:
    """Images of the cameras; arrays are the caller's own.

    ids: 1..254 the pixel's centre shows the spawned object with that instance id, 0 everything else.
    depth: along the optical axis, m, +inf for sky.
    celsius: temperatures, deg C; only when asked for.
    """

    rgb: NDArray[np.uint8]  # (C, H, W, 3)
    depth: NDArray[np.float32]  # (C, H, W)
    ids: NDArray[np.uint8]  # (C, H, W)
    celsius: NDArray[np.float32] | None = None  # (C, H, W)


class Renderer:
    """Belongs to the thread that made it. Raises UsageError when the machine has no OpenGL through EGL."""

    def __init__(
        self,
        world: World,
        width: int,
        height: int,
        fov: float,
        samples: int = 4,
        near: float = NEAR,
        quality: str = DEFAULT_QUALITY,
    ) -> None:
        """Cameras of width x height px with a horizontal field of view in rad.

        samples: of objects' colour along a side of a pixel, 1 to 4; near: m, nothing closer is seen;
        quality: one of mission.names.QUALITIES.
        """
        self.camera = CameraModel.from_horizontal_fov(width, height, fov)
        self._fov, self._near = fov, near
        self._far = FAR if world.place.surroundings is None else math.sqrt(2.0) * (world.place.size + REACH)
        self._samples, self._quality = samples, quality
        self._world = world
        self._context = context = headless_context()
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky lies at the far end
        self._uniforms = context.buffer(reserve=4 * UNIFORM_FLOATS, dynamic=True)
        self._uniforms.bind_to_uniform_block(0)
        self._cameras = 0
        self._target: moderngl.Framebuffer
        self._warm_target: moderngl.Framebuffer
        self._ground = GroundDrawing(context, world.place, far_grid(world.place, quality == HIGH))
        self._flora = FloraDrawing(context, world.flora, world.ground, plant_skin(context, quality))
        self._scenery = SceneryDrawing(context, world.scenery)
        self._objects = ObjectDrawing(context, Unit.SHADOW, Unit.SCENE_DEPTH, Unit.TILES)
        self._contact = ContactShadow(context, world.place) if quality == HIGH else None
        self._light: Illumination | None = None  # made for the conditions of the first image: it is baked

    def sync(self, time: float = 0.0) -> None:
        """Take over the world's environment at a simulation time (s) now; every image does so by itself, at no cost
        when nothing changed.
        """
        with self._context:
            self._lit(time)

    def _lit(self, time: float) -> Illumination:
        if self._light is None:
            bake = GroundBake(self._world.place, paint_noise())
            tiles = GroundTiles(self._context, self._world.place, bake) if self._quality == HIGH else None
            self._ground.paint(bake.albedo, tiles)
            drawings = (self._flora, self._scenery, self._objects)
            self._light = Illumination(self._context, self._world, bake, tiles, *drawings, self._uniforms)
        self._light.sync(time)
        return self._light

    def render(
        self,
        camera_poses: Sequence[Pose],
        time: float,
        infrared: bool = False,
        vehicles: Sequence[SceneObject] = (),
        motion: Vector | None = None,
    ) -> Frame:
        """Images of the cameras' optical frames in the map, at a simulation time in s.

        Time moves clouds, smoke, rain and what the weather lays on the ground. vehicles: those seen by the cameras.
        motion: the cameras' velocity (3,), m/s, map, along which rain streaks in high quality; None: they stand.
        """
        with self._context:  # several renderers may live in one thread
            return self._render(self._views(camera_poses), camera_poses, time, infrared, vehicles, motion)

    def shapes(
        self, camera_poses: Sequence[Pose], vehicles: Sequence[SceneObject] = (), warm_at: float | None = None
    ) -> Shapes:
        """Depth and ids of render, which no time, weather or light changes, at less than half of its cost.

        warm_at: simulation time in s at which temperatures are wanted, too.
        """
        with self._context:
            views = self._views(camera_poses)
            light = None if warm_at is None else self._lit(warm_at)
            shared, shadow_matrix = np.zeros(SHARED_FLOATS, dtype=np.float32), np.eye(4)
            self._begin(len(views))
            shown = [visible(view, (*self._world.things, *vehicles), self.camera.fx) for view in views]

            def bind(k: int) -> None:
                self._uniforms.write(views[k].uniforms(shared, shadow_matrix))

            for k, view in enumerate(views):
                self._show(k)
                bind(k)
                self._draw_place(view, Look.BARE)
                self._objects.draw_ids(shown[k])
            _, depth, ids = self._read(len(views))
            if light is None or warm_at is None:
                return Shapes(depth, ids)
            return Shapes(depth, ids, self._celsius(views, camera_poses, shown, bind, depth, ids, light, warm_at))

    def thermal(
        self, camera_poses: Sequence[Pose], time: float, vehicles: Sequence[SceneObject] = ()
    ) -> tuple[Shapes, NDArray[np.uint8]]:
        """Depth, ids and temperatures, and the thermal camera's pictures (C, H, W) of them."""
        seen = self.shapes(camera_poses, vehicles, time)
        assert seen.celsius is not None
        seed = self._world.seed
        pictures = [
            thermal_picture(heat, pose, seed, time) for heat, pose in zip(seen.celsius, camera_poses, strict=True)
        ]
        return seen, np.stack(pictures)

    def _views(self, camera_poses: Sequence[Pose]) -> list[View]:
        if not camera_poses:
            raise ValueError("a frame needs a camera pose")
        size = self.camera.width, self.camera.height
        return [View.of(pose, *size, self._fov, self._near, self._far) for pose in camera_poses]

    def _begin(self, count: int) -> None:
        """Prepares an empty target for `count` images: ids 0, and depth +inf, the sky's."""
        self._make_target(count)
        self._target.use()
        self._context.viewport = (0, 0, self.camera.width, count * self.camera.height)
        self._target.clear(red=np.inf, depth=1.0)

    def _show(self, k: int) -> None:
        """Draw into the k-th image."""
        self._context.viewport = (0, k * self.camera.height, self.camera.width, self.camera.height)

    def _render(
        self,
        views: list[View],
        camera_poses: Sequence[Pose],
        time: float,
        infrared: bool,
        vehicles: Sequence[SceneObject],
        motion: Vector | None,
    ) -> Frame:
        light, world = self._lit(time), self._world
        width, height = self.camera.width, self.camera.height
        light.begin(views[0], np.mean([view.eye for view in views], axis=0), time)
        self._begin(len(views))

        def bind(k: int) -> None:
            self._uniforms.write(views[k].uniforms(light.shared, light.shadow_matrix))

        for k, view in enumerate(views):
            self._show(k)
            bind(k)
            self._draw_place(view, light.look, light.wet)
            light.draw_sky()
        things = (*world.things, *vehicles)
        shown = [visible(view, things, self.camera.fx) for view in views]
        if any(shown) and self._contact is not None:
            mask_colour(self._target, COLOUR_ALONE)
            self._target.depth_mask = False
            for k, view in enumerate(views):
                self._show(k)
                bind(k)
                self._contact.draw(shown[k], view.eye, light.lighting)
            self._target.depth_mask = True
            mask_colour(self._target, EVERYTHING)
        if any(shown):
            lamplit = light.look is Look.LAMPLIT
            self._objects.draw_colour(
                views, shown, bind, self._target, (width, height), light.at, self._samples, lamplit
            )
        emitters = world.emitters
        for k, view in enumerate(views):
            self._show(k)
            bind(k)
            mask_colour(self._target, ALL_BUT_COLOUR)
            self._objects.draw_ids(shown[k])
            mask_colour(self._target, COLOUR_ALONE)
            self._target.depth_mask = False
            light.draw_over(view, emitters, time)
            self._target.depth_mask = True
            mask_colour(self._target, EVERYTHING)
        rgba, depth, ids = self._read(len(views))
        rgb = np.asarray(cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB).reshape(*depth.shape, 3), dtype=np.uint8)
        heat = None
        if infrared:
            heat = self._celsius(views, camera_poses, shown, bind, depth, ids, light, time)
        air, ice = world.environment.air(time), world.environment.ice(time)
        wind = np.asarray(air.wind, dtype=np.float64)
        haze, noise = light.exposure.gain * light.lighting.haze, light.exposure.noise
        high = self._quality == HIGH
        finish(rgb, views, air.conditions, haze, wind, noise, world.seed, time, ice, high, depth, motion)
        return Frame(rgb, depth, ids, heat)

    def close(self) -> None:
        """Free the context and all it holds."""
        self._context.release()

    def _draw_place(self, view: View, look: Look, wet: bool = False) -> None:
        """Scenery, plants, ground and what lies beyond it."""
        self._scenery.draw(view, look)
        self._flora.draw(view, self._world.flora_present, self.camera.fx, look)
        self._ground.draw(view, self.camera.fx, look, wet)

    def _celsius(
        self,
        views: Sequence[View],
        camera_poses: Sequence[Pose],
        shown: Sequence[list[SceneObject]],
        bind: Any,
        depth: NDArray[np.float32],
        ids: NDArray[np.uint8],
        light: Illumination,
        time: float,
    ) -> NDArray[np.float32]:
        place = self._world.place
        above_air = self._draw_warmth(views, shown, bind)
        budget = warmth_of(self._world.environment, place, time)
        return celsius(depth, above_air, ids, list(camera_poses), self.camera, place, light.ground, budget)

    def _draw_warmth(self, views: Sequence[View], shown: Sequence[list[SceneObject]], bind: Any) -> NDArray[np.float32]:
        width, height = self.camera.width, self.camera.height
        self._warm_target.use()
        self._context.viewport = (0, 0, width, len(views) * height)
        self._warm_target.color_attachments[0].write(np.zeros(width * height * len(views), dtype=np.float32))  # type: ignore[union-attr]
        self._warm_target.depth_mask = False
        for k in range(len(views)):
            self._context.viewport = (0, k * height, width, height)
            bind(k)
            self._objects.draw_warmth(shown[k])
        out = np.empty((len(views), height, width), dtype=np.float32)
        self._warm_target.read_into(out, components=1, dtype="f4")
        return out

    def _make_target(self, cameras: int) -> None:
        if cameras == self._cameras:
            return
        if self._cameras:
            for attachment in (*self._target.color_attachments, *self._warm_target.color_attachments):
                attachment.release()
            self._target.depth_attachment.release()
            self._target.release()
            self._warm_target.release()
        size = (self.camera.width, cameras * self.camera.height)
        limit = self._context.info["GL_MAX_TEXTURE_SIZE"]
        if max(size) > limit:
            raise ValueError(f"{cameras} pictures of {self.camera.width}x{self.camera.height} px exceed {limit} px")
        depth, warmth = (self._context.texture(size, 1, dtype="f4") for _ in range(2))
        depth.filter = (moderngl.NEAREST, moderngl.NEAREST)
        buffer = self._context.depth_renderbuffer(size)
        self._target = self._context.framebuffer([self._context.texture(size, 4), depth], buffer)
        self._warm_target = self._context.framebuffer([warmth], buffer)
        self._cameras = cameras

    def _read(self, count: int) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint8]]:
        """Colour with alpha, (C * H, W, 4); depth and ids, (C, H, W)."""
        width, height = self.camera.width, self.camera.height
        rgba = np.empty((count * height, width, 4), dtype=np.uint8)
        depth = np.empty((count, height, width), dtype=np.float32)
        self._target.read_into(rgba, components=4, attachment=0)
        self._target.read_into(depth, components=1, attachment=1, dtype="f4")
        ids = cv2.extractChannel(rgba, 3).reshape(count, height, width)
        return rgba, depth, np.asarray(ids, dtype=np.uint8)
