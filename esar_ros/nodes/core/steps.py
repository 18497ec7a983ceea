"""Taking part in a mission's steps: the one base of all nodes on the control chain.

DDS gives no order between topics, so in lockstep nothing on the chain runs on a timer. The bridge
publishes a Tick; a node computes once it holds, for every input it named with `await_input`, the
message of exactly that stamp (or the producer is absent), and its answers carry the stamp.
In real time the same computation runs on a timer or on an input, with the newest messages.
"""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Heartbeat, Tick
from esar_ros.nodes.core.authority import Rivals
from esar_ros.nodes.core.diagnostics import Diagnostics, Finding
from esar_ros.nodes.core.faults.checked import checked_schedule
from esar_ros.nodes.core.faults.inputs import NodeFaults
from esar_ros.nodes.core.inbox import KEPT
from esar_ros.nodes.core.inbox import Inbox as Inbox
from esar_ros.nodes.core.interface import BY_NAME, RECORD_LEVELS, RECORDER
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp as to_stamp
from esar_ros.nodes.core.types import message_class

LOCKSTEP, REALTIME = "lockstep", "realtime"
GONE = 1e6  # s, silence of a node that is known to be gone
HEARTBEAT_PERIOD = 0.08  # s wall; receivers expect 10 Hz or more


@dataclass(frozen=True)
class Step:
    """A step that is being answered."""

    ns: int  # stamp
    seq: int
    kinds: int  # bit set of Tick.FRAME and Tick.RANGES
    period: float  # s
    previous_ns: int | None  # stamp of the step before, None for the first one
    absent: frozenset[str]
    frame_before_ns: int | None = None  # of a frame: stamp of the one before in the same epoch, if any
    exact: bool = True  # lockstep: its inputs carry its stamp; real time: they are the newest

    @property
    def at(self) -> int | None:
        """Stamp of its inputs; None for the newest."""
        return self.ns if self.exact else None

    @property
    def stamp(self) -> Time:
        """Stamp as a message."""
        return to_stamp(self.ns)

    @property
    def seconds(self) -> float:
        """Stamp in s."""
        return self.ns * 1e-9

    def is_frame(self) -> bool:
        """Returns whether camera frames exist at this stamp."""
        return bool(self.kinds & Tick.FRAME)


@dataclass(frozen=True)
class _Awaited:
    vehicle: str
    topic: str
    producer: str
    kinds: int  # 0: every step
    previous: bool  # the message of the step before
    frame_before: bool  # the message of the frame before


