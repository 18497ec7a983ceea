"""Features of a search: the ellipse of a find, and searches that are put together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.incident.features import Ellipse, Find, Place, PlaceKind, Position, Search


def _find(covariance: Any) -> Find:
    return Find("1", "tent", Position(34.0, 107.7), None if covariance is None else np.array(covariance))


def _ellipse(covariance: Any) -> Ellipse:
    ellipse = _find(covariance).ellipse()
    assert ellipse is not None
    return ellipse


def test_an_ellipse_lies_along_the_larger_error() -> None:
    ellipse = _ellipse([[4.0, 0.0], [0.0, 25.0]])
    assert ellipse.bearing == pytest.approx(0.0)
    assert (ellipse.major, ellipse.minor) == pytest.approx((5.0 * 2.4477, 2.0 * 2.4477), rel=1e-4)


def test_no_error_has_no_ellipse() -> None:
    assert _find(None).ellipse() is None


@given(st.floats(0.1, 50.0), st.floats(1.1, 20.0), st.floats(0.0, 179.0))
def test_an_ellipse_bears_as_its_covariance_was_turned(minor: Any, ratio: Any, bearing: Any) -> None:
    angle = math.radians(bearing)
    axes = np.array([[math.sin(angle), math.cos(angle)], [math.cos(angle), -math.sin(angle)]])
    covariance = axes @ np.diag([(minor * ratio) ** 2, minor**2]) @ axes.T
    off = abs(_ellipse(covariance).bearing - bearing) % 180.0
    assert min(off, 180.0 - off) < 1e-3


def test_95_percent_of_errors_lie_within() -> None:
    covariance = np.array([[9.0, 4.0], [4.0, 5.0]])
    errors = np.random.default_rng(3).multivariate_normal([0.0, 0.0], covariance, 20_000)
    ellipse = _ellipse(covariance)
    angle = math.radians(ellipse.bearing)
    along = errors @ [math.sin(angle), math.cos(angle)]
    across = errors @ [math.cos(angle), -math.sin(angle)]
    within = (along / ellipse.major) ** 2 + (across / ellipse.minor) ** 2 <= 1.0
    assert within.mean() == pytest.approx(0.95, abs=0.006)


def test_searches_are_put_together() -> None:
    one, other = Search("one"), Search("other")
    one.places.append(Place("hut", PlaceKind.LANDMARK, Position(1.0, 2.0)))
    other.places.append(Place("IPP", PlaceKind.IPP, Position(1.0, 2.1)))
    other.finds.append(_find(None))
    one.add(other)
    assert [place.name for place in one.places] == ["hut", "IPP"] and len(one.finds) == 1 and one.name == "one"
