"""Playback of a selection of a bag, with its timing; and copying the selection into another bag."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from rosbags.interfaces import Connection, QosDurability

from esar_ros.bags.files import Bag
from esar_ros.bags.writer import BagWriter
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import NANO

LOOP_GAP = NANO // 10
"""ns between the last message of one round and the first of the next."""
IMAGES = (
    "sensor_msgs/msg/Image",
    "sensor_msgs/msg/CompressedImage",
    "stereo_msgs/msg/DisparityImage",
    "theora_image_transport/msg/Packet",
    "ffmpeg_image_transport_msgs/msg/FFMPEGPacket",
    "foxglove_msgs/msg/CompressedImage",
    "foxglove_msgs/msg/CompressedVideo",
    "foxglove_msgs/msg/RawImage",
)


Kept = Callable[[Connection], int]
"""How many of a topic's last messages late subscribers get."""


@dataclass(frozen=True)
class Selection:
    """Selection of a bag: topics by shell pattern (none: all), images or not, s from the bag's first stamp."""

    topics: tuple[str, ...] = ()
    images: bool = True
    start: float = 0.0
    duration: float | None = None

    def check(self) -> None:
        """Raise UsageError on times that make no sense."""
        if not 0.0 <= self.start < float("inf"):
            raise UsageError(f"start {self.start:g} s", "give 0 or more seconds")
        if self.duration is not None and not 0.0 < self.duration < float("inf"):
            raise UsageError(f"duration {self.duration:g} s", "give more than 0 seconds")

    def of(self, connections: Sequence[Connection]) -> list[Connection]:
        """The topics that are wanted. Raises UsageError on a pattern that no topic has."""
        chosen = [c for c in connections if self.images or c.msgtype not in IMAGES]
        if not self.topics:
            return chosen
        for pattern in self.topics:
            if not any(_matches(c.topic, pattern) for c in connections):
                raise UsageError(f"no topic of the bag is called '{pattern}'", "see ros2 bag info, or leave it out")
        return [c for c in chosen if any(_matches(c.topic, pattern) for pattern in self.topics)]


@dataclass(frozen=True)
class Played:
    """A message at its time. stamp: ns, of this round; shift: ns added to the bag's own time in this round."""

    stamp: int
    shift: int
    connection: Connection
    raw: bytes


def offered_to_late(connection: Connection) -> int:
    """Returns how many of a topic's last messages late subscribers got (transient local), by the bag; 0: none."""
    offered = connection.ext.offered_qos_profiles
    if not any(q.durability is QosDurability.TRANSIENT_LOCAL for q in offered):
        return 0
    return max(1, *(q.depth for q in offered))


def play(
    bag: Bag, chosen: Sequence[Connection], selection: Selection, loop: bool = False, kept: Kept = offered_to_late
) -> Iterator[Played]:
    """Yields messages in the order of their times, over and over with `loop`.

    Time never goes back, which would break every TF buffer: round n is shifted by n times the length of a round, and
    the caller adds the shift to the stamps inside. What was latched before the start is played at the start: of a
    topic the last kept(connection) messages.
    """
    shift = 0
    while True:
        first = last = None
        for played in _round(bag, chosen, selection, shift, kept):
            first = played.stamp if first is None else first
            last = played.stamp
            yield played
        if not loop or first is None or last is None:
            return
        shift += last - first + LOOP_GAP


def _round(bag: Bag, chosen: Sequence[Connection], selection: Selection, shift: int, kept: Kept) -> Iterator[Played]:
    origin = next((stamp for _, stamp, _ in bag.messages()), None)  # of the bag, whatever topics are chosen
    if origin is None:
        return
    begin = origin + round(selection.start * NANO)
    latched: dict[int, deque[tuple[Connection, bytes]]] = {}
    waiting = True

    def kept_messages() -> Iterator[Played]:
        for messages in latched.values():
            yield from (Played(begin + shift, shift, source, data) for source, data in messages)

    for connection, stamp, raw in bag.messages(chosen):
        if selection.duration is not None and stamp > begin + round(selection.duration * NANO):
            break
        if stamp < begin:
            if depth := kept(connection):
                latched.setdefault(id(connection), deque(maxlen=depth)).append((connection, raw))
            continue
        if waiting:
            waiting = False
            yield from kept_messages()
        yield Played(stamp + shift, shift, connection, raw)
    if waiting and latched and any(stamp >= begin for _, stamp, _ in bag.messages()):  # not beyond the bag's end
        yield from kept_messages()


def copy_bag(
    bag: Bag, out: Path, selection: Selection, compressed: bool = False, kept: Kept = offered_to_late
) -> tuple[int, list[str]]:
    """Write what is selected into a new bag; how many messages, and topics of unknown types that were left out.

    Raises UsageError where nothing is left or the folder cannot be written.
    """
    selection.check()
    wanted = selection.of(bag.connections)
    known = [c for c in wanted if c.msgtype in bag.types.fielddefs]
    left_out = sorted({c.topic for c in wanted if c.msgtype not in bag.types.fielddefs})
    if not known:
        raise UsageError("nothing of the bag would be left", "choose other topics")
    messages = play(bag, known, selection, kept=kept)
    first = next(messages, None)
    if first is None:
        raise UsageError("the bag holds no message of that time and those topics", "choose an earlier --start")
    writer = BagWriter(out, bag.types, compressed)
    count = 0
    try:
        for connection in known:
            writer.add_topic_like(connection)
        for played in chain([first], messages):
            writer.write(played.connection.topic, played.stamp, played.raw)
            count += 1
    except OSError as error:
        raise UsageError(f"cannot write bag {out}: {error.strerror}", "free some space") from None
    finally:
        writer.close()
    return count, left_out


def _matches(topic: str, pattern: str) -> bool:
    """Patterns without a leading slash stand for the end of the name: `odometry` is every vehicle's."""
    return fnmatchcase(topic, pattern) or (not pattern.startswith("/") and fnmatchcase(topic, f"*/{pattern}"))
