"""Illumination: the ground's textures, baked light, cast shadows, exposure, sky and lamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.detail_textures import cloud_pattern, detail_patterns, paint_noise
from esar_ros.sim.render.effects_drawing import EffectsDrawing, lamp_block, lamp_level
from esar_ros.sim.render.exposure import Exposure, expose
from esar_ros.sim.render.flora.flora_drawing import FloraDrawing
from esar_ros.sim.render.graphics import Look, Unit
from esar_ros.sim.render.ground_bake import GroundBake
from esar_ros.sim.render.ground_light import GroundLight
from esar_ros.sim.render.object_drawing import ObjectDrawing
from esar_ros.sim.render.scenery_drawing import SceneryDrawing
from esar_ros.sim.render.sky_drawing import DOME_STEP, SkyDrawing
from esar_ros.sim.render.tiles.ground_tiles import GroundTiles
from esar_ros.sim.render.views import SHARED_FLOATS, View, sun_matrix
from esar_ros.sim.weather.appearance import Falling
from esar_ros.sim.weather.ground_state import GroundState
from esar_ros.sim.weather.sky import Lighting
from esar_ros.sim.world.scene import PlacedEmitter, SceneObject
from esar_ros.sim.world.world import World

_SHADOW_REACH = 100.0  # m, half side of the shadow map
_SHADOW_FADE = 78.0  # m from the eye where baked shade has taken over
_SHADOW_SIDE = 1536  # px
_SHADOW_GRID = 24.0  # m the shadow map's centre snaps to: images depend on the pose, not on the way there
_DUST = np.array([0.40, 0.30, 0.18])  # albedo of what storms lay down
_PUDDLES = 0.5  # share of water from which it stands in hollows
_FLASH = 2.5  # times a thunderstorm's light that a flash adds
_SNOW_ALBEDO = 0.8


class Illumination:
    """A world's light and colours on the GPU.

    exposure, lighting, shared (what all views of a frame have in common in the Frame block), shadow_matrix, look
    and wet (water stands in hollows) are of the frame begun last.
    """

    def __init__(
        self,
        context: moderngl.Context,
        world: World,
        bake: GroundBake,
        tiles: GroundTiles | None,
        flora: FloraDrawing,
        scenery: SceneryDrawing,
        objects: ObjectDrawing,
        uniforms: moderngl.Buffer,
    ) -> None:
        self._context, self._world, self._tiles = context, world, tiles
        self._flora, self._scenery, self._objects, self._uniforms = flora, scenery, objects, uniforms
        place = world.place
        self.ground = GroundLight(place, world.flora, bake.size, paint_noise(), world.scenery.solids)
        self._mean_albedo = float(((bake.albedo[::8, ::8].astype(np.float64) / 255.0) ** 2).mean())
        self._albedo_map = self._texture(tiles.albedo if tiles else _with_pattern(bake.albedo, bake.surface))
        self._light_map = context.texture((bake.size, bake.size), 4)
        self._light_map.repeat_x = self._light_map.repeat_y = False
        self._details = self._texture(detail_patterns(place), repeat=True)
        self._clouds = self._texture(cloud_pattern(world.seed)[..., None], repeat=True)
        self._shadow_map = context.depth_texture((_SHADOW_SIDE, _SHADOW_SIDE))
        self._shadow_map.compare_func = "<="
        self._shadow_map.repeat_x = self._shadow_map.repeat_y = False
        self._shadow_target = context.framebuffer(depth_attachment=self._shadow_map)
        self._effects = EffectsDrawing(context)
        self._sky = SkyDrawing(context, Unit.CLOUDS, Unit.DOME)

        self.lighting: Lighting
        self.exposure: Exposure
        self.look, self.wet = Look.PLAIN, False
        self.shared = np.zeros(SHARED_FLOATS, dtype=np.float32)
        self.shadow_matrix = np.eye(4)
        self._seen: Any = None
        self._lit_by: tuple[float, ...] | None = None
        self._shadow_of: tuple[Any, ...] | None = None
        self._dome_of: tuple[Any, ...] | None = None

    def sync(self, time: float) -> None:
        """Take over the world's environment at a simulation time (s); no work when nothing has changed."""
        environment = self._world.environment
        if environment is self._seen and not environment.changes:
            return
        self._seen = environment
        self.lighting = environment.lighting(self._world.place, time)
        if tuple(self.lighting.to_sun) != self._lit_by:
            self._lit_by = tuple(self.lighting.to_sun)
            self.ground.shine(self.lighting.to_sun)
            self._light_map.write(self.ground.texture)
            self._light_map.build_mipmaps()
            self._light_map.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
            self._flora.lod.set_light(self.ground.sun_share_at(self._world.flora.positions[:, :2]))
            self._shadow_of = None
            if self._tiles:
                self._tiles.shine(self.lighting.to_sun)

    def begin(self, view: View, middle: NDArray[np.float64], time: float) -> None:
        """Light a frame at a time (s): one of its views, and the middle of its eyes (3,)."""
        self._share(time, middle)
        for unit, texture in (
            (Unit.ALBEDO, self._albedo_map),
            (Unit.LIGHT, self._light_map),
            (Unit.DETAIL, self._details),
            (Unit.SHADOW, self._shadow_map),
            (Unit.CLOUDS, self._clouds),
        ):
            texture.use(unit)
        if self._tiles:
            self._tiles.use()
        self._paint_dome(view, time)
        self._draw_shadows(middle)

    def draw_sky(self) -> None:
        """Fill what nothing else has covered."""
        self._sky.draw()

    def draw_over(self, view: View, emitters: Sequence[PlacedEmitter], time: float) -> None:
        """Draws what has no surface: lights of the sky, smoke and glow; colour alone."""
        context = self._context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._sky.draw_lights(self.lighting)
        context.disable(moderngl.BLEND)
        wind = self._world.environment.air(time).wind
        self._effects.draw(view, emitters, self.lighting, self.exposure.gain, wind, time)

    def at(self, thing: SceneObject) -> tuple[float, float]:
        """Sun share and tree shade where an object stands."""
        xy = thing.pose.position[:2]
        share = float(self.ground.sun_share_at(xy[None].astype(np.float32))[0])
        return share, float(self.ground.at(xy)[2]) / 255.0

    def _share(self, time: float, middle: NDArray[np.float64]) -> None:
        """Sets what all cameras of a frame share: light, exposure, the ground's state, lamps."""
        world, light = self._world, self.lighting
        place, environment = world.place, world.environment
        ground = environment.ground(time)
        emitters = world.emitters
        self.exposure = expose(light, _albedo_now(self._mean_albedo, ground), lamp_level(emitters, middle))
        gain = self.exposure.gain
        conditions = environment.air(time).conditions
        flash = _flash(conditions.flashes, world.seed, time)
        rain = conditions.density if conditions.falling is Falling.RAIN else 0.0
        lamplit, block = lamp_block(emitters, middle, gain, time)
        self.look, self.wet = Look.LAMPLIT if lamplit else Look.PLAIN, ground.water > _PUDDLES
        level = -1e9 if place.water_level is None else place.water_level
        lit = gain * (1.0 + flash)
        rows = [
            [0.0, 0.0, 0.0, place.size / 2],
            [0.0, 0.0, 0.0, _SHADOW_FADE],
            [0.0, 0.0, 0.0, time],
            [0.0, 0.0, 0.0, gain],
            [*light.to_sun, light.cloud_cover],
            [*(gain * light.sun), 0.0],
            [*(lit * light.ambient), rain],
            [*(lit * light.haze), light.extinction],
            [*(lit * light.zenith), light.stars],
            [ground.snow, ground.water, ground.dust, level],
            [*_DUST, light.sun_azimuth],
            [*light.to_moon, light.moon_phase],
            [*(gain * light.afterglow), light.sun_height],
        ]
        self.shared[:] = np.concatenate([np.array(rows, dtype=np.float32).ravel(), block.ravel()])

    def _paint_dome(self, view: View, time: float) -> None:
        step = math.floor(time / DOME_STEP) * DOME_STEP
        flash = self.shared[6 * 4 : 9 * 4].tobytes()  # sky light, haze, zenith as exposed
        key = (step, flash, self.shared[4 * 4 : 6 * 4].tobytes())
        if key == self._dome_of:
            return
        self._dome_of = key
        shared = self.shared.copy()
        shared[11] = step
        self._uniforms.write(view.uniforms(shared, self.shadow_matrix))
        self._sky.paint()

    def _draw_shadows(self, eye: NDArray[np.float64]) -> None:
        """Renew the shadow map when the sun, the objects or the (snapped) place have changed."""
        world = self._world
        xy = np.round(eye[:2] / _SHADOW_GRID) * _SHADOW_GRID
        key = (*xy, *self.lighting.to_sun, world.revision)
        if key == self._shadow_of:
            return
        self._shadow_of = key
        self._shadow_target.use()
        self._context.viewport = (0, 0, _SHADOW_SIDE, _SHADOW_SIDE)
        self._shadow_target.clear(depth=1.0)
        centre = np.array([*xy, float(world.ground_height(xy))])
        self.shadow_matrix = sun_matrix(centre, self.lighting.to_sun, _SHADOW_REACH)
        if self.lighting.to_sun[2] > 0.0:
            self._flora.draw_shadow(self.shadow_matrix, world.flora_present, xy, _SHADOW_REACH)
            self._scenery.draw_shadow(self.shadow_matrix, xy, _SHADOW_REACH)
            self._objects.draw_shadow(self.shadow_matrix, world.things, xy, _SHADOW_REACH)

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
    """Returns the extra brightness of a lightning flash at this instant; a flash lasts 0.3 s."""
    if rate <= 0.0:
        return 0.0
    slot = math.floor(time / 0.3)
    drawn = np.random.default_rng([seed, slot, 41]).random()
    return _FLASH if drawn < 0.3 * rate else 0.0
