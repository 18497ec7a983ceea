"""Temperatures that a thermal camera sees: ground by material, sun, hour, weather and height; bodies and fires.

A simple budget, not a radiometric model: it is right in what is warmer than what, and roughly by how much
(docs/explanation/thermal.md has the model and its sources).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta, timezone

import numpy as np
from numba import njit
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.sim.render.ground_light import GroundLight
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.noise import uniform2
from esar_ros.sim.weather.appearance import CONDITIONS
from esar_ros.sim.weather.changes import Air
from esar_ros.sim.world.environment import Environment

LAPSE = 0.0065  # K/m, standard atmosphere
COLDEST, STEP = -40.0, 0.5  # deg C of count 0, K a count of the 8-bit image
_AIR_SHARE = 0.6  # of visible light's extinction that is left at 10 um (haze; fog droplets dim both alike)
# Of each class of land cover: share of the sun's warming and of the night's loss that it shows, K that it has kept
# from the day after sunset, and the deviation of its small patches, K.
_GROUND = np.ones((len(LandCover), 4), dtype=np.float64)
for _covers, _row in (
    ((LandCover.GRASS, LandCover.SCRUB), (0.45, 1.15, 0.3, 0.8)),
    ((LandCover.FOREST,), (0.25, 0.5, 0.5, 0.5)),
    ((LandCover.ROCK, LandCover.BLOCKFIELD), (0.9, 0.5, 3.0, 1.0)),
    ((LandCover.PAVED,), (1.1, 0.4, 4.0, 0.4)),
    ((LandCover.GOBI, LandCover.SALT), (1.0, 0.9, 1.5, 0.7)),
    ((LandCover.SAND, LandCover.CLAY, LandCover.DIRT), (1.0, 1.1, 0.8, 0.5)),
    ((LandCover.SNOW, LandCover.ICE), (0.15, 1.3, 0.0, 0.4)),
    ((LandCover.WATER,), (0.0, 0.0, 0.0, 0.1)),
):
    _GROUND[[int(cover) for cover in _covers]] = _row
_SNOW, _ICE = int(LandCover.SNOW), int(LandCover.ICE)  # members of an IntEnum are no numbers to numba
_PATCH = 0.7  # m, side of the smallest patches
_CALM = 1.5  # m, height over which the cold of the ground fades
_KEPT_HOURS = 6.0  # in which what is kept from the day falls to 1 / e
_SKIN = 33.0  # deg C, of covered skin, towards which bodies' surfaces tend
_DRESSED_AT = 5.0  # deg C of air at which meshes' warmth holds
_BODY = 25.0  # K above the air: what is warmer burns
_THIN = 4.5  # K that light things without heat of their own lose to a clear sky, against 4 of bare ground


@dataclass(frozen=True)
class Warmth:
    """Temperatures in deg C at map height z = 0, and what the sun and the open sky do to bare ground in K."""

    air: float
    sunlit: float  # gained by dry ground under an overhead sun
    night: float  # lost by open ground to a clear sky
    sky: float
    sea: float
    extinction: float  # 1/m
    snow: float  # share of new snow, at most at 0 deg C
    wet: float  # share that holds the ground to the air's temperature
    kept: float  # 0..1, of the day's warmth that stone still holds
    wind: float  # m/s, which takes bodies' warmth


def warmth_of(environment: Environment, place: PlaceMap, now: float) -> Warmth:
    """Temperatures of a place at its hour, day and weather."""
    zone = timezone(timedelta(hours=place.utc_offset))
    when = environment.local_time
    clock = when.astimezone(zone) if when.tzinfo else when
    hour = clock.hour + clock.minute / 60.0 + place.origin.longitude / 15.0 - place.utc_offset  # of the sun
    air_now = environment.air(now)
    row = air_now.conditions
    closed = max(0.0, (row.cloud_cover - 0.5) / 0.5)
    latitude = abs(place.origin.latitude)
    season = math.cos(2.0 * math.pi * (clock.timetuple().tm_yday - 200) / 365.0)
    mean = 27.0 - 0.35 * max(0.0, latitude - 15.0) + 0.32 * latitude * season * 0.8
    mean -= LAPSE * place.origin.altitude
    air = mean + 5.0 * (1.0 - 0.7 * closed) * math.cos(2.0 * math.pi * (hour - 15.0) / 24.0)
    light = environment.lighting(place, now)
    height = max(0.0, float(environment.to_sun(place)[2]))
    ground = environment.ground(now)
    return Warmth(
        air=air,
        sunlit=24.0 * (1.0 - 0.9 * closed) * min(1.0, 4.0 * height),
        night=4.0 * (1.0 - closed),
        sky=air - 45.0 * (1.0 - closed) - 6.0 * closed,
        sea=mean,
        extinction=light.extinction * _extinction_share(air_now),
        snow=ground.snow,
        wet=min(1.0, ground.water + 0.5 * ground.snow),
        kept=(1.0 - closed) * math.exp(-((hour - 18.0) % 24.0) / _KEPT_HOURS) if height <= 0.0 else 0.0,
        wind=float(np.linalg.norm(air_now.wind)),
    )


def _extinction_share(air: Air) -> float:
    """Returns the share of visible light's extinction that infrared light has."""

    def share(sight: float, yellow: float) -> float:
        return 1.0 if sight < 1000.0 and not yellow else _AIR_SHARE

    if air.share <= 0.0:
        return share(air.sight, air.conditions.yellow)
    return air.mixed(lambda weather: share(CONDITIONS[weather].visibility, CONDITIONS[weather].yellow))


