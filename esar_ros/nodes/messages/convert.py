"""Messages to the cores' own words and back. Frames and units are those of the messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Quaternion, TwistStamped, Vector3
from numpy.typing import ArrayLike, NDArray

from esar_ros.flight.pilot import Governed
from esar_ros.geometry.frames import FARTHEST, Pose, Vector, covariance_in_parent, motion_in_parent
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON, ClueKind
from esar_ros.mission.decision import Goal, GoalType, HeightReference, Report, ReportType
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import Brief, Forecast, Grid, SeenClue
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Brief as BriefMessage
from esar_ros.msg import Clue as ClueMessage
from esar_ros.msg import Forecast as ForecastMessage
from esar_ros.msg import Goal as GoalMessage
from esar_ros.msg import LocalMap
from esar_ros.msg import Report as ReportMessage
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.planning.session import PilotFeedback


def point(values: ArrayLike) -> Point:
    """Point message of three numbers."""
    x, y, z = np.asarray(values, dtype=np.float64)
    return Point(x=float(x), y=float(y), z=float(z))


def vector3(values: ArrayLike) -> Vector3:
    """Vector3 message of three numbers."""
    x, y, z = np.asarray(values, dtype=np.float64)
    return Vector3(x=float(x), y=float(y), z=float(z))


def quaternion(values: ArrayLike) -> Quaternion:
    """Quaternion message of (w, x, y, z)."""
    w, x, y, z = np.asarray(values, dtype=np.float64)
    return Quaternion(w=float(w), x=float(x), y=float(y), z=float(z))


def array3(message: Any) -> Vector:
    """Three numbers of a Point or Vector3."""
    return np.array([message.x, message.y, message.z], dtype=np.float64)


def pose_of(message: Any) -> Pose:
    """Pose of a geometry_msgs/Pose."""
    q = message.orientation
    return Pose(array3(message.position), np.array([q.w, q.x, q.y, q.z], dtype=np.float64))


def pose_of_transform(message: Any) -> Pose:
    """Pose of a geometry_msgs/Transform."""
    q = message.rotation
    return Pose(array3(message.translation), np.array([q.w, q.x, q.y, q.z], dtype=np.float64))


_ODOMETRY_KEPT = 100  # messages: an image may arrive seconds after its stamp


class OdometryInMap:
    """The vehicle's odometry, expressed in the map frame by the static transform map -> <vehicle>/odom."""

    def __init__(self, node: StepNode, vehicle: str | None = None) -> None:
        self._node = node
        self._vehicle = vehicle or node.vehicles[0]
        self._odom_in_map: Pose | None = None
        node.input(names.TF_STATIC, self._on_static, vehicle=self._vehicle)
        node.input(names.ODOMETRY, vehicle=self._vehicle, kept=_ODOMETRY_KEPT)
        self._box = node.await_input(names.ODOMETRY, vehicle=self._vehicle)

    def _on_static(self, message: Any) -> None:
        child = names.vehicle_frame(self._vehicle, names.ODOM)
        for transform in message.transforms:
            if transform.header.frame_id == names.MAP and transform.child_frame_id == child:
                pose = pose_of_transform(transform.transform)
                if pose.is_possible():
                    self._odom_in_map = pose
                else:
                    self._node.get_logger().error(f"refused the transform {names.MAP} -> {child}: {pose}")

    def _is_own(self, message: Any) -> bool:
        """Returns whether odometry is in the vehicle's own frames; an empty frame id counts as its own."""
        odom, base = (names.vehicle_frame(self._vehicle, frame) for frame in (names.ODOM, names.BASE_LINK))
        return message.header.frame_id in ("", odom) and message.child_frame_id in ("", base)

    @property
    def known(self) -> bool:
        """True once the transform has arrived."""
        return self._odom_in_map is not None

    @property
    def arrived(self) -> float:
        """Arrival of the newest odometry, s on the steady clock."""
        return self._box.arrived

    def newest_ns(self) -> int | None:
        """Stamp of the newest odometry."""
        return None if self._box.newest is None else nanoseconds(self._box.newest.header.stamp)

    def at(self, ns: int | None = None) -> tuple[int, Pose, Vector] | None:
        """Stamp, pose of base_link in map and velocity (m/s, map) at a stamp, or the newest.

        None where there is none, or one that cannot be: in another frame, not finite, no rotation, not on Earth.
        """
        message = self._box.newest if ns is None else self._box.at(ns)
        if message is None or self._odom_in_map is None or not self._is_own(message):
            return None
        if self._node.lacks_transform(nanoseconds(message.header.stamp)):
            return None
        linear = array3(message.twist.twist.linear)
        pose, velocity = motion_in_parent(self._odom_in_map, pose_of(message.pose.pose), linear)
        return (nanoseconds(message.header.stamp), pose, velocity) if pose.is_finite() else None

    def covariance(self, ns: int) -> NDArray[np.float64] | None:
        """Returns the pose's covariance (6, 6) at a stamp, m^2 and rad^2 about the map's axes; None: not stated.

        Axes without a positive variance are not stated (REP-145).
        """
        message = self._box.at(ns)
        if message is None or self._odom_in_map is None:
            return None
        stated = np.array(message.pose.covariance).reshape(6, 6)
        return covariance_in_parent(self._odom_in_map, stated) if np.abs(stated).max() < FARTHEST**2 else None

    def deviation(self, ns: int | None = None) -> float | None:
        """Greatest standard deviation (m) of the position stated at a stamp; None: not stated (REP-145)."""
        message = self._box.newest if ns is None else self._box.at(ns)
        if message is None:
            return None
        return _deviation(message.pose.covariance)

    def velocity_deviation(self, ns: int | None = None) -> float | None:
        """Greatest standard deviation (m/s) of the velocity stated at a stamp; None: not stated, or unknown."""
        message = self._box.newest if ns is None else self._box.at(ns)
        stated = None if message is None else _deviation(message.twist.covariance)
        return stated if stated is not None and math.isfinite(stated) else None

    def rates(self, ns: int | None = None) -> Vector | None:
        """Returns the body rates (3,) (rad/s, base_link) at a stamp, or the newest; None where there is no odometry."""
        message = self._box.newest if ns is None else self._box.at(ns)
        return None if message is None else array3(message.twist.twist.angular)

    def nearest(self, ns: int) -> tuple[int, Pose, Vector] | None:
        """As `at`, of the kept stamp nearest to ns."""
        stamp = self._box.nearest_stamp(ns)
        return None if stamp is None else self.at(stamp)


