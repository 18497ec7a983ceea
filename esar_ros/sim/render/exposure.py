"""The camera's exposure and its sensor's noise: pure functions of the light, so that a pose has one image."""

from __future__ import annotations

import math
from dataclasses import dataclass

from esar_ros.sim.weather.sky import Lighting

_MIN_GAIN, _MAX_GAIN = 0.6, 320.0  # of the gain
_FOLLOW = 0.74  # of a change of light in stops that the camera makes up for: dusk looks like dusk
_MEAN_ALBEDO = 0.11  # of the ground that the gain of 1 is right for
_QUIET = 6.0  # gain up to which noise stays below one grey level
_LOUDEST = 10.0  # grey levels, standard deviation at the greatest gain


@dataclass(frozen=True)
class Exposure:
    """gain: factor on radiance; noise: standard deviation in grey levels of 255."""

    gain: float
    noise: float


def expose(light: Lighting, mean_albedo: float, lamps: float = 0.0) -> Exposure:
    """Automatic exposure by incident light and by how bright the place's ground is, within the camera's limits.

    lamps: light of fires and lamps near the camera, as a share of a clear noon's.
    """
    wanted = (1.0 / max(light.level + lamps, 1e-9)) ** _FOLLOW
    wanted *= (_MEAN_ALBEDO / max(mean_albedo, 0.02)) ** 0.38
    gain = min(_MAX_GAIN, max(_MIN_GAIN, wanted))
    loud = math.sqrt(max(0.0, gain - _QUIET) / (_MAX_GAIN - _QUIET))
    return Exposure(gain, _LOUDEST * loud)
