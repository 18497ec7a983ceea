"""The track of an object: its filter's memory of the pose's error, and its union with another."""

from __future__ import annotations

import math

import numpy as np
import pytest

from esar_ros.perception.fusion.evidence import Evidence
from esar_ros.perception.fusion.track import PlaceFilter, PositionMeasurement, Track
from esar_ros.perception.settings import EvidenceSettings, FusionSettings, PoseSigmas

POSE = PoseSigmas().covariance


def place(sigma: float, east: float = 0.0) -> PlaceFilter:
    """A position measured once to sigma (m), 10 m from the camera."""
    noise = np.eye(3) * sigma**2
    return PlaceFilter(PositionMeasurement(1.0, np.array([east, 0.0, 0.0]), noise, POSE, np.array([10.0, 0.0, 0.0])))


def track(number: int, sigma: float, east: float) -> Track:
    evidence = Evidence()
    evidence.add("tent", 0.8, np.array([1.0, 0.0, 0.0]), 10.0, EvidenceSettings())
    return Track(number, place(sigma, east), evidence, "tent", 10.0, 1.0, 1.0, 0.0)


def test_position_and_attitude_error_are_forgotten_each_in_its_time() -> None:
    settings, kept = FusionSettings(position_time=60.0, attitude_time=40.0), place(0.1)
    before = kept.covariance.copy()
    kept.advance(31.0, POSE, settings)
    shared = kept.covariance[:3, 3:]
    np.testing.assert_allclose(shared[:, :3], before[:3, 3:6] * math.exp(-30.0 / 60.0))
    np.testing.assert_allclose(shared[:, 3:], before[:3, 6:] * math.exp(-30.0 / 40.0))
    np.testing.assert_allclose(kept.covariance[3:, 3:], POSE, err_msg="the error itself stays as large as stated")
    np.testing.assert_array_equal(kept.spread, before[:3, :3])


@pytest.mark.parametrize("sigmas", [(2.0, 0.1), (0.1, 2.0)])
def test_of_two_that_are_one_the_surer_place_is_kept(sigmas: tuple[float, float]) -> None:
    elder, younger = (track(n, sigma, float(n)) for n, sigma in enumerate(sigmas))
    surer = min((elder.place, younger.place), key=lambda each: float(np.trace(each.spread)))
    elder.absorb(younger, EvidenceSettings())
    assert elder.place is surer
