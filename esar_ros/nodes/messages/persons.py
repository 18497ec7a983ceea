"""Persons as geometry_msgs has them: where somebody was found, for whoever goes there and knows no other message.

It is what a drone tells a walker (mission.rescue.PersonReport): a position with its covariance, once for each report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseWithCovarianceStamped

from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Report
from esar_ros.mission.observation import SeenClue
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.vision import ANY_ANGLE

SAME = 5.0
"""m between a report and the detector's object that it is taken to be of."""
NOT_STATED = -1.0
"""First element of a covariance that nobody has estimated (as REP-145 marks it)."""


def person_message(report: Report, clues: Iterable[SeenClue], stamp: Time) -> PoseWithCovarianceStamped:
    """Returns a reported person in the map frame; the covariance (m^2) is that of the nearest person among the clues.

    Where none lies within SAME it is not stated. How a person is turned is not known: any angle.
    """
    persons = [clue for clue in clues if clue.kind == PERSON and math.dist(clue.position, report.position) <= SAME]
    nearest = min(persons, key=lambda clue: math.dist(clue.position, report.position), default=None)
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
