"""Parts that household models are put together from: blocks, rods, boards, legs and wheels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from esar_ros.sim.assets.households.make import Finish
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder
from esar_ros.sim.assets.palette import BLACK, shade

DARK: Colour = (0.03, 0.03, 0.035)
STEEL: Colour = (0.36, 0.37, 0.39)
PANE: Colour = (0.05, 0.075, 0.09)
LAMP_WHITE: Colour = (0.70, 0.69, 0.62)
LAMP_RED: Colour = (0.50, 0.02, 0.02)


class Parts(MeshBuilder):
    """A mesh builder in the words of a joiner."""

    def block(self, low: ArrayLike, high: ArrayLike, colour: Colour, solid: bool = False) -> None:
        """Box from its minimum to its maximum corner (3,)."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        self.box((a + b) / 2, (b - a) / 2, colour)
        if solid:
            self.solid(a, b)

    def rod(
        self, start: ArrayLike, end: ArrayLike, radius: float, colour: Colour, sides: int = 6, solid: bool = False
    ) -> None:
        """Round bar from start to end (3,)."""
        self.limb(start, end, radius, radius, colour, sides)
        if solid:
            self.solid_rod(start, end, radius)

    def rods(self, path: Iterable[ArrayLike], radius: float, colour: Colour, solid: bool = False) -> None:
        """Round bars from point to point."""
        points = [np.asarray(point, dtype=np.float64) for point in path]
        for a, b in pairwise(points):
            self.rod(a, b, radius, colour, 6, solid)

    def legs(self, x: float, y: float, top: float, radius: float, colour: Colour, splay: float = 0.0) -> None:
        """Four legs under (+-x, +-y), standing outwards by splay (m)."""
        for sx in (-1.0, 1.0):
            for sy in (-1.0, 1.0):
                foot = (sx * (x + splay), sy * (y + splay), 0.0)
                self.limb(foot, (sx * x, sy * y, top), 0.8 * radius, radius, colour, 6)

    def boards(self, low: ArrayLike, high: ArrayLike, finish: Finish, count: int = 4, along: int = 0) -> None:
        """A plate of boards that run along an axis (0 or 1), with gaps between them; of one piece if it is not wood."""
        a, b = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if finish.material != "wood":
            self.block(a, b, finish.tone)
            return
        across = 1 - along
        if b[across] - a[across] < 0.02:  # an upright plate: boards one above another
            across = 2
        step = (b[across] - a[across]) / count
        for k in range(count):
            p, q = a.copy(), b.copy()
            p[across], q[across] = a[across] + (k + 0.06) * step, a[across] + (k + 0.94) * step
            self.block(p, q, shade(finish.tone, 1.0 if k % 2 else 0.8))

    def wheel(self, centre: ArrayLike, radius: float, width: float, hub: Colour, spokes: bool = False) -> None:
        """Wheel that rolls along x; with spokes its rim is open."""
        c, half = np.asarray(centre, dtype=np.float64), np.array([0.0, width / 2, 0.0])
        if spokes:
            angles = np.linspace(0.0, 2.0 * np.pi, 15)
            rim = np.stack([radius * np.cos(angles), np.zeros(15), radius * np.sin(angles)], axis=1)
            self.tube(c + rim * (1.0 - width / 2 / radius), width / 2, BLACK, 5)
            for k in range(4):
                arm = radius * 0.95 * np.array([np.cos(k * np.pi / 4), 0.0, np.sin(k * np.pi / 4)])
                self.rod(c - arm, c + arm, 0.12 * width + 0.004, hub, 4)
            return
        self.rod(c - half, c + half, radius, BLACK, 14)
        self.rod(c - 1.08 * half, c + 1.08 * half, 0.55 * radius, hub, 10)

    def hoop(self, centre: ArrayLike, radius: float, thick: float, colour: Colour, sides: int = 16) -> None:
        """Level ring about a centre (3,)."""
        angles = np.linspace(0.0, 2.0 * np.pi, sides + 1)
        ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(sides + 1)], axis=1)
        self.tube(np.asarray(centre, dtype=np.float64) + ring, thick, colour, 5)

    def turned(
        self,
        profile: Iterable[tuple[float, float]],
        colour: ArrayLike,
        sides: int = 12,
        at: tuple[float, float] = (0.0, 0.0),
        stretch: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        """Body of revolution about an upright axis at (x, y), stretched along x and y: (radius, height) from its foot.

        A profile that turns inwards at its rim makes a vessel. One colour (3,) or one a ring. Rounded where the
        profile bends by less than 60 degrees, sharp elsewhere.
        """
        p = np.array(list(profile), dtype=np.float64)
        tones = np.broadcast_to(np.asarray(colour, dtype=np.float64), (len(p), 3))
        angles = np.arange(sides) * (2.0 * np.pi / sides) + np.pi / sides
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        outwards = circle / stretch
        outwards /= np.linalg.norm(outwards, axis=1, keepdims=True)
        band = np.stack([np.diff(p[:, 1]), -np.diff(p[:, 0])], axis=1)  # their normals: along the radius, and up
        band /= np.linalg.norm(band, axis=1, keepdims=True)
        i = np.arange(sides)
        k = (i + 1) % sides
        faces = np.concatenate([np.stack([i, k, sides + k], axis=1), np.stack([i, sides + k, sides + i], axis=1)])
        for n, normal in enumerate(band):
            points, normals = [], []
            for end, beside in ((n, n - 1), (n + 1, n + 1)):
                round_ = 0 <= beside < len(band) and band[beside] @ normal > 0.5
                lean = normal + band[beside] if round_ else normal
                lean = lean / np.linalg.norm(lean)
                points.append(np.column_stack([at + p[end, 0] * circle * stretch, np.full(sides, p[end, 1])]))
                normals.append(np.column_stack([lean[0] * outwards, np.full(sides, lean[1])]))
            self.add(np.concatenate(points), np.concatenate(normals), faces, np.repeat(tones[n : n + 2], sides, axis=0))
        for end, up in ((0, -1.0), (-1, 1.0)):
            rim = np.column_stack([at + p[end, 0] * circle * stretch, np.full(sides, p[end, 1])])
            middle = np.broadcast_to([*at, p[end, 1]], rim.shape)
            fan = np.stack([middle, rim, rim[k]] if up > 0.0 else [middle, rim[k], rim], axis=1)
            self.flat(fan, tones[end])

    def prism(self, outline: Iterable[tuple[float, float]], low: float, high: float, colour: Colour) -> None:
        """Plate across y from low to high: an outline (x, z), star-shaped about its mean, counter-clockwise."""
        o = np.array(list(outline), dtype=np.float64)
        right = np.column_stack([o[:, 0], np.full(len(o), low), o[:, 1]])
        left = np.column_stack([o[:, 0], np.full(len(o), high), o[:, 1]])
        next_right, next_left = np.roll(right, -1, axis=0), np.roll(left, -1, axis=0)
        middle, middle_left = (np.broadcast_to(side.mean(axis=0), side.shape) for side in (right, left))
        facets = [
            np.stack([middle, right, next_right], axis=1),
            np.stack([middle_left, next_left, left], axis=1),
            np.stack([right, left, next_left], axis=1),
            np.stack([right, next_left, next_right], axis=1),
        ]
        self.flat(np.concatenate(facets), colour)
