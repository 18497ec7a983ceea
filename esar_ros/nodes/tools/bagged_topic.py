"""A bag's topic as the table of topics knows it, which a bag that recorded no quality of service does not."""

from __future__ import annotations

from rosbags.interfaces import Connection

from esar_ros.bags.playback import offered_to_late
from esar_ros.bags.topics import split_topic
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.topic import Topic


def entry_of(connection: Connection) -> Topic | None:
    """Returns the entry in the table of a topic of that name and type; None where there is none."""
    place = split_topic(connection.topic, tuple(name.lstrip("/") for name in BY_NAME))
    entry = None if place is None else BY_NAME.get(place[1]) or BY_NAME.get(f"/{place[1]}")
    return entry if entry is not None and entry.type == connection.msgtype else None


def kept_for_late(connection: Connection) -> int:
    """Returns how many of a topic's last messages late readers get, by the bag or by the table; 0: none."""
    entry = entry_of(connection)
    return max(offered_to_late(connection), 0 if entry is None else entry.quality.kept_for_late)
