"""Bags written: raw messages into a rosbag2 (MCAP) with their definitions. No ROS install needed."""

from __future__ import annotations

import struct
import time
from binascii import crc32
from functools import lru_cache
from pathlib import Path
from typing import Any

from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.rosbag2.storage_mcap import McapWriter
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from esar_ros.bags.mcap_index import sum_index
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import PACKAGE, resource

FLUSH_PERIOD = 2.0
"""s of wall time after which what was written survives the writer's death."""

CHECKSUM_AT = 33  # bytes from the begin of a chunk's record (MCAP): opcode, length, two times, size

_FOREVER = QosTime(9223372036, 854775807)


@lru_cache(maxsize=1)
def typestore() -> Typestore:
    """Standard message types of ROS jazzy, this package's own and vision_msgs, from their msg files."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types: dict[str, Any] = {}
    for package, folder in ((PACKAGE, "msg"), ("vision_msgs", "interfaces/vision_msgs/msg")):
        for path in sorted(resource(folder).glob("*.msg")):
            types.update(get_types_from_msg(path.read_text(encoding="utf-8"), f"{package}/msg/{path.stem}"))
    store.register(types)
    return store


class BagWriter:
    """Writes serialised (CDR) messages into one new bag; readable up to the last flush if the process is killed.

    Not thread-safe. Raises UsageError where the folder exists or cannot be written, OSError when the disk fails later.
    """

    _STORAGE = StoragePlugin.MCAP

    def __init__(self, path: Path, types: Typestore | None = None, compressed: bool = False) -> None:
        """path: folder to create. types: definitions to embed, by default `typestore()`.

        compressed: chunks by zstd: smaller, and loses up to a chunk more where it is cut; for bags to share.
        """
        self._types = types or typestore()
        self._connections: dict[str, Connection] = {}
        self._flushed = time.monotonic()
        try:
            self._writer: Writer | None = Writer(path, version=9, storage_plugin=self._STORAGE)
            if compressed:
                self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
            self._writer.open()
            if isinstance(self._writer.storage, McapWriter):
                _sum_chunks(self._writer.storage)
        except WriterError:
            raise UsageError(f"bag {path} exists already", "choose another folder or remove it") from None
        except OSError as error:
            raise UsageError(f"cannot write bag {path}: {error.strerror}", "choose a folder you may write to") from None

    def add_topic(
        self, topic: str, message_type: str, latched: int = 0, reliable: bool = True, depth: int = 100
    ) -> None:
        """Announce a topic (full name) of a type (package/msg/Name); its definition goes into the bag.

        latched: how many of its last messages late readers were given; 0: none, and its writer's queue held `depth`.
        """
        self._add(topic, message_type, [_offered(latched, reliable, depth)])

    def add_topic_like(self, source: Connection) -> None:
        """Announce a topic as another bag has it, with the quality of service that was offered there."""
        self._add(source.topic, source.msgtype, list(source.ext.offered_qos_profiles))

    def _add(self, topic: str, message_type: str, offered: list[Qos]) -> None:
        if self._writer is None or topic in self._connections:
            return
        if message_type not in self._types.fielddefs:
            raise UsageError(f"topic {topic}: message type {message_type} is unknown", "give its definition")
        self._connections[topic] = self._writer.add_connection(
            topic, message_type, typestore=self._types, offered_qos_profiles=offered
        )

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        """Append one serialised message at a stamp (ns). Ignored after close."""
        if self._writer is None:
            return
        self._writer.write(self._connections[topic], max(stamp, 0), data)
        if time.monotonic() - self._flushed > FLUSH_PERIOD:
            self.flush()

    def flush(self) -> None:
        """Hand everything written so far to the operating system."""
        self._flushed = time.monotonic()
        storage = self._writer.storage if self._writer else None
        if isinstance(storage, McapWriter):
            if storage.chunk.msgs:
                storage.close_chunk()
            storage.bio.flush()

    def close(self) -> None:
        """Write index and metadata.yaml; a second call does nothing."""
        writer, self._writer = self._writer, None
        if writer is not None:
            storage = writer.storage
            writer.close()
            if isinstance(storage, McapWriter):
                sum_index(storage.path)


def _sum_chunks(storage: McapWriter) -> None:
    """Makes a writer state each chunk's CRC-32, for which the library leaves a zero, so that flipped bits are found."""
    close_chunk = storage.close_chunk

    def close_summed() -> None:
        begin, checksum = storage.bio.tell(), crc32(storage.chunk.bio.getvalue())
        close_chunk()
        end = storage.bio.tell()
        storage.bio.seek(begin + CHECKSUM_AT)
        storage.bio.write(struct.pack("<I", checksum))
        storage.bio.seek(end)

    storage.close_chunk = close_summed  # type: ignore[method-assign]


def _offered(latched: int, reliable: bool, depth: int) -> Qos:
    return Qos(
        QosHistory.KEEP_LAST,
        latched or depth,
        QosReliability.RELIABLE if reliable else QosReliability.BEST_EFFORT,
        QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        _FOREVER,
        _FOREVER,
        QosLiveliness.AUTOMATIC,
        _FOREVER,
        False,
    )
