"""Effects of faults on ROS messages, and on frames that are handed over inside a process."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from esar_ros.faults import schedule as core
from esar_ros.geometry.frames import Pose, attitude_enu_flu_to_ned_frd, enu_to_ned, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.core.stamps import to_stamp


class MessageTamper:
    """core.Tamper of ROS messages with a header."""

    def stamp(self, message: Any) -> int:
        """Stamp in ns."""
        return nanoseconds(message.header.stamp)

    def shifted(self, message: Any, seconds: float) -> Any:
        """With a later stamp; none lies before zero."""
        changed = copy.deepcopy(message)
        changed.header.stamp = to_stamp(max(0, self.stamp(message) + round(seconds * 1e9)))
        return changed

    def spoiled(self, message: Any) -> Any:
        """With NaN for every number but the header's."""
        return _spoil(copy.deepcopy(message))

    def flipped(self, message: Any) -> Any:
        """Odometry in NED and FRD, or a velocity set-point in NED."""
        changed = copy.deepcopy(message)
        if hasattr(changed, "pose"):
            pose, body = changed.pose.pose, changed.twist.twist
            _turn(pose.position)
            q = pose.orientation
            q.w, q.x, q.y, q.z = map(float, attitude_enu_flu_to_ned_frd(np.array([q.w, q.x, q.y, q.z])))
            for part in (body.linear, body.angular):
                part.y, part.z = -part.y, -part.z
        else:
            _turn(changed.twist.linear)
            changed.twist.angular.z = -changed.twist.angular.z
        return changed

    def turned(self, message: Any, degrees: float) -> Any:
        """Odometry with another heading; the velocity, which is along the body's axes, turns back by as much."""
        changed = copy.deepcopy(message)
        turn = Pose(np.zeros(3), quaternion_from_yaw(math.radians(degrees)))
        q, body = changed.pose.pose.orientation, changed.twist.twist.linear
        true = Pose(np.zeros(3), np.array([q.w, q.x, q.y, q.z]))
        wrong = turn.compose(true)
        q.w, q.x, q.y, q.z = map(float, wrong.quaternion)
        velocity = true.rotation @ np.array([body.x, body.y, body.z])
        body.x, body.y, body.z = map(float, wrong.rotation.T @ velocity)
        return changed

    def in_millimetres(self, message: Any) -> Any:
        """Ranges a thousand times as great."""
        changed = copy.deepcopy(message)
        for n, value in enumerate(message.ranges):
            changed.ranges[n] = 1e3 * value
        return changed

    def without_camera(self, message: Any, camera: str) -> Any:
        """Not of a message: images are handed over as frames."""
        raise UsageError(f"camera {camera} is not part of this topic", f"give topic {core.FRAMES}")

    def charged(self, message: Any, share: float) -> Any:
        """With another charge."""
        changed = copy.deepcopy(message)
        changed.percentage = share
        return changed


def _turn(vector: Any) -> None:
    vector.x, vector.y, vector.z = map(float, enu_to_ned(np.array([vector.x, vector.y, vector.z])))


def _spoil(message: Any) -> Any:
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if name == "header" or kind.startswith("builtin_interfaces/"):
            continue
        if kind in ("double", "float"):
            setattr(message, name, math.nan)
        elif kind.startswith(("double[", "float[", "sequence<double", "sequence<float")):
            for n in range(len(value)):
                value[n] = math.nan
        elif hasattr(value, "get_fields_and_field_types"):
            _spoil(value)
        elif isinstance(value, list):
            for part in value:
                if hasattr(part, "get_fields_and_field_types"):
                    _spoil(part)
    return message


class FrameTamper:
    """core.Tamper of geometry.camera_frame.FrameSet; what it does not do is refused by checked_schedule."""

    def stamp(self, frame_set: Any) -> int:
        """Stamp in ns."""
        return int(frame_set.ns)

    def shifted(self, frame_set: Any, seconds: float) -> Any:
        """With a later stamp."""
        frames = tuple(replace(frame, stamp=frame.stamp + seconds) for frame in frame_set.frames)
        return replace(frame_set, ns=frame_set.ns + round(seconds * 1e9), frames=frames)

    def spoiled(self, frame_set: Any) -> Any:
        """With depth that is NaN."""
        return self._with_depth(frame_set, lambda depth: np.full_like(depth, np.nan))

    def flipped(self, frame_set: Any) -> Any:
        """Images have no axes to be mistaken."""
        return frame_set

    def turned(self, frame_set: Any, degrees: float) -> Any:
        """Images have no heading."""
        return frame_set

    def in_millimetres(self, frame_set: Any) -> Any:
        """With depth in mm."""
        return self._with_depth(frame_set, lambda depth: depth * np.float32(1e3))

    def without_camera(self, frame_set: Any, camera: str) -> Any:
        """Without the images of one camera."""
        return replace(frame_set, frames=tuple(f for f in frame_set.frames if f.camera != camera))

    def charged(self, frame_set: Any, share: float) -> Any:
        """Images have no charge."""
        return frame_set

    def _with_depth(self, frame_set: Any, change: Callable[[Any], Any]) -> Any:
        return replace(frame_set, frames=tuple(replace(f, depth=change(f.depth)) for f in frame_set.frames))
