"""The table of dangers: every row goes well, and what it takes to stop lies within the governor's model."""

from __future__ import annotations

import pytest
from dangers import ALL, SPEEDS, stopping


@pytest.mark.parametrize("danger", ALL, ids=lambda danger: danger.__name__)
def test_a_danger_ends_well(danger) -> None:  # type: ignore[no-untyped-def]
    rows = danger()
    assert rows and all(row.what for row in rows)
    assert not [row for row in rows if not row.well]


@pytest.mark.parametrize("speed", SPEEDS)
def test_it_stops_within_the_model_of_a_vehicle_that_was_not_calibrated(speed: float) -> None:
    true, way, model = stopping(speed)
    assert 0.8 * speed < true <= speed
    assert 0.5 * model < way <= model
