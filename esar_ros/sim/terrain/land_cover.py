"""Land cover: its classes, their colours, and their distribution by a place's relief."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Annotated, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from esar_ros.mission.settings_file import StrictModel
from esar_ros.sim.terrain.noise import fbm, gradient_noise, smoothstep


class LandCover(IntEnum):
    """Classes of the ground's surface.

    BLOCKFIELD is loose boulders, ROCK bare bedrock, GOBI a pavement of dark gravel, CLAY the hard bed of a former
    lake, SALT a crust of upturned plates, SCRUB bushes and low trees; WATER lies level; PAVED are streets and yards.
    """

    GRASS = 0
    ROCK = 1
    SNOW = 2
    SAND = 3
    DIRT = 4
    FOREST = 5
    BLOCKFIELD = 6
    WATER = 7
    SALT = 8
    GOBI = 9
    CLAY = 10
    ICE = 11
    SCRUB = 12
    PAVED = 13


# Linear albedo (sRGB primaries) of each class, by index; mean values of field spectra rounded by eye.
# Snow is darker than fresh snow (0.8 and more): the cameras' exposure is fixed, and it must not drown in white.
ALBEDO = np.array(
    [
        [0.092, 0.118, 0.034],
        [0.190, 0.178, 0.165],
        [0.440, 0.465, 0.505],
        [0.500, 0.400, 0.270],
        [0.150, 0.122, 0.090],
        [0.062, 0.068, 0.030],
        [0.172, 0.166, 0.152],
        [0.012, 0.060, 0.085],
        [0.440, 0.415, 0.375],
        [0.205, 0.172, 0.138],
        [0.400, 0.315, 0.215],
        [0.360, 0.520, 0.640],
        [0.075, 0.094, 0.034],
        [0.160, 0.158, 0.152],
    ],
    dtype=np.float32,
)


class AlpineCover(StrictModel):
    """Forest below a ragged tree line, meadow above and in glades, blockfield on high and convex ground."""

    kind: Literal["alpine"]
    tree_line: float = Field(description="m, map frame z where forest thins out")
    forest_share: float = Field(ge=0.0, le=1.0, description="of the ground that can bear trees")
    blockfield_line: float = Field(description="m, map frame z above which blockfields are common")
    rock_slope: float = Field(gt=0.0, description="rise over run from which bedrock shows")
    trail_width: float = Field(ge=0.0, description="m of the trodden trail along the crest, 0 for none")
    clearing_radius: float = Field(ge=0.0, description="m about the centre that stay free of trees")


class DesertCover(StrictModel):
    """Salt, gravel, clay and sand as the wind laid them; where the relief does not say, by slope and height."""

    kind: Literal["desert"]
    rock_slope: float = Field(gt=0.0, description="rise over run from which bedrock or clay shows")
    salt_level: float = Field(description="m, map frame z below which level ground is salt crust")
    sand_share: float = Field(0.0, ge=0.0, le=1.0, description="of the plain, in fields, where the relief names none")


class GlacialCover(StrictModel):
    """Snow where it can lie, ice where it is scoured or broken, rock where it is too steep for either."""

    kind: Literal["glacial"]
    snow_line: float = Field(description="m, map frame z above which snow stays all year")
    snow_slope: float = Field(gt=0.0, description="rise over run up to which snow lies")
    rock_slope: float = Field(gt=0.0, description="rise over run from which rock is bare")


class CoastalCover(StrictModel):
    """Broad-leaved forest, scrub on wind-swept crests and shores, rock on cliffs, boulders and sand by the sea."""

    kind: Literal["coastal"]
    forest_share: float = Field(ge=0.0, le=1.0, description="of the ground that can bear trees")
    rock_slope: float = Field(gt=0.0, description="rise over run from which rock is bare")
    shore_height: float = Field(gt=0.0, description="m above the sea that waves and spray keep bare")
    sand_slope: float = Field(gt=0.0, description="rise over run up to which a shore is sand, boulders above")


class SettledCover(StrictModel):
    """Meadow, woods, paving and water as a settlement's plan has them."""

    kind: Literal["settled"]


Cover = Annotated[AlpineCover | DesertCover | GlacialCover | CoastalCover | SettledCover, Field(discriminator="kind")]

UNKNOWN = 255  # surface that the relief leaves to the classifier

# Members of an IntEnum are no numbers to numba.
(_GRASS, _ROCK, _SNOW, _SAND, _DIRT, _FOREST, _BLOCKFIELD, _WATER, _SALT, _GOBI, _CLAY, _ICE, _SCRUB, _PAVED) = map(
    int, LandCover
)


