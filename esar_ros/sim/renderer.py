"""Pictures of a World: RGB, planar depth and instance ids of several cameras in one pass and one read-back.

The cameras are stacked in one column of a frame buffer, so that each one's picture is a contiguous block.
Colour's alpha carries the id (nothing blends into it), a second target the depth as 32-bit float.
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
from esar_ros.geometry.frames import Pose
from esar_ros.sim import shaders
from esar_ros.sim.apron import build_apron
from esar_ros.sim.detail_textures import cloud_pattern, detail_patterns, paint_noise
from esar_ros.sim.effects_drawing import EffectsDrawing, lamp_block, lamp_level
from esar_ros.sim.exposure import Exposure, expose
from esar_ros.sim.flora_drawing import FloraDrawing
from esar_ros.sim.graphics import (
    ALL_BUT_COLOUR,
    COLOUR_ALONE,
    EVERYTHING,
    headless_context,
    mask_colour,
    program,
    variants,
)
from esar_ros.sim.ground_bake import GroundBake
from esar_ros.sim.ground_light import GroundLight
from esar_ros.sim.ground_state import GroundState
from esar_ros.sim.infrared import celsius, warmth_of
from esar_ros.sim.lens import finish
from esar_ros.sim.object_drawing import ObjectDrawing, visible
from esar_ros.sim.scene import SceneObject
from esar_ros.sim.sky import Lighting
from esar_ros.sim.sky_drawing import DOME_STEP, SkyDrawing
from esar_ros.sim.terrain_lod import TerrainLod
from esar_ros.sim.views import UNIFORM_FLOATS, View, sun_matrix
from esar_ros.sim.weather import CONDITIONS
from esar_ros.sim.world import World

_DETAIL_RANGE = 140.0  # m to which surface patterns show
_SHADOW_REACH = 100.0  # m, half side of the shadow map
_SHADOW_FADE = 78.0  # m from the eye where baked shade has taken over
_SHADOW_SIDE = 1536  # px
_SHADOW_GRID = 24.0  # m the shadow map's centre snaps to: pictures depend on the pose, not on the way there
_TOLERANCE_PX = 1.6  # of the ground's silhouette
_NEAR_ERROR = 0.14  # m, greatest height error of the ground within _DETAIL_RANGE
_DUST = np.array([0.40, 0.30, 0.18])  # albedo of what storms lay down
_FLASH = 2.5  # times a thunderstorm's light that a flash adds
_SNOW_ALBEDO = 0.8

_ALBEDO, _LIGHT, _DETAIL, _SHADOW, _CLOUDS, _ATLAS, _DOME, _SCENE_DEPTH, _TILES = range(9)  # texture units


@dataclass(frozen=True, eq=False)
class Frame:
    """What the cameras saw; arrays are the caller's own.

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

    def __init__(self, world: World, width: int, height: int, fov: float, samples: int = 4) -> None:
        """Cameras of width x height px with a horizontal field of view in rad.

        samples: of objects' colour along a side of a pixel, 1 to 4.
        """
        self.camera = CameraModel.from_horizontal_fov(width, height, fov)
        self._fov = fov
        self._samples = samples
        self._world = world
        self._context = context = headless_context()
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<="  # the sky lies at the far end
        place = world.place
        self._uniforms = context.buffer(reserve=4 * UNIFORM_FLOATS, dynamic=True)
        self._uniforms.bind_to_uniform_block(0)
        self._shared = np.zeros(UNIFORM_FLOATS - 32, dtype=np.float32)
        self._cameras = 0
        self._target: moderngl.Framebuffer
        self._warm_target: moderngl.Framebuffer

        self._terrain = TerrainLod(place.heights, place.size)
        bake = GroundBake(place, paint_noise())
        self._light = GroundLight(place, world.flora, bake.size, paint_noise())
        self._mean_albedo = float(((bake.albedo[::8, ::8].astype(np.float64) / 255.0) ** 2).mean())
        self._albedo_map = self._texture(_with_pattern(bake.albedo, bake.surface))
        self._light_map = context.texture((bake.size, bake.size), 4)
        self._light_map.repeat_x = self._light_map.repeat_y = False
        self._details = self._texture(detail_patterns(place), repeat=True)
        self._clouds = self._texture(cloud_pattern(world.seed)[..., None], repeat=True)
        self._shadow_map = context.depth_texture((_SHADOW_SIDE, _SHADOW_SIDE))
        self._shadow_map.compare_func = "<="
        self._shadow_map.repeat_x = self._shadow_map.repeat_y = False
        self._shadow_target = context.framebuffer(depth_attachment=self._shadow_map)
        self._flora = FloraDrawing(context, world.flora, world.ground, _DETAIL, _ATLAS)
        self._objects = ObjectDrawing(context, _SHADOW, _SCENE_DEPTH, _TILES)
        self._effects = EffectsDrawing(context)
        self._sky = SkyDrawing(context, _CLOUDS, _DOME)

        names = () if place.water_level is None else ("WATER",)
        units = {"albedo": _ALBEDO, "light": _LIGHT} | ({"ripples": _DETAIL} if names else {})
        near = variants(
            context,
            shaders.TERRAIN_VERTEX,
            shaders.TERRAIN_NEAR_FRAGMENT,
            *names,
            detail=_DETAIL,
            shadow_map=_SHADOW,
            **units,
        )
        far = variants(context, shaders.TERRAIN_VERTEX, shaders.TERRAIN_FAR_FRAGMENT, *names, **units)
        self._ground_vertices = context.buffer(reserve=160_000 * 12, dynamic=True)
        self._ground_faces = [context.buffer(reserve=160_000 * 12, dynamic=True) for _ in range(2)]
        self._ground = [  # without and with lamps: near, far
            [
                context.vertex_array(made, [(self._ground_vertices, "3f", "position")], faces)
                for made, faces in zip(pair, self._ground_faces, strict=True)
            ]
            for pair in zip(near, far, strict=True)
        ]
        for made in near:
            made["detail_range"] = _DETAIL_RANGE
        apron = build_apron(place, bake.albedo)
        around = program(
            context,
            shaders.APRON_VERTEX,
            shaders.defined(shaders.APRON_FRAGMENT, *names),
            **({"ripples": _DETAIL} if names else {}),
        )
        vertices = context.buffer(apron.vertices.tobytes())
        layout = [(vertices, "3f 3f 3f", "position", "normal", "paint")]
        self._apron = [context.vertex_array(around, layout, context.buffer(part.tobytes())) for part in apron.faces]
        self._apron_spheres = apron.spheres

        self._lighting: Lighting
        self._lamplit = False
        self._exposure: Exposure
        self._seen: Any = None
        self._lit_by: tuple[float, ...] | None = None
        self._shadow_of: tuple[Any, ...] | None = None
        self._dome_of: tuple[Any, ...] | None = None
        self._shadow_matrix = np.eye(4)
        self._sync()

    def sync(self) -> None:
        """Take over the world's environment now; every picture does so by itself, at no cost when nothing changed."""
        with self._context:
            self._sync()

    def _sync(self) -> None:
        environment = self._world.environment
        if environment is self._seen:
            return
        self._seen = environment
        self._lighting = environment.lighting(self._world.place)
        if tuple(self._lighting.to_sun) != self._lit_by:
            self._lit_by = tuple(self._lighting.to_sun)
            self._light.shine(self._lighting.to_sun)
            self._light_map.write(self._light.texture)
            self._light_map.build_mipmaps()
            self._light_map.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
            self._flora.lod.set_light(self._light.sun_share_at(self._world.flora.positions[:, :2]))
            self._shadow_of = None

    def render(self, camera_poses: Sequence[Pose], time: float, infrared: bool = False) -> Frame:
        """Pictures of the cameras' optical frames in the map, at a simulation time in s.

        Time moves clouds, smoke, rain and what the weather lays on the ground.
        """
        if not camera_poses:
            raise ValueError("a frame needs a camera pose")
        with self._context:  # several renderers may live in one thread
            return self._render(camera_poses, time, infrared)

    def _render(self, camera_poses: Sequence[Pose], time: float, infrared: bool) -> Frame:
        self._sync()
        context, world = self._context, self._world
        width, height = self.camera.width, self.camera.height
        count = len(camera_poses)
        self._make_target(count)
        views = [View.of(pose, width, height, self._fov) for pose in camera_poses]
        middle = np.mean([view.eye for view in views], axis=0)
        self._share(time, middle)
        for unit, texture in (
            (_ALBEDO, self._albedo_map),
            (_LIGHT, self._light_map),
            (_DETAIL, self._details),
            (_SHADOW, self._shadow_map),
            (_CLOUDS, self._clouds),
        ):
            texture.use(unit)
        self._paint_dome(views[0], time)
        self._draw_shadows(middle)
        self._target.use()
        context.viewport = (0, 0, width, count * height)
        self._target.clear(depth=1.0)

        def bind(k: int) -> None:
            self._uniforms.write(views[k].uniforms(self._shared, self._shadow_matrix))

        for k, view in enumerate(views):
            context.viewport = (0, k * height, width, height)
            bind(k)
            self._draw_place(view)
        focal = self.camera.fx
        things = world.things
        shown = [visible(view, things, focal) for view in views]
        if any(shown):
            self._objects.draw_colour(
                views, shown, bind, self._target, (width, height), self._light_at, self._samples, self._lamplit
            )
        emitters = world.emitters
        for k, view in enumerate(views):
            context.viewport = (0, k * height, width, height)
            bind(k)
            mask_colour(self._target, ALL_BUT_COLOUR)
            self._objects.draw_ids(shown[k])
            mask_colour(self._target, COLOUR_ALONE)
            self._target.depth_mask = False
            self._draw_over(view, emitters, time)
            self._target.depth_mask = True
            mask_colour(self._target, EVERYTHING)
        rgb, depth, ids = self._read(count)
        heat = None
        if infrared:
            above_air = self._draw_warmth(views, shown, bind)
            budget = warmth_of(world.environment, world.place, time)
            heat = celsius(depth, above_air, list(camera_poses), self.camera, world.place, self._light, budget)
        row = CONDITIONS[world.environment.weather]
        seconds = max(0.0, time - world.environment.since)
        wind = np.asarray(world.environment.wind, dtype=np.float64)
        haze = self._exposure.gain * self._lighting.haze
        finish(rgb, views, row, haze, wind, self._exposure.noise, world.seed, time, seconds)
        return Frame(rgb, depth, ids, heat)

    def close(self) -> None:
        """Free the context and all it holds."""
        self._context.release()

    def _draw_place(self, view: View) -> None:
        """Plants, ground, what lies beyond it, and sky."""
        focal = self.camera.fx
        self._flora.draw(view, self._world.flora_present, focal, self._lamplit)
        vertices, *faces = self._terrain.select(
            view.eye, view.planes, _TOLERANCE_PX / focal, _NEAR_ERROR, _DETAIL_RANGE
        )
        if len(vertices):
            self._ground_vertices.write(vertices)
        for array, buffer, part in zip(self._ground[self._lamplit], self._ground_faces, faces, strict=True):
            if len(part):
                buffer.write(part)
                array.render(vertices=part.size)
        planes = view.planes
        for array, (x, y, z, radius) in zip(self._apron, self._apron_spheres, strict=True):
            if (planes[:, :3] @ (x, y, z) + planes[:, 3] > -radius).all():
                array.render()
        self._sky.draw()

    def _draw_over(self, view: View, emitters: Sequence[Any], time: float) -> None:
        """What has no surface: lights of the sky, smoke and glow; colour alone."""
        context = self._context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._sky.draw_lights(self._lighting)
        context.disable(moderngl.BLEND)
        wind = self._world.environment.wind
        self._effects.draw(view, emitters, self._lighting, self._exposure.gain, wind, time)

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

    def _share(self, time: float, middle: NDArray[np.float64]) -> None:
        """What all cameras of a frame have in common: light, exposure, the ground's state, lamps."""
        world, light = self._world, self._lighting
        place, environment = world.place, world.environment
        ground = environment.ground(time)
        emitters = world.emitters
        self._exposure = expose(light, _albedo_now(self._mean_albedo, ground), lamp_level(emitters, middle))
        gain = self._exposure.gain
        flash = _flash(CONDITIONS[environment.weather].flashes, world.seed, time)
        self._lamplit, block = lamp_block(emitters, middle, gain, time)
        level = -1e9 if place.water_level is None else place.water_level
        lit = gain * (1.0 + flash)
        rows = [
            [0.0, 0.0, 0.0, place.size / 2],
            [0.0, 0.0, 0.0, _SHADOW_FADE],
            [0.0, 0.0, 0.0, time],
            [0.0, 0.0, 0.0, gain],
            [*light.to_sun, light.cloud_cover],
            [*(gain * light.sun), 0.0],
            [*(lit * light.ambient), 0.0],
            [*(lit * light.haze), light.extinction],
            [*(lit * light.zenith), light.stars],
            [ground.snow, ground.water, ground.dust, level],
            [*_DUST, light.sun_azimuth],
            [*light.to_moon, light.moon_phase],
            [*(gain * light.afterglow), light.sun_height],
        ]
        self._shared[:] = np.concatenate([np.array(rows, dtype=np.float32).ravel(), block.ravel()])

    def _paint_dome(self, view: View, time: float) -> None:
        step = math.floor(time / DOME_STEP) * DOME_STEP
        flash = self._shared[6 * 4 : 9 * 4].tobytes()  # sky light, haze, zenith as exposed
        key = (step, flash, self._shared[4 * 4 : 6 * 4].tobytes())
        if key == self._dome_of:
            return
        self._dome_of = key
        shared = self._shared.copy()
        shared[11] = step
        self._uniforms.write(view.uniforms(shared, self._shadow_matrix))
        self._sky.paint()

    def _draw_shadows(self, eye: NDArray[np.float64]) -> None:
        """Renew the shadow map when the sun, the objects or the (snapped) place have changed."""
        world = self._world
        xy = np.round(eye[:2] / _SHADOW_GRID) * _SHADOW_GRID
        key = (*xy, *self._lighting.to_sun, world.revision)
        if key == self._shadow_of:
            return
        self._shadow_of = key
        self._shadow_target.use()
        self._context.viewport = (0, 0, _SHADOW_SIDE, _SHADOW_SIDE)
        self._shadow_target.clear(depth=1.0)
        centre = np.array([*xy, float(world.ground_height(xy))])
        self._shadow_matrix = sun_matrix(centre, self._lighting.to_sun, _SHADOW_REACH)
        if self._lighting.to_sun[2] > 0.0:
            self._flora.draw_shadow(self._shadow_matrix, world.flora_present, xy, _SHADOW_REACH)
            self._objects.draw_shadow(self._shadow_matrix, world.things, xy, _SHADOW_REACH)

    def _light_at(self, thing: SceneObject) -> tuple[float, float]:
        """Sun share and tree shade where an object stands."""
        xy = thing.pose.position[:2]
        share = float(self._light.sun_share_at(xy[None].astype(np.float32))[0])
        return share, float(self._light.at(xy)[2]) / 255.0

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
        width, height = self.camera.width, self.camera.height
        rgba = np.empty((count * height, width, 4), dtype=np.uint8)
        depth = np.empty((count, height, width), dtype=np.float32)
        self._target.read_into(rgba, components=4, attachment=0)
        self._target.read_into(depth, components=1, attachment=1, dtype="f4")
        rgb = cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB).reshape(count, height, width, 3)
        ids = cv2.extractChannel(rgba, 3).reshape(count, height, width)
        return np.asarray(rgb, dtype=np.uint8), depth, np.asarray(ids, dtype=np.uint8)

    def _texture(self, content: NDArray[np.uint8], repeat: bool = False) -> moderngl.Texture:
        texture = self._context.texture(content.shape[1::-1], content.shape[2], np.ascontiguousarray(content))
        texture.repeat_x = texture.repeat_y = repeat
        texture.build_mipmaps()
        texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
        return texture


def _with_pattern(albedo: NDArray[np.uint8], surface: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Albedo with the detail pattern's number in thirds: 0 grass, 1 rock, 2 snow and sand, 3 earth."""
    number = np.where(
        surface[..., 0] > 127, 0, np.where(surface[..., 1] > 127, 1, np.where(surface[..., 2] > 127, 3, 2))
    )
    return np.dstack([albedo, (number * 85).astype(np.uint8)])


def _albedo_now(bare: float, ground: GroundState) -> float:
    """Mean albedo of the place under what the weather has laid on it."""
    covered = 0.8 * ground.snow
    return (1.0 - covered) * bare * (1.0 - 0.3 * ground.water) + covered * _SNOW_ALBEDO


def _flash(rate: float, seed: int, time: float) -> float:
    """How much brighter a lightning flash makes this instant; a flash lasts 0.3 s."""
    if rate <= 0.0:
        return 0.0
    slot = math.floor(time / 0.3)
    drawn = np.random.default_rng([seed, slot, 41]).random()
    return _FLASH if drawn < 0.3 * rate else 0.0
