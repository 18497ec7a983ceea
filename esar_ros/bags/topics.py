"""Messages of a bag by vehicle and topic: what tools that look at a mission take out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from esar_ros.bags.files import Bag, open_bag
from esar_ros.mission import names
from esar_ros.mission.stamps import nanoseconds


def split_topic(name: str, topics: Iterable[str]) -> tuple[str, str] | None:
    """Vehicle and relative topic of a full topic name, e.g. ("uav1", "map/status"); None for other topics."""
    matches = [topic for topic in topics if name == f"/{topic}" or name.endswith(f"/{topic}")]
    if not matches:
        return None
    topic = max(matches, key=len)
    return name[: -len(topic)].strip("/").rsplit("/", 1)[-1], topic


def vehicle_messages(bag: Bag, topics: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """(vehicle, relative topic, message) of the given topics; of a damaged bag those that can be decoded."""
    chosen = tuple(topics)
    owners = {
        (connection.topic, connection.msgtype): place
        for connection in bag.connections
        if (place := split_topic(connection.topic, chosen))
    }
    wanted = [c for c in bag.connections if (c.topic, c.msgtype) in owners]
    for connection, _, raw in bag.messages(wanted):
        vehicle, topic = owners[connection.topic, connection.msgtype]
        try:
            message = bag.deserialize(raw, connection.msgtype)
        except Exception:  # of the decoder, which has no common name
            if bag.damaged:
                continue
            raise
        yield vehicle, topic, message


def read_images(path: Path, wanted: Mapping[str, Iterable[int]], slack: int) -> dict[tuple[str, int], bytes]:
    """JPEG images nearest to some stamps.

    wanted: stamps (ns) per relative topic with its vehicle, e.g. {"uav1/camera/front/image/compressed": [..]}.
    Returns (topic, wanted stamp) -> JPEG bytes, without those that have no image within slack (ns).
    """
    best: dict[tuple[str, int], tuple[int, bytes]] = {}
    targets = {topic: sorted(set(stamps)) for topic, stamps in wanted.items()}
    suffixes = sorted({topic.split("/", 1)[1] for topic in targets})
    with open_bag(path) as bag:
        for vehicle, topic, message in vehicle_messages(bag, suffixes):
            stamp = nanoseconds(message.header.stamp)
            for target in targets.get(f"{vehicle}/{topic}", ()):
                away = abs(stamp - target)
                key = (f"{vehicle}/{topic}", target)
                if away <= slack and (key not in best or away < best[key][0]):
                    best[key] = (away, bytes(message.data))
    return {key: data for key, (_, data) in best.items()}


def read_last(path: Path, topic: str) -> dict[str, Any]:
    """The message with the newest stamp on a relative topic, by vehicle. Raises UsageError."""
    last: dict[str, Any] = {}
    with open_bag(path) as bag:
        for vehicle, _, message in vehicle_messages(bag, (topic,)):
            if vehicle not in last or nanoseconds(message.header.stamp) >= nanoseconds(last[vehicle].header.stamp):
                last[vehicle] = message
    return last


def odometry_frames(path: Path) -> dict[str, tuple[float, float, float]]:
    """Returns the origin of each vehicle's odom frame in the map (m), as far as static transforms are recorded.
    UsageError."""
    found: dict[str, tuple[float, float, float]] = {}
    with open_bag(path) as bag:
        for _, _, message in vehicle_messages(bag, (names.TF_STATIC.strip("/"),)):
            for transform in message.transforms:
                vehicle, _, frame = transform.child_frame_id.partition("/")
                if transform.header.frame_id == names.MAP and frame == names.ODOM:
                    at = transform.transform.translation
                    found[vehicle] = (float(at.x), float(at.y), float(at.z))
    return found
