"""Temperatures that a thermal camera sees: ground by sun, hour, weather and height; bodies and fires above the air's.

A simple budget, not a radiometric model: it is right in what is warmer than what, and roughly by how much.
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
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.appearance import CONDITIONS
from esar_ros.sim.world.environment import Environment

LAPSE = 0.0065  # K/m, standard atmosphere
COLDEST, STEP = -40.0, 0.5  # deg C of count 0, K a count of the 8-bit image
_AIR_SHARE = 0.6  # of visible light's extinction that is left at 10 um (haze; fog droplets dim both alike)


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


def warmth_of(environment: Environment, place: PlaceMap, now: float) -> Warmth:
    """Temperatures of a place at its hour, day and weather."""
    zone = timezone(timedelta(hours=place.utc_offset))
    when = environment.local_time
    clock = when.astimezone(zone) if when.tzinfo else when
    hour = clock.hour + clock.minute / 60.0 + place.origin.longitude / 15.0 - place.utc_offset  # of the sun
    row = CONDITIONS[environment.weather]
    closed = max(0.0, (row.cloud_cover - 0.5) / 0.5)
    latitude = abs(place.origin.latitude)
    season = math.cos(2.0 * math.pi * (clock.timetuple().tm_yday - 200) / 365.0)
    mean = 27.0 - 0.35 * max(0.0, latitude - 15.0) + 0.32 * latitude * season * 0.8
    mean -= LAPSE * place.origin.altitude
    air = mean + 5.0 * (1.0 - 0.7 * closed) * math.cos(2.0 * math.pi * (hour - 15.0) / 24.0)
    light = environment.lighting(place)
    height = max(0.0, float(environment.to_sun(place)[2]))
    ground = environment.ground(now)
    return Warmth(
        air=air,
        sunlit=24.0 * (1.0 - 0.9 * closed) * min(1.0, 4.0 * height),
        night=4.0 * (1.0 - closed),
        sky=air - 45.0 * (1.0 - closed) - 6.0 * closed,
        sea=mean,
        extinction=light.extinction * (1.0 if environment.sight < 1000.0 and not row.yellow else _AIR_SHARE),
        snow=ground.snow,
        wet=min(1.0, ground.water + 0.5 * ground.snow),
    )


def celsius(
    depth: NDArray[np.float32],
    above_air: NDArray[np.float32],
    poses: list[Pose],
    camera: CameraModel,
    place: PlaceMap,
    light: GroundLight,
    warmth: Warmth,
) -> NDArray[np.float32]:
    """Temperatures (C, H, W) of planar depths; above_air: K that objects add, 0 where there is none."""
    out = np.empty(depth.shape, dtype=np.float32)
    rays = camera.rays().astype(np.float64)
    level = -1e9 if place.water_level is None else place.water_level
    w = warmth
    numbers = np.array([w.air, w.sunlit, w.night, w.sky, w.sea, w.extinction, w.snow, w.wet, LAPSE, level])
    for k, pose in enumerate(poses):
        _celsius(
            depth[k],
            above_air[k],
            rays,
            np.asarray(pose.position, dtype=np.float64),
            pose.rotation,
            place.heights,
            place.size,
            light.texture,
            numbers,
            out[k],
        )
    return out


def counts(temperature: NDArray[np.float32]) -> NDArray[np.uint8]:
    """8-bit image: STEP kelvin a count from COLDEST on."""
    return np.asarray(np.clip((temperature - COLDEST) / STEP + 0.5, 0.0, 255.0), dtype=np.uint8)


@njit(cache=True, nogil=True)
def _celsius(depth, above_air, rays, eye, rotation, heights, size, light, w, out):  # type: ignore[no-untyped-def]
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
            if above_air[j, i] > 0.0:
                t = air + above_air[j, i]
            elif z <= w[9] + 0.05:
                t = w[4]
            elif z - ground > 0.25:
                t = air + 0.12 * w[1] * direct
            else:
                t = air + (w[1] * direct - w[2] * light[texel_y, texel_x, 1] / 255.0) * (1.0 - 0.8 * w[7])
                hold = light[texel_y, texel_x, 3] / 255.0
                if hold + w[6] > 0.97:
                    t = min(t, 0.0)
            range_ = math.sqrt(a * a + b * b + c * c)
            seen = math.exp(-w[5] * range_)
            out[j, i] = air + (t - air) * seen
