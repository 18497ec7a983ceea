"""Marker arrays for RViz: what the governor does, where the planner goes, what was found. All lie in the map frame."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from esar_ros.geometry.frames import Vector, quaternion_from_rotation
from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.mission.observation import SeenClue
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.messages import convert
from esar_ros.planning.clue_labels import labels
from esar_ros.planning.reporting import shared_settings

DEVIATIONS = 2.0  # of an ellipsoid's half axes
MIN_SIZE = 0.5  # m, so that what is well known can still be seen
LETTERS = 1.5  # m
ABOVE = 3.0  # m over a thing, where its words are
ARROW_SECONDS = 2.0  # of flight that the arrow of the given velocity stands for
_SLIGHT, _HALF = 0.25, 0.6
_MODE_COLORS = {
    Mode.NORMAL: (0.2, 0.9, 0.3),
    Mode.SLOW: (1.0, 0.85, 0.1),
    Mode.HOLD: (1.0, 0.5, 0.0),
}
_GRAVE = (1.0, 0.1, 0.1)
_GREY = (0.6, 0.6, 0.6)


def safety_markers(
    where: Vector, given: Vector, mode: Mode, stopping_distance: float, words: str, stamp: Time
) -> MarkerArray:
    """The governor's mode and reason as words, the sphere in which the vehicle stops, the velocity given (m/s)."""
    color = _MODE_COLORS.get(mode, _GRAVE)
    text = _marker("safety", 0, Marker.TEXT_VIEW_FACING, where + [0.0, 0.0, ABOVE], color, stamp)
    text.text = f"{mode.name} {words}".strip()
    text.scale.z = LETTERS
    reach = _marker("safety", 1, Marker.SPHERE, where, color, stamp, _SLIGHT)
    reach.scale = _cube(2.0 * max(stopping_distance, MIN_SIZE))
    arrow = _marker("safety", 2, Marker.ARROW, np.zeros(3), color, stamp)
    if float(np.linalg.norm(given)) > 0.1:
        arrow.points = [convert.point(where), convert.point(where + ARROW_SECONDS * given)]
        arrow.scale = Vector3(x=0.3, y=0.8, z=0.8)
    else:
        arrow.action = Marker.DELETE
    return MarkerArray(markers=[text, reach, arrow])


def goal_markers(goal: Goal, where: Vector, height: float | None, words: str, stamp: Time) -> MarkerArray:
    """The waypoint, a line from the vehicle to it, and why; height: of the vehicle above ground (m), if known.

    A waypoint above ground is drawn over the ground below the vehicle: what lies under the goal may not be known yet.
    """
    array = MarkerArray(markers=[clear_all()])
    if goal.type is not GoalType.WAYPOINT:
        return array
    place = np.array(goal.position, dtype=np.float64)
    if goal.height_reference is HeightReference.GROUND:
        place[2] += where[2] - (0.0 if height is None else height)
    color = (0.2, 0.6, 1.0)
    ball = _marker("goal", 0, Marker.SPHERE, place, color, stamp, _HALF)
    ball.scale = _cube(3.0)
    line = _marker("goal", 1, Marker.LINE_STRIP, np.zeros(3), color, stamp, _HALF)
    line.points = [convert.point(where), convert.point(place)]
    line.scale.x = 0.3
    text = _marker("goal", 2, Marker.TEXT_VIEW_FACING, place + [0.0, 0.0, ABOVE], color, stamp)
    text.text, text.scale.z = words, LETTERS
    array.markers += [ball, line, text]
    return array


def clue_markers(clues: Sequence[SeenClue], stamp: Time) -> MarkerArray:
    """An ellipsoid of two standard deviations each, and kind, score, looks' number and age as words.

    Candidates, too unlikely to be reported, are small and grey and have no words; see planning.clue_labels.
    """
    now = nanoseconds(stamp) * 1e-9
    words = labels(clues, shared_settings())
    array = MarkerArray(markers=[clear_all()])
    for clue in clues:
        if not (np.isfinite(clue.position).all() and np.isfinite(clue.covariance).all()):
            continue
        if shared_settings().is_candidate(clue.kind, clue.probability):
            dot = _marker("candidates", clue.id, Marker.SPHERE, clue.position, _GREY, stamp, _HALF)
            dot.scale = _cube(2.0 * MIN_SIZE)
            array.markers.append(dot)
            continue
        color = (1.0, 0.2, 0.1) if clue.kind == PERSON else (0.1, 0.6, 0.9)
        axes, turn = ellipsoid(clue.covariance)
        body = _marker("clues", clue.id, Marker.SPHERE, clue.position, color, stamp, _HALF)
        body.pose.orientation = turn
        body.scale = convert.vector3(np.maximum(2.0 * axes, MIN_SIZE))
        array.markers.append(body)
        if not words[clue.id]:
            continue
        text = _marker("labels", clue.id, Marker.TEXT_VIEW_FACING, clue.position + [0, 0, ABOVE], color, stamp)
        age = max(0.0, now - clue.last_seen)
        text.text = f"{words[clue.id]} {clue.probability:.2f}\n{clue.views} views, seen {age:.0f} s ago"
        text.scale.z = LETTERS
        array.markers.append(text)
    return array


def ellipsoid(covariance: np.ndarray) -> tuple[Vector, Quaternion]:
    """Half axes (3,) m of DEVIATIONS standard deviations, and how the ellipsoid is turned in the map."""
    variances, axes = np.linalg.eigh((covariance + covariance.T) / 2.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return DEVIATIONS * np.sqrt(np.maximum(variances, 0.0)), convert.quaternion(quaternion_from_rotation(axes))


def clear_all() -> Marker:
    """Returns the marker that comes first in an array which replaces the one before."""
    marker = Marker(action=Marker.DELETEALL)
    marker.header.frame_id = names.MAP
    return marker


def _marker(
    space: str,
    number: int,
    kind: int,
    where: Vector,
    color: tuple[float, float, float],
    stamp: Time,
    alpha: float = 1.0,
) -> Marker:
    marker = Marker(type=kind, action=Marker.ADD, id=_signed(number), ns=space)
    marker.header.stamp = stamp
    marker.header.frame_id = names.MAP
    marker.pose.position = convert.point(where)
    marker.pose.orientation.w = 1.0
    marker.color = ColorRGBA(r=color[0], g=color[1], b=color[2], a=alpha)
    return marker


def _signed(number: int) -> int:
    """Ids of objects are unsigned, those of markers are not."""
    return (number + 2**31) % 2**32 - 2**31


def _cube(edge: float) -> Vector3:
    edge = edge if math.isfinite(edge) else MIN_SIZE
    return Vector3(x=edge, y=edge, z=edge)