class StepNode(Node, ABC):
    """A node that answers steps. Subclasses name inputs and outputs and implement `on_step`.

    vehicles: None for a node that lives in one vehicle's namespace; the list of vehicles for a
    node that serves all of them from the mission's namespace.
    """

    def __init__(self, name: str, namespace: str | None = None) -> None:
        """namespace: absolute, of a node that shares its process with other vehicles'; None: the process's."""
        super().__init__(name, namespace=namespace)
        self.pace = str(declare(self, "pace", LOCKSTEP, "who moves time", choices=(LOCKSTEP, REALTIME)))
        self.record_level = str(declare(self, "record", "view", "what the recorder keeps", choices=RECORD_LEVELS))
        self.lockstep = self.pace == LOCKSTEP
        listed = declare(self, "vehicles", [""], "vehicles of a mission-wide node; empty for a vehicle's own node")
        space = self.get_namespace().rsplit("/", 1)[-1]
        self.of_mission = bool(listed and listed[0])
        self.vehicles: list[str] = list(listed) if self.of_mission else [space or "uav1"]
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._inboxes: dict[tuple[str, str], Inbox] = {}
        self._awaited: list[_Awaited] = []
        self._inputs: list[Subscription] = []
        self._outputs: dict[tuple[str, str], Publisher] = {}
        self._ticks: dict[str, Tick] = {}
        self._followed: dict[str, Inbox] = {}  # ticks of other vehicles, by name
        self._framed: tuple[tuple[int, int], ...] = ()  # (epoch, ns) of the last two frames answered
        self._answered: tuple[int, int] | None = None  # (epoch, seq) of the last tick answered
        self._last_ns: int | None = None
        self._current_ns: int | None = None
        self._sent: list[tuple[Publisher, Any]] = []
        self._sent_for = -1  # seq that _sent answers
        self._answering = False
        self._heartbeats: list[Publisher] = []
        self._diagnostics = Diagnostics(self)
        self._steps = 0
        self._timed = 0  # steps of the node's own making, in real time
        self._heard: dict[str, float] = {}  # steady time of the last heartbeat of each node listened to
        self._worst = 0.0  # s, longest answer since the last diagnostics
        self.boot_id = random.SystemRandom().getrandbits(63)  # by which this process is known
        self._ready = False
        self._withdrawn = ""  # what it waits for, of a node that takes no part; empty: it does
        faults = str(declare(self, "faults", "", "YAML schedule of faults to inject into the inputs; empty: none"))
        self.mission_has_faults = bool(faults)
        self._faults: NodeFaults | None = None
        if faults:
            schedule = checked_schedule(Path(faults), self.vehicles, self.pace)
            if not self.of_mission:  # referee and recorder see what happens
                self._faults = NodeFaults(self, schedule, self.topic(names.MISSION_STATE))
        self._stop = threading.Event()
        self._rivals: Rivals | None = None
        self._heartbeat_thread: threading.Thread | None = None

    # -- inputs and outputs ---------------------------------------------------------------------

    def topic(self, name: str, vehicle: str | None = None) -> str:
        """Topic as this node addresses it."""
        if name.startswith("/"):
            return name
        if self.of_mission:
            return f"{vehicle}/{name}"
        if vehicle in (None, self.vehicles[0]):
            return name
        return f"{self.get_namespace().rsplit('/', 1)[0]}/{vehicle}/{name}"  # of another vehicle of the mission

    def input(
        self,
        name: str,
        callback: Callable[..., None] | None = None,
        vehicle: str | None = None,
        kept: int = KEPT,
    ) -> Inbox:
        """Subscribe by the table in interface.py. callback(message) runs on arrival, if given."""
        vehicle = vehicle or self.vehicles[0]
        entry = BY_NAME[name]
        box = self._inboxes.setdefault((vehicle, name), Inbox(kept))

        def take(message: Any) -> None:
            header = getattr(message, "header", None)
            box.put(nanoseconds(header.stamp) if header is not None else 0, message)
            if callback is not None:
                callback(message)

        through = take if self._faults is None else self._faults.into(vehicle, name, take, box.lose)

        def receive(message: Any) -> None:
            through(message)
            if self.lockstep:
                self._try_answer()

        self._inputs.append(
            self.create_subscription(
                message_class(entry.type), self.topic(name, vehicle), receive, PROFILES[entry.quality]
            )
        )
        return box

    def faulty(self, topic: str, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """take with the faults injected into what is handed over inside the process."""
        return take if self._faults is None else self._faults.into(self.vehicles[0], topic, take)

    def lacks_transform(self, vehicle: str, ns: int) -> bool:
        """Returns whether a fault withholds the transform map -> odom at this stamp."""
        return self._faults is not None and self._faults.lacks_transform(vehicle, ns)

    def await_input(
        self,
        name: str,
        kinds: int = 0,
        previous: bool = False,
        vehicle: str | None = None,
        producer: str = "",
        frame_before: bool = False,
    ) -> Inbox:
        """Subscribe, and answer steps (of these kinds; 0 = all) only with the message of their stamp.

        previous: of the stamp of the step before instead, for what is made later in a step. frame_before: of the
        frame before, for what another vehicle makes at frames from what this node makes at frames.
        """
        vehicle = vehicle or self.vehicles[0]
        box = self._inboxes.get((vehicle, name)) or self.input(name, vehicle=vehicle)
        self._awaited.append(_Awaited(vehicle, name, producer or BY_NAME[name].writer, kinds, previous, frame_before))
        return box

    def follow(self, vehicle: str) -> None:
        """Listens to another vehicle's ticks, so as not to wait for outputs of its absent nodes."""
        if self.lockstep:
            self._followed[vehicle] = self.input(names.TICK, vehicle=vehicle)

    def absent_of(self, vehicle: str) -> frozenset[str]:
        """Nodes of a vehicle that is followed which the present step does not wait for."""
        box = self._followed.get(vehicle)
        return frozenset() if box is None or box.newest is None else frozenset(box.newest.absent)

    def inbox(self, name: str, vehicle: str | None = None) -> Inbox:
        """Messages of an input."""
        return self._inboxes[(vehicle or self.vehicles[0], name)]

    def output(self, name: str, vehicle: str | None = None) -> Publisher:
        """Publisher by the table in interface.py."""
        vehicle = vehicle or self.vehicles[0]
        entry = BY_NAME[name]
        publisher = self.create_publisher(message_class(entry.type), self.topic(name, vehicle), PROFILES[entry.quality])
        self._outputs[(vehicle, name)] = publisher
        return publisher

    def publisher(self, name: str, vehicle: str | None = None) -> Publisher:
        """The publisher made by `output`."""
        return self._outputs[(vehicle or self.vehicles[0], name)]

    def wanted(self, name: str, vehicle: str | None = None) -> bool:
        """Returns whether an output has subscribers: outputs without any are not computed."""
        return self.publisher(name, vehicle).get_subscription_count() > 0

    def send(self, name: str, message: Any, vehicle: str | None = None) -> None:
        """Publish; part of the answer, sent again when the bridge asks again."""
        publisher = self.publisher(name, vehicle)
        publisher.publish(message)
        if self._answering:
            self._sent.append((publisher, message))

    # -- steps ----------------------------------------------------------------------------------

    @abstractmethod
    def on_step(self, step: Step) -> bool | None:
        """Compute and send the answer. False: not yet; call `retry` later."""

    def join(self) -> None:
        """Start taking part: listen to ticks (lockstep) and send heartbeats. Call once, last in __init__.

        Where a node of this name lives already, another mission flies there, and this one ends before it says anything.
        """
        beats = [self.topic(names.HEARTBEAT, vehicle) for vehicle in self.vehicles]
        self._rivals = Rivals(self, names.HEARTBEAT, beats, self._is_rival)
        for vehicle in self.vehicles:
            if self.lockstep:
                self.create_subscription(
                    Tick,
                    self.topic(names.TICK, vehicle),
                    lambda tick, v=vehicle: self._on_tick(v, tick),
                    PROFILES[BY_NAME[names.TICK].quality],
                )
            self._heartbeats.append(
                self.create_publisher(
                    Heartbeat, self.topic(names.HEARTBEAT, vehicle), PROFILES[BY_NAME[names.HEARTBEAT].quality]
                )
            )
        self._heartbeat_thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._heartbeat_thread.start()

    def withdraw(self, waiting_for: str) -> None:
        """Takes no part in steps from now on, for want of something: others go on without it, as if it had died."""
        self._withdrawn = waiting_for
        if self._heartbeats:
            self._beat_once()

    def take_part(self) -> None:
        """Ends a withdrawal."""
        self._withdrawn = ""

    @property
    def alone(self) -> bool:
        """Returns whether it has listened for another mission's node of the same name, and received nothing."""
        return self._rivals is not None and self._rivals.alone

    def _is_rival(self, message: Heartbeat) -> bool:
        return bool(message.node == self.get_name() and message.boot_id != self.boot_id)

    # -- pace -----------------------------------------------------------------------------------

    def every(self, period: float, callback: Callable[[], None]) -> Timer | None:
        """Calls back once a period (s, steady time) in real time; in lockstep there is no timer, ticks pace a node."""
        return None if self.lockstep else self.create_timer(period, callback, clock=self.steady)

    def answer_now(self, ns: int, kinds: int, period: float) -> None:
        """Answers a step of the node's own making, with the newest inputs; for real time."""
        self._timed += 1
        self.on_step(Step(ns, self._timed, kinds, period, None, frozenset(), exact=False))

    def of_step(self, topic: str, step: Step, vehicle: str | None = None) -> Any:
        """The message of a step, or else the newest."""
        box = self.inbox(topic, vehicle)
        return box.newest if step.at is None else box.at(step.at) or box.newest

    def of_step_before(self, topic: str, step: Step, vehicle: str | None = None) -> Any:
        """The message of the step before, or else the newest."""
        box = self.inbox(topic, vehicle)
        return box.newest if step.previous_ns is None else box.at(step.previous_ns) or box.newest

    def listen_to(self, node: str) -> None:
        """Follows the heartbeats of another node of this vehicle in real time; in lockstep ticks say who is gone."""
        if node not in self._heard and not self.lockstep:
            self._heard[node] = 0.0
            self.create_subscription(Heartbeat, names.HEARTBEAT, self._on_heartbeat, 20)

    def silence_of(self, node: str, step: Step) -> float:
        """Returns the time (s) since another node's last heartbeat; in lockstep none, or GONE."""
        if step.exact:
            return GONE if node in step.absent else 0.0
        return time.monotonic() - self._heard[node]

    def _on_heartbeat(self, message: Heartbeat) -> None:
        if message.node in self._heard:
            self._heard[message.node] = time.monotonic()

    def retry(self) -> None:
        """Try again after on_step answered False."""
        self._try_answer()

    def _on_tick(self, vehicle: str, tick: Tick) -> None:
        self._ticks[vehicle] = tick
        if self._answered == (tick.epoch, tick.seq):
            return
        if self._current_ns == nanoseconds(tick.header.stamp) and self._sent_for == tick.seq:
            # The same step asked again at a new epoch: the answer stands, whoever lost it gets it again.
            for publisher, message in self._sent:
                publisher.publish(message)
            self._answered = (tick.epoch, tick.seq)
            self._beat_once()
            return
        self._try_answer()

    def _try_answer(self) -> None:
        if self._answering or self._withdrawn or len(self._ticks) < len(self.vehicles):
            return
        ticks = [self._ticks[v] for v in self.vehicles]
        tick = ticks[0]
        key = (tick.epoch, tick.seq)
        if self._answered == key or any((t.epoch, t.seq) != key for t in ticks):
            return
        followed = {vehicle: box.newest for vehicle, box in self._followed.items()}
        if any(t is None or (t.epoch, t.seq) != key for t in followed.values()):
            return
        if any(self.get_name() in t.absent for t in ticks):
            return  # not admitted yet: this step does not count on an answer, and its inputs may be missing
        ns = nanoseconds(tick.header.stamp)
        previous = self._last_ns if self._current_ns == ns else self._current_ns
        if self._answered is not None and self._answered[0] != tick.epoch:
            previous = None  # a new epoch: who has just joined did not answer the step before
        absent = {v: set(t.absent) for v, t in (self._ticks | followed).items()}
        frame_before = next((at for epoch, at in reversed(self._framed) if epoch == tick.epoch and at < ns), None)
        for awaited in self._awaited:
            if awaited.kinds and not awaited.kinds & tick.kinds:
                continue
            if awaited.producer in absent.get(awaited.vehicle, ()):
                continue
            wanted = previous if awaited.previous else frame_before if awaited.frame_before else ns
            if wanted is None:
                continue
            if not self._inboxes[(awaited.vehicle, awaited.topic)].settled(wanted):
                return
        step = Step(
            ns,
            tick.seq,
            tick.kinds,
            tick.period,
            previous,
            frozenset().union(*(absent[v] for v in self.vehicles)),
            frame_before,
        )
        self._answering = True
        self._sent = []
        began = time.perf_counter()
        try:
            done = self.on_step(step)
        finally:
            self._answering = False
        self._worst = max(self._worst, time.perf_counter() - began)
        if done is False:
            return
        self._steps += 1
        if self._current_ns != ns:
            self._last_ns, self._current_ns = self._current_ns, ns
        self._sent_for = tick.seq
        self._answered = key
        if step.is_frame():
            self._framed = (*(f for f in self._framed[-1:] if f[1] != ns), (tick.epoch, ns))
            self._beat_once()

    # -- liveness -------------------------------------------------------------------------------

    def waiting_for(self) -> str:
        """Returns what this node lacks to take part, beyond matched topics; empty when nothing."""
        return ""

    def diagnose(self) -> list[Finding]:
        """Findings beyond the steps; for subclasses."""
        return []

    def _diagnose(self) -> list[Finding]:
        waiting = self._lacking()
        level = DiagnosticStatus.WARN if waiting else DiagnosticStatus.OK
        values = {"steps": self._steps, "longest answer (ms)": round(1e3 * self._worst, 1), "pace": self.pace}
        self._worst = 0.0
        return [
            Finding("steps", level, f"waiting for {waiting}" if waiting else "taking part", values),
            *self.diagnose(),
        ]

    def _lacking(self) -> str:
        """Returns what it waits for before it takes part; one that once had all it needs no longer looks."""
        return self._withdrawn or ("" if self._ready else self.waiting_for() or self._unmatched())

    def _unmatched(self) -> str:
        for subscription in self._inputs:
            if subscription.get_publisher_count() < 1:
                return f"a publisher of {subscription.topic_name}"
        if not self.lockstep:
            return ""  # a real vehicle's graph has no referee to read what the table names
        for (_, name), publisher in self._outputs.items():
            entry = BY_NAME[name]
            expected = set(entry.readers)
            if entry.recorded(self.record_level):
                expected.add(RECORDER)
            lacking = self.unheard_by(publisher, expected)
            if lacking:
                return f"{', '.join(lacking)} to read {publisher.topic_name}"
        return ""

    def unheard_by(self, publisher: Publisher, expected: set[str]) -> list[str]:
        """Returns who does not read a topic yet, by name: anybody may read beside them, a `ros2 bag record -a`."""
        if not expected:
            return []
        found = self.get_subscriptions_info_by_topic(publisher.topic_name)
        lacking = sorted(expected - {one.node_name for one in found})
        # The graph may know of a reader before this publisher is matched with it.
        return lacking if lacking or publisher.get_subscription_count() >= len(expected) else sorted(expected)

    def _beat(self) -> None:
        while not self._stop.wait(HEARTBEAT_PERIOD):
            try:
                self._beat_once()
                if self._diagnostics.due():
                    self._diagnostics.publish(self._diagnose())
            except Exception as error:
                if self._stop.is_set() or not self.context.ok():
                    return  # shutting down
                # What goes wrong in telling how one is must not look like death.
                self.get_logger().error(f"diagnostics: {error!r}", throttle_duration_sec=5.0)

    def _beat_once(self) -> None:
        if not self.alone:
            return
        waiting = self._lacking()
        self._ready = self._ready or not waiting
        message = Heartbeat(node=self.get_name(), boot_id=self.boot_id, ready=not waiting, waiting_for=waiting)
        message.header.stamp = to_stamp(time.time_ns())
        if self._current_ns is not None:
            message.answered = to_stamp(self._current_ns)
        for publisher in self._heartbeats:
            publisher.publish(message)

    def destroy_node(self) -> None:
        """Stop the heartbeat, then the node."""
        self._stop.set()
        if self._heartbeat_thread is not None:
            self._heartbeat_thread.join(timeout=1.0)
        super().destroy_node()