def celsius(
    depth: NDArray[np.float32],
    above_air: NDArray[np.float32],
    ids: NDArray[np.uint8],
    poses: list[Pose],
    camera: CameraModel,
    place: PlaceMap,
    light: GroundLight,
    warmth: Warmth,
) -> NDArray[np.float32]:
    """Temperatures (C, H, W) of planar depths.

    above_air: K that objects add, 0 where there is none; ids: 0 where no object is.
    """
    out = np.empty(depth.shape, dtype=np.float32)
    rays = camera.rays().astype(np.float64)
    level = -1e9 if place.water_level is None else place.water_level
    w = warmth
    numbers = np.array(
        [w.air, w.sunlit, w.night, w.sky, w.sea, w.extinction, w.snow, w.wet, LAPSE, level, w.kept, w.wind]
    )
    for k, pose in enumerate(poses):
        _celsius(
            depth[k],
            above_air[k],
            ids[k],
            rays,
            np.asarray(pose.position, dtype=np.float64),
            pose.rotation,
            place.heights,
            place.size,
            light.texture,
            place.land_cover,
            numbers,
            out[k],
        )
    return out


def counts(temperature: NDArray[np.float32]) -> NDArray[np.uint8]:
    """8-bit image: STEP kelvin a count from COLDEST on."""
    return np.asarray(np.clip((temperature - COLDEST) / STEP + 0.5, 0.0, 255.0), dtype=np.uint8)


@njit(cache=True, nogil=True)
def _mottle(x, y):  # type: ignore[no-untyped-def]
    """Smooth noise about 0 with a deviation of some 0.3, of a lattice of unit squares."""
    i, j = math.floor(x), math.floor(y)
    u, v = x - i, y - j
    u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
    low = uniform2(i, j, 7) * (1.0 - u) + uniform2(i + 1, j, 7) * u
    high = uniform2(i, j + 1, 7) * (1.0 - u) + uniform2(i + 1, j + 1, 7) * u
    return low * (1.0 - v) + high * v - 0.5


