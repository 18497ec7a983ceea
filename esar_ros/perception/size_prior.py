"""The size of a person, as a doubt about detections in pictures without depth whose distance is known otherwise.

A picture without depth does not tell a person at 30 m from a boulder as tall as four of them at 120 m. Where the
camera's height and the ground are known its distance is (photographs), as it is in flight where directions from two
places cross (fusion), and with it the size of what was framed: Hoiem, Efros and Hebert, *Putting Objects in
Perspective*, IJCV 80, 2008.
"""

from __future__ import annotations

import math

from esar_ros.geometry.camera import CameraModel
from esar_ros.perception.pod_curves import SIDE

_LOOSE = 1.2  # sides of boxes as detectors draw them, against the person's own
_PEOPLE = (
    0.4  # deviation of the logarithm: 0.24 of postures and views (training.cutouts), the rest of boxes and distance
)
_OTHERS = 1.1  # the same of what is taken for a person: an assumption, a ninth to nine times as large


def side_of(box: tuple[float, float, float, float], distance: float, model: CameraModel) -> float:
    """Returns the root (m) of the area of a box (x, y, width, height px) at a distance (m) from the camera."""
    x, y, width, height = box
    u, v = (x + width / 2.0 - model.cx) / model.fx, (y + height / 2.0 - model.cy) / model.fy
    depth = distance / math.sqrt(1.0 + u * u + v * v)
    return depth * math.sqrt(width * height / (model.fx * model.fy))


def doubted(probability: float, side: float) -> float:
    """Returns the probability that a detection is right, given the root of its area (m) besides.

    The ratio of both lognormal densities counts where it speaks against a person; where it speaks for one nothing is
    added, since reliability was measured on boxes of people's sizes.
    """
    away = math.log(max(side, 1e-3) / (_LOOSE * SIDE))
    ratio = _OTHERS / _PEOPLE * math.exp(-0.5 * away**2 * (_PEOPLE**-2 - _OTHERS**-2))
    against = min(ratio, 1.0)
    return probability * against / (probability * against + 1.0 - probability) if probability < 1.0 else probability
