"""A report's place on Earth as NavSatFix: its covariance where the detector states one, and no height."""

from __future__ import annotations

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import NavSatFix

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import SeenClue
from esar_ros.nodes.messages.persons import fix_message

ORIGIN = Origin(33.95, 107.75, 2800.0)
TENT = Report(ReportType.CLUE, "tent", "orange tent", np.array([100.0, 0.0, 5.0]), 0.9)
SPREAD = np.diag([4.0, 9.0, 1.0])


def seen(kind: str, x: float) -> SeenClue:
    return SeenClue(1, kind, kind, 0.9, np.array([x, 0.0, 5.0]), SPREAD, 2, 10.0, 0.0, 1.0)


def test_a_report_is_placed_with_the_covariance_of_its_object() -> None:
    fix = fix_message(TENT, [seen("tent", 101.0), seen("rope", 100.0)], ORIGIN, Time(sec=3))
    east, north, _ = ORIGIN.to_enu(fix.latitude, fix.longitude, 2805.0)
    assert (east, north) == pytest.approx((100.0, 0.0), abs=1e-6)
    assert fix.position_covariance.reshape(3, 3).tolist() == SPREAD.tolist()
    assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_KNOWN
    assert math.isnan(fix.altitude) and fix.header.stamp.sec == 3


def test_without_such_an_object_the_covariance_is_of_unknown_type() -> None:
    fix = fix_message(TENT, [seen("tent", 120.0)], ORIGIN, Time())
    assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_UNKNOWN
