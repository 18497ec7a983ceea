"""Plays a bag into the ROS graph: its topics as they were offered, and /clock, for RViz, Foxglove and the like."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rosbags.interfaces import Connection, QosDurability, QosReliability
from rosgraph_msgs.msg import Clock as ClockMessage

from esar_ros.bags.files import Bag
from esar_ros.bags.playback import Played, Selection, play
from esar_ros.bags.writer import typestore
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import NANO
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.tools.bagged_topic import entry_of, kept_for_late
from esar_ros.nodes.tools.restamp import restamp

TICK = 0.005  # s
BUSY = 0.05  # s a tick may go on publishing, so that a signal to end is heard
DISCOVERY = 1.0  # s after which other nodes of the domain are known
ACKNOWLEDGE = 2.0  # s to wait at the end for readers to have everything
PLAYED_BY_NOBODY = ("/rosout", "/parameter_events")  # every node has its own
FLYING = (
    node_names.AIRSIM_BRIDGE,
    node_names.PX4_BRIDGE,
    node_names.ARDUPILOT_BRIDGE,
    node_names.SAFETY_GOVERNOR,
    node_names.PILOT,
    node_names.REFEREE,
)


@dataclass(frozen=True)
class PlayOptions:
    """Options of playback. rate: 2 is twice as fast; clock: Hz of /clock, 0 for none; wait: s for a first reader."""

    selection: Selection = field(default_factory=Selection)
    rate: float = 1.0
    loop: bool = False
    clock: float = 100.0
    wait: float = 3.0

    def check(self) -> None:
        """Raise UsageError on numbers that make no sense."""
        self.selection.check()
        for name, value, minimum, maximum in (
            ("rate", self.rate, 0.01, 100.0),
            ("clock", self.clock, 0.0, 1000.0),
            ("wait", self.wait, 0.0, 3600.0),
        ):
            if not minimum <= value <= maximum:
                raise UsageError(f"{name} {value:g}", f"give {minimum:g} to {maximum:g}")


class BagPlayerNode(Node):
    """Publishes what is due on every tick of a steady clock; `exit_code` once everything was played."""

    def __init__(self, bag: Bag, options: PlayOptions, say: Callable[[str], None] = print) -> None:
        super().__init__("bag_player")
        options.check()
        self.exit_code: int | None = None
        self.played: Counter[str] = Counter()
        self._options = options
        self._say = say
        self._made = time.monotonic()
        self._begun: tuple[float, int] | None = None  # s, monotonic, and the ns of the bag that it stands for
        self._rest_until = 0.0
        self._clocked = 0.0
        self._round = 0
        chosen, passed_over = playable(options.selection.of(bag.connections), bag, options.clock > 0.0)
        for line in passed_over:
            say(f"passed over: {line}")
        if not chosen:
            raise UsageError("the bag holds nothing that can be played here", "choose other topics, or install types")
        self._outputs = {connection.topic: self._output(connection) for connection in chosen}
        self._clock_output: Publisher | None = None
        if options.clock > 0.0:
            self._clock_output = self.create_publisher(
                ClockMessage, names.CLOCK, PROFILES[BY_NAME[names.CLOCK].quality]
            )
        self._messages: Iterator[Played] = play(bag, chosen, options.selection, options.loop, kept_for_late)
        self._next = next(self._messages, None)
        if self._next is None:
            raise UsageError("the bag holds no message of that time and those topics", "choose an earlier --start")
        self.create_timer(TICK, self._on_tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _output(self, connection: Connection) -> Publisher:
        callbacks = PublisherEventCallbacks(incompatible_qos=lambda event: self._on_mismatch(connection.topic, event))
        return self.create_publisher(
            message_class(connection.msgtype), connection.topic, quality_of(connection), event_callbacks=callbacks
        )

    def _on_mismatch(self, topic: str, event: object) -> None:
        policy = QoSPolicyKind(getattr(event, "last_policy_kind", QoSPolicyKind.INVALID)).name.lower()
        self._say(f"{topic}: a subscriber asks for more {policy} than was recorded, and hears nothing")

    def _on_tick(self) -> None:
        now = time.monotonic()
        if now < self._rest_until or (self._begun is None and not self._begin(now)):
            return
        assert self._begun is not None
        reached = self._begun[1] + round((now - self._begun[0]) * self._options.rate * NANO)
        while self._next is not None and self._next.stamp <= reached and time.monotonic() - now < BUSY:
            self._publish(self._next)
            self._next = next(self._messages, None)
        if self._next is not None and self._next.stamp <= reached:
            # Faster than this machine can: the bag's time waits, and the executor gets a moment.
            reached = self._next.stamp
            self._begun = (time.monotonic(), reached)
            self._rest_until = time.monotonic() + TICK
        self._tell_time(now, reached)
        if self._next is None:
            self._finish()

    def _begin(self, now: float) -> bool:
        """Start once others are known and somebody listens, or has been waited for."""
        assert self._next is not None
        if now - self._made < DISCOVERY:
            return False
        flying = sorted({f"{space.rstrip('/')}/{name}" for name, space in self._others() if name in FLYING})
        if flying:
            domain = os.environ.get("ROS_DOMAIN_ID", "0")
            raise UsageError(
                f"a mission is flying in ROS domain {domain}: {flying[0]} would hear the bag",
                "set another ROS_DOMAIN_ID, or end the mission",
            )
        subscribed = any(output.get_subscription_count() for output in self._outputs.values())
        if not subscribed and now - self._made < self._options.wait:
            return False
        if not subscribed:
            self._say("nobody subscribes yet; playing all the same")
        self._begun = (now, self._next.stamp)
        return True

    def _others(self) -> list[tuple[str, str]]:
        return [pair for pair in self.get_node_names_and_namespaces() if pair[0] != self.get_name()]

    def _tell_time(self, now: float, reached: int) -> None:
        if self._clock_output is not None and now - self._clocked >= 1.0 / self._options.clock:
            self._clocked = now
            self._clock_output.publish(ClockMessage(clock=to_stamp(reached)))

    def _publish(self, played: Played) -> None:
        topic = played.connection.topic
        if played.shift > self._round:
            self._round = played.shift
            self._say(f"from the start again, {played.shift / NANO:.1f} s later")
        self._outputs[topic].publish(restamp(played.raw, played.connection.msgtype, played.shift))
        self.played[topic] += 1

    def _finish(self) -> None:
        for output in self._outputs.values():
            output.wait_for_all_acked(Duration(seconds=ACKNOWLEDGE))
        self.exit_code = 0


def playable(connections: list[Connection], bag: Bag, own_clock: bool) -> tuple[list[Connection], list[str]]:
    """Topics that can be published here, and in words those that cannot and why."""
    chosen: dict[str, Connection] = {}
    refused = []
    for connection in connections:
        topic, kind = connection.topic, connection.msgtype
        if topic in PLAYED_BY_NOBODY or (own_clock and topic == names.CLOCK):
            continue
        try:
            message_class(kind)
        except (ImportError, AttributeError, ValueError):
            refused.append(f"{topic} ({kind} is not installed)")
            continue
        ours = typestore()
        if (
            kind in ours.fielddefs
            and kind in bag.types.fielddefs
            and ours.hash_rihs01(kind) != bag.types.hash_rihs01(kind)
        ):
            refused.append(f"{topic} ({kind} was recorded with another definition than the one installed)")
        elif topic in chosen:
            refused.append(f"{topic} as {kind} (it is {chosen[topic].msgtype} too)")
        else:
            chosen[topic] = connection
    return list(chosen.values()), refused


def quality_of(connection: Connection) -> QoSProfile:
    """Quality of service for a topic: ours by the table, others' as strong as any that was offered."""
    entry = entry_of(connection)
    if entry is not None:
        return PROFILES[entry.quality]
    offered = connection.ext.offered_qos_profiles
    best_effort = bool(offered) and all(q.reliability is QosReliability.BEST_EFFORT for q in offered)
    latched = any(q.durability is QosDurability.TRANSIENT_LOCAL for q in offered)
    return QoSProfile(
        reliability=ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        depth=max([1 if latched else 10, *(q.depth for q in offered)]),
    )


def play_bag(bag: Bag, options: PlayOptions) -> int:
    """Plays until the end or until stopped; returns the exit code."""
    return run(lambda: [BagPlayerNode(bag, options)], argv=[])
