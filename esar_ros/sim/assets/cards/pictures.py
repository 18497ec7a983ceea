"""Pictures that cards bear: brightness and cut of a fir's branch and spire, of leaves, and of solid stuff."""

from __future__ import annotations

import math
from enum import IntEnum
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.kept_arrays import kept_arrays, kept_path

SIDE = 256  # px of a picture
_LARGE = 4 * SIDE  # px, as it is drawn

Drawn = NDArray[np.uint8]


class Picture(IntEnum):
    """Number of a picture."""

    FROND = 0  # a fir's branch along u, seen from above
    LEAVES = 1
    SOLID = 2  # bark, stone, the dark inside of a crown: nothing is cut
    SPIRE = 3  # a fir from the side, its stem along u


@cache
def draw_pictures() -> Drawn:
    """(4, SIDE, SIDE, 2): brightness (128 is the mesh's own) and cut (255 there, 0 not)."""
    return kept_arrays(kept_path("tiles", "cards", (Path(__file__),)), lambda: {"pictures": _draw()})["pictures"]


def _draw() -> Drawn:
    out = np.empty((len(Picture), SIDE, SIDE, 2), dtype=np.uint8)
    out[Picture.FROND] = _branch(3, twigs=30, wide=0.56, lean=0.95, narrowing=1.0)
    out[Picture.SPIRE] = _branch(5, twigs=46, wide=0.46, lean=1.5, narrowing=1.0)
    out[Picture.LEAVES] = _leaves(7)
    out[Picture.SOLID] = _solid(9)
    return out


def _branch(seed: int, twigs: int, wide: float, lean: float, narrowing: float) -> Drawn:
    """A stem along u with twigs to both sides, each with needles; paler to the tips. lean: rad, of twigs."""
    rng = np.random.default_rng(seed)
    grey, cut = (np.zeros((_LARGE, _LARGE), dtype=np.uint8) for _ in range(2))

    def stroke(a: tuple[float, float], b: tuple[float, float], width: int, tone: float) -> None:
        ends = [(int(u * _LARGE), int(v * _LARGE)) for u, v in (a, b)]
        cv2.line(grey, *ends, int(255 * min(1.0, tone)), width, cv2.LINE_AA)
        cv2.line(cut, *ends, 255, width, cv2.LINE_AA)

    stroke((0.0, 0.5), (0.98, 0.5), 16, 0.25)
    for t in np.linspace(0.01, 0.97, twigs):
        for side in (-1, 1):
            long = wide * (1.0 - t) ** narrowing * rng.uniform(0.75, 1.1) + 0.012
            angle = lean + rng.uniform(-0.15, 0.15)
            end = (t + long * math.cos(angle), 0.5 + side * long * math.sin(angle))
            tone = rng.uniform(0.35, 0.62)
            stroke((t, 0.5), end, 9, 0.8 * tone)
            turn = math.atan2(end[1] - 0.5, end[0] - t)
            for s in np.linspace(0.08, 1.0, 9):
                at = (t + s * (end[0] - t), 0.5 + s * (end[1] - 0.5))
                for flank in (-0.8, 0.8):
                    size = (0.008 + 0.026 * (1.0 - t)) * rng.uniform(0.7, 1.3)
                    tip = (at[0] + size * math.cos(turn + flank), at[1] + size * math.sin(turn + flank))
                    stroke(at, tip, 8, tone * (0.75 + 0.6 * s) * rng.uniform(0.85, 1.2))
    return _shrunk(grey, cut)


def _leaves(seed: int) -> Drawn:
    """Leaves in a round tuft, later ones paler and over earlier ones."""
    rng = np.random.default_rng(seed)
    grey, cut = (np.zeros((_LARGE, _LARGE), dtype=np.uint8) for _ in range(2))
    count = 330
    for k in range(count):
        r, a = 0.44 * math.sqrt(rng.random()), rng.uniform(0.0, 2.0 * math.pi)
        at = (int(_LARGE * (0.5 + r * math.cos(a))), int(_LARGE * (0.5 + r * math.sin(a))))
        axes = (int(_LARGE * rng.uniform(0.030, 0.050)), int(_LARGE * rng.uniform(0.014, 0.026)))
        tone = int(255 * min(1.0, rng.uniform(0.28, 0.62) * (0.7 + 0.6 * k / count)))
        turn = rng.uniform(0.0, 360.0)
        cv2.ellipse(grey, at, axes, turn, 0.0, 360.0, tone, -1, cv2.LINE_AA)
        cv2.ellipse(cut, at, axes, turn, 0.0, 360.0, 255, -1, cv2.LINE_AA)
    return _shrunk(grey, cut)


def _solid(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    grain = np.zeros((SIDE, SIDE), dtype=np.float32)
    for count, weight in ((8, 0.35), (32, 0.35), (128, 0.30)):
        small = np.tile(rng.random((count, count)).astype(np.float32), (3, 3))  # pictures wrap
        grain += weight * cv2.resize(small, (3 * SIDE, 3 * SIDE), interpolation=cv2.INTER_CUBIC)[SIDE:-SIDE, SIDE:-SIDE]
    grey = np.clip(128.0 + 190.0 * (grain - 0.5), 0, 255).astype(np.uint8)
    return np.dstack([grey, np.full_like(grey, 255)])


def _shrunk(grey: Drawn, cut: Drawn) -> Drawn:
    """A picture in its own size; grey spreads into the gaps, lest their black bleeds into the smaller levels."""
    share = cut.astype(np.float32) / 255.0
    wide = cv2.GaussianBlur(grey * share, (0, 0), 24) / np.maximum(cv2.GaussianBlur(share, (0, 0), 24), 1e-3)
    full = np.where(cut > 0, grey, np.clip(wide, 0, 255)).astype(np.float32)
    small = [cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for part in (full, cut.astype(np.float32))]
    return np.dstack(small).astype(np.uint8)
