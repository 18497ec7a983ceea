"""Frames of a bag by time: from /tf_static, /tf and odometry to where a frame lay in the map at a stamp."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.stamps import NANO

MAX_GAP = NANO // 2
"""ns between two poses within which a frame's way from one to the other is known; half of it before and behind all."""
_NUMBERS = 7  # of a pose: position, quaternion


class FrameTree:
    """Poses of frames in their parents by time; a frame has one parent, the first that is told."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._static: dict[str, Pose] = {}
        self._stamps: dict[str, array[int]] = {}
        self._poses: dict[str, array[float]] = {}
        self._sorted: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def add(self, parent: str, child: str, pose: Pose, stamp: int | None) -> None:
        """Notes the pose of a frame in its parent at a stamp (ns; None: ever since)."""
        parent, child = parent.strip("/"), child.strip("/")
        if not child or parent == child or not pose.is_possible() or self._parents.setdefault(child, parent) != parent:
            return
        if stamp is None:
            self._static[child] = pose
            return
        self._sorted.pop(child, None)
        self._stamps.setdefault(child, array("q")).append(stamp)
        self._poses.setdefault(child, array("d")).extend((*pose.position, *pose.quaternion))

    def add_transforms(self, message: Any, static: bool) -> None:
        """Notes those of a tf2_msgs/TFMessage."""
        for each in message.transforms:
            at, turn = each.transform.translation, each.transform.rotation
            self._add_message(each.header, each.child_frame_id, at, turn, static)

    def add_odometry(self, message: Any) -> None:
        """Notes the pose of a nav_msgs/Odometry."""
        pose = message.pose.pose
        self._add_message(message.header, message.child_frame_id, pose.position, pose.orientation, False)

    def _add_message(self, header: Any, child: str, at: Any, turn: Any, static: bool) -> None:
        pose = Pose(np.array([at.x, at.y, at.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
        self.add(header.frame_id, child, pose, None if static else header.stamp.sec * NANO + header.stamp.nanosec)

    def fill(self, other: FrameTree) -> None:
        """Takes from another tree the frames that this one does not place."""
        for child in other._parents.keys() - self._parents.keys():
            self._parents[child] = other._parents[child]
            for mine, theirs in zip(self._tables(), other._tables(), strict=True):
                if child in theirs:
                    mine[child] = theirs[child]

    def _tables(self) -> tuple[dict[str, Any], ...]:
        return self._static, self._stamps, self._poses

    def root(self, frame: str) -> str:
        """Returns the frame that all poses of this one are led back to: `map` where it is on the way, else the last."""
        frame, seen = frame.strip("/"), set[str]()
        while frame != names.MAP and frame in self._parents and frame not in seen:
            seen.add(frame)
            frame = self._parents[frame]
        return frame

    def pose(self, frame: str, stamp: int) -> Pose | None:
        """Returns the pose of a frame in its root at a stamp (ns); None where that is not known."""
        frame, root = frame.strip("/"), self.root(frame)
        pose: Pose | None = Pose()
        while frame != root and pose is not None:
            step = self._static.get(frame) or self._at(frame, stamp)
            pose, frame = None if step is None else step.compose(pose), self._parents[frame]
        return pose

    def _at(self, child: str, stamp: int) -> Pose | None:
        """Returns the pose in its parent, between the two nearest in time; None where they lie too far apart."""
        if child not in self._sorted:
            stamps = np.array(self._stamps[child], dtype=np.int64)
            order = np.argsort(stamps, kind="stable")
            self._sorted[child] = stamps[order], np.array(self._poses[child]).reshape(-1, _NUMBERS)[order]
        stamps, poses = self._sorted[child]
        after = bisect_left(stamps, stamp)
        if after < len(stamps) and stamps[after] == stamp:
            return Pose(poses[after, :3], poses[after, 3:])
        before = after - 1
        if before < 0 or after == len(stamps):  # beside all: the nearest
            nearest = max(before, 0)
            near = abs(int(stamps[nearest]) - stamp) <= MAX_GAP // 2
            return Pose(poses[nearest, :3], poses[nearest, 3:]) if near else None
        gap = int(stamps[after] - stamps[before])
        if gap > MAX_GAP:
            return None
        share = (stamp - int(stamps[before])) / gap
        a, b = poses[before], poses[after]
        turn = a[3:] * (1.0 - share) + b[3:] * (share if a[3:] @ b[3:] >= 0.0 else -share)
        return Pose(a[:3] + share * (b[:3] - a[:3]), turn / np.linalg.norm(turn))
