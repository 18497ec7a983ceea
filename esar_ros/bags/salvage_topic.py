"""A topic of a damaged bag, as the rosbags library describes those of whole ones."""

from __future__ import annotations

from contextlib import suppress

from rosbags.interfaces import Connection, ConnectionExtRosbag2, MessageDefinition, MessageDefinitionFormat, Qos
from rosbags.rosbag2.metadata import parse_qos

_FORMATS = {"ros2msg": MessageDefinitionFormat.MSG, "ros2idl": MessageDefinitionFormat.IDL}
NO_DEFINITION = MessageDefinition(MessageDefinitionFormat.NONE, "")


def definition_of(encoding: str, text: str) -> MessageDefinition:
    """A type's definition in the encoding that the bag names."""
    return MessageDefinition(_FORMATS.get(encoding, MessageDefinitionFormat.NONE), text)


def connection_of(
    number: int, topic: str, message_type: str, serialisation: str, definition: MessageDefinition, offered: str
) -> Connection:
    """Returns a topic under its number in the bag; offered: qualities of service as YAML, empty where the bag has
    none."""
    profiles: list[Qos] = []
    if offered:
        with suppress(Exception):  # a damaged text fails anywhere in the parser
            profiles = parse_qos(offered)
    about = ConnectionExtRosbag2(serialisation, profiles)
    return Connection(number, topic, message_type, definition, "", 0, about, None)
