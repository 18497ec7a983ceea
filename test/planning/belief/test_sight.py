"""Looks in passing where a thermal camera is mounted: more by night in its strip, nothing more beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import PERSON
from esar_ros.mission.names import THERMAL
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.detection_probability import Detection, DetectionSettings
from esar_ros.planning.belief.sight import Sight, Warmth

NIGHT = {"local_time": "2024-05-01T01:00:00", "weather": "clear"}


@pytest.fixture
def parts(brief: Any) -> tuple[Detection, Warmth]:
    """The POD by night of the embedded detector, and that of a thermal camera of 50 degrees, 50 degrees down."""
    settings, camera = DetectionSettings(), load_vehicle().thermal.model_copy(update={"mounted": True})
    return Detection(settings, brief(**NIGHT), "esar_yolo"), Warmth(settings, brief(**NIGHT), camera)


def test_by_night_it_finds_more_in_its_strip_and_nothing_beside(parts: tuple[Detection, Warmth]) -> None:
    colour, warmth = parts
    alone, both = colour.curves.beside(40.0), Sight(colour, warmth, ("front", THERMAL)).beside(40.0)
    assert both.person[0] > alone.person[0] + 0.3
    # Seen from 40 m, aside by tan 25 degrees of the depth along its axis at the horizon of its upper edge, 70 degrees
    # from the vertical: about 50 m.
    assert warmth.beside(40.0)[80] == 0.0 and both.person[80] == alone.person[80]
    np.testing.assert_array_equal(both.clue, alone.clue)


def test_the_nearest_of_its_looks_counts(parts: tuple[Detection, Warmth]) -> None:
    _, warmth = parts
    straight = warmth.beside(40.0)[0]
    # Its lower edge looks 71 degrees down, from 40 m on ground 42 m away; nothing nearer is ever in view.
    assert straight == pytest.approx(warmth.detection.person[42:60].max(), abs=0.01)
    assert (np.diff(warmth.beside(90.0)) <= 1e-9).all(), "so high up whoever is farther aside is smaller"


def test_without_its_pictures_it_counts_for_nothing(parts: tuple[Detection, Warmth]) -> None:
    colour, warmth = parts
    blind = Sight(colour, warmth, ("front", "down"))
    assert blind.beside(30.0) is not None and (blind.beside(30.0).person == colour.curves.beside(30.0).person).all()
    assert (blind.of(PERSON) == colour.of(PERSON)).all()
    before = Sight(colour, warmth, ())
    assert before.of(PERSON)[30] == pytest.approx(warmth.detection.person[30]), "before any picture it counts"
    assert (before.of("tent") == colour.of("tent")).all()