def classify(
    cover: Cover,
    heights: NDArray[np.float32],
    surface: NDArray[np.uint8],
    size: float,
    seed: int,
    water_level: float | None,
    crest_offset: float | None,
) -> NDArray[np.uint8]:
    """Land cover class (n, n) of each height sample.

    surface (n, n) holds what the relief knows already, UNKNOWN elsewhere. crest_offset (m north) is where an alpine
    crest and the trail along it run, None when there is none.
    """
    if isinstance(cover, SettledCover):
        return surface
    sea = -math.inf if water_level is None else float(np.float32(water_level))
    if isinstance(cover, AlpineCover):
        made = _alpine(
            heights, size, seed, cover.tree_line, cover.forest_share, cover.blockfield_line, cover.rock_slope,
            0.0 if crest_offset is None else cover.trail_width, max(cover.clearing_radius, 1e-3), crest_offset or 0.0,
            sea,
        )  # fmt: skip
        return _as_told(made, surface)
    if isinstance(cover, DesertCover):
        return _desert(heights, surface, size, seed, cover.rock_slope, cover.salt_level, cover.sand_share, sea)  # type: ignore[no-any-return]
    if isinstance(cover, GlacialCover):
        return _glacial(heights, surface, size, seed, cover.snow_line, cover.snow_slope, cover.rock_slope, sea)  # type: ignore[no-any-return]
    made = _coastal(
        heights, size, seed, cover.forest_share, cover.rock_slope, cover.shore_height, cover.sand_slope, sea
    )
    return _as_told(made, surface)


