"""A person's size as a doubt: none at a person's size, growing with the distance from it, never a gain."""

from __future__ import annotations

import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.perception.size_prior import doubted, side_of

MODEL = CameraModel(640, 480, 500.0, 500.0, 320.0, 240.0)


def test_the_side_is_measured_at_the_boxs_own_depth() -> None:
    assert side_of((310.0, 230.0, 20.0, 20.0), 50.0, MODEL) == pytest.approx(2.0)
    aside = side_of((630.0, 230.0, 20.0, 20.0), 50.0, MODEL)
    assert aside < 2.0, "aside the same distance is less depth"


def test_only_what_is_no_persons_size_is_doubted() -> None:
    assert doubted(0.6, 1.1) == doubted(0.6, 0.8) == pytest.approx(0.6), "nothing is added"
    doubts = [doubted(0.6, side) for side in (1.1, 2.5, 4.0, 8.0)]
    assert doubts == sorted(doubts, reverse=True) and doubts[-1] < 0.01
    assert doubted(0.6, 0.2) < 0.2
    assert doubted(1.0, 9.0) == 1.0, "truth is not doubted"
