"""A small flight as messages of a bag, for whoever needs a bag to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.bags.writer import BagWriter, typestore
from helpers.built_messages import SECOND, START, build, header, point
from helpers.sqlite_bag import bag_writer

TYPES = {
    "/uav1/odometry": "nav_msgs/msg/Odometry",
    "/uav1/safety/status": "esar_ros/msg/SafetyStatus",
    "/uav1/vehicle_state": "esar_ros/msg/VehicleState",
    "/uav1/reports": "esar_ros/msg/Report",
    "/uav1/clues": "esar_ros/msg/Clues",
    "/uav1/mission/truth": "esar_ros/msg/Truth",
    "/uav1/camera/front/image/compressed": "sensor_msgs/msg/CompressedImage",
}


def odometry(t: float) -> Any:
    pose = build("geometry_msgs/msg/Pose", position=point(t, 0.0, 20.0))
    covariant = build("geometry_msgs/msg/PoseWithCovariance", pose=pose)
    return build("nav_msgs/msg/Odometry", header=header(t, "uav1/odom"), pose=covariant)


def mission(truth: str | None) -> list[tuple[str, float, Any]]:
    """(topic, time, message) of a small flight."""
    out: list[tuple[str, float, Any]] = []
    for i in range(400):
        t = i / 20
        out.append(("/uav1/odometry", t, odometry(t)))
        out.append(
            (
                "/uav1/safety/status",
                t,
                build(
                    "esar_ros/msg/SafetyStatus",
                    header=header(t),
                    mode=1,
                    reasons=np.array([8, 5], dtype=np.uint16),
                    has_clearance=True,
                    clearance=12.5,
                    has_height=True,
                    height=20.0,
                ),
            )
        )
        out.append(("/uav1/vehicle_state", t, build("esar_ros/msg/VehicleState", header=header(t), landed=2)))
    seen = build("esar_ros/msg/Clue", id=1, kind="tent", text="tent", probability=0.9, position=point(40.0, 0.0, 0.0))
    out.append(("/uav1/clues", 5.0, build("esar_ros/msg/Clues", header=header(5.0), eligible=True, clues=[seen])))
    out.append(
        (
            "/uav1/reports",
            6.0,
            build(
                "esar_ros/msg/Report",
                header=header(6.0),
                seq=1,
                type=1,
                kind="tent",
                text="orange tent",
                confidence=0.9,
                position=point(41.0, 0.0, 0.0),
            ),
        )
    )
    for t in (5.0, 6.0):
        jpeg = np.frombuffer(f"jpeg at {t}".encode(), dtype=np.uint8)
        image = build("sensor_msgs/msg/CompressedImage", header=header(t), format="jpeg", data=jpeg)
        out.append(("/uav1/camera/front/image/compressed", t, image))
    if truth is not None:
        out.append(("/uav1/mission/truth", 20.0, build("esar_ros/msg/Truth", header=header(20.0), truth=truth)))
    return out


def write(path: Path, messages: list[tuple[str, float, Any]], storage: str = "mcap", close: bool = True) -> BagWriter:
    writer = bag_writer(path, storage)
    for topic, message_type in TYPES.items():
        writer.add_topic(topic, message_type, latched=int(topic.endswith("truth")))
    for topic, t, message in messages:
        raw = bytes(typestore().serialize_cdr(message, TYPES[topic]))
        writer.write(topic, START + round(t * SECOND), raw)
    if close:
        writer.close()
        writer.close()
    return writer
