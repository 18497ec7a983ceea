"""Measured POD by pixels: shares and intervals by hand, curves that never fall, and who reads them."""

from __future__ import annotations

import pytest

from esar_ros.incident.pod import Curves
from esar_ros.perception.pod_curves import EDGES, PHOTOGRAPHS, SIDE, PodCurve, load_curve, measured_curve


def test_shares_and_intervals_of_clips() -> None:
    found = [(20.0, True, "a")] * 9 + [(20.0, False, "b")] * 3 + [(7.0, False, "a")] * 10 + [(1.0, True, "a")]
    curve = measured_curve(found)
    at = EDGES.index(18.0)
    assert curve.recall[at] == 0.75 and curve.people[at] == 12 and curve.intervals[at] == (0.0, 1.0)
    assert curve.recall[1] == 0.0 and sum(curve.people) == 22, "too small to be in any bin"
    assert curve.recall[0] is None
    assert curve.at([1.0, 7.0, 21.6, 500.0]) == pytest.approx([0.0, 0.0, 0.75, 0.75], abs=1e-2)


def test_a_curve_falls_where_the_measured_shares_do() -> None:
    found = [(30.0, n < 8, "a") for n in range(10)] + [(100.0, n < 4, "a") for n in range(10)]
    near, far = measured_curve(found).at([33.0, 200.0])
    assert near == pytest.approx(0.8, abs=0.02) and far == pytest.approx(0.4)


def test_bins_must_fit() -> None:
    with pytest.raises(ValueError, match="one recall"):
        PodCurve(edges=(1.0, 2.0), recall=(), intervals=(), people=())


def test_the_debrief_takes_the_shares_on_photographs_by_pixels_on_the_person() -> None:
    measured = load_curve(PHOTOGRAPHS)
    assert measured is not None
    curves = Curves("esar_yolo", "clear", photographs=True)
    person = curves.of(2000.0, None, 0.0).person
    assert person[60] == pytest.approx(float(measured.at(2000.0 * SIDE / 60.0)), rel=1e-6)
    assert "real photographs" in curves.source and "simulator" in Curves("esar_yolo", "clear").source
    dark = curves.of(2000.0, 0.0, 0.0).person
    assert (dark <= person).all() and (dark < person - 0.01).any(), "as of smaller people, and never better"
