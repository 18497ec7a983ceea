"""The topics of one participant: its addresses for them, what came, what its steps await, who is matched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.node_names import RECORDER
from esar_ros.nodes.core.participant.inbox import KEPT, Inbox
from esar_ros.nodes.core.participant.step import Step

if TYPE_CHECKING:
    from rclpy.publisher import Publisher
    from rclpy.subscription import Subscription


@dataclass(frozen=True)
class Awaited:
    """An input that a step is not answered without, unless its producer is absent."""

    vehicle: str
    topic: str
    producer: str
    kinds: int = 0  # of steps that await it; 0: every step
    previous: bool = False  # the message of the step before
    frame_before: bool = False  # the message of the frame before

    def stamp(self, step: Step) -> int | None:
        """Returns the stamp (ns) of the message that a step awaits; None: it awaits none."""
        if self.kinds and not self.kinds & step.kinds:
            return None
        return step.previous_ns if self.previous else step.frame_before_ns if self.frame_before else step.ns


class TopicTable:
    """Inputs and outputs by vehicle and name; a vehicle that is not named is the first of those served."""

    def __init__(self, namespace: str, vehicles: Sequence[str], of_mission: bool) -> None:
        """namespace: the node's; of_mission: it is the mission's, not that of its one vehicle."""
        self.subscriptions: list[Subscription] = []
        self._namespace, self._vehicles, self._of_mission = namespace, tuple(vehicles), of_mission
        self._inboxes: dict[tuple[str, str], Inbox] = {}
        self._publishers: dict[tuple[str, str], Publisher] = {}
        self._awaited: list[Awaited] = []

    def address(self, name: str, vehicle: str | None = None) -> str:
        """Returns a topic as the node addresses it."""
        if name.startswith("/"):
            return name
        if self._of_mission:
            return f"{vehicle or self._vehicles[0]}/{name}"
        if vehicle in (None, self._vehicles[0]):
            return name
        return f"{self._namespace.rsplit('/', 1)[0]}/{vehicle}/{name}"  # of another vehicle of the mission

    # -- inputs ---------------------------------------------------------------------------------

    def open_inbox(self, name: str, vehicle: str | None = None, kept: int = KEPT) -> Inbox:
        """Returns the inbox of an input, made where there is none yet; kept: how many messages it holds."""
        return self._inboxes.setdefault(self._key(name, vehicle), Inbox(kept))

    def has_inbox(self, name: str, vehicle: str | None = None) -> bool:
        """Returns whether an input is there."""
        return self._key(name, vehicle) in self._inboxes

    def inbox(self, name: str, vehicle: str | None = None) -> Inbox:
        """Returns the inbox of an input. Raises KeyError where there is none."""
        return self._inboxes[self._key(name, vehicle)]

    def expect(self, awaited: Awaited) -> None:
        """Lets steps wait for an input, whose inbox is there."""
        self._awaited.append(awaited)

    def holds(self, step: Step, absent_of: Callable[[str], Collection[str]]) -> bool:
        """Returns whether nothing that a step awaits is still to come; absent_of(vehicle): its nodes that are gone."""
        for awaited in self._awaited:
            stamp = awaited.stamp(step)
            if stamp is None or awaited.producer in absent_of(awaited.vehicle):
                continue
            if not self._inboxes[(awaited.vehicle, awaited.topic)].settled(stamp):
                return False
        return True

    def of_stamp(self, name: str, ns: int | None, vehicle: str | None = None) -> Any:
        """Returns the message of a stamp, or else the newest; None before the first."""
        box = self.inbox(name, vehicle)
        return box.newest if ns is None else box.at(ns) or box.newest

    # -- outputs --------------------------------------------------------------------------------

    def add_publisher(self, name: str, publisher: Publisher, vehicle: str | None = None) -> None:
        """Takes in the publisher of an output."""
        self._publishers[self._key(name, vehicle)] = publisher

    def publisher(self, name: str, vehicle: str | None = None) -> Publisher:
        """Returns the publisher of an output. Raises KeyError where there is none."""
        return self._publishers[self._key(name, vehicle)]

    # -- matching -------------------------------------------------------------------------------

    def unwritten(self) -> str:
        """Returns the first input that nobody writes yet; empty when there is none."""
        return next((one.topic_name for one in self.subscriptions if one.get_publisher_count() < 1), "")

    def unread(self, record_level: str, readers_of: Callable[[str], Collection[str]]) -> str:
        """Returns who does not read the first output that lacks readers, and its name; empty when there is none.

        Asked for are those whom the table in interface.py names, and the recorder where its level keeps the topic.
        readers_of(topic): names of the nodes that read it, as far as the graph knows.
        """
        for (_, name), publisher in self._publishers.items():
            entry = BY_NAME[name]
            expected = set(entry.readers)
            if entry.recorded(record_level):
                expected.add(RECORDER)
            lacking = lacking_readers(publisher, expected, readers_of)
            if lacking:
                return f"{', '.join(lacking)} to read {publisher.topic_name}"
        return ""

    def _key(self, name: str, vehicle: str | None) -> tuple[str, str]:
        return vehicle or self._vehicles[0], name


def lacking_readers(
    publisher: Publisher, expected: Collection[str], readers_of: Callable[[str], Collection[str]]
) -> list[str]:
    """Returns who does not read a topic yet, by name: anybody may read beside them, a `ros2 bag record -a`."""
    if not expected:
        return []
    lacking = sorted(set(expected) - set(readers_of(publisher.topic_name)))
    # The graph may know of a reader before this publisher is matched with it.
    return lacking if lacking or publisher.get_subscription_count() >= len(expected) else sorted(expected)
