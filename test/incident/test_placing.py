"""Pixels to coordinates: the right place, an error that is right by Monte Carlo, and heights that disagree."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import CHI_SQUARE_95, Position
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look, LookErrors
from esar_ros.incident.placing import UNCHECKED, Height, Placed, Withheld, camera_height, place
from helpers.hills import LATITUDE, LONGITUDE, hills

MODEL = CameraModel.from_horizontal_fov(4000, 3000, np.radians(73.0))
HOME = Position(34.0012, 107.0009)


def shot(ground: Ground, above: float = 60.0, **changed: Any) -> Look:
    """A look from a height above the ground below it, whose numbers are all right."""
    altitude = ground.height(*ground.to_grid(LATITUDE, LONGITUDE)) + above
    home = ground.height(*ground.to_grid(HOME.latitude, HOME.longitude))
    told = Look("a.JPG", LATITUDE, LONGITUDE, altitude, altitude - home, yaw=40.0, pitch=-60.0, roll=0.0, model=MODEL)
    return replace(told, **changed)


def pixel_of(look: Look, ground: Ground, east: float, north: float) -> tuple[tuple[float, float], np.ndarray]:
    """The pixel that shows the ground at an offset (m) of the camera by true north, and its geodetic place."""
    frame = Origin(look.latitude, look.longitude, 0.0)
    latitude, longitude, _ = frame.to_geodetic([east, north, 0.0])
    height = ground.height(*ground.to_grid(latitude, longitude))
    rotation = look.rotation()
    assert rotation is not None and look.altitude is not None
    uv, inside = MODEL.project(np.array([east, north, height - look.altitude]) @ rotation)
    assert inside
    return (float(uv[0]), float(uv[1])), np.array([latitude, longitude, height])


@pytest.mark.parametrize(("east", "north"), [(20.0, 25.0), (5.0, 40.0), (40.0, 10.0)])
def test_a_pixel_is_placed_where_it_was_taken_from(east: float, north: float) -> None:
    ground = hills()
    look = shot(ground)
    pixel, truth = pixel_of(look, ground, east, north)
    placed = place(look, pixel, ground, HOME)
    assert isinstance(placed, Placed)
    away = Origin(*truth).to_enu(placed.position.latitude, placed.position.longitude, placed.position.altitude or 0.0)
    assert np.abs(away).max() < 0.1
    assert placed.doubts == ()


@pytest.mark.parametrize("pitch", [-90.0, -60.0, -35.0])
def test_the_ellipse_holds_95_percent_of_errors_drawn_at_random(pitch: float) -> None:
    ground, errors = hills(relief=10.0), LookErrors()
    look = shot(ground, pitch=pitch)
    centre = (2000.0, 1500.0)
    placed = place(look, centre, ground, HOME)
    assert isinstance(placed, Placed)
    height = camera_height(look, ground, HOME)
    assert isinstance(height, Height)
    random, held, count = np.random.default_rng(0), 0, 1500
    frame = Origin(placed.position.latitude, placed.position.longitude, placed.position.altitude or 0.0)
    inverse = np.linalg.inv(placed.covariance)
    for _ in range(count):
        east, north = random.normal(0.0, errors.horizontal, 2)
        latitude, longitude, _ = Origin(look.latitude, look.longitude, 0.0).to_geodetic([east, north, 0.0])
        up = random.normal(0.0, height.sigma)
        focal = MODEL.fx * (1.0 + random.normal(0.0, errors.focal))
        moved = replace(
            look, latitude=latitude, longitude=longitude, altitude=(look.altitude or 0.0) + up, above_home=None,
            yaw=40.0 + random.normal(0.0, errors.yaw), pitch=pitch + random.normal(0.0, errors.pitch),
            roll=random.normal(0.0, errors.roll), model=replace(MODEL, fx=focal, fy=focal),
        )  # fmt: skip
        other = place(moved, tuple(random.normal(centre, errors.pixel)), ground)
        assert isinstance(other, Placed)
        away = frame.to_enu(other.position.latitude, other.position.longitude, other.position.altitude or 0.0)[:2]
        held += int(away @ inverse @ away <= CHI_SQUARE_95)
    assert 0.93 <= held / count <= 0.97


@pytest.mark.parametrize("lift", [30.0, -30.0])
def test_an_elevation_model_that_is_off_is_found_out(lift: float) -> None:
    look = shot(hills())
    refused = place(look, (2000.0, 1500.0), hills(lift=lift), HOME)
    assert isinstance(refused, Withheld)
    unchecked = place(look, (2000.0, 1500.0), hills(lift=lift))  # nothing to check against: marked
    assert isinstance(unchecked, Placed) and unchecked.doubts == (UNCHECKED,)
    by_laser = place(replace(look, laser=60.0 / math.sin(math.radians(60.0))), (2000.0, 1500.0), hills(lift=lift))
    assert isinstance(by_laser, Withheld) and "laser" in by_laser.why


def test_a_laser_that_agrees_checks_the_height() -> None:
    ground = hills(relief=0.0)
    look = shot(ground, laser=60.0 / math.sin(math.radians(60.0)))
    placed = place(look, (2000.0, 1500.0), ground)
    assert isinstance(placed, Placed) and placed.doubts == ()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"yaw": None}, "attitude"),
        ({"model": None}, "focal length"),
        ({"altitude": None, "above_home": None}, "its height is not told"),
        ({"altitude": 1400.0, "above_home": None}, "below the ground"),
        ({"latitude": 35.0}, "beside the elevation model"),
        ({"pitch": 20.0}, "not on the elevation model"),
    ],
)
def test_what_cannot_be_placed_is_withheld_with_its_cause(changed: dict[str, float | None], why: str) -> None:
    ground = hills()
    refused = place(shot(ground, **changed), (2000.0, 1500.0), ground, HOME)  # type: ignore[arg-type]
    assert isinstance(refused, Withheld) and why in refused.why


def test_a_line_along_the_ground_has_no_ellipse() -> None:
    ground = hills(relief=0.0)
    look = shot(ground, pitch=-4.8)
    refused = place(look, (2000.0, 1500.0), ground, HOME)
    assert isinstance(refused, Withheld) and "along the ground" in refused.why


@pytest.mark.parametrize("pitch", [-90.0, -60.0])
def test_an_elevation_model_that_lies_aside_is_part_of_the_ellipse(pitch: float) -> None:
    """The ground on which the picture was taken is not where the model has it."""
    ground, random, held, count = hills(relief=60.0), np.random.default_rng(1), 0, 400
    look = shot(ground, pitch=pitch, above_home=None)
    still = LookErrors(0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 1e-6)
    look = replace(look, errors=still)
    stated = replace(ground, sigma=0.01, aside=6.0)
    truth = place(look, (2000.0, 1200.0), replace(ground, sigma=0.01))
    assert isinstance(truth, Placed) and truth.covariance.trace() < 0.1
    frame = Origin(truth.position.latitude, truth.position.longitude, truth.position.altitude or 0.0)
    for _ in range(count):
        east, north = random.normal(0.0, 6.0, 2)
        moved = replace(stated, west=ground.west + east, north=ground.north + north)
        placed = place(look, (2000.0, 1200.0), moved)
        assert isinstance(placed, Placed)
        away = frame.to_enu(placed.position.latitude, placed.position.longitude, placed.position.altitude or 0.0)[:2]
        held += bool(away @ np.linalg.inv(placed.covariance) @ away <= CHI_SQUARE_95)
    assert 0.88 <= held / count <= 0.995, held / count
