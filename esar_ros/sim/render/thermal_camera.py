"""The thermal camera: 8-bit pictures of temperatures, as an uncooled camera on a drone delivers them.

Numbers are those of cores with 12 um pixels and f/1.0 (noise of 50 mK, high gain to 140 deg C). The gain follows each
picture: its darkest and brightest hundredths get fixed greys, so that ground is grey and warm bodies are white.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose

_BLUR = 0.6  # px, deviation: diffraction at 10 um, and the lens
_NOISE = 0.05  # K, deviation from picture to picture
_COLUMN, _PIXEL = 0.02, 0.03  # K, deviation of what the last calibration has left of each column and pixel
_HOTTEST = 140.0  # deg C, above which the sensor is saturated
_MIDDLE, _SPAN = 125.0, 140.0  # grey of the median; greys from the coldest to the hottest hundredth
_GREATEST_GAIN = 22.0  # greys a kelvin, however even the scene is
_KNEE, _WHITE = 200.0, 251.0  # grey from which the curve bends towards white


def thermal_picture(celsius: NDArray[np.float32], pose: Pose, seed: int, time: float) -> NDArray[np.uint8]:
    """Greys (H, W) of temperatures (H, W), deg C: a function of the scene, pose, seed and time (s) alone."""
    seen = np.minimum(celsius, np.float32(_HOTTEST))
    seen = cv2.GaussianBlur(seen, (0, 0), _BLUR, borderType=cv2.BORDER_REPLICATE)
    place = np.asarray(pose.position, dtype=np.float64).tobytes() + pose.rotation.tobytes()
    key = [seed, zlib.crc32(place), round(time * 1000.0) & 0xFFFFFFFF, 9]
    random = np.random.default_rng(key)
    seen = seen + _pattern(*seen.shape, seed) + np.float32(_NOISE) * random.standard_normal(seen.shape, np.float32)
    cold, middle, hot = np.percentile(seen[::2, ::2], (1.0, 50.0, 99.0))
    gain = min(_GREATEST_GAIN, _SPAN / max(float(hot - cold), 1e-3))
    grey = _MIDDLE + np.float32(gain) * (seen - np.float32(middle))
    room = np.float32(_WHITE - _KNEE)
    bent = np.float32(_KNEE) + room * (1.0 - np.exp(-np.maximum(grey - np.float32(_KNEE), 0.0) / room))
    return np.asarray(np.clip(np.where(grey > _KNEE, bent, grey) + 0.5, 0.0, 255.0), dtype=np.uint8)


@lru_cache(maxsize=4)
def _pattern(height: int, width: int, seed: int) -> NDArray[np.float32]:
    """Fixed pattern (H, W) of one camera, K."""
    random = np.random.default_rng([seed, 0x7E4])
    columns = _COLUMN * random.standard_normal((1, width), np.float32)
    return np.asarray(columns + _PIXEL * random.standard_normal((height, width), np.float32), np.float32)
