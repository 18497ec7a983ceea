"""What lies on the ground: classes, how a place's cover follows its relief, and colours of each class."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from esar_ros.sim.noise import fbm, gradient_noise, smoothstep


class LandCover(IntEnum):
    """Classes of the ground's surface. BLOCKFIELD is loose boulders, ROCK bare bedrock."""

    GRASS = 0
    ROCK = 1
    SNOW = 2
    SAND = 3
    DIRT = 4
    FOREST = 5
    BLOCKFIELD = 6
    WATER = 7


# Linear albedo (sRGB primaries) of each class, by index; mean values of field spectra rounded by eye.
ALBEDO = np.array(
    [
        [0.092, 0.118, 0.034],
        [0.190, 0.178, 0.165],
        [0.800, 0.830, 0.870],
        [0.500, 0.400, 0.270],
        [0.150, 0.122, 0.090],
        [0.062, 0.068, 0.030],
        [0.172, 0.166, 0.152],
        [0.020, 0.040, 0.050],
    ],
    dtype=np.float32,
)


class AlpineCover(BaseModel):
    """Forest below a ragged tree line, meadow above and in glades, blockfield on high and convex ground."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["alpine"]
    tree_line: float = Field(description="m, map frame z where forest thins out")
    forest_share: float = Field(ge=0.0, le=1.0, description="of the ground that can bear trees")
    blockfield_line: float = Field(description="m, map frame z above which blockfields are common")
    rock_slope: float = Field(gt=0.0, description="rise over run from which bedrock shows")
    trail_width: float = Field(ge=0.0, description="m of the trodden trail along the crest, 0 for none")
    clearing_radius: float = Field(ge=0.0, description="m about the centre that stay free of trees")


def classify(
    cover: AlpineCover, heights: NDArray[np.float32], size: float, crest_offset: float, seed: int
) -> NDArray[np.uint8]:
    """Land cover class (n, n) of each height sample."""
    return _alpine(  # type: ignore[no-any-return]
        heights,
        size,
        seed,
        cover.tree_line,
        cover.forest_share,
        cover.blockfield_line,
        cover.rock_slope,
        cover.trail_width,
        cover.clearing_radius,
        crest_offset,
    )


@njit(cache=True, nogil=True)
def _alpine(h, size, seed, tree_line, share, block_line, rock_slope, trail, clearing, crest):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    out = np.zeros((n, n), np.uint8)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            a = min(i + 1, n - 1)
            b = max(i - 1, 0)
            c = min(j + 1, n - 1)
            d = max(j - 1, 0)
            gx = (h[j, a] - h[j, b]) / ((a - b) * step)
            gy = (h[c, i] - h[d, i]) / ((c - d) * step)
            slope = math.sqrt(gx * gx + gy * gy)
            z = h[j, i]
            broad = fbm(x / 260.0, y / 260.0, 4, seed + 200, 0.55)
            fine = fbm(x / 28.0, y / 28.0, 3, seed + 210, 0.6)
            away = math.sqrt(x * x + y * y)
            # Trees: denser low down, in patches, not on cliffs, not at the camp.
            fit = share + 0.75 * broad + 0.18 * fine + 0.3 * smoothstep(0.0, 160.0, tree_line - z)
            fit -= 1.2 * smoothstep(tree_line - 15.0, tree_line + 45.0, z)
            fit -= 1.5 * (1.0 - smoothstep(clearing, 1.5 * clearing + 25.0, away + 25.0 * fine))
            kind = 0
            if fit > 0.5 and slope < 0.95:
                kind = 5
            streak = fbm(x / 75.0, y / 190.0, 4, seed + 220, 0.55)
            stones = 0.9 * streak + 0.25 * fine + smoothstep(block_line - 60.0, block_line + 60.0, z) - 0.72
            stones -= 0.6 * (1.0 - smoothstep(0.5 * clearing, 1.2 * clearing, away))
            if kind == 0 and stones > 0.0:
                kind = 6
            if slope > rock_slope + 0.25 * fine:
                kind = 1
            # The trail keeps to the crest and dips to the camp at the centre.
            bend = crest * smoothstep(0.0, 260.0, abs(x)) + 22.0 * gradient_noise(x / 130.0, 0.61, seed + 230)
            bend += 5.0 * gradient_noise(x / 31.0, 1.7, seed + 231)
            if (trail > 0.0 and abs(y - bend) < 0.5 * trail * (1.0 + 0.5 * fine)) or (kind == 0 and fine > 0.52):
                kind = 4
            out[j, i] = kind
    return out
