"""Rows of a record: every message reduced to plain numbers.

Messages are duck-typed: the same attribute names come from live subscriptions and from a bag. Every message becomes a
row of plain numbers that starts with its stamp (int nanoseconds), so rows sort by stamp and then by content.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.safety.limits import changed_text

_FAILSAFE = re.compile(r"in failsafe \([^;:]*")  # in what a bridge says of its autopilot


class OdometryRow(NamedTuple):
    """Position (m) in <vehicle>/odom and attitude of base_link, (w, x, y, z)."""

    stamp: int
    x: float
    y: float
    z: float
    qw: float
    qx: float
    qy: float
    qz: float


class StateRow(NamedTuple):
    """State of the autopilot."""

    stamp: int
    armed: bool
    landed: int
    holding: bool
    failsafe: str = ""  # of PX4, in words; empty: none


class CollisionRow(NamedTuple):
    """One contact."""

    stamp: int
    x: float
    y: float
    z: float
    object: str


class ReportRow(NamedTuple):
    """One claim as sent; position in frame, m."""

    stamp: int
    seq: int
    type: int
    kind: str
    text: str
    confidence: float
    x: float
    y: float
    z: float
    frame: str


class SafetyRow(NamedTuple):
    """One answer of the safety governor; clearance and height are +inf when unknown."""

    stamp: int
    mode: int
    reason: int
    changed: bool
    breach: bool
    clearance: float
    height: float
    text: str


class MapRow(NamedTuple):
    """Coverage so far."""

    stamp: int
    coverage: float
    covered_area: float
    search_area: float
    integration_time: float


class CluesRow(NamedTuple):
    """All fused clues at a frame: (id, kind, probability, x, y, z, views) each, and each covariance (9, m^2)."""

    stamp: int
    backend: str
    eligible: bool
    clues: tuple[tuple[int, str, float, float, float, float, int], ...]
    covariances: tuple[tuple[float, ...], ...] = ()


class DecisionRow(NamedTuple):
    """One answer of the planner."""

    stamp: int
    seq: int
    status: int
    effective: int
    method: str
    action: str
    why: str
    latency: float
    tokens_in: int
    tokens_out: int
    considered: int
    trouble: str


class BatteryRow(NamedTuple):
    """Charge, 0..1."""

    stamp: int
    charge: float


class BriefRow(NamedTuple):
    """The brief as the planner received it."""

    stamp: int
    mission_id: str
    map_id: str
    prompt: str
    weather: str
    local_time: str
    t_max: float
    area: tuple[tuple[float, float], ...]
    home: tuple[float, float, float]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the map frame: degrees WGS 84, m; zeros: not known


class MissionRow(NamedTuple):
    """Phase of the mission, as published."""

    stamp: int
    phase: int
    end: int
    elapsed: float
    text: str


class TextRow(NamedTuple):
    """JSON that holds for the whole mission and has no stamp: ground truth (esar-truth/1), safety limits changed."""

    stamp: int
    text: str


Row = tuple[Any, ...]


def _number(value: Any, instead: float = 0.0) -> float:
    """A float that sorts: NaN and infinities are replaced."""
    number = float(value)
    return number if math.isfinite(number) else instead


def _odometry(m: Any) -> Row | None:
    p, q = m.pose.pose.position, m.pose.pose.orientation
    numbers = tuple(float(value) for value in (p.x, p.y, p.z, q.w, q.x, q.y, q.z))
    return OdometryRow(nanoseconds(m.header.stamp), *numbers) if all(map(math.isfinite, numbers)) else None


def _state(m: Any) -> Row:
    found = _FAILSAFE.search(str(m.ready_message))
    failsafe = found.group() if found else ""
    return StateRow(nanoseconds(m.header.stamp), bool(m.armed), int(m.landed), bool(m.holding), failsafe)


def _collision(m: Any) -> Row:
    p = m.position
    return CollisionRow(nanoseconds(m.header.stamp), _number(p.x), _number(p.y), _number(p.z), str(m.object))


def _report(m: Any) -> Row:
    p = m.position
    # A position that is no number stays one that can be sorted: +inf, which matches nothing.
    x, y, z = (_number(value, math.inf) for value in (p.x, p.y, p.z))
    head = (nanoseconds(m.header.stamp), int(m.seq), int(m.type), str(m.kind), str(m.text))
    return ReportRow(*head, _number(m.confidence), x, y, z, str(m.header.frame_id))


def _safety(m: Any) -> Row:
    return SafetyRow(
        nanoseconds(m.header.stamp),
        int(m.mode),
        int(m.reason),
        bool(m.changed),
        bool(m.breach),
        _number(m.clearance, math.inf) if m.has_clearance else math.inf,
        _number(m.height, math.inf) if m.has_height else math.inf,
        str(m.text),
    )


def _map_status(m: Any) -> Row:
    numbers = (m.coverage, m.covered_area, m.search_area, m.integration_time)
    return MapRow(nanoseconds(m.header.stamp), *(_number(value) for value in numbers))


def _clues(m: Any) -> Row:
    seen = tuple(
        (
            int(c.id),
            str(c.kind),
            _number(c.probability),
            _number(c.position.x),
            _number(c.position.y),
            _number(c.position.z),
            int(c.views),
        )
        for c in m.clues
    )
    spread = tuple(tuple(_number(value, math.inf) for value in c.covariance) for c in m.clues)
    return CluesRow(nanoseconds(m.header.stamp), str(m.backend), bool(m.eligible), seen, spread)


def _decision(m: Any) -> Row:
    stamp = nanoseconds(m.header.stamp)
    return DecisionRow(
        stamp,
        int(m.seq),
        int(m.status),
        max(stamp, nanoseconds(m.effective)),
        str(m.method),
        str(m.action),
        str(m.why),
        _number(m.latency),
        int(m.tokens_in),
        int(m.tokens_out),
        int(m.considered),
        str(getattr(m, "trouble", "")),  # a bag holds its own definition, which may be without the field
    )


def _battery(m: Any) -> Row | None:
    charge = float(m.percentage)
    return BatteryRow(nanoseconds(m.header.stamp), charge) if math.isfinite(charge) else None


def _brief(m: Any) -> Row:
    return BriefRow(
        nanoseconds(m.header.stamp),
        str(m.mission_id),
        str(m.map_id),
        str(m.prompt),
        str(m.weather),
        str(m.local_time),
        _number(m.t_max),
        tuple((_number(p.x), _number(p.y)) for p in m.area),
        (_number(m.home.x), _number(m.home.y), _number(m.home.z)),
        (_number(m.origin_latitude), _number(m.origin_longitude), _number(m.origin_altitude)),
    )


def _mission_state(m: Any) -> Row:
    return MissionRow(nanoseconds(m.header.stamp), int(m.phase), int(m.end), _number(m.elapsed), str(m.text))


def _truth(m: Any) -> Row:
    return TextRow(0, str(m.truth))


def _limits(m: Any) -> Row:
    return TextRow(0, changed_text(m))


class Topic(NamedTuple):
    """Reduction of one topic to rows, and the identity by which repeated rows are recognised (None: only equal rows
    are)."""

    reduce: Callable[[Any], Row | None]
    identity: Callable[[Any], Any] | None


def _by_stamp(row: Any) -> Any:
    return row.stamp


REDUCED: dict[str, Topic] = {
    names.ODOMETRY: Topic(_odometry, _by_stamp),
    names.VEHICLE_STATE: Topic(_state, _by_stamp),
    names.COLLISION: Topic(_collision, None),
    names.REPORTS: Topic(_report, lambda row: row.seq),
    names.SAFETY_STATUS: Topic(_safety, _by_stamp),
    names.MAP_STATUS: Topic(_map_status, _by_stamp),
    names.CLUES: Topic(_clues, _by_stamp),
    names.DECISION: Topic(_decision, lambda row: (row.stamp, row.status)),
    names.BATTERY: Topic(_battery, _by_stamp),
    names.BRIEF: Topic(_brief, lambda row: row.mission_id),
    names.MISSION_STATE: Topic(_mission_state, None),
    names.TRUTH: Topic(_truth, None),
    names.SAFETY_LIMITS: Topic(_limits, None),
}

TOPICS: tuple[str, ...] = tuple(REDUCED)
"""Topics a record takes, relative to the vehicle's namespace: the least that a bag for scoring must hold."""
