"""Reports in messages that others know: persons as geometry_msgs has them, and every report's place on Earth.

A person's is what a drone tells a walker (mission.rescue.PersonReport): a position with its covariance, once for each
report. No wheel of geographic_msgs is published for Python, so places on Earth are NavSatFix of sensor_msgs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseWithCovarianceStamped
from sensor_msgs.msg import NavSatFix, NavSatStatus

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Report, ReportType
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.same_object import nearest_of_kind
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.vision import ANY_ANGLE

NOT_STATED = -1.0
"""First element of a covariance that nobody has estimated (as REP-145 marks it)."""


def person_message(report: Report, clues: Iterable[SeenClue], stamp: Time) -> PoseWithCovarianceStamped:
    """Returns a reported person in the map frame; the covariance (m^2) is that of the nearest person among the clues.

    Where none lies near (mission/same_object.py) it is not stated. How a person is turned is not known: any angle.
    """
    nearest = _object_of(report, clues)
    covariance = np.zeros((6, 6))
    covariance[range(3, 6), range(3, 6)] = ANY_ANGLE
    if nearest is None:
        covariance[0, 0] = NOT_STATED
    else:
        covariance[:3, :3] = np.asarray(nearest.covariance).reshape(3, 3)
    message = PoseWithCovarianceStamped()
    message.header.stamp, message.header.frame_id = stamp, names.MAP
    message.pose.pose.position = convert.point(report.position)
    message.pose.covariance = covariance.reshape(36)
    return message


def fix_message(report: Report, clues: Iterable[SeenClue], origin: Origin, stamp: Time) -> NavSatFix:
    """Returns a report's place on Earth; the covariance (m^2, east, north, up) is that of the object it is about.

    origin: of the map frame. The altitude is NaN: NavSatFix has it above the ellipsoid, and maps above the sea.
    """
    latitude, longitude, _ = origin.to_geodetic(report.position)
    message = NavSatFix(latitude=latitude, longitude=longitude, altitude=math.nan)
    message.header.stamp, message.header.frame_id = stamp, names.MAP
    message.status.status = NavSatStatus.STATUS_FIX  # a place is known; no receiver measured it
    nearest = _object_of(report, clues)
    if nearest is not None and np.isfinite(nearest.covariance).all():
        message.position_covariance = np.asarray(nearest.covariance, dtype=np.float64).reshape(9)
        message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_KNOWN
    return message


def _object_of(report: Report, clues: Iterable[SeenClue]) -> SeenClue | None:
    kind = PERSON if report.type is ReportType.VICTIM else report.kind
    return nearest_of_kind(kind, report.position, clues, lambda clue: (clue.kind, clue.position))
