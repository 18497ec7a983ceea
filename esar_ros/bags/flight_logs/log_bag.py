"""A flight log as a bag of one vehicle, so that whatever reads bags reads logs.

The map frame lies east, north, up at home (else where the log begins), and odometry's frame in it. Attitude is the
log's, between its rows by the nearer one; where it tells none, the vehicle is level and heads where it flies. Velocity
is the change of the position. Armed is taken for flying.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from esar_ros.bags.built_messages import build, build_header
from esar_ros.bags.flight_logs import ardupilot, ulog
from esar_ros.bags.flight_logs.flight_log import FlightLog, Floats
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.geometry.frames import quaternion_from_yaw, rotation_from_quaternion
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Landed
from esar_ros.mission.stamps import NANO

VEHICLE = "uav1"  # a log knows no name
_ODOM, _BASE = names.vehicle_frame(VEHICLE, names.ODOM), names.vehicle_frame(VEHICLE, names.BASE_LINK)
_TYPES = {  # topic -> type; latched ones are sent once
    names.BRIEF: "esar_ros/msg/Brief",
    names.TF_STATIC: "tf2_msgs/msg/TFMessage",
    names.TF: "tf2_msgs/msg/TFMessage",
    names.ODOMETRY: "nav_msgs/msg/Odometry",
    names.VEHICLE_STATE: "esar_ros/msg/VehicleState",
    names.BATTERY: "sensor_msgs/msg/BatteryState",
}
_ONCE = (names.BRIEF, names.TF_STATIC)

Sent = tuple[str, int, Any]  # topic, stamp (ns), message


def read_flight_log(path: Path) -> FlightLog | None:
    """Returns the log that a file is; None where it is none. Raises UsageError for one that cannot be read."""
    with path.open("rb") as file:
        head = file.read(len(ulog.MAGIC))
    if head == ulog.MAGIC:
        return ulog.read_ulog(path)
    if head.startswith((ardupilot.MAGIC, ardupilot.TEXT_MAGIC)):
        return ardupilot.read_dataflash(path)
    return None


def write_log_bag(log: FlightLog, folder: Path) -> None:
    """Writes a log as a new bag. Raises UsageError where it was nowhere twice."""
    writer = BagWriter(folder)
    try:
        for topic, kind in _TYPES.items():
            writer.add_topic(_full(topic), kind, latched=int(topic in _ONCE))
        for topic, ns, message in sorted(_messages(log), key=lambda sent: sent[1]):
            writer.write(_full(topic), ns, bytes(typestore().serialize_cdr(message, _TYPES[topic])))
    finally:
        writer.close()


def _full(topic: str) -> str:
    return topic if topic.startswith("/") else f"/{VEHICLE}/{topic}"


def _messages(log: FlightLog) -> Iterator[Sent]:
    placed = np.isfinite(log.latitude) & np.isfinite(log.longitude) & np.isfinite(log.altitude)
    placed &= np.diff(log.stamps, prepend=-math.inf) > 0.0
    if placed.sum() < 2:
        raise UsageError("the log holds fewer than two positions", "give one of a flight")
    place = np.stack([log.latitude, log.longitude, log.altitude], axis=1)[placed]
    stamps = log.stamps[placed]
    clock = 0.0 if math.isnan(log.utc) else log.utc
    begin = _ns(stamps[0] + clock)
    origin = Origin(*(log.home or place[0].tolist()))
    positions = np.array([origin.to_enu(*row) for row in place])
    yield names.BRIEF, begin, _brief(origin, begin, stamps[-1] - stamps[0])
    yield names.TF_STATIC, begin, _transform(begin, names.MAP, _ODOM, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    velocities = np.gradient(positions, stamps, axis=0)
    turns = _turns(log, stamps, velocities)
    for stamp, position, velocity, turn in zip(stamps, positions, velocities, turns, strict=True):
        ns = _ns(stamp + clock)
        yield names.ODOMETRY, ns, _odometry(ns, position, velocity, turn)
        yield names.TF, ns, _transform(ns, _ODOM, _BASE, position, turn)
    for stamp, armed in zip(stamps, () if log.armed is None else log.armed[placed], strict=log.armed is not None):
        ns, landed = _ns(stamp + clock), Landed.FLYING if armed else Landed.ON_GROUND
        state = build(_TYPES[names.VEHICLE_STATE], header=build_header(ns, ""), armed=bool(armed), landed=int(landed))
        yield names.VEHICLE_STATE, ns, state
    for stamp, charge in log.charge:
        if stamps[0] <= stamp <= stamps[-1]:
            ns = _ns(stamp + clock)
            battery = build(
                _TYPES[names.BATTERY], header=build_header(ns, ""), percentage=float(charge), voltage=math.nan,
                current=math.nan, charge=math.nan, capacity=math.nan, design_capacity=math.nan, present=True,
            )  # fmt: skip
            yield names.BATTERY, ns, battery


def _ns(seconds: float) -> int:
    return round(float(seconds) * NANO)


def _turns(log: FlightLog, stamps: Floats, velocities: Floats) -> Floats:
    """Returns attitudes (N, 4): w, x, y, z of FLU in ENU."""
    if not len(log.attitude):
        return np.array([quaternion_from_yaw(math.atan2(north, east)) for east, north, _ in velocities])
    after = np.clip(np.searchsorted(log.attitude[:, 0], stamps), 1, max(len(log.attitude) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(log.attitude) - 1)
    nearer = np.where(stamps - log.attitude[before, 0] < log.attitude[after, 0] - stamps, before, after)
    return np.asarray(log.attitude[nearer, 1:])


def _brief(origin: Origin, ns: int, seconds: float) -> Any:
    return build(
        _TYPES[names.BRIEF], header=build_header(ns, names.MAP), map_id="unknown", wind_speed=math.nan,
        t_max=float(seconds), origin_latitude=origin.latitude, origin_longitude=origin.longitude,
        origin_altitude=origin.altitude,
    )  # fmt: skip


def _odometry(ns: int, position: Floats, velocity: Floats, turn: Floats) -> Any:
    body = rotation_from_quaternion(turn).T @ velocity
    pose = build(
        "geometry_msgs/msg/Pose",
        position=build("geometry_msgs/msg/Point", **_xyz(position)),
        orientation=_quaternion(turn),
    )
    twist = build("geometry_msgs/msg/Twist", linear=build("geometry_msgs/msg/Vector3", **_xyz(body)))
    return build(
        _TYPES[names.ODOMETRY], header=build_header(ns, _ODOM), child_frame_id=_BASE,
        pose=build("geometry_msgs/msg/PoseWithCovariance", pose=pose),
        twist=build("geometry_msgs/msg/TwistWithCovariance", twist=twist),
    )  # fmt: skip


def _transform(ns: int, frame: str, child: str, position: Floats, turn: Floats) -> Any:
    transform = build(
        "geometry_msgs/msg/Transform",
        translation=build("geometry_msgs/msg/Vector3", **_xyz(position)),
        rotation=_quaternion(turn),
    )
    stamped = build(
        "geometry_msgs/msg/TransformStamped", header=build_header(ns, frame), child_frame_id=child, transform=transform
    )
    return build(_TYPES[names.TF], transforms=[stamped])


def _quaternion(turn: Floats) -> Any:
    w, x, y, z = (float(value) for value in turn)
    return build("geometry_msgs/msg/Quaternion", w=w, x=x, y=y, z=z)


def _xyz(values: Floats) -> dict[str, float]:
    return dict(zip("xyz", map(float, values), strict=True))
