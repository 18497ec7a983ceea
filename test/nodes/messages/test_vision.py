"""Detections and clues as vision_msgs has them."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time

from esar_ros.mission.observation import SeenClue
from esar_ros.nodes.messages.vision import ANY_ANGLE, clue_detections, image_detections
from esar_ros.perception.detectors.backend import Detection2D

STAMP = Time(sec=100, nanosec=5)


def test_boxes_are_given_by_their_centres_in_the_images_frame() -> None:
    found = [Detection2D("tent", 0.5, (80, 50, 41, 20), "tent"), Detection2D("person", 0.25, (0, 0, 2, 4), "he")]
    message = image_detections(found, STAMP, "uav1/camera_down_optical")
    headers = [message.header, *(one.header for one in message.detections)]
    assert all(header.stamp == STAMP and header.frame_id == "uav1/camera_down_optical" for header in headers)
    first, second = message.detections
    box = first.bbox
    assert (box.center.position.x, box.center.position.y, box.size_x, box.size_y) == (100.5, 60.0, 41.0, 20.0)
    assert [(one.results[0].hypothesis.class_id, one.results[0].hypothesis.score) for one in (first, second)] == [
        ("tent", 0.5),
        ("person", 0.25),
    ]


def test_a_clue_is_a_pose_with_covariance_in_the_map() -> None:
    covariance = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
    clue = SeenClue(
        id=12, kind="tent", text="a tent", probability=0.75, position=np.array([1.0, 2.0, 3.0]), covariance=covariance,
        views=3, nearest_view=20.0, first_seen=1.0, last_seen=88.0,
    )  # fmt: skip
    message = clue_detections([clue], STAMP)
    (detection,) = message.detections
    assert (message.header.frame_id, message.header.stamp, detection.id) == ("map", STAMP, "12")
    (result,) = detection.results
    assert (result.hypothesis.class_id, result.hypothesis.score) == ("tent", 0.75)
    for place in (result.pose.pose.position, detection.bbox.center.position):
        assert (place.x, place.y, place.z) == (1.0, 2.0, 3.0)
    told = np.array(result.pose.covariance).reshape(6, 6)
    np.testing.assert_array_equal(told[:3, :3], covariance)
    np.testing.assert_array_equal(told[3:, 3:], ANY_ANGLE * np.eye(3))
    assert not told[:3, 3:].any() and not told[3:, :3].any()
    assert not any((detection.bbox.size.x, detection.bbox.size.y, detection.bbox.size.z)), "not measured"