def _deviation(covariance: Sequence[float]) -> float | None:
    """Returns the greatest standard deviation of the first three of six axes; inf where one is said to be unknown."""
    variances = np.array([covariance[k] for k in (0, 7, 14)])
    if not variances.any():
        return None
    return float(np.sqrt(variances.max())) if (variances >= 0.0).all() else math.inf


def twist(step: Step, velocity: Vector, yaw_rate: float) -> TwistStamped:
    """Velocity set-point: linear in the map frame (m/s), yaw rate about its z (rad/s)."""
    message = TwistStamped()
    message.header.stamp = step.stamp
    message.header.frame_id = names.MAP
    message.twist.linear = vector3(velocity)
    message.twist.angular.z = float(yaw_rate)
    return message


def brief_of(message: BriefMessage) -> Brief:
    """Brief as planners know it."""
    return Brief(
        mission_id=message.mission_id,
        map_id=message.map_id,
        prompt=message.prompt,
        weather=message.weather,
        wind_speed=message.wind_speed,
        forecast=tuple(Forecast(f.earliest, f.latest, f.weather, f.wind_speed) for f in message.forecast),
        local_time=message.local_time,
        t_max=message.t_max,
        area=np.array([[p.x, p.y] for p in message.area], dtype=np.float64),
        ceiling=message.ceiling,
        home=array3(message.home),
        report_cap=message.report_cap,
        origin=(message.origin_latitude, message.origin_longitude, message.origin_altitude),
    )


def brief_message(brief: Brief) -> BriefMessage:
    """Brief as it travels."""
    latitude, longitude, altitude = brief.origin
    message = BriefMessage(
        mission_id=brief.mission_id,
        map_id=brief.map_id,
        prompt=brief.prompt,
        weather=brief.weather,
        wind_speed=float(brief.wind_speed),
        forecast=[
            ForecastMessage(earliest=f.earliest, latest=f.latest, weather=f.weather, wind_speed=f.wind_speed)
            for f in brief.forecast
        ],
        local_time=brief.local_time,
        t_max=float(brief.t_max),
        origin_latitude=float(latitude),
        origin_longitude=float(longitude),
        origin_altitude=float(altitude),
        area=[point([x, y, 0.0]) for x, y in brief.area],
        ceiling=float(brief.ceiling),
        home=point(brief.home),
        report_cap=brief.report_cap,
    )
    message.header.frame_id = names.MAP
    return message


def goal_message(goal: Goal, seq: int, step: Step) -> GoalMessage:
    """Goal as it travels."""
    message = GoalMessage(
        seq=seq,
        type=goal.type.value,
        position=point(goal.position),
        height_reference=goal.height_reference.value,
        has_yaw=goal.yaw is not None,
        yaw=float(goal.yaw or 0.0),
        velocity=vector3(goal.velocity),
        yaw_rate=float(goal.yaw_rate),
        speed=float(goal.speed),
    )
    message.header.stamp = step.stamp
    message.header.frame_id = names.MAP
    return message


def goal_of(message: GoalMessage) -> Goal:
    """Goal as the pilot knows it, who judges its numbers. Raises ValueError on a type or a reference that is none."""
    return Goal(
        type=GoalType(message.type),
        position=array3(message.position),
        height_reference=HeightReference(message.height_reference),
        yaw=message.yaw if message.has_yaw else None,
        velocity=array3(message.velocity),
        yaw_rate=message.yaw_rate,
        speed=message.speed,
    )


