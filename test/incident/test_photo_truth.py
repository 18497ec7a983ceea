"""Photographs that the simulator draws of people on a known map: how far off their coordinates are, and whether the
stated errors hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import CHI_SQUARE_95, Position
from esar_ros.incident.looks import LookErrors
from esar_ros.incident.photo_finds import finds
from esar_ros.incident.placing import Placed, Withheld, place
from esar_ros.incident.sources import photos
from esar_ros.incident.sources.intake import Intake
from esar_ros.perception.detectors.chosen import create_chosen
from esar_ros.sim.terrain.maps import load_map
from helpers.simulated_photos import elevation_model, shots

MAP = "lop_nur"
COUNT = 100  # photographs
LIFT = 30.0  # m


def away(truth: Position, told: Position) -> np.ndarray:
    """East and north, m."""
    frame = Origin(truth.latitude, truth.longitude, truth.altitude or 0.0)
    return frame.to_enu(told.latitude, told.longitude, told.altitude or 0.0)[:2]


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_coordinates_of_people_are_right_within_their_stated_errors(tmp_path: Path) -> None:
    ground = elevation_model(load_map(MAP))
    lifted = replace(ground, heights=ground.heights + LIFT)
    errors, held, detected = list[float](), 0, list[float]()
    detector = create_chosen("esar_yolo")
    for noise in (None, LookErrors()):
        for shot in shots(tmp_path, COUNT, 7, noise):
            (photo,) = photos.read([shot.path], Intake())
            placed = place(photo.look, shot.pixel, ground, shot.home)
            assert isinstance(placed, Placed)
            off = away(shot.person, placed.position)
            if noise is None:
                errors.append(float(np.hypot(*off)))
                near = finds(photo.look, detector, ground, Intake(), shot.home)
                detected += [
                    float(np.hypot(*away(shot.person, find.position))) for find in near if find.kind == "person"
                ]
            else:
                held += int(off @ np.linalg.inv(placed.covariance) @ off <= CHI_SQUARE_95)
            assert isinstance(place(photo.look, shot.pixel, lifted, shot.home), Withheld)
            alone = place(photo.look, shot.pixel, lifted)
            assert isinstance(alone, Withheld) or alone.doubts
    print(
        f"median {np.median(errors):.2f} m, by the detector {np.median(detected):.2f} m of {len(detected)} in {COUNT}"
    )
    print(f"the ellipse holds {held} of {COUNT}")
    assert np.median(errors) <= 3.0
    assert np.median(detected) <= 3.0
    assert held >= 0.9 * COUNT