@njit(cache=True, nogil=True)
def _celsius(depth, above_air, ids, rays, eye, rotation, heights, size, light, cover, w, out):  # type: ignore[no-untyped-def]
    n = heights.shape[0]
    m = light.shape[0]
    cell = size / (n - 1)
    for j in range(depth.shape[0]):
        for i in range(depth.shape[1]):
            d = depth[j, i]
            if not d < 1e9:
                out[j, i] = w[3]
                continue
            a, b, c = rays[j, i, 0] * d, rays[j, i, 1] * d, rays[j, i, 2] * d
            x = eye[0] + rotation[0, 0] * a + rotation[0, 1] * b + rotation[0, 2] * c
            y = eye[1] + rotation[1, 0] * a + rotation[1, 1] * b + rotation[1, 2] * c
            z = eye[2] + rotation[2, 0] * a + rotation[2, 1] * b + rotation[2, 2] * c
            air = w[0] - w[8] * z
            u = min(n - 1.001, max(0.0, (x + size / 2) / cell))
            v = min(n - 1.001, max(0.0, (y + size / 2) / cell))
            p, q = int(u), int(v)
            u -= p
            v -= q
            ground = (heights[q, p] * (1 - u) + heights[q, p + 1] * u) * (1 - v)
            ground += (heights[q + 1, p] * (1 - u) + heights[q + 1, p + 1] * u) * v
            texel_x = min(m - 1, max(0, int((x / size + 0.5) * m)))
            texel_y = min(m - 1, max(0, int((y / size + 0.5) * m)))
            direct = (light[texel_y, texel_x, 0] / 255.0) ** 2 * (light[texel_y, texel_x, 2] / 255.0)
            if above_air[j, i] > _BODY:
                t = air + above_air[j, i]
            elif above_air[j, i] > 0.0:
                worn = max(0.1, min(1.4, (_SKIN - air) / (_SKIN - _DRESSED_AT))) / (1.0 + 0.05 * w[11])
                t = air + above_air[j, i] * worn + 0.35 * w[1] * direct
            elif ids[j, i] > 0:
                t = air + 0.5 * w[1] * direct - _THIN * w[2] / 4.0
            elif z <= w[9] + 0.05:
                t = w[4]
            elif z - ground > 0.25:
                # Air is colder near ground that has cooled: stones and bushes are nearly as cold, trees are not.
                near = math.exp(-(z - ground) / _CALM)
                t = air + 0.12 * w[1] * direct - near * w[2] * light[texel_y, texel_x, 1] / 255.0 * (1.0 - 0.8 * w[7])
            else:
                # Borders of land cover are ragged, not those of its cells.
                ragged = 0.9 * _mottle(x / 1.3, y / 1.3)
                p = min(n - 2, max(0, int((x + ragged * cell + size / 2) / cell)))
                q = min(n - 2, max(0, int((y - ragged * cell + size / 2) / cell)))
                u = min(1.0, max(0.0, (x + ragged * cell + size / 2) / cell - p))
                v = min(1.0, max(0.0, (y - ragged * cell + size / 2) / cell - q))
                gain, lost, stored, rough = 0.0, 0.0, 0.0, 0.0
                for k in range(4):
                    share = (u if k % 2 else 1.0 - u) * (v if k // 2 else 1.0 - v)
                    row = cover[q + k // 2, p + k % 2]
                    gain += share * _GROUND[row, 0]
                    lost += share * _GROUND[row, 1]
                    stored += share * _GROUND[row, 2]
                    rough += share * _GROUND[row, 3]
                frozen = cover[q + (v >= 0.5), p + (u >= 0.5)]
                sun, loss = w[1] * direct * gain, w[2] * light[texel_y, texel_x, 1] / 255.0 * lost
                patch = rough * (_mottle(x / _PATCH, y / _PATCH) + 1.5 * _mottle(x / 9.0, y / 9.0))
                # Warming and cooling both differ from patch to patch; an overcast sky and water level them.
                uneven = 0.3 + (sun + loss) / 8.0
                t = air + (sun - loss + w[10] * stored + patch * uneven) * (1.0 - 0.8 * w[7])
                hold = light[texel_y, texel_x, 3] / 255.0
                if (w[6] > 0.0 and hold + w[6] > 0.97) or frozen in (_SNOW, _ICE):
                    t = min(t, 0.0)
            range_ = math.sqrt(a * a + b * b + c * c)
            seen = math.exp(-w[5] * range_)
            out[j, i] = air + (t - air) * seen
