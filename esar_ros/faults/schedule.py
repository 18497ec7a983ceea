"""Faults to inject: the schedule a user writes, and the effect of each active fault on a message.

A schedule is a YAML file `faults: [{kind, at, for, ...}]`, times in s since the mission's start. Message faults work at
the receiving node: for each message that comes in on a topic, a `Channel` returns what the node gets instead, in which
order. They depend on stamps alone, so that in lockstep one schedule gives one mission. Process faults are signals.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import CAMERAS
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated

FRAMES = "frames"  # stands for the images that are handed over inside a process
ODOMETRY, CMD_VEL, RANGES, BATTERY = "odometry", "cmd_vel", "ranges", "battery"
EARLIEST = 1.0  # s; by then every node knows when the mission began
_SLACK = 1e-6  # s, rounding of stamps

M = TypeVar("M")
Camera = Literal[CAMERAS]  # type: ignore[valid-type]  # one home of the cameras' names
Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class _Timed(StrictModel):
    at: float = Field(ge=EARLIEST, description="s since the mission's start")
    vehicle: str = Field("", description="whose node or process; empty: every vehicle's")


class _Lasting(_Timed):
    for_: Seconds | None = Field(None, alias="for", description="s; without it until the mission's end")

    def active(self, time: float) -> bool:
        """Returns whether the fault is active at a time (s since the mission's start)."""
        return self.at - _SLACK <= time < self.at + (math.inf if self.for_ is None else self.for_) - _SLACK


class _OfTopic(_Lasting):
    node: str = Field(description="the node that receives")
    topic: str


class Drop(_OfTopic):
    """Messages are lost."""

    kind: Literal["drop"]
    share: float = Field(1.0, gt=0.0, le=1.0, description="of the messages, chosen by seed and stamp")


class Delay(_OfTopic):
    """Messages come later than made, at the first message of their topic that is due no earlier."""

    kind: Literal["delay"]
    delay: Seconds


class Duplicate(_OfTopic):
    """Messages come more than once."""

    kind: Literal["duplicate"]
    copies: int = Field(1, ge=1, le=1000, description="beyond the message itself")


class Reorder(_OfTopic):
    """Of each two messages the later comes first."""

    kind: Literal["reorder"]


class Freeze(_OfTopic):
    """The last message before comes again and again."""

    kind: Literal["freeze"]
    stamps: Literal["kept", "renewed"] = Field("kept", description="renewed: old data with the stamps of the new")


class Skew(_OfTopic):
    """Stamps are off."""

    kind: Literal["skew"]
    offset: float = Field(description="s, positive: from the future")


class Spoil(_OfTopic):
    """Every number is NaN."""

    kind: Literal["nan"]


class NedFlip(_OfTopic):
    """North, east, down and forward, right, down where east, north, up and forward, left, up are meant."""

    kind: Literal["ned"]
    topic: Literal["odometry", "cmd_vel"]


class Turned(_OfTopic):
    """A heading that is wrong, as by a compass beside iron; position and velocity in the map stay right."""

    kind: Literal["turned"]
    topic: Literal["odometry"] = "odometry"
    by: float = Field(ge=-180.0, le=180.0, description="deg, counter-clockwise")


class Millimetres(_OfTopic):
    """Distances in mm where m are meant."""

    kind: Literal["millimetres"]
    topic: Literal["ranges", "frames"]


class CameraLost(_OfTopic):
    """The images of one camera are missing."""

    kind: Literal["camera_lost"]
    topic: Literal["frames"] = "frames"
    camera: Camera


class BatteryStep(_OfTopic):
    """The reported charge jumps to another value from one message to the next."""

    kind: Literal["battery_step"]
    topic: Literal["battery"] = "battery"
    to: float = Field(ge=0.0, le=1.0, description="share of a full charge")


class TransformGap(_Lasting):
    """The node has no transform from the map to the vehicle's odometry."""

    kind: Literal["tf_gap"]
    node: str


class ClockReset(_Lasting):
    """All stamps that the node receives jump back, and at the end forth again. Real time only: a tick is no clock."""

    kind: Literal["clock_reset"]
    node: str
    by: Seconds = Field(description="s")


class Kill(_Timed):
    """SIGKILL of a process, which the supervisor starts again."""

    kind: Literal["kill"]
    process: str


class Stop(_Timed):
    """SIGSTOP of a process, and SIGCONT at the end."""

    kind: Literal["stop"]
    process: str
    for_: Seconds = Field(alias="for")


class RpcHang(_Timed):
    """The simulator answers nothing: SIGSTOP of its process, and SIGCONT at the end."""

    kind: Literal["rpc_hang"]
    for_: Seconds = Field(alias="for")
    process: Literal["simulator"] = "simulator"


MessageFault = (
    Drop
    | Delay
    | Duplicate
    | Reorder
    | Freeze
    | Skew
    | Spoil
    | NedFlip
    | Turned
    | Millimetres
    | CameraLost
    | BatteryStep
    | ClockReset
)
ProcessFault = Kill | Stop | RpcHang
Fault = Annotated[MessageFault | TransformGap | ProcessFault, Field(discriminator="kind")]

PROCESS_KINDS = ("kill", "stop", "rpc_hang")
MODEL_KINDS = ("model_timeout", "garbage_json")  # known, but faults of a model's client and not of the graph
IMAGE_KINDS = ("camera_lost", "millimetres", "nan")  # what can be done to images handed over in a process


class Schedule(StrictModel):
    """All faults of one mission."""

    faults: tuple[Fault, ...] = Field(min_length=1)
    seed: int = Field(0, ge=0, description="chooses the messages that a share drops")

    def messages(self, node: str, vehicle: str, topic: str) -> tuple[MessageFault, ...]:
        """Returns the faults of one topic at one node; vehicle: the node's own."""
        return tuple(
            fault
            for fault in self.faults
            if isinstance(fault, MessageFault)
            and fault.node == node
            and fault.vehicle in ("", vehicle)
            and (isinstance(fault, ClockReset) or fault.topic == topic)
        )

    def transform_gaps(self, node: str, vehicle: str) -> tuple[TransformGap, ...]:
        """Returns the faults during which a vehicle's node lacks the transforms to odometry."""
        return tuple(
            fault
            for fault in self.faults
            if isinstance(fault, TransformGap) and fault.node == node and fault.vehicle in ("", vehicle)
        )

    def signals(self) -> tuple[ProcessFault, ...]:
        """Faults of whole processes."""
        return tuple(fault for fault in self.faults if isinstance(fault, ProcessFault))


def load_schedule(path: Path) -> Schedule:
    """Returns the schedule of a YAML file. Raises UsageError: which key, what, how to correct it."""
    document = read_yaml(path, "faults")
    _refuse_model_faults(path, document)
    return validated(Schedule, document, path, cure="see docs/reference/faults.md")


def _refuse_model_faults(path: Path, document: Any) -> None:
    listed = document.get("faults") if isinstance(document, dict) else None
    for number, entry in enumerate(listed if isinstance(listed, list) else []):
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if kind in MODEL_KINDS:
            raise UsageError(
                f"{path}, key faults.{number}: {kind} is a fault of a model's answers, not of the graph's messages",
                "leave it out: planners without a model are not touched by it",
            )


class Tamper(Protocol[M]):
    """Operations on one message type; each returns a new message and leaves the old one unchanged."""

    def shifted(self, message: M, seconds: float) -> M:
        """With a later stamp."""

    def spoiled(self, message: M) -> M:
        """With NaN for every number."""

    def flipped(self, message: M) -> M:
        """In NED and FRD."""

    def turned(self, message: M, degrees: float) -> M:
        """With a heading that is wrong by so much."""

    def in_millimetres(self, message: M) -> M:
        """With distances a thousand times as great."""

    def without_camera(self, message: M, camera: str) -> M:
        """Without the images of one camera."""

    def charged(self, message: M, share: float) -> M:
        """With another charge."""


@dataclass
class _Held(Generic[M]):
    time: float
    message: M


@dataclass
class _Effect(Generic[M]):
    """One fault and what it keeps back."""

    fault: MessageFault
    draw: Callable[[float], float]  # 0..1, the same for the same time
    held: list[_Held[M]] = field(default_factory=list)
    before: _Held[M] | None = None  # the last message that came through

    def apply(self, time: float, message: M, tamper: Tamper[M]) -> list[M]:
        """Returns the messages delivered in place of a message of this time (s since the mission's start)."""
        fault = self.fault
        active = fault.active(time)
        if isinstance(fault, Delay):
            due = [h.message for h in self.held if time >= h.time + fault.delay - _SLACK]
            self.held = [h for h in self.held if time < h.time + fault.delay - _SLACK]
            if active:
                self.held.append(_Held(time, message))
                return due
            return [*due, message]
        if isinstance(fault, Reorder):
            if active and not self.held:
                self.held.append(_Held(time, message))
                return []
            late = [h.message for h in self.held]
            self.held.clear()
            return [message, *late]
        if not active:
            self.before = _Held(time, message)
            return [message]
        if isinstance(fault, Drop):
            return [] if self.draw(time) < fault.share else [message]
        if isinstance(fault, Freeze):
            if self.before is None:
                return []
            if fault.stamps == "kept":
                return [self.before.message]
            return [tamper.shifted(self.before.message, time - self.before.time)]
        if isinstance(fault, Duplicate):
            return [message] * (1 + fault.copies)
        return [_changed(fault, message, tamper)]


def _changed(fault: MessageFault, message: M, tamper: Tamper[M]) -> M:
    """The one message that comes instead."""
    if isinstance(fault, Skew):
        return tamper.shifted(message, fault.offset)
    if isinstance(fault, ClockReset):
        return tamper.shifted(message, -fault.by)
    if isinstance(fault, Spoil):
        return tamper.spoiled(message)
    if isinstance(fault, NedFlip):
        return tamper.flipped(message)
    if isinstance(fault, Turned):
        return tamper.turned(message, fault.by)
    if isinstance(fault, Millimetres):
        return tamper.in_millimetres(message)
    if isinstance(fault, CameraLost):
        return tamper.without_camera(message, fault.camera)
    assert isinstance(fault, BatteryStep)
    return tamper.charged(message, fault.to)


class Channel(Generic[M]):
    """One topic at one node, with its faults in the order of the schedule."""

    def __init__(self, faults: tuple[MessageFault, ...], tamper: Tamper[M], seed: int = 0) -> None:
        self._tamper = tamper
        self._effects: list[_Effect[M]] = [_Effect(fault, _draw(seed, n)) for n, fault in enumerate(faults)]

    def touched(self, time: float) -> MessageFault | None:
        """The first fault active at this time."""
        return next((effect.fault for effect in self._effects if effect.fault.active(time)), None)

    def receive(self, time: float, message: M) -> list[M]:
        """Returns what the node receives, in order, when a message of this time (s since the mission's start) comes
        in."""
        messages = [message]
        for effect in self._effects:
            messages = [given for one in messages for given in effect.apply(time, one, self._tamper)]
        return messages


def _draw(seed: int, number: int) -> Callable[[float], float]:
    def draw(time: float) -> float:
        # By time in whole microseconds: independent of how often and in which order it is asked.
        return random.Random(f"{seed}/{number}/{round(time * 1e6)}").random()

    return draw