def _as_told(made: NDArray[np.uint8], surface: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns what a survey tells of the land in place of what was made up; the sea stays."""
    return np.where((surface == UNKNOWN) | (made == _WATER), made, surface)


def trail_north(x: float, crest_offset: float, seed: int) -> float:
    """y (m) of the trodden trail along an alpine crest: it keeps to the crest and dips to the camp at the centre."""
    return float(_trail(x, crest_offset, seed))


@njit(cache=True, nogil=True)
def _trail(x, crest, seed):  # type: ignore[no-untyped-def]
    bend = crest * smoothstep(0.0, 260.0, abs(x)) + 22.0 * gradient_noise(x / 130.0, 0.61, seed + 230)
    bend += 5.0 * gradient_noise(x / 31.0, 1.7, seed + 231)
    return bend


@njit(cache=True, nogil=True)
def _gradient(h, i, j, step):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    a = min(i + 1, n - 1)
    b = max(i - 1, 0)
    c = min(j + 1, n - 1)
    d = max(j - 1, 0)
    return (h[j, a] - h[j, b]) / ((a - b) * step), (h[c, i] - h[d, i]) / ((c - d) * step)


@njit(cache=True, nogil=True)
def _alpine(h, size, seed, tree_line, share, block_line, rock_slope, trail, clearing, crest, sea):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    out = np.zeros((n, n), np.uint8)
    for j in range(n):
        for i in range(n):
            x = i * step - size / 2.0
            y = j * step - size / 2.0
            gx, gy = _gradient(h, i, j, step)
            slope = math.sqrt(gx * gx + gy * gy)
            z = h[j, i]
            broad = fbm(x / 260.0, y / 260.0, 4, seed + 200, 0.55)
            fine = fbm(x / 28.0, y / 28.0, 3, seed + 210, 0.6)
            away = math.sqrt(x * x + y * y)
            # Trees: denser low down, in patches, not on cliffs, not at the camp.
            fit = share + 0.75 * broad + 0.18 * fine + 0.3 * smoothstep(0.0, 160.0, tree_line - z)
            fit -= 1.2 * smoothstep(tree_line - 15.0, tree_line + 45.0, z)
            fit -= 1.5 * (1.0 - smoothstep(clearing, 1.5 * clearing + 25.0, away + 25.0 * fine))
            kind = _GRASS
            if fit > 0.5 and slope < 0.95:
                kind = _FOREST
            streak = fbm(x / 75.0, y / 190.0, 4, seed + 220, 0.55)
            stones = 0.9 * streak + 0.25 * fine + smoothstep(block_line - 60.0, block_line + 60.0, z) - 0.72
            stones -= 0.6 * (1.0 - smoothstep(0.5 * clearing, 1.2 * clearing, away))
            if kind == _GRASS and stones > 0.0:
                kind = _BLOCKFIELD
            if slope > rock_slope + 0.25 * fine:
                kind = _ROCK
            if (trail > 0.0 and abs(y - _trail(x, crest, seed)) < 0.5 * trail * (1.0 + 0.5 * fine)) or (
                kind == _GRASS and fine > 0.52
            ):
                kind = _DIRT
            out[j, i] = _WATER if z <= sea else kind
    return out


@njit(cache=True, nogil=True)
def _desert(h, surface, size, seed, rock_slope, salt_level, sand_share, sea):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    out = np.zeros((n, n), np.uint8)
    for j in range(n):
        for i in range(n):
            gx, gy = _gradient(h, i, j, step)
            slope = math.sqrt(gx * gx + gy * gy)
            x = i * step
            y = j * step
            kind = surface[j, i]
            if kind == UNKNOWN:
                broad = fbm(x / 400.0, y / 400.0, 4, seed + 200, 0.5)
                kind = _GOBI
                if h[j, i] < salt_level + 2.0 * broad and slope < 0.1:
                    kind = _SALT
                elif broad > 0.55 - sand_share and slope < 0.55:
                    kind = _SAND
                elif slope > rock_slope:
                    kind = _ROCK
            elif kind == _GOBI and slope > rock_slope:
                kind = _CLAY
            out[j, i] = _WATER if h[j, i] <= sea else kind
    return out


@njit(cache=True, nogil=True)
def _glacial(h, surface, size, seed, snow_line, snow_slope, rock_slope, sea):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    out = np.zeros((n, n), np.uint8)
    for j in range(n):
        for i in range(n):
            gx, gy = _gradient(h, i, j, step)
            slope = math.sqrt(gx * gx + gy * gy)
            x = i * step
            y = j * step
            z = h[j, i]
            broad = fbm(x / 180.0, y / 180.0, 4, seed + 200, 0.5)
            fine = fbm(x / 14.0, y / 14.0, 3, seed + 210, 0.6)
            # Sunny (southern) slopes melt out first; hollows keep their snow.
            sunny = -gy / (slope + 0.3)
            grip = snow_slope + 0.35 * broad + 0.22 * fine - 0.14 * sunny
            kind = _SNOW
            if z < snow_line + 60.0 * broad:
                kind = _ROCK if slope > 0.75 else (_BLOCKFIELD if slope > 0.3 or fine > 0.0 else _GRASS)
            elif slope > rock_slope + 0.35 * fine or (slope > grip and broad + 0.6 * fine > -0.12):
                kind = _ROCK
            elif slope > grip or (slope > 0.62 * snow_slope and broad < -0.3):
                kind = _ICE
            if surface[j, i] != UNKNOWN:
                kind = surface[j, i]
            out[j, i] = _WATER if z <= sea else kind
    return out


@njit(cache=True, nogil=True)
def _coastal(h, size, seed, share, rock_slope, shore, sand_slope, sea):  # type: ignore[no-untyped-def]
    n = h.shape[0]
    step = size / (n - 1)
    out = np.zeros((n, n), np.uint8)
    for j in range(n):
        for i in range(n):
            z = h[j, i]
            if z <= sea:
                out[j, i] = _WATER
                continue
            gx, gy = _gradient(h, i, j, step)
            slope = math.sqrt(gx * gx + gy * gy)
            x = i * step
            y = j * step
            broad = fbm(x / 210.0, y / 210.0, 4, seed + 200, 0.55)
            fine = fbm(x / 20.0, y / 20.0, 3, seed + 210, 0.6)
            # How much higher the ground stands than its neighbourhood: crests are dry and bare.
            reach = max(1, int(24.0 / step))
            ring = (
                h[j, max(0, i - reach)]
                + h[j, min(n - 1, i + reach)]
                + h[max(0, j - reach), i]
                + h[min(n - 1, j + reach), i]
            )
            crest = z - 0.25 * ring
            fit = share + 0.6 * broad + 0.15 * fine - 0.07 * crest
            fit -= 0.55 * (1.0 - smoothstep(shore, shore + 35.0, z - sea))
            kind = _SCRUB
            if fit > 0.5 and slope < 1.0:
                kind = _FOREST
            elif fit < 0.02 + 0.1 * fine:
                kind = _GRASS
            if slope > rock_slope + 0.25 * fine:
                kind = _ROCK
            elif z - sea < shore * (0.75 + 0.5 * fine):
                kind = _SAND if slope < sand_slope else (_BLOCKFIELD if slope < 0.55 else _ROCK)
            elif kind == _GRASS and fine > 0.45:
                kind = _DIRT
            out[j, i] = kind
    return out
