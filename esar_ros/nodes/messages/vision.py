"""Detections and clues as vision_msgs has them, for whoever knows these standard messages and not this package's."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from builtin_interfaces.msg import Time
from std_msgs.msg import Header
from vision_msgs.msg import (
    Detection2D,
    Detection2DArray,
    Detection3D,
    Detection3DArray,
    ObjectHypothesis,
    ObjectHypothesisWithPose,
)

from esar_ros.mission import names
from esar_ros.mission.observation import SeenClue
from esar_ros.nodes.messages import convert
from esar_ros.perception.detectors.backend import Detection2D as Found

ANY_ANGLE = math.pi**2 / 3.0  # rad^2, variance of an angle of which nothing is known


def image_detections(found: Iterable[Found], stamp: Time, frame_id: str) -> Detection2DArray:
    """Returns the objects detected in one image, in the camera's optical frame; their poses are left empty."""
    header = Header(stamp=stamp, frame_id=frame_id)
    message = Detection2DArray(header=header)
    for one in found:
        x, y, width, height = one.box
        detection = Detection2D(header=header, results=[_hypothesis(one.kind, one.score)])
        detection.bbox.center.position.x = x + width / 2.0
        detection.bbox.center.position.y = y + height / 2.0
        detection.bbox.size_x, detection.bbox.size_y = float(width), float(height)
        message.detections.append(detection)
    return message


def clue_detections(clues: Iterable[SeenClue], stamp: Time) -> Detection3DArray:
    """Returns fused clues as objects in the map frame. Their size is not measured: zero; nor is how they are turned."""
    header = Header(stamp=stamp, frame_id=names.MAP)
    message = Detection3DArray(header=header)
    for clue in clues:
        hypothesis = _hypothesis(clue.kind, clue.probability)
        covariance = np.zeros((6, 6))
        covariance[:3, :3] = np.asarray(clue.covariance).reshape(3, 3)
        covariance[range(3, 6), range(3, 6)] = ANY_ANGLE
        hypothesis.pose.pose.position = convert.point(clue.position)
        hypothesis.pose.covariance = covariance.reshape(36)
        detection = Detection3D(header=header, results=[hypothesis], id=str(clue.id))
        detection.bbox.center.position = hypothesis.pose.pose.position
        message.detections.append(detection)
    return message


def _hypothesis(kind: str, score: float) -> ObjectHypothesisWithPose:
    return ObjectHypothesisWithPose(hypothesis=ObjectHypothesis(class_id=kind, score=float(score)))
