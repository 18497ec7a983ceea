"""An OpenGL context without a screen, through EGL: Mesa's llvmpipe on a CPU, the real driver on a GPU."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Any

import moderngl

from esar_ros.mission.errors import UsageError
from esar_ros.sim.render.shaders.common import defined

CURE = "apt install libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri"


# What of the two targets is written: colour (red, green, blue; id in alpha), depth.
EVERYTHING = ((True, True, True, True), (True, True, True, True))
COLOUR_ALONE = ((True, True, True, False), (False, False, False, False))
ALL_BUT_COLOUR = ((False, False, False, True), (True, True, True, True))


class Unit(IntEnum):
    """Texture units."""

    ALBEDO = 0
    LIGHT = 1
    DETAIL = 2
    SHADOW = 3
    CLOUDS = 4
    ATLAS = 5
    DOME = 6
    SCENE_DEPTH = 7
    TILES = 8
    GROUND_TILES = 9
    KINDS = 10
    LEAVES = 11


class Look(IntEnum):
    """Variant of the surface shaders: an index of their programs, those of `variants` and one without colour."""

    PLAIN = 0
    LAMPLIT = 1
    BARE = 2  # ids and depth alone


def mask_colour(target: moderngl.Framebuffer, mask: Any) -> None:
    """Let only part of the targets be written."""
    target.color_mask = mask


_drawing: set[int] = set()  # ids of this process and those it was forked from, of whoever has made a context


def headless_context() -> moderngl.Context:
    """A context of at least OpenGL 3.3. Raises UsageError naming what to install.

    Make it in the process and thread that render: EGL does not survive a fork, and a process that was forked from one
    that draws would wait for its threads for ever; it is refused.
    """
    if _drawing - {os.getpid()}:
        raise UsageError("forked from a process that draws, this one cannot", 'start it by the context "spawn"')
    _drawing.add(os.getpid())
    try:
        # Named by their sonames: the links without a version come only with development packages.
        settings: dict[str, Any] = {"backend": "egl", "libgl": "libGL.so.1", "libegl": "libEGL.so.1"}
        return moderngl.create_context(require=330, standalone=True, **settings)
    except Exception as error:  # the loader raises plain Exception and OSError alike
        raise UsageError(f"no OpenGL 3.3 through EGL on this machine ({error})", CURE) from None


def program(context: moderngl.Context, vertex: str, fragment: str, **samplers: int) -> moderngl.Program:
    """Compiled program with its Frame block at binding 0 and samplers at texture units."""
    made = context.program(vertex_shader=vertex, fragment_shader=fragment)
    for name in made:
        member: Any = made[name]
        if isinstance(member, moderngl.UniformBlock):
            member.binding = 0
    for name, unit in samplers.items():
        made[name] = unit
    return made


def variants(
    context: moderngl.Context, vertex: str, fragment: str, *names: str, **samplers: int
) -> tuple[moderngl.Program, moderngl.Program]:
    """The program without and with lamps; names: defined in both. A loop over no lamps costs as much as over all."""
    plain, lit = (
        program(context, defined(vertex, *names, *extra), defined(fragment, *names, *extra), **samplers)
        for extra in ((), ("LAMPLIT",))
    )
    return plain, lit
