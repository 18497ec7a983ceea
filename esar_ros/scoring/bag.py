"""Bags: write raw messages into an MCAP rosbag2, and read one back for scoring and viewing. No ROS install needed."""

from __future__ import annotations

import shutil
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from rosbags.highlevel import AnyReader
from rosbags.interfaces import Connection, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.rosbag2.storage_mcap import McapReader, McapWriter
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import PACKAGE, resource
from esar_ros.scoring.judge import Judge, OfflineJudge
from esar_ros.scoring.record import TOPICS, EpisodeRecord, stamp_ns
from esar_ros.scoring.result import Result
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import Truth, parse_truth

FLUSH_PERIOD = 2.0
"""s of wall time after which what was written survives the writer's death."""

_FOREVER = QosTime(9223372036, 854775807)
_MAGIC = b"\x89MCAP0\r\n"
# Footer record without a summary, then the closing magic: the shortest end of an MCAP file.
_BARE_END = b"\x02" + struct.pack("<QQQI", 20, 0, 0, 0) + _MAGIC


@lru_cache(maxsize=1)
def typestore() -> Typestore:
    """Standard message types of ROS jazzy and this package's own, from its msg files."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types: dict[str, Any] = {}
    for path in sorted(resource("msg").glob("*.msg")):
        types.update(get_types_from_msg(path.read_text(encoding="utf-8"), f"{PACKAGE}/msg/{path.stem}"))
    store.register(types)
    return store


class BagWriter:
    """Writes serialised (CDR) messages into one new bag; readable up to the last flush if the process is killed.

    Not thread-safe. Raises UsageError where the folder exists or cannot be written, OSError when the disk fails later.
    """

    def __init__(self, path: Path, storage: str = "mcap", types: Typestore | None = None) -> None:
        """path: folder to create. storage: mcap or sqlite3. types: definitions to embed, by default `typestore()`."""
        if storage not in ("mcap", "sqlite3"):
            raise UsageError(f"unknown bag storage '{storage}'", "mcap or sqlite3")
        self._types = types or typestore()
        self._connections: dict[str, Connection] = {}
        self._flushed = time.monotonic()
        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        try:
            self._writer: Writer | None = Writer(path, version=9, storage_plugin=plugin)
            self._writer.open()
        except WriterError:
            raise UsageError(f"bag {path} exists already", "choose another folder or remove it") from None
        except OSError as error:
            raise UsageError(f"cannot write bag {path}: {error.strerror}", "choose a folder you may write to") from None

    def add_topic(self, topic: str, message_type: str, latched: bool = False, reliable: bool = True) -> None:
        """Announce a topic (full name) of a type (package/msg/Name); its definition goes into the bag."""
        if self._writer is None or topic in self._connections:
            return
        if message_type not in self._types.fielddefs:
            raise UsageError(f"topic {topic}: message type {message_type} is unknown", "give its definition")
        self._connections[topic] = self._writer.add_connection(
            topic, message_type, typestore=self._types, offered_qos_profiles=[_offered(latched, reliable)]
        )

    def write(self, topic: str, stamp: int, data: bytes) -> None:
        """Append one serialised message at a stamp (ns). Ignored after close."""
        if self._writer is None:
            return
        self._writer.write(self._connections[topic], max(stamp, 0), data)
        if time.monotonic() - self._flushed > FLUSH_PERIOD:
            self.flush()

    def flush(self) -> None:
        """Hand everything written so far to the operating system (MCAP; sqlite3 keeps it until close)."""
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
            writer.close()


def _offered(latched: bool, reliable: bool) -> Qos:
    return Qos(
        QosHistory.KEEP_LAST,
        1 if latched else 100,
        QosReliability.RELIABLE if reliable else QosReliability.BEST_EFFORT,
        QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        _FOREVER,
        _FOREVER,
        QosLiveliness.AUTOMATIC,
        _FOREVER,
        False,
    )


def read_bag(path: Path) -> EpisodeRecord:
    """Everything scoring and viewing need from a bag, pictures left out. Raises UsageError.

    A bag whose recorder was killed is read up to its last whole record.
    """
    record = EpisodeRecord()
    for vehicle, topic, message in _messages(path, TOPICS):
        try:
            record.add(vehicle, topic, message)
        except (AttributeError, TypeError, ValueError):
            kind = type(message).__name__.replace("__", "/")
            raise UsageError(f"bag {path}, topic {vehicle}/{topic}: {kind} is not the type it has here") from None
    return record


def score_bag(path: Path, judge: Judge | None = None) -> Result:
    """Score a mission from its bag alone, by default with the offline judge. Raises UsageError."""
    record = read_bag(path)
    return score(record, bag_truth(record, path), judge or OfflineJudge())


def bag_truth(record: EpisodeRecord, path: Path) -> Truth:
    """Ground truth that the bag got when its mission ended. Raises UsageError when it did not."""
    text = record.truth_text
    if text is None:
        raise UsageError(f"bag {path} holds no ground truth: its mission did not end", "score a bag that was finished")
    return parse_truth(text, f"bag {path}")


def read_pictures(path: Path, wanted: Mapping[str, Iterable[int]], slack: int) -> dict[tuple[str, int], bytes]:
    """JPEG pictures nearest to some stamps.

    wanted: stamps (ns) per relative topic with its vehicle, e.g. {"uav1/camera/front/image/compressed": [..]}.
    Returns (topic, wanted stamp) -> JPEG bytes, without those that have no picture within slack (ns).
    """
    best: dict[tuple[str, int], tuple[int, bytes]] = {}
    targets = {topic: sorted(set(stamps)) for topic, stamps in wanted.items()}
    suffixes = sorted({topic.split("/", 1)[1] for topic in targets})
    for vehicle, topic, message in _messages(path, suffixes):
        stamp = stamp_ns(message.header.stamp)
        for target in targets.get(f"{vehicle}/{topic}", ()):
            away = abs(stamp - target)
            key = (f"{vehicle}/{topic}", target)
            if away <= slack and (key not in best or away < best[key][0]):
                best[key] = (away, bytes(message.data))
    return {key: data for key, (_, data) in best.items()}


def read_last(path: Path, topic: str) -> dict[str, Any]:
    """The message with the newest stamp on a relative topic, by vehicle. Raises UsageError."""
    last: dict[str, Any] = {}
    for vehicle, _, message in _messages(path, (topic,)):
        if vehicle not in last or stamp_ns(message.header.stamp) >= stamp_ns(last[vehicle].header.stamp):
            last[vehicle] = message
    return last


def split_topic(name: str, topics: Iterable[str]) -> tuple[str, str] | None:
    """Vehicle and relative topic of a full topic name, e.g. ("uav1", "map/status"); None for other topics."""
    matches = [topic for topic in topics if name == f"/{topic}" or name.endswith(f"/{topic}")]
    if not matches:
        return None
    topic = max(matches, key=len)
    return name[: -len(topic)].strip("/").rsplit("/", 1)[-1], topic


def _messages(path: Path, topics: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """(vehicle, relative topic, message) of the given topics, in no promised order. Raises UsageError."""
    chosen = tuple(topics)
    with _whole_file(path) as (source, mended):
        try:
            with AnyReader([source]) as reader:
                owners = {
                    (connection.topic, connection.msgtype): place
                    for connection in reader.connections
                    if (place := split_topic(connection.topic, chosen))
                }
                wanted = [c for c in reader.connections if (c.topic, c.msgtype) in owners]
                for connection, raw in _raw(reader, wanted, mended):
                    vehicle, topic = owners[connection.topic, connection.msgtype]
                    yield vehicle, topic, reader.deserialize(raw, connection.msgtype)
        # A damaged file can fail anywhere inside the reader and the decoder, with any error.
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise UsageError(f"cannot read bag {path}: {reason}", "give a rosbag2 of a mission") from None


def _raw(reader: AnyReader, connections: list[Connection], mended: bool) -> Iterator[tuple[Connection, bytes]]:
    storage = getattr(reader.readers[0], "storage", None)
    if mended and isinstance(storage, McapReader):
        # Without an index only a plain scan accepts stamps out of order.
        for connection, _, data in storage.messages_scan(connections):
            yield connection, data
    elif connections:
        for connection, _, data in reader.messages(connections):
            yield connection, data


@contextmanager
def _whole_file(path: Path) -> Iterator[tuple[Path, bool]]:
    """What to open: the bag, or its mended copy (True) when its recorder was killed. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"no bag at {path}", "check the path")
    if path.is_dir() and (path / "metadata.yaml").is_file():
        yield path, False
        return
    files = sorted(path.glob("*.mcap")) + sorted(path.glob("*.db3")) if path.is_dir() else [path]
    if not files:
        raise UsageError(
            f"{path} is no bag: it holds neither metadata.yaml nor an .mcap or .db3 file", "check the path"
        )
    file = files[0]
    if file.suffix != ".mcap" or _ends_well(file):
        yield file, False
        return
    with tempfile.TemporaryDirectory(prefix="esar-bag-") as folder:
        copy = Path(folder, file.name)
        _mend(file, copy)
        yield copy, True


def _ends_well(file: Path) -> bool:
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < len(_MAGIC):
            return False
        stream.seek(size - len(_MAGIC))
        return stream.read() == _MAGIC and size > len(_MAGIC) + len(_BARE_END)


def _mend(broken: Path, copy: Path) -> None:
    """Copy a cut MCAP file up to its last whole record and give it an end. Raises UsageError."""
    with broken.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise UsageError(f"{broken} is no MCAP file", "give a rosbag2 of a mission")
        end = stream.tell()
        while True:
            head = stream.read(9)
            length = int.from_bytes(head[1:], "little")
            # 0x0F ends the data section: what follows is an index that may be half written.
            if len(head) < 9 or head[0] == 0x0F or end + 9 + length > size:
                break
            end += 9 + length
            stream.seek(end)
    shutil.copyfile(broken, copy)
    with copy.open("r+b") as out:
        out.truncate(end)
        out.seek(end)
        out.write(_BARE_END)
