"""Faults on the live graph: at a node's inputs, and as signals to whole processes. Shells around safety.faults.

What a node makes of its inputs is not touched: a schedule only changes what it hears and when, before it hears it.
"""

from __future__ import annotations

import copy
import json
import math
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from esar_ros.geometry.frames import attitude_enu_flu_to_ned_frd, enu_to_ned
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.nodes import interface
from esar_ros.nodes.graph import OFFICIALS, SENSING, SIMULATOR, MissionOptions, NodeSpec
from esar_ros.nodes.interface import BY_NAME, TOPICS, VEHICLE_PARTICIPANTS
from esar_ros.nodes.progress import PREFIX
from esar_ros.nodes.qos import PROFILES
from esar_ros.nodes.stamps import nanoseconds, to_stamp
from esar_ros.safety import faults as core
from esar_ros.safety.faults import Channel, Kill, ProcessFault, Schedule, load_schedule

if TYPE_CHECKING:
    from esar_ros.msg import MissionState
    from esar_ros.nodes.steps import StepNode

# Latched ones come once and without a stamp of the mission; ticks and heartbeats say who takes part.
_UNTOUCHED = (names.TICK, names.HEARTBEAT, names.BRIEF, names.MISSION_STATE)
_LOOKING = (interface.CLUE_DETECTOR, interface.VOXEL_MAPPER)
PROCESSES = (
    SIMULATOR, OFFICIALS, interface.AIRSIM_BRIDGE, interface.SAFETY_GOVERNOR, interface.PILOT, SENSING,
    interface.PLANNER,
)  # fmt: skip


def inputs_of(node: str) -> tuple[str, ...]:
    """What faults can touch of what a node receives."""
    topics = [t.name for t in TOPICS if node in t.readers and t.name not in _UNTOUCHED and not t.name.startswith("/")]
    return tuple(sorted(topics)) + ((core.FRAMES,) if node in _LOOKING else ())


def checked_schedule(path: Path, vehicles: Sequence[str], pace: str) -> Schedule:
    """Schedule of a file that this mission's graph can act on. Raises UsageError with the key that is wrong."""
    schedule = load_schedule(path)
    for number, fault in enumerate(schedule.faults):
        try:
            _check(fault, vehicles, pace)
        except UsageError as error:
            raise UsageError(f"{path}, key faults.{number}: {error}") from None
    return schedule


def _check(fault: Any, vehicles: Sequence[str], pace: str) -> None:
    if fault.vehicle and fault.vehicle not in vehicles:
        raise UsageError(f"no vehicle '{fault.vehicle}'", f"this mission has {', '.join(vehicles)}")
    if isinstance(fault, ProcessFault):
        if fault.process not in PROCESSES:
            raise UsageError(f"no process '{fault.process}'", f"choose one of {', '.join(PROCESSES)}")
        return
    if fault.node not in VEHICLE_PARTICIPANTS:
        raise UsageError(f"no node '{fault.node}' takes faults", f"choose one of {', '.join(VEHICLE_PARTICIPANTS)}")
    if pace == "lockstep" and isinstance(fault, core.ClockReset):
        raise UsageError("clock_reset in lockstep, where the tick is the clock", "use pace realtime")
    if pace == "lockstep" and fault.node == interface.CAMERA_DRIVER:
        raise UsageError("a fault at camera_driver in lockstep, where all wait for its answer", "use pace realtime")
    topic = getattr(fault, "topic", None)
    if topic is None:
        return
    if topic not in inputs_of(fault.node):
        raise UsageError(
            f"{fault.node} does not take '{topic}' that faults can touch",
            f"choose one of {', '.join(inputs_of(fault.node))}",
        )
    if topic == core.FRAMES and fault.kind not in core.PICTURE_KINDS:
        raise UsageError(f"{fault.kind} of frames", f"frames take {', '.join(core.PICTURE_KINDS)}")


