"""Glow and smoke of fires, flares and lamps, laid over the colour; ids and depth do not know of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.sim.render.graphics import program
from esar_ros.sim.render.shaders import sky as glsl
from esar_ros.sim.render.shaders.common import LAMPS
from esar_ros.sim.render.views import View
from esar_ros.sim.weather.sky import LUX, Lighting
from esar_ros.sim.world.scene import PlacedEmitter

_PUFFS = 26  # of a plume
_MAX_SPRITES = 512  # puffs and glows a view
_GLOW_PX = 3.0  # least radius of a glow: a lens spreads a point over as much
_REACH = 400.0  # m beyond which a lamp lights no ground
_MIN_LIGHT = 0.02  # of what a lamp gives at 2 m, of the exposed scene, below which it is left out
_WIND_SHARE = 0.85  # of the wind that smoke takes


class EffectsDrawing:
    """GPU side of a world's emitters."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        square = context.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], dtype=np.float32).tobytes())
        self._rows = context.buffer(reserve=_MAX_SPRITES * 32, dynamic=True)
        layout = [(square, "2f", "corner"), (self._rows, "4f 4f/i", "centre", "tint")]
        self._smoke, self._glow = (
            context.vertex_array(program(context, glsl.PUFF_VERTEX, fragment), layout)
            for fragment in (glsl.SMOKE_FRAGMENT, glsl.GLOW_FRAGMENT)
        )

    def draw(
        self, view: View, emitters: Sequence[PlacedEmitter], light: Lighting, gain: float, wind: Vector, time: float
    ) -> None:
        """Over the view's colour. The caller has depth tested but not written, and colour's alpha masked."""
        if not emitters:
            return
        context = self._context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        self._render(self._smoke, smoke_rows(emitters, view, light, gain, wind, time))
        context.blend_func = moderngl.ONE, moderngl.ONE
        self._render(self._glow, glow_rows(emitters, view, light, gain, time))
        context.disable(moderngl.BLEND)

    def _render(self, array: moderngl.VertexArray, rows: NDArray[np.float32]) -> None:
        if len(rows):
            self._rows.write(rows[:_MAX_SPRITES])
            array.render(moderngl.TRIANGLE_STRIP, instances=min(len(rows), _MAX_SPRITES))


def flicker(emitter: PlacedEmitter, time: float) -> float:
    """Brightness about 1 of an unsteady flame, by its place and the time."""
    depth = emitter.emitter.flicker
    phase = float(emitter.position[0] * 1.7 + emitter.position[1] * 2.3)
    wave = math.sin(9.1 * time + phase) + math.sin(14.3 * time + 2.0 * phase) + math.sin(23.7 * time)
    return 1.0 + depth * wave / 3.0


def lamp_level(emitters: Sequence[PlacedEmitter], eye: Vector) -> float:
    """Light of lamps near a point for the exposure meter, as a share of a clear noon's."""
    distances = [float(np.linalg.norm(e.position - eye)) for e in emitters]
    arriving = (e.emitter.intensity * LUX / (d * d + 100.0) for e, d in zip(emitters, distances, strict=True))
    return 2.0 * sum(arriving)


def lamp_block(
    emitters: Sequence[PlacedEmitter], eye: Vector, gain: float, time: float
) -> tuple[bool, NDArray[np.float32]]:
    """Returns whether there are lamps, and the shaders' three arrays (3, LAMPS, 4) of those nearest to a point."""
    block = np.zeros((3, LAMPS, 4), dtype=np.float32)
    block[1, :, 3] = -2.0
    bright = [
        e
        for e in emitters
        if e.emitter.intensity * LUX * gain / 4.0 > _MIN_LIGHT and np.linalg.norm(e.position - eye) < _REACH
    ]
    bright.sort(key=lambda e: (float(np.linalg.norm(e.position - eye)), e.source.name))
    for k, placed in enumerate(bright[:LAMPS]):
        emitter = placed.emitter
        block[0, k] = (*(placed.position + [0.0, 0.0, 0.15]), max(emitter.radius, 0.15) ** 2)
        strength = emitter.intensity * LUX * gain * flicker(placed, time)
        cosine = -2.0 if emitter.beam > 3.0 else math.cos(emitter.beam)
        block[1, k] = (*(strength * c for c in emitter.colour), cosine)
        block[2, k, :3] = placed.direction
    return bool(bright), block


def smoke_rows(
    emitters: Sequence[PlacedEmitter], view: View, light: Lighting, gain: float, wind: Vector, time: float
) -> NDArray[np.float32]:
    """Puffs (N, 8), far ones first: centre, radius, radiance, opacity."""
    rows = []
    shine = gain * (light.ambient + 0.35 * light.sun)
    for placed in emitters:
        smoke = placed.emitter.smoke
        if smoke is None:
            continue
        rng = np.random.default_rng(int(abs(placed.position[0] * 977.0 + placed.position[1] * 131.0)))
        life = smoke.height / smoke.rise
        start, sway = rng.random(_PUFFS) / _PUFFS, rng.standard_normal((_PUFFS, 2))
        age = ((np.arange(_PUFFS) / _PUFFS + start + time / life) % 1.0) * life
        up = smoke.rise * age
        radius = smoke.radius + smoke.spread * up
        drift = _WIND_SHARE * age[:, None] * np.asarray(wind)[None, :2] + 0.35 * radius[:, None] * sway
        centre = placed.position + np.column_stack([drift, up])
        opacity = smoke.opacity * np.sqrt(smoke.radius / radius) * (1.0 - age / life)
        glow = (
            np.exp(-up / 1.5)[:, None] * np.array(placed.emitter.colour) * placed.emitter.intensity * LUX * gain * 0.3
        )
        colour = np.array(smoke.colour) * (shine + glow)
        rows.append(np.column_stack([centre, radius * 1.6, colour, opacity * 0.75]))
    if not rows:
        return np.zeros((0, 8), dtype=np.float32)
    every = np.concatenate(rows)
    far = ((every[:, :3] - view.eye) @ view.axes[2]).argsort(kind="stable")[::-1]
    return np.ascontiguousarray(every[far], dtype=np.float32)


def glow_rows(
    emitters: Sequence[PlacedEmitter], view: View, light: Lighting, gain: float, time: float
) -> NDArray[np.float32]:
    """Glows (N, 8): centre, radius, grey levels of each channel as shares, strength."""
    rows = []
    for placed in emitters:
        emitter = placed.emitter
        sight = placed.position - view.eye
        distance = float(np.linalg.norm(sight))
        off = -float(sight @ placed.direction) / max(distance, 1e-3)
        beam = 1.0 if emitter.beam > 3.0 else 0.03 + 0.97 * float(off > math.cos(emitter.beam))
        arriving = (
            emitter.intensity * beam * LUX * gain * math.exp(-light.extinction * distance) * flicker(placed, time)
        )
        pixel = 2.0 * view.half_width / view.width
        # Light of a point over the spot that lens and air make of it, beside a white surface in the same light.
        spot = max(_GLOW_PX * pixel * distance, 2.2 * emitter.radius)
        strength = math.sqrt(min(1.0, 0.35 * arriving / (math.pi * spot * spot)))
        if strength > 0.02:
            wide = spot * (1.0 + 2.5 * strength)
            towards = placed.position - sight / max(distance, 1e-3) * min(0.3, 0.5 * distance)
            rows.append([*towards, wide, *emitter.colour, strength])
    return np.asarray(rows, dtype=np.float32).reshape(-1, 8)
