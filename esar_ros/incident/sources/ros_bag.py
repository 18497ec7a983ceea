"""Bags of other people's drones: the track by NavSatFix, or by odometry from a known origin, and what a camera saw.

Where both are recorded, odometry's axes are turned to east and north by the flight itself: frames called `odom` seldom
point there by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.interfaces import Connection

from esar_ros.bags.files import Bag, open_bag
from esar_ros.bags.flight_logs.flight_log import YEAR_2000  # stamps of a simulator's clock lie before
from esar_ros.bags.frame_tree import FrameTree
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import Floats, Mover, Position, Search
from esar_ros.incident.looks import Look, angles
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.names import TF_STATIC
from esar_ros.mission.stamps import NANO, nanoseconds

FIX, ODOMETRY, INFO = "sensor_msgs/msg/NavSatFix", "nav_msgs/msg/Odometry", "sensor_msgs/msg/CameraInfo"
ROLES = {"fix": FIX, "odometry": ODOMETRY, "camera_info": INFO}
_TF = "tf2_msgs/msg/TFMessage"
_PERIOD = NANO  # ns between looks: what a picture shows, the next one a moment later shows too
_NEAR = 2.0  # s between a look and the fixes that place it
_FITTED = 2000  # poses, enough to fit one angle
_MOVED = 15.0  # m that a flight must span to tell where odometry's axes point
_ALIGNED = math.radians(10.0)  # rad, residual turn over the flight above which it does not tell


@dataclass
class _Read:
    """Messages of the chosen topics."""

    fixes: list[tuple[float, float, float, float]] = field(default_factory=list)  # s, degrees, degrees, m (ellipsoid)
    odometry: list[tuple[int, Pose]] = field(default_factory=list)  # ns
    body: str = ""  # the frame that odometry moves
    infos: list[tuple[int, str]] = field(default_factory=list)  # ns, optical frame
    model: CameraModel | None = None
    tree: FrameTree = field(default_factory=FrameTree)


def read(
    path: Path, intake: Intake, named: Mapping[str, str] | None = None, origin: Position | None = None
) -> tuple[Search, list[Look]]:
    """Returns the track, and the looks where the bag tells a camera's intrinsics and attitude.

    named: role (ROLES) -> topic, where a bag has several of its type. origin: of odometry's frame, whose axes then are
    taken as east and north, in a bag without NavSatFix. Raises UsageError: no bag, a topic that is not there, several
    to choose from, no position.
    """
    with open_bag(path) as bag:
        chosen = _chosen(bag, path, dict(named or {}))
        told = _messages(bag, chosen)
        if bag.cut or bag.damaged:
            intake.fault(path, "it is damaged or cut", "what can be read of it is taken")
        has = ", ".join(sorted(f"{c.topic} ({c.msgtype.rsplit('/', 1)[-1]})" for c in bag.connections)) or "nothing"
    if not told.fixes and not (told.odometry and origin):
        raise UsageError(
            f"{path} holds no position: wanted is a NavSatFix, or Odometry with --origin LAT,LON",
            f"it holds {has}",
        )
    search = Search(path.stem)
    place = _by_fixes(path, intake, told) if told.fixes else _by_origin(told, origin or Position(0.0, 0.0))
    search.tracks = intake.track(path, path.stem, Mover.DRONE, *place.track)
    if not search.tracks:
        return search, []
    return search, _looks(path, intake, told, place)


def looks_by_odometry(
    path: Path, intake: Intake, odometry: str, camera_info: str, origin: Position, shift: float
) -> list[Look]:
    """Returns the looks of one camera by odometry whose axes are east and north from an origin; none, and a line why,
    where the bag does not tell them.

    odometry, camera_info: topics; shift: s from the bag's stamps to UTC, nan: not known. Raises UsageError.
    """
    with open_bag(path) as bag:
        told = _messages(bag, {"odometry": odometry, "camera_info": camera_info})
    return _looks(path, intake, told, _by_origin(told, origin), shift) if told.odometry else []


@dataclass
class _Place:
    """The drone's place at any time, and by how much odometry's axes are turned against east and north."""

    time: Floats  # (N,) s, of the bag's stamps
    latitude: Floats
    longitude: Floats
    altitude: Floats  # m above the sea
    turn: float | None  # rad, from odometry's x axis to east; None: not known

    @property
    def track(self) -> tuple[Floats, Floats, Floats, Floats]:
        real = self.time > YEAR_2000
        return self.latitude, self.longitude, self.altitude, np.where(real, self.time, np.nan)


def _chosen(bag: Bag, path: Path, named: dict[str, str]) -> dict[str, str]:
    """Returns role -> topic. Raises UsageError."""
    chosen: dict[str, str] = {}
    for role in named:
        if role not in ROLES:
            raise UsageError(f"--topic {role}=", suggest(role, ROLES))
    for role, kind in ROLES.items():
        topics = sorted({c.topic for c in bag.connections if c.msgtype == kind and c.msgcount != 0})
        if role in named:
            if named[role] not in topics:
                raise UsageError(f"{path} has no {kind} on {named[role]}", suggest(named[role], topics))
            chosen[role] = named[role]
        elif len(topics) > 1:
            raise UsageError(f"{path} has several {kind}: {', '.join(topics)}", f"choose one: --topic {role}=TOPIC")
        elif topics:
            chosen[role] = topics[0]
    return chosen


def _messages(bag: Bag, chosen: Mapping[str, str]) -> _Read:
    told, roles = _Read(), {topic: role for role, topic in chosen.items()}

    def is_wanted(connection: Connection) -> bool:
        return connection.msgtype == _TF or connection.topic in roles

    for connection, came, raw in bag.messages([c for c in bag.connections if is_wanted(c)]):
        try:
            message = bag.deserialize(raw, connection.msgtype)
        except Exception:  # of the decoder, which has no common name
            continue
        if connection.msgtype == _TF:
            told.tree.add_transforms(message, static=connection.topic.endswith(TF_STATIC))
            continue
        _take(told, roles[connection.topic], message, came)
    return told


def _take(told: _Read, role: str, message: Any, came: int) -> None:
    """came: when it was recorded (ns), which counts where a driver does not stamp."""
    stamp = nanoseconds(message.header.stamp) or came
    if role == "fix":
        if message.status.status >= 0:
            told.fixes.append((stamp / NANO, message.latitude, message.longitude, message.altitude))
    elif role == "odometry":
        told.tree.add_odometry(message)
        told.body = message.child_frame_id
        at, turn = message.pose.pose.position, message.pose.pose.orientation
        pose = Pose(np.array([at.x, at.y, at.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
        if pose.is_possible():
            told.odometry.append((stamp, pose))
    else:
        if told.model is None and message.k[0] > 0.0 and message.width and message.height:
            told.model = CameraModel(message.width, message.height, *(float(message.k[k]) for k in (0, 4, 2, 5)))
        if not told.infos or stamp - told.infos[-1][0] >= _PERIOD:
            told.infos.append((stamp, message.header.frame_id.strip("/")))


def _by_fixes(path: Path, intake: Intake, told: _Read) -> _Place:
    time, latitude, longitude, height = np.array(sorted(told.fixes, key=lambda fix: fix[0])).T
    # sensor_msgs/NavSatFix states heights above the ellipsoid.
    altitude = intake.above_sea(height, path, path.stem)
    return _Place(time, latitude, longitude, altitude, _turn(time, latitude, longitude, told))


def _turn(time: Floats, latitude: Floats, longitude: Floats, told: _Read) -> float | None:
    """Returns the turn (rad) that lays the path by transforms and odometry onto that of the fixes (least squares)."""
    poses = {
        stamp: told.tree.pose(told.body, stamp) for stamp, _ in told.odometry[:: len(told.odometry) // _FITTED + 1]
    }
    path = [(stamp / NANO, *pose.position[:2]) for stamp, pose in poses.items() if told.body and pose is not None]
    path = [point for point in path if time[0] <= point[0] <= time[-1]]
    if len(path) < 3:
        return None
    stamps, moved = np.array(path)[:, 0], np.array(path)[:, 1:]
    origin = Origin(float(np.median(latitude)), float(np.median(longitude)), 0.0)
    flat = np.array([origin.to_enu(a, b, 0.0)[:2] for a, b in zip(latitude, longitude, strict=True)])
    fixed = np.stack([np.interp(stamps, time, axis) for axis in flat.T], axis=1)
    a, b = moved - moved.mean(axis=0), fixed - fixed.mean(axis=0)
    if np.linalg.norm(b, axis=1).max() * 2.0 < _MOVED:
        return None
    cosine, sine = float((a * b).sum()), float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    turn = math.atan2(sine, cosine)
    turned = a @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    off = float(np.sqrt(((turned - b) ** 2).sum() / (b**2).sum()))
    return turn if off < math.sin(_ALIGNED) else None


def _by_origin(told: _Read, origin: Position) -> _Place:
    frame = Origin(origin.latitude, origin.longitude, origin.altitude or 0.0)
    points = np.array([frame.to_geodetic(pose.position) for _, pose in told.odometry])
    time = np.array([stamp for stamp, _ in told.odometry]) / NANO
    altitude = points[:, 2] if origin.altitude is not None else np.full(len(points), np.nan)
    return _Place(time, points[:, 0], points[:, 1], altitude, 0.0)


def _looks(path: Path, intake: Intake, told: _Read, place: _Place, shift: float = 0.0) -> list[Look]:
    """Returns one look a second; none, and a line why, where the bag does not tell what a camera saw."""
    lacks = [
        words
        for words, there in (
            ("camera_info", told.model is not None),
            ("odometry", bool(told.body)),
            (f"a transform from {told.body} to the camera", _is_joined(told)),
            (f"a flight of {_MOVED:.0f} m that tells where odometry's axes point", place.turn is not None),
        )
        if not there
    ]
    if lacks:
        intake.fault(path, f"what its camera saw is not known: {lacks[0]} is lacking", "its track is taken")
        return []
    north = Pose(np.zeros(3), quaternion_from_yaw(place.turn or 0.0))
    taken: list[Look] = []
    for stamp, frame in told.infos:
        pose, at = told.tree.pose(frame, stamp), stamp / NANO
        if pose is None or np.abs(place.time - at).min() > _NEAR:
            continue
        yaw, pitch, roll = angles(north.compose(pose).rotation)
        latitude, longitude, altitude = (
            float(np.interp(at, place.time, axis)) for axis in (place.latitude, place.longitude, place.altitude)
        )
        taken.append(
            Look(
                source=f"{path.name} {at:.1f} s",
                latitude=latitude,
                longitude=longitude,
                altitude=None if math.isnan(altitude) else altitude,
                time=at + shift if at + shift > YEAR_2000 else None,
                yaw=yaw,
                pitch=pitch,
                roll=roll,
                camera=frame,
                model=told.model,
            )
        )
    if not taken:
        intake.fault(path, "no picture of it can be placed", "record transforms and positions with the pictures")
    return taken


def _is_joined(told: _Read) -> bool:
    """Returns whether transforms lead from the frame that odometry moves to the camera's."""
    frame, root = told.infos[0][1] if told.infos else "", told.tree.root(told.body)
    return frame != root == told.tree.root(frame)