def report_message(report: Report, seq: int, step: Step) -> ReportMessage:
    """Report as it travels."""
    message = ReportMessage(
        seq=seq,
        type=report.type.value,
        kind=report.kind,
        text=report.text,
        confidence=float(report.confidence),
        position=point(report.position),
    )
    message.header.stamp = step.stamp
    message.header.frame_id = names.MAP
    return message


def report_of(message: Any) -> Report:
    """A report as planners know it. Raises ValueError on a type or a place that is none."""
    position = array3(message.position)
    if not np.isfinite(position).all():
        raise ValueError("its position is not finite")
    confidence = min(max(float(message.confidence), 0.0), 1.0)
    return Report(ReportType(message.type), message.kind, message.text, position, confidence)


def sighting_of(message: Any) -> Report:
    """A person's report. Raises ValueError as report_of, and on another frame, a wrong kind or confidence."""
    if message.header.frame_id not in ("", names.MAP):
        raise ValueError(f"its position is in {message.header.frame_id}, not in {names.MAP}")
    if message.type not in set(ReportType):
        raise ValueError(f"type {message.type} is none of 1 (clue), 2 (victim)")
    kinds = (PERSON,) if message.type == ReportType.VICTIM else tuple(kind.value for kind in ClueKind)
    if message.kind not in kinds:
        raise ValueError(f"kind '{message.kind}' is none of {', '.join(kinds)}")
    if not 0.0 <= message.confidence <= 1.0:
        raise ValueError(f"confidence {message.confidence:g} is not within 0..1")
    return report_of(message)


def clue_message(clue: SeenClue) -> ClueMessage:
    """Fused clue as it travels."""
    return ClueMessage(
        id=clue.id,
        kind=clue.kind,
        text=clue.text,
        probability=float(clue.probability),
        position=point(clue.position),
        covariance=np.asarray(clue.covariance, dtype=np.float64).reshape(9),
        views=clue.views,
        nearest_view=float(clue.nearest_view),
        first_seen=to_stamp(round(clue.first_seen * 1e9)),
        last_seen=to_stamp(round(clue.last_seen * 1e9)),
    )


def clue_of(message: ClueMessage) -> SeenClue:
    """Fused clue as planners know it."""
    return SeenClue(
        id=message.id,
        kind=message.kind,
        text=message.text,
        probability=message.probability,
        position=array3(message.position),
        covariance=np.asarray(message.covariance, dtype=np.float64).reshape(3, 3),
        views=message.views,
        nearest_view=message.nearest_view,
        first_seen=nanoseconds(message.first_seen) * 1e-9,
        last_seen=nanoseconds(message.last_seen) * 1e-9,
    )


def is_mode(number: int) -> bool:
    """Returns whether a number is a known mode of the governor."""
    return number in Mode._value2member_map_ and number != Mode.UNKNOWN


def mode_of(message: Any) -> Mode:
    """Returns the mode of a SafetyStatus; HOLD for an unknown value."""
    try:
        return Mode(message.mode)
    except ValueError:
        return Mode.HOLD


def governed_of(message: Any) -> Governed:
    """Returns the governor's answer as the pilot knows it, of a SafetyStatus."""
    height = float(message.height) if message.has_height else None
    return Governed(mode_of(message), array3(message.given), height)


def pilot_feedback(message: Any) -> PilotFeedback:
    """Returns a PilotState as the session takes it."""
    height = float(message.height) if message.has_height else None
    return PilotFeedback(int(message.goal_seq), bool(message.goal_reached), bool(message.goal_blocked), height)


def grid_of(message: Any) -> Grid:
    """Bird's-eye view of a nav_msgs/OccupancyGrid. Raises ValueError for one that contradicts itself."""
    info = message.info
    where = (info.origin.position.x, info.origin.position.y)
    if not (0.0 < info.resolution < FARTHEST and all(abs(value) < FARTHEST for value in where)):
        raise ValueError(f"no grid of {info.resolution} m at {where}")
    cells: NDArray[np.int8] = np.frombuffer(message.data, dtype=np.int8).reshape(info.height, info.width)
    return Grid(cells, float(info.resolution), where)


def window_of(message: LocalMap) -> OccupancyWindow:
    """Local occupancy as pilot and governor know it, stamped with its newest depth frame.

    Raises ValueError for a message that contradicts itself, or is in another frame.
    """
    if message.header.frame_id not in ("", names.MAP):
        raise ValueError(f"a local map in {message.header.frame_id}")
    return OccupancyWindow.from_packed(
        bytes(message.cells),
        array3(message.origin),
        float(message.resolution),
        (message.size_x, message.size_y, message.size_z),
        nanoseconds(message.header.stamp) * 1e-9 - message.age,
    )
