"""Finds in pictures: slices that cover them, things on two slices once, coordinates or the cause why none, and
one find of several pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Find, Position
from esar_ros.incident.photo_finds import finds, merge, spot
from esar_ros.incident.placing import UNCHECKED
from esar_ros.incident.sources import photos
from esar_ros.incident.sources.intake import Intake
from esar_ros.perception.detectors.backend import Detection2D
from helpers.hills import LATITUDE, LONGITUDE, hills
from helpers.photographs import photograph

GROUND = hills(relief=0.0)
HOME = Position(34.0005, 107.0005)


class RedBoxes:
    """A detector that finds every red blot whose middle a slice shows."""

    name, eligible, prompts = "red", True, {"person": "person"}

    def set_prompts(self, prompts: Mapping[str, str]) -> None: ...

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        return [self._detect(frame.rgb) for frame in frames]

    def _detect(self, rgb: np.ndarray) -> list[Detection2D]:
        rows, columns = np.nonzero((rgb[..., 0] > 150) & (rgb[..., 1] < 90))
        if not len(rows):
            return []
        box = (int(columns.min()), int(rows.min()), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1)
        return [Detection2D("person", 0.7, box, "person")]


def picture(*blots: tuple[int, int]) -> np.ndarray:
    """A grey picture of 1600x1200 px with red blots of 20x10 px about (u, v)."""
    rgb = np.full((1200, 1600, 3), 120, np.uint8)
    for u, v in blots:
        rgb[v - 5 : v + 5, u - 10 : u + 10] = (255, 0, 0)
    return rgb


@pytest.mark.parametrize("blot", [(12, 8), (1588, 1194), (800, 600), (560, 400), (1060, 790)])
def test_a_thing_anywhere_is_found_once(blot: tuple[int, int]) -> None:
    (spotted,) = spot(picture(blot), RedBoxes())
    assert spotted.middle == pytest.approx(blot, abs=1.0)
    assert spotted.kind == "person"


def test_two_things_are_two_and_a_small_picture_is_one_slice() -> None:
    assert len(spot(picture((100, 100), (1500, 1100)), RedBoxes())) == 2
    assert len(spot(picture((100, 100))[:300, :400], RedBoxes())) == 1


class Pair:
    """A detector that finds two people side by side, whose boxes hold each other's middles, in every slice."""

    name, eligible, prompts = "pair", True, {"person": "person"}

    def set_prompts(self, prompts: Mapping[str, str]) -> None: ...

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        return [[Detection2D("person", 0.7, (x, 300, 20, 40), "person") for x in (300, 308)] for _ in frames]


def test_two_people_side_by_side_are_two() -> None:
    assert len(spot(picture()[:480, :640], Pair())) == 2


def test_people_of_an_impossible_size_are_doubted(tmp_path: Path) -> None:
    """A blot 0.6 m large from 60 m up, and the same one from 600 m up, where it would be 6 m large."""
    probabilities = []
    for height in (60.0, 600.0):
        path = photograph(
            tmp_path / f"{height:.0f}.JPG", LATITUDE, LONGITUDE, altitude=1500.0 + height, pixels=picture((800, 600))
        )
        (photo,) = photos.read([path], Intake())
        (find,) = finds(photo.look, RedBoxes(), GROUND, Intake())
        probabilities.append(find.probability)
        assert ("hardly a person" in find.note) == (height > 100.0)
    assert probabilities[0] == pytest.approx(0.7, abs=0.05) and (probabilities[1] or 0.0) < 0.1


def test_a_find_has_its_coordinate_its_error_and_its_picture(tmp_path: Path) -> None:
    path = photograph(tmp_path / "a.JPG", LATITUDE, LONGITUDE, pixels=picture((800, 600)))
    (photo,) = photos.read([path], Intake())
    intake = Intake()
    (find,) = finds(photo.look, RedBoxes(), GROUND, intake, HOME)
    away = Origin(LATITUDE, LONGITUDE, 0.0).to_enu(find.position.latitude, find.position.longitude, 0.0)
    assert np.abs(away[:2]).max() < 0.1  # it looks straight down
    assert find.covariance is not None and find.picture == path and find.note == ""
    assert find.time == photo.look.time
    (unchecked,) = finds(photo.look, RedBoxes(), GROUND, intake)
    assert unchecked.note == UNCHECKED
    lifted = replace(GROUND, heights=GROUND.heights + 30.0)
    assert finds(photo.look, RedBoxes(), lifted, intake, HOME) == []
    assert "a.JPG: person in it: its height" in intake.faults[0]


def test_a_picture_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = photograph(tmp_path / "a.JPG", LATITUDE, LONGITUDE, pixels=picture())
    (photo,) = photos.read([path], Intake())
    path.write_bytes(path.read_bytes()[:2000])
    intake = Intake()
    assert finds(photo.look, RedBoxes(), GROUND, intake) == []
    assert intake.faults


def found(picture_: str, east: float, probability: float = 0.5, kind: str = "person") -> Find:
    latitude, longitude, _ = Origin(LATITUDE, LONGITUDE, 0.0).to_geodetic([east, 0.0, 0.0])
    return Find(
        f"{picture_}:1", kind, Position(latitude, longitude), np.eye(2) * 9.0, probability=probability, source=picture_
    )


def test_one_thing_of_several_pictures_is_one_find_the_surest() -> None:
    (find,) = merge([found("a", 0.0), found("b", 4.0, 0.9), found("c", 6.0)])
    assert (find.id, find.note) == ("b:1", "in 3 pictures")


def test_two_things_stay_two() -> None:
    assert len(merge([found("a", 0.0), found("a", 2.0)])) == 2  # one picture shows both
    assert len(merge([found("a", 0.0), found("b", 30.0)])) == 2
    assert len(merge([found("a", 0.0), found("b", 0.0, kind="tent")])) == 2
