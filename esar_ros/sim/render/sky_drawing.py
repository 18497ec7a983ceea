"""Draws the sky: a dome painted once in a while, the discs of sun and moon, stars."""

from __future__ import annotations

import math

import moderngl
import numpy as np

from esar_ros.sim.render.graphics import program
from esar_ros.sim.render.shaders import sky as glsl
from esar_ros.sim.weather.sky import Lighting

DOME_STEP = 20.0  # s between two paintings of the dome: clouds drift slowly
_SIDE = 512  # px of the dome, 0.35 degrees each
_DISC = math.radians(0.265)  # rad, of sun and moon
_STARS = 700


class SkyDrawing:
    """GPU side of the sky."""

    def __init__(self, context: moderngl.Context, cloud_unit: int, dome_unit: int) -> None:
        self._context, self._unit = context, dome_unit
        self._dome = context.texture((_SIDE, _SIDE), 4)
        self._dome.repeat_x = self._dome.repeat_y = False
        self._target = context.framebuffer([self._dome])
        corners = context.buffer(np.array([-1, -1, 3, -1, -1, 3], dtype=np.float32).tobytes())
        square = context.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], dtype=np.float32).tobytes())
        painter = program(context, glsl.DOME_VERTEX, glsl.DOME_FRAGMENT, clouds=cloud_unit)
        self._paint = context.vertex_array(painter, [(corners, "2f", "corner")])
        sky = program(context, glsl.SKY_VERTEX, glsl.SKY_FRAGMENT, dome=dome_unit)
        self._sky = context.vertex_array(sky, [(corners, "2f", "corner")])
        self._disc_program = program(context, glsl.DISC_VERTEX, glsl.DISC_FRAGMENT, dome=dome_unit)
        self._disc = context.vertex_array(self._disc_program, [(square, "2f", "corner")])
        rng = np.random.default_rng(5)
        direction = rng.standard_normal((_STARS, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        direction[:, 2] = np.abs(direction[:, 2])
        brightness = np.minimum(1.0, 0.10 * rng.random(_STARS) ** -0.6)
        rows = context.buffer(np.column_stack([direction, brightness]).astype(np.float32).tobytes())
        stars = program(context, glsl.STAR_VERTEX, glsl.STAR_FRAGMENT, dome=dome_unit)
        self._stars = context.vertex_array(stars, [(rows, "4f", "star")])

    def paint(self) -> None:
        """Renew the dome; the Frame block holds the light and the time."""
        self._target.use()
        self._context.viewport = (0, 0, _SIDE, _SIDE)
        self._context.disable(moderngl.DEPTH_TEST)
        self._paint.render()
        self._context.enable(moderngl.DEPTH_TEST)

    def draw(self) -> None:
        """Fill what nothing else has covered."""
        self._dome.use(self._unit)
        self._sky.render()

    def draw_lights(self, light: Lighting) -> None:
        """Sun, moon and stars over the drawn sky; the caller has set colour alone to be written, and adding."""
        self._dome.use(self._unit)
        if light.stars > 0.02:
            self._stars.render(moderngl.POINTS)
        day = bool(light.to_sun is not light.to_moon)
        if day and light.sun.max() > 1e-3:
            self._show(light.to_sun, False)
        if light.to_moon[2] > -0.01:
            self._show(light.to_moon, True)

    def _show(self, direction: np.ndarray, is_moon: bool) -> None:
        self._disc_program["body"] = (*(float(v) for v in direction), _DISC)
        self._disc_program["is_moon"] = float(is_moon)
        self._disc.render(moderngl.TRIANGLE_STRIP)
