"""Content of the live page: messages in, sections of plain numbers and words out.

Messages are duck-typed: live subscriptions and a bag's reader give the same attributes. Not thread-safe: its owner
locks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from esar_ros.app.view.live_clues import clue_words, origin_told, where_words
from esar_ros.app.view.live_crops import Crops
from esar_ros.app.view.live_layers import Layer
from esar_ros.app.view.live_sections import Sections
from esar_ros.flight.pilot import Phase
from esar_ros.geometry.frames import Pose, motion_in_parent
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.decision import DecisionStatus, GoalType, HeightReference, ReportType
from esar_ros.mission.modes import MissionPhase, mode_name, order_name, reason_name
from esar_ros.mission.stamps import nanoseconds
from esar_ros.nodes.messages.convert import array3, brief_of, pose_of, pose_of_transform
from esar_ros.planning.belief.brief.coordinates import ground_of
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.brief.telling import summary, told
from esar_ros.scoring.truth import End

TRACK_STEP = 1.0  # m between points kept of the way flown
LOG_KEPT = 2000  # entries
PHASES = {phase: phase.name.lower() for phase in MissionPhase}
GO_ON = "continue"  # a decision to go on with the last one: shown above the log, not in it
STATUSES = {DecisionStatus.THINKING: "thinking", DecisionStatus.STOP: "stop"}  # others: decided
GOALS = {goal.value: goal.name.lower() for goal in GoalType}

_NUMBERS = re.compile(r"\d+(\.\d+)?")


class LiveState(Sections):
    """One mission as a reader of the page knows it. Map frame ENU, SI units; angles of ellipses in degrees."""

    def __init__(self, vehicles: tuple[str, ...]) -> None:
        super().__init__(("log", "reports", *(f"track/{vehicle}" for vehicle in vehicles)))
        self.vehicles = vehicles
        self.images: dict[str, tuple[bytes, int]] = {}  # <vehicle>/<camera>
        self.layers: dict[str, Layer] = {}  # <topic>/<vehicle>
        self.crops = {vehicle: Crops() for vehicle in vehicles}
        self.map_id = ""
        self._odom_in_map: dict[str, Pose] = {}
        self._origin: Origin | None = None  # of the map frame
        self._start: float | None = None  # s, stamp of the mission's start
        self._untimed: list[tuple[dict[str, Any], float]] = []  # told before that was known: entry, stamp (s)
        self._now = 0.0  # s, newest stamp
        self._logged: dict[str, tuple[str, ...]] = {}  # the last thing logged of each vehicle and kind
        self._clues: dict[str, Any] = {}
        self._ended = False
        self._truth: Any = None
        self._takers = {
            names.BRIEF: self._brief,
            names.MISSION_STATE: self._mission,
            names.TF_STATIC: self._static,
            names.ODOMETRY: self._odometry,
            names.PILOT_STATE: self._pilot,
            names.BATTERY: self._charge,
            names.SAFETY_STATUS: self._safety,
            names.DECISION: self._decision,
            names.REPORTS: self._report,
            names.GOAL: self._goal,
            names.PATH: self._path,
            names.CLUES: self._seen,
            names.DETECTIONS: self._detections,
            names.MAP_STATUS: self._map,
            names.BELIEF: self._grid(names.BELIEF),
            names.MAP_COVERAGE: self._grid(names.MAP_COVERAGE),
            names.OPERATOR_ORDER: self._order,
            names.SCORE: self._score,
            names.TRUTH: self._tell_truth,
            **{names.camera_compressed(c): self._camera(c) for c in names.EYES},
        }

    # -- the log --------------------------------------------------------------------------------

    def log(self, vehicle: str, kind: str, title: str, text: str = "", stamp: float | None = None) -> None:
        """Adds a line to the log, unless it repeats the last one of this vehicle and kind.

        stamp: s, of the event; by default the newest stamp received.
        """
        line = title, _NUMBERS.sub("#", text)  # the same with other numbers is the same
        if self._logged.get(f"{vehicle} {kind}") == line or len(self.lists["log"]) >= LOG_KEPT:
            return
        self._logged[f"{vehicle} {kind}"] = line
        entry = {"vehicle": vehicle, "kind": kind, "title": title, "text": text}
        self.lists["log"].append(self._timed(entry, self._now if stamp is None else stamp))

    # -- in -------------------------------------------------------------------------------------

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that are shown."""
        return tuple(self._takers)

    def take(self, vehicle: str, topic: str, message: Any) -> None:
        """Take in one message of a vehicle's topic; others are ignored."""
        taker = self._takers.get(topic)
        if taker is None:
            return
        header = getattr(message, "header", None)
        if header is not None and topic != names.TF_STATIC:
            self._now = max(self._now, nanoseconds(header.stamp) * 1e-9)
        taker(vehicle, message)

    def _elapsed(self, stamp: float) -> float | None:
        return None if self._start is None else round(max(stamp - self._start, 0.0), 1)

    def _timed(self, entry: dict[str, Any], stamp: float) -> dict[str, Any]:
        """The entry with `t`, s since the mission's start; None until that is known."""
        entry["t"] = self._elapsed(stamp)
        if entry["t"] is None:
            self._untimed.append((entry, stamp))
        return entry

    def _brief(self, vehicle: str, m: Any) -> None:
        self.map_id = m.map_id
        self._origin = origin_told(m)
        facts = parse_brief(m.prompt, ground_of(brief_of(m)) if len(m.area) else None)  # a walk indoors has no area
        value = {
            "id": m.mission_id,
            "map": m.map_id,
            "lines": told(m.prompt, facts),
            "reading": summary(facts),
            "weather": m.weather.replace("_", " "),
            "local_time": m.local_time,
            "area": [[rounded(p.x), rounded(p.y)] for p in m.area],
            "report_cap": int(m.report_cap),
        }
        self.put("brief", value)
        self.put(f"home/{vehicle}", [rounded(m.home.x), rounded(m.home.y), rounded(m.home.z)])

    def _mission(self, vehicle: str, m: Any) -> None:
        if vehicle != self.vehicles[0]:
            return
        stamp = nanoseconds(m.header.stamp) * 1e-9
        if m.phase != MissionPhase.PREPARING:
            self._start = stamp - m.elapsed
            for entry, at in self._untimed:
                entry["t"] = self._elapsed(at)
            self._untimed.clear()
        self._ended = m.phase == MissionPhase.ENDED
        end = list(End)[m.end - 1].value if 0 < m.end <= len(End) else ""
        self.put(
            "mission",
            {
                "phase": PHASES.get(m.phase, "unknown"),
                "end": end,
                "elapsed": rounded(m.elapsed),
                "t_max": rounded(m.t_max),
                "reports": int(m.reports),
                "text": m.text,
            },
        )
        if self._ended:
            self.log("", "mission", f"mission ended: {end}" if end else "mission ended", m.text)
            self._show_truth()

    def _static(self, vehicle: str, m: Any) -> None:
        for transform in m.transforms:
            for name in self.vehicles:
                if transform.child_frame_id == names.vehicle_frame(name, names.ODOM):
                    self._odom_in_map[name] = pose_of_transform(transform.transform)

    def _odometry(self, vehicle: str, m: Any) -> None:
        frame = self._odom_in_map.get(vehicle)
        if frame is None:
            return
        pose, velocity = motion_in_parent(frame, pose_of(m.pose.pose), array3(m.twist.twist.linear))
        if not pose.is_finite():
            return  # it says nothing of where the vehicle is
        at = [rounded(v) for v in pose.position]
        self.put(
            f"craft/{vehicle}",
            {
                "position": at,
                "heading": rounded((90.0 - math.degrees(pose.yaw)) % 360.0, 0),
                "yaw": rounded(pose.yaw, 3),
                "speed": rounded(math.hypot(velocity[0], velocity[1])),
                "climb": rounded(velocity[2]),
                "deviation": rounded(math.sqrt(max(m.pose.covariance[0], m.pose.covariance[7], 0.0))),
            },
        )
        track = self.lists[f"track/{vehicle}"]
        if not track or math.hypot(track[-1][0] - at[0], track[-1][1] - at[1]) >= TRACK_STEP:
            track.append(at)

    def _charge(self, vehicle: str, m: Any) -> None:
        self.put(f"battery/{vehicle}", rounded(m.percentage, 3))

    def _pilot(self, vehicle: str, m: Any) -> None:
        phase = Phase(m.phase).name.lower().replace("_", " ") if m.phase in list(Phase) else "unknown"
        self.put(
            f"pilot/{vehicle}",
            {
                "phase": phase,
                "height": rounded(m.height) if m.has_height else None,
                "reached": bool(m.goal_reached),
                "blocked": bool(m.goal_blocked),
                "text": m.text,
            },
        )

    def _safety(self, vehicle: str, m: Any) -> None:
        reasons = [reason_name(r).replace("_", " ") for r in m.reasons]
        value = {
            "mode": mode_name(m.mode),
            "reasons": reasons,
            "text": m.text,
            "changed": bool(m.changed),
            "breach": bool(m.breach),
            "asked": rounded(_length(m.asked)),
            "given": rounded(_length(m.given)),
            "clearance": rounded(m.clearance) if m.has_clearance else None,
            "stopping": rounded(m.stopping_distance),
            "height": rounded(m.height) if m.has_height else None,
            "interventions": int(m.interventions),
        }
        self.put(f"governor/{vehicle}", value)
        why = reasons[0] if reasons else ""
        if (value["mode"], why) != ("normal", "") or f"{vehicle} governor" in self._logged:
            self.log(vehicle, "governor", str(value["mode"]), why)

    def _decision(self, vehicle: str, m: Any) -> None:
        status = STATUSES.get(m.status, "decided")
        value = {"method": m.method, "status": status, "action": m.action, "why": m.why}
        counts = {"latency": rounded(m.latency, 3), "considered": int(m.considered)}
        self.put(f"planner/{vehicle}", {**value, **counts, "tokens": int(m.tokens_in + m.tokens_out)})
        if m.action == GO_ON:
            self._logged.pop(f"{vehicle} planner", None)  # what is chosen next is news, even in the same words
        else:
            self.log(vehicle, "planner", m.action, m.why)

    def _report(self, vehicle: str, m: Any) -> None:
        kind = "victim" if m.type == ReportType.VICTIM else "clue"
        stamp = nanoseconds(m.header.stamp) * 1e-9
        report = {
            "vehicle": vehicle,
            "seq": int(m.seq),
            "type": kind,
            "kind": m.kind.replace("_", " "),
            "text": m.text,
            "confidence": rounded(m.confidence, 2),
            "position": [rounded(v) for v in array3(m.position)],
            "where": where_words(self._origin, m, self._clues.get(vehicle, ())),
        }
        known = self.lists["reports"]
        if any((r["vehicle"], r["seq"]) == (vehicle, report["seq"]) for r in known):
            return
        known.append(self._timed(report, stamp))
        self.log(vehicle, "report", f"reports a {kind}: {report['kind']}", m.text, stamp)

    def _order(self, vehicle: str, m: Any) -> None:
        order = order_name(m.order)
        self.put(f"order/{vehicle}", order)
        self.log(vehicle, "order", f"operator: {order}")

    def _goal(self, vehicle: str, m: Any) -> None:
        where = [rounded(v) for v in array3(m.position)] if m.type == GoalType.WAYPOINT.value else None
        above = m.height_reference == HeightReference.GROUND.value
        self.put(f"goal/{vehicle}", {"type": GOALS.get(m.type, "none"), "position": where, "above_ground": above})

    def _path(self, vehicle: str, m: Any) -> None:
        points = [[rounded(p.pose.position.x), rounded(p.pose.position.y)] for p in m.poses]
        self.put(f"path/{vehicle}", points)

    def _seen(self, vehicle: str, m: Any) -> None:
        self._clues[vehicle] = m.clues
        self.crops[vehicle].cut(m.clues)
        self._put_clues(vehicle)

    def _detections(self, vehicle: str, m: Any) -> None:
        self.crops[vehicle].detections(nanoseconds(m.header.stamp), m.detections)
        self._cut(vehicle)

    def _cut(self, vehicle: str) -> None:
        if self.crops[vehicle].cut(self._clues.get(vehicle, ())):
            self._put_clues(vehicle)

    def _put_clues(self, vehicle: str) -> None:
        clues, words = [], clue_words(self._clues[vehicle])
        for clue in self._clues[vehicle]:
            major, minor, angle = ellipse(clue.covariance)
            crop = self.crops[vehicle].get(clue.id)
            clues.append(
                {
                    "id": int(clue.id),
                    "kind": clue.kind.replace("_", " "),
                    "text": clue.text,
                    "probability": rounded(clue.probability, 2),
                    "position": [rounded(v) for v in array3(clue.position)],
                    "ellipse": [rounded(major, 2), rounded(minor, 2), rounded(angle)],
                    "views": int(clue.views),
                    "nearest": rounded(clue.nearest_view),
                    "crop": crop.serial if crop else 0,
                    **words[clue.id],
                }
            )
        self.put(f"clues/{vehicle}", clues)

    def _map(self, vehicle: str, m: Any) -> None:
        self.put(f"map/{vehicle}", {"coverage": rounded(m.coverage, 4), "area": rounded(m.covered_area, 0)})

    def _grid(self, topic: str) -> Any:
        def take(vehicle: str, m: Any) -> None:
            name = f"{topic}/{vehicle}"
            before = self.layers.get(name)
            layer = Layer.of(topic, before.serial + 1 if before else 1, m)
            self.layers[name] = layer
            self.put(f"layer/{name}", {"serial": layer.serial, "extent": [rounded(v) for v in layer.extent]})

        return take

    def _camera(self, camera: str) -> Any:
        def take(vehicle: str, m: Any) -> None:
            name = f"{vehicle}/{camera}"
            serial = self.images.get(name, (b"", 0))[1] + 1
            self.images[name] = bytes(m.data), serial
            self.put(f"camera/{name}", serial)
            self.crops[vehicle].image(nanoseconds(m.header.stamp), camera, self.images[name][0])
            self._cut(vehicle)

        return take

    # -- after the end --------------------------------------------------------------------------

    def _score(self, vehicle: str, m: Any) -> None:
        if vehicle != self.vehicles[0]:
            return
        result = json.loads(m.result)
        keys = ("metrics", "eligible", "ineligible_reasons", "end", "end_text", "planner", "safety", "judge")
        value = {key: result[key] for key in keys}
        value["verdicts"] = [{k: r[k] for k in ("vehicle", "seq", "verdict", "ok")} for r in result["reports"]]
        value["things"] = {
            "victims": [{k: v[k] for k in ("id", "name", "found", "time")} for v in result["victims"]],
            "clues": [{k: c[k] for k in ("id", "kind", "located", "exact")} for c in result["clues"]],
        }
        self.put("score", value)

    def _tell_truth(self, vehicle: str, m: Any) -> None:
        self._truth = m.truth
        self._show_truth()

    def _show_truth(self) -> None:
        """Publishes the ground truth, once the mission has ended and not before."""
        if not self._ended or self._truth is None:
            return
        truth: Mapping[str, Any] = json.loads(self._truth)
        things = [{"kind": "victim", "name": v["name"], "position": v["position"]} for v in truth["victims"]]
        things += [{"kind": c["kind"].replace("_", " "), "name": "", "position": c["position"]} for c in truth["clues"]]
        self.put("truth", things)


def rounded(value: float, digits: int = 1) -> float | None:
    """A number as JSON knows it: NaN and infinity become None."""
    value = float(value)
    return round(value, digits) + 0.0 if math.isfinite(value) else None


def ellipse(covariance: Any) -> tuple[float, float, float]:
    """Standard deviations (m) along the axes of the level ellipse, greater first, and its angle from east (deg)."""
    level = np.asarray(covariance, dtype=np.float64).reshape(3, 3)[:2, :2]
    if not np.isfinite(level).all():
        return math.nan, math.nan, 0.0
    values, vectors = np.linalg.eigh(level)
    minor, major = np.sqrt(np.clip(values, 0.0, None))
    return float(major), float(minor), math.degrees(math.atan2(vectors[1, 1], vectors[0, 1])) % 180.0


def _length(v: Any) -> float:
    return math.sqrt(v.x * v.x + v.y * v.y + v.z * v.z)