class NodeFaults:
    """The faults of one node's inputs, by the mission's time."""

    def __init__(self, node: StepNode, path: Path) -> None:
        self._schedule = checked_schedule(path, node.vehicles, node.pace)
        self._node = node
        self._start_ns: int | None = None
        self._told: set[int] = set()
        if node.of_mission:
            return  # referee and recorder see what happens
        from esar_ros.msg import MissionState

        self._subscription = node.create_subscription(
            MissionState,
            node.topic(names.MISSION_STATE),
            self._on_state,
            PROFILES[BY_NAME[names.MISSION_STATE].quality],
        )

    def _on_state(self, state: MissionState) -> None:
        if self._start_ns is None and state.phase in (state.RUNNING, state.ENDED):
            self._start_ns = nanoseconds(state.header.stamp) - round(state.elapsed * 1e9)

    def _time(self, ns: int) -> float | None:
        """s since the mission's start, None before it."""
        return None if self._start_ns is None else (ns - self._start_ns) * 1e-9

    def into(
        self, vehicle: str, topic: str, take: Callable[[Any], None], lost: Callable[[int], None] = lambda ns: None
    ) -> Callable[[Any], None]:
        """take with the faults of a topic before it; lost(ns) is told stamps whose message does not come in time."""
        name = self._node.get_name()
        faults = self._schedule.messages(name, vehicle, topic) if topic in inputs_of(name) else ()
        if not faults or self._node.of_mission:
            return take
        tamper = FrameTamper() if topic == core.FRAMES else MessageTamper()
        channel: Channel[Any] = Channel(faults, tamper, self._schedule.seed)

        def receive(message: Any) -> None:
            ns = tamper.stamp(message)
            now = self._time(ns)
            if now is None:
                take(message)
                return
            self._tell(channel.touched(now), topic, now)
            given = channel.receive(now, message)
            if all(tamper.stamp(one) != ns for one in given):
                lost(ns)
            for one in given:
                take(one)

        return receive

    def lacks_transform(self, vehicle: str, ns: int) -> bool:
        """Whether the transform map -> odom is missing for odometry of this stamp."""
        now = self._time(ns)
        gaps = () if self._node.of_mission else self._schedule.transform_gaps(self._node.get_name(), vehicle)
        for gap in gaps:
            if now is not None and gap.active(now):
                self._tell(gap, names.TF_STATIC, now)
                return True
        return False

    def _tell(self, fault: Any, topic: str, now: float) -> None:
        """Once per fault, so that a log says what was injected."""
        if fault is not None and id(fault) not in self._told:
            self._told.add(id(fault))
            self._node.get_logger().warning(f"fault injected: {fault.kind} of {topic} from {now:.2f} s on")


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

    def in_millimetres(self, message: Any) -> Any:
        """Ranges a thousand times as great."""
        changed = copy.deepcopy(message)
        for n, value in enumerate(message.ranges):
            changed.ranges[n] = 1e3 * value
        return changed

    def without_camera(self, message: Any, camera: str) -> Any:
        """Not of a message: pictures are handed over as frames."""
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
    """core.Tamper of nodes.frames.FrameSet; what it does not do is refused by checked_schedule."""

    def stamp(self, frame_set: Any) -> int:
        """Stamp in ns."""
        return int(frame_set.ns)

    def shifted(self, frame_set: Any, seconds: float) -> Any:
        """With a later stamp."""
        return replace(frame_set, ns=frame_set.ns + round(seconds * 1e9))

    def spoiled(self, frame_set: Any) -> Any:
        """With depth that is NaN."""
        return self._with_depth(frame_set, lambda depth: np.full_like(depth, np.nan))

    def flipped(self, frame_set: Any) -> Any:
        """Pictures have no axes to be mistaken."""
        return frame_set

    def in_millimetres(self, frame_set: Any) -> Any:
        """With depth in mm."""
        return self._with_depth(frame_set, lambda depth: depth * np.float32(1e3))

    def without_camera(self, frame_set: Any, camera: str) -> Any:
        """Without the pictures of one camera."""
        return replace(frame_set, frames=tuple(f for f in frame_set.frames if f.camera != camera))

    def charged(self, frame_set: Any, share: float) -> Any:
        """Pictures have no charge."""
        return frame_set

    def _with_depth(self, frame_set: Any, change: Callable[[Any], Any]) -> Any:
        return replace(frame_set, frames=tuple(replace(f, depth=change(f.depth)) for f in frame_set.frames))


@dataclass(frozen=True)
class Strike:
    """A signal that was sent, for logs and measurements."""

    label: str  # of the process
    kind: str
    time: float  # s since the mission's start


class Processes(Protocol):
    """Who starts the processes and knows their ids."""

    def pid(self, label: str) -> int | None:
        """Process id by label, None while it is not running."""


class ProcessFaults:
    """Sends a schedule's signals when their time comes. The mission's time comes from the referee's progress lines."""

    def __init__(self, schedule: Schedule, specs: Sequence[NodeSpec], realtime: bool) -> None:
        self._due: list[tuple[float, ProcessFault, str]] = sorted(
            (
                (fault.at, fault, spec.label)
                for fault in schedule.signals()
                for spec in specs
                if spec.executable == fault.process and fault.vehicle in ("", spec.namespace.rsplit("/", 1)[-1])
            ),
            key=lambda due: due[0],
        )
        self._realtime = realtime
        self._elapsed: float | None = None
        self._heard = 0.0
        self._stopped: list[tuple[float, int]] = []  # (s steady when it goes on, pid)
        self.strikes: list[Strike] = []

    @staticmethod
    def of(options: MissionOptions, specs: Sequence[NodeSpec]) -> ProcessFaults | None:
        """Those of a mission's schedule, None when it has none."""
        if not options.fault:
            return None
        schedule = checked_schedule(Path(options.fault), options.vehicles, options.pace)
        return ProcessFaults(schedule, specs, options.pace == "realtime")

    def hear(self, line: str) -> None:
        """Take the time from a line that a process printed."""
        if line.startswith(PREFIX):
            with suppress(ValueError, KeyError, TypeError):
                told = json.loads(line[len(PREFIX) :])
                if told["phase"] not in ("start", "join", "ended"):
                    self._elapsed, self._heard = float(told["elapsed"]), time.monotonic()

    def now(self) -> float | None:
        """s since the mission's start; in lockstep that of the newest frame, for its time stands still at will."""
        if self._elapsed is None:
            return None
        return self._elapsed + (time.monotonic() - self._heard if self._realtime else 0.0)

    def strike(self, processes: Processes) -> None:
        """Send what is due."""
        steady, now = time.monotonic(), self.now()
        for due in [s for s in self._stopped if s[0] <= steady]:
            self._stopped.remove(due)
            _signal(due[1], signal.SIGCONT)
        while self._due and now is not None and self._due[0][0] <= now:
            _, fault, label = self._due[0]
            pid = processes.pid(label)
            if pid is None:
                return  # being started again: strike then
            del self._due[0]
            if isinstance(fault, Kill):
                _signal(pid, signal.SIGKILL)
            else:
                _signal(pid, signal.SIGSTOP)
                self._stopped.append((steady + fault.for_, pid))
            self.strikes.append(Strike(label, fault.kind, now))

    def release(self) -> None:
        """Let every stopped process go on, so that it can be ended in order."""
        for _, pid in self._stopped:
            _signal(pid, signal.SIGCONT)
        self._stopped.clear()


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
