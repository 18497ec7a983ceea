"""Taking part in a mission's steps: the one base of all nodes on the control chain.

DDS gives no order between topics, so in lockstep nothing on the chain runs on a timer. The bridge
publishes a Tick; a node computes once it holds, for every input it named with `await_input`, the
message of exactly that stamp (or the producer is absent), and its answers carry the stamp.
In real time the same computation runs on a timer or on an input, with the newest messages.
What a step lacks is decided in `participant/`; here it is wired to rclpy.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_sensor_data
from rclpy.timer import Timer

from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Heartbeat, Tick
from esar_ros.nodes.core.authority import Rivals
from esar_ros.nodes.core.diagnostics import Diagnostics, Finding
from esar_ros.nodes.core.faults.checked import checked_schedule
from esar_ros.nodes.core.faults.inputs import NodeFaults
from esar_ros.nodes.core.interface import BY_NAME, RECORD_LEVELS
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.participant.inbox import KEPT
from esar_ros.nodes.core.participant.inbox import Inbox as Inbox
from esar_ros.nodes.core.participant.liveliness import Liveliness, Silences
from esar_ros.nodes.core.participant.step import Step as Step
from esar_ros.nodes.core.participant.tick_collector import TickCollector
from esar_ros.nodes.core.participant.topics import Awaited, TopicTable, lacking_readers
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp as to_stamp
from esar_ros.nodes.core.topic import Quality
from esar_ros.nodes.core.types import message_class

LOCKSTEP, REALTIME = "lockstep", "realtime"
GONE = 1e6  # s, silence of a node that is known to be gone


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
        self._table = TopicTable(self.get_namespace(), self.vehicles, self.of_mission)
        self._ticks = TickCollector(name, self.vehicles)
        self._liveliness = Liveliness(name, lambda: self.waiting_for() or self._unmatched())
        self._silences = Silences()
        self._sent: list[tuple[Publisher, Any]] = []
        self._answering = False
        self._heartbeats: list[Publisher] = []
        self._diagnostics = Diagnostics(self, "" if self.of_mission else self.vehicles[0])
        self._timed = 0  # steps of the node's own making, in real time
        faults = str(declare(self, "faults", "", "YAML schedule of faults to inject into the inputs; empty: none"))
        self.mission_has_faults = bool(faults)
        self._faults: NodeFaults | None = None
        if faults:
            # A vehicle's own node does not know which others there are.
            schedule = checked_schedule(Path(faults), self.vehicles if self.of_mission else (), self.pace)
            if not self.of_mission:  # referee and recorder see what happens
                self._faults = NodeFaults(self, self.vehicles[0], schedule, self.topic(names.MISSION_STATE))
        self._rivals: Rivals | None = None

    # -- inputs and outputs ---------------------------------------------------------------------

    def topic(self, name: str, vehicle: str | None = None) -> str:
        """Topic as this node addresses it."""
        return self._table.address(name, vehicle)

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
        box = self._table.open_inbox(name, vehicle, kept)

        def take(message: Any) -> None:
            header = getattr(message, "header", None)
            box.put(nanoseconds(header.stamp) if header is not None else 0, message)
            if callback is not None:
                callback(message)

        through = take if self._faults is None else self._faults.into(name, take, box.lose)

        def receive(message: Any) -> None:
            through(message)
            if self.lockstep:
                self.retry()

        kind, topic, subscriptions = message_class(entry.type), self.topic(name, vehicle), self._table.subscriptions
        heard: list[Any] = []

        def hear_best_effort(event: Any) -> None:
            """Somebody else's driver does not send reliably: it is heard as it sends."""
            if not heard:
                heard.append(self.create_subscription(kind, topic, receive, qos_profile_sensor_data))
                subscriptions.extend(heard)

        events = None
        if not self.lockstep and entry.quality is Quality.SENSOR:
            events = SubscriptionEventCallbacks(incompatible_qos=hear_best_effort)
        subscriptions.append(
            self.create_subscription(kind, topic, receive, PROFILES[entry.quality], event_callbacks=events)
        )
        return box

    def faulty(self, topic: str, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """take with the faults injected into what is handed over inside the process."""
        return take if self._faults is None else self._faults.into(topic, take)

    def lacks_transform(self, ns: int) -> bool:
        """Returns whether a fault withholds the transforms map -> odom at this stamp."""
        return self._faults is not None and self._faults.lacks_transform(ns)

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
        known = self._table.has_inbox(name, vehicle)
        box = self._table.inbox(name, vehicle) if known else self.input(name, vehicle=vehicle)
        self._table.expect(Awaited(vehicle, name, producer or BY_NAME[name].writer, kinds, previous, frame_before))
        return box

    def follow(self, vehicle: str) -> None:
        """Listens to another vehicle's ticks, so as not to wait for outputs of its absent nodes."""
        if self.lockstep:
            self._ticks.follow(vehicle)
            self.input(names.TICK, lambda tick: self._ticks.hear_of(vehicle, tick), vehicle)

    def absent_of(self, vehicle: str) -> frozenset[str]:
        """Nodes of a vehicle that is served or followed which the present step does not wait for."""
        return self._ticks.absent_of(vehicle)

    def inbox(self, name: str, vehicle: str | None = None) -> Inbox:
        """Messages of an input."""
        return self._table.inbox(name, vehicle)

    def output(self, name: str, vehicle: str | None = None) -> Publisher:
        """Publisher by the table in interface.py."""
        vehicle = vehicle or self.vehicles[0]
        entry = BY_NAME[name]
        publisher = self.create_publisher(message_class(entry.type), self.topic(name, vehicle), PROFILES[entry.quality])
        self._table.add_publisher(name, publisher, vehicle)
        return publisher

    def publisher(self, name: str, vehicle: str | None = None) -> Publisher:
        """The publisher made by `output`."""
        return self._table.publisher(name, vehicle)

    def wanted(self, name: str, vehicle: str | None = None) -> bool:
        """Returns whether an output has subscribers: outputs without any are not computed."""
        return self.publisher(name, vehicle).get_subscription_count() > 0

    def send(self, name: str, message: Any, vehicle: str | None = None) -> None:
        """Publish; part of the answer, sent again when the bridge asks again."""
        publisher = self.publisher(name, vehicle)
        publisher.publish(message)
        if self._answering:
            self._sent.append((publisher, message))

    def of_step(self, topic: str, step: Step, vehicle: str | None = None) -> Any:
        """The message of a step, or else the newest."""
        return self._table.of_stamp(topic, step.at, vehicle)

    def of_step_before(self, topic: str, step: Step, vehicle: str | None = None) -> Any:
        """The message of the step before, or else the newest."""
        return self._table.of_stamp(topic, step.previous_ns, vehicle)

    # -- steps ----------------------------------------------------------------------------------

    @abstractmethod
    def on_step(self, step: Step) -> bool | None:
        """Compute and send the answer. False: not yet; call `retry` later."""

    def join(self) -> None:
        """Start taking part: listen to ticks (lockstep) and send heartbeats. Call once, last in __init__.

        Where a node of this name lives already, another mission flies there, and this one ends before it says anything.
        """
        quality = PROFILES[BY_NAME[names.HEARTBEAT].quality]
        beats = [self.topic(names.HEARTBEAT, vehicle) for vehicle in self.vehicles]
        self._rivals = Rivals(self, names.HEARTBEAT, beats, self._liveliness.is_rival)
        for vehicle, beat in zip(self.vehicles, beats, strict=True):
            if self.lockstep:
                self.create_subscription(
                    Tick,
                    self.topic(names.TICK, vehicle),
                    lambda tick, v=vehicle: self._on_tick(v, tick),
                    PROFILES[BY_NAME[names.TICK].quality],
                )
            self._heartbeats.append(self.create_publisher(Heartbeat, beat, quality))
        self._liveliness.start(self._beat_and_diagnose, self._complain)

    def retry(self) -> None:
        """Answers the step that is due, if one is and has all it awaits: again, after on_step answered False."""
        if self._answering or self._liveliness.withdrawn:
            return
        step = self._ticks.due()
        if step is None or not self._table.holds(step, self._ticks.absent_of):
            return
        self._answering = True
        self._sent = []
        began = time.perf_counter()
        done = False
        try:
            done = self.on_step(step) is not False
        finally:
            self._answering = False
            self._liveliness.took(time.perf_counter() - began, done)
        if done:
            self._ticks.finish(step)
            if step.is_frame():
                self._beat()

    def _on_tick(self, vehicle: str, tick: Tick) -> None:
        if self._ticks.asks_again(vehicle, tick):
            for publisher, message in self._sent:
                publisher.publish(message)
            self._beat()
        else:
            self.retry()

    # -- pace -----------------------------------------------------------------------------------

    def every(self, period: float, callback: Callable[[], None]) -> Timer | None:
        """Calls back once a period (s, steady time) in real time; in lockstep there is no timer, ticks pace a node."""
        return None if self.lockstep else self.create_timer(period, callback, clock=self.steady)

    def answer_now(self, ns: int, kinds: int, period: float) -> None:
        """Answers a step of the node's own making, with the newest inputs; for real time."""
        self._timed += 1
        self.on_step(Step(ns, self._timed, kinds, period, None, frozenset(), exact=False))

    def listen_to(self, node: str) -> None:
        """Follows the heartbeats of another node of this vehicle in real time; in lockstep ticks say who is gone."""
        if not self.lockstep and self._silences.listen_to(node):
            self.create_subscription(Heartbeat, names.HEARTBEAT, self._silences.hear, 20)

    def silence_of(self, node: str, step: Step) -> float:
        """Returns the time (s) since another node's last heartbeat; in lockstep none, or GONE."""
        if step.exact:
            return GONE if node in step.absent else 0.0
        return self._silences.of(node)

    # -- liveness -------------------------------------------------------------------------------

    @property
    def boot_id(self) -> int:
        """Number by which this process is known."""
        return self._liveliness.boot_id

    @property
    def alone(self) -> bool:
        """Returns whether it has listened for another mission's node of the same name, and received nothing."""
        return self._rivals is not None and self._rivals.alone

    def withdraw(self, waiting_for: str) -> None:
        """Takes no part in steps from now on, for want of something: others go on without it, as if it had died."""
        self._liveliness.withdrawn = waiting_for
        self._beat()

    def take_part(self) -> None:
        """Ends a withdrawal."""
        self._liveliness.withdrawn = ""

    def waiting_for(self) -> str:
        """Returns what this node lacks to take part, beyond matched topics; empty when nothing."""
        return ""

    def diagnose(self) -> list[Finding]:
        """Findings beyond the steps; for subclasses."""
        return []

    def _diagnose(self) -> list[Finding]:
        waiting = self._liveliness.lacking()
        level = DiagnosticStatus.WARN if waiting else DiagnosticStatus.OK
        longest = round(1e3 * self._liveliness.longest_answer(), 1)
        values = {"steps": self._liveliness.answers, "longest answer (ms)": longest, "pace": self.pace}
        words = f"waiting for {waiting}" if waiting else "taking part"
        return [Finding("steps", level, words, values), *self.diagnose()]

    def _unmatched(self) -> str:
        unwritten = self._table.unwritten()
        if unwritten:
            return f"a publisher of {unwritten}"
        # A real vehicle's graph has no referee to read what the table names.
        return self._table.unread(self.record_level, self._readers_of) if self.lockstep else ""

    def unheard_by(self, publisher: Publisher, expected: set[str]) -> list[str]:
        """Returns who does not read a topic yet, by name: anybody may read beside them, a `ros2 bag record -a`."""
        return lacking_readers(publisher, expected, self._readers_of)

    def _readers_of(self, topic: str) -> list[str]:
        return [one.node_name for one in self.get_subscriptions_info_by_topic(topic)]

    def _beat(self) -> None:
        if not self.alone or not self._heartbeats:
            return
        message = self._liveliness.heartbeat(self._ticks.answered_ns)
        for publisher in self._heartbeats:
            publisher.publish(message)

    def _beat_and_diagnose(self) -> None:
        self._beat()
        if self._diagnostics.due():
            self._diagnostics.publish(self._diagnose())

    def _complain(self, error: Exception) -> None:
        if self.context.ok():  # what goes wrong in telling how one is must not look like death
            self.get_logger().error(f"diagnostics: {error!r}", throttle_duration_sec=5.0)
        else:
            self._liveliness.end()  # shutting down

    def destroy_node(self) -> None:
        """Stop the heartbeat, then the node."""
        self._liveliness.join()
        super().destroy_node()
