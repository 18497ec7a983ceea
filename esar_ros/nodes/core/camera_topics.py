"""Topics that a vehicle has once for each of its cameras: all are made only while someone subscribes."""

from __future__ import annotations

from esar_ros.mission import names
from esar_ros.nodes.core.node_names import CAMERA_DRIVER, CLUE_DETECTOR
from esar_ros.nodes.core.topic import Quality, Record, Topic, made_on_demand

_IMAGE = "sensor_msgs/msg/Image"
_OF_ONE = (
    (names.camera_image, _IMAGE, CAMERA_DRIVER, Record.FULL, "colour image, rgb8"),
    (names.camera_depth, _IMAGE, CAMERA_DRIVER, Record.FULL, "planar depth, 32FC1 metres (REP-117)"),
    (names.camera_info, "sensor_msgs/msg/CameraInfo", CAMERA_DRIVER, Record.VIEW, "intrinsics"),
    (
        names.camera_compressed,
        "sensor_msgs/msg/CompressedImage",
        CAMERA_DRIVER,
        Record.VIEW,
        "colour image, JPEG quality 80",
    ),
    (names.camera_annotated, _IMAGE, CLUE_DETECTOR, Record.NEVER, "colour image with its detections, rgb8"),
    (
        names.camera_detections,
        "vision_msgs/msg/Detection2DArray",
        CLUE_DETECTOR,
        Record.FULL,
        "objects in the image; poses are not given",
    ),
)


def _thermal(about: str) -> str:
    """Returns the words for a topic of the thermal camera, after those for the others'."""
    return f"{about.replace('colour image, rgb8', 'greys, mono8')}; where `config/vehicle.yaml` mounts one"


CAMERA_TOPICS: tuple[Topic, ...] = tuple(
    made_on_demand(name(camera), kind, Quality.SENSOR, writer, record, _thermal(about) if thermal else about)
    for camera, thermal in (*((camera, False) for camera in names.CAMERAS), (names.THERMAL, True))
    for name, kind, writer, record, about in _OF_ONE
)
