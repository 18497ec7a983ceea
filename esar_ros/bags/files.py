"""Bags opened, whatever state they are in: MCAP or sqlite3, split, compressed, without metadata, cut short, killed.

A whole bag is read by the rosbags library. Of a damaged one everything that lies before the damage is taken out into
a temporary file and read from there, in the order of stamps.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from abc import ABC, abstractmethod
from binascii import crc32
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from backports import zstd
from rosbags.highlevel import AnyReader
from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.rosbag2 import ReaderError, storage_mcap
from rosbags.rosbag2.storage_mcap import McapReader
from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from esar_ros.bags import salvage_sqlite
from esar_ros.bags.flight_logs.log_bag import read_flight_log, write_log_bag
from esar_ros.bags.inflate import inflate, pieces
from esar_ros.bags.mcap_index import ends_well, fits
from esar_ros.bags.salvage_mcap import SalvageMcap, hangs_together
from esar_ros.bags.salvage_sqlite import SalvageSqlite
from esar_ros.bags.writer import typestore
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import read_yaml
from esar_ros.mission.unpacking import TooLarge, bound, content

ENDINGS = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
_ROS_1 = b"#ROSBAG V"
_COPY = 1 << 20  # bytes
_WHOLE = "give a rosbag2 of a mission"

CDR = "cdr"  # the only serialisation that is read

Raw = tuple[Connection, int, bytes]

# The rosbags library decompresses a chunk whatever it holds: (data, the size that the file states) -> content.
storage_mcap.DECOMPRESSORS.update(
    zstd=lambda *chunk: inflate("zstd", *chunk), lz4=lambda *chunk: inflate("lz4", *chunk)
)
_decompress = storage_mcap.decompress
_DAMAGE: ContextVar[list[int]] = ContextVar("damage")  # of the open bag, a sum of each chunk that is not as stated


def _checked(data: bytes, compression: str, size: int, checksum: int) -> bytes:
    """A chunk's records as they are, where the library would give up on a damaged one; none where they make none."""
    try:
        raw = _decompress(data, compression, size, 0)
    except (ReaderError, TooLarge, EOFError, RuntimeError, zstd.ZstdError):
        raw = b""
    is_torn = len(raw) != size
    if not is_torn and checksum and crc32(raw) == checksum:
        return raw
    is_torn = is_torn or not hangs_together(raw)
    if checksum or is_torn:
        _DAMAGE.get([]).append(crc32(data))
    return _NOTHING + (size - 9).to_bytes(8, "little") + bytes(size - 9) if is_torn else raw


_NOTHING = b"\x0d"  # opcode of a record that holds no message
storage_mcap.decompress = _checked


class _File(NamedTuple):
    """A bag's file to be read, and whether nothing of it is missing."""

    path: Path
    whole: bool


class Bag(ABC):
    """An open bag. `cut`: some of its messages are missing, since a file ends too early.

    `damaged`: chunks read so far (MCAP) whose content is not what their checksum says; of what they hold anything may
    be wrong.
    """

    cut: bool
    damaged: int
    connections: list[Connection]
    types: Typestore

    @abstractmethod
    def messages(self, connections: Collection[Connection] | None = None) -> Iterator[Raw]:
        """(connection, log time in ns, CDR bytes) of the given topics (None: all) in the order of log times."""

    def deserialize(self, raw: bytes, message_type: str) -> Any:
        """Message of a type (package/msg/Name)."""
        return self.types.deserialize_cdr(raw, message_type)


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """A bag's folder, one of its files, or a flight log. Raises UsageError, also for what fails while it is read."""
    if not path.exists():
        raise UsageError(f"no bag at {path}", "check the path")
    try:
        with tempfile.TemporaryDirectory(prefix="esar-bag-") as name:
            folder = Path(name)
            log = read_flight_log(path) if path.is_file() else None
            if log is not None:
                path = folder / "flight"
                write_log_bag(log, path)
            files = [_prepared(file, folder) for file in _files(path)]
            each = _compressed_messages(path)
            reader = None if each or not all(file.whole for file in files) else _reader([file.path for file in files])
            with Path(folder, "messages").open("w+b") as store:
                scan = partial(_ScannedBag, files, store, each)
                if reader is None:
                    yield scan()
                    return
                with closing(reader):
                    yield _IndexedBag(reader, scan, log is not None and log.cut)
    except UsageError:
        raise
    # A damaged file can fail anywhere inside the reader and the decoder, with any error.
    except Exception as error:
        reason = " ".join((str(error) or type(error).__name__).split())
        raise UsageError(f"cannot read bag {path}: {reason}", _WHOLE) from None


def _reader(files: list[Path]) -> AnyReader | None:
    """Returns the rosbags library's reader; None where it cannot open a file that can still be scanned, or misses some.

    It gets the files, not their folder: where metadata.yaml words a topic's quality of service otherwise than the file,
    as rosbag2 did for years, it would silently find no message of that topic. It fails on a bag in which it cannot
    parse a definition, such as those of service events.
    """
    reader = AnyReader(files, default_typestore=typestore())
    try:
        reader.open()
    except Exception:
        return None
    indexed = [one.storage for one in reader.readers if isinstance(one.storage, McapReader)]  # type: ignore[union-attr]
    if not all(fits(storage) for storage in indexed):
        reader.close()
        return None
    chunks = [chunk for storage in indexed for chunk in storage.chunks]
    if sum(chunk.uncompressed_size for chunk in chunks) > (most := bound(sum(file.stat().st_size for file in files))):
        reader.close()
        raise TooLarge(most)
    return reader


class _IndexedBag(Bag):
    """Whole files, read by their index; where that fails, by a scan from there on."""

    def __init__(self, reader: AnyReader, scan: Callable[[], Bag], cut: bool) -> None:
        self._reader = reader
        self._scan = scan
        self._scanned: Bag | None = None
        self.connections = [c for c in reader.connections if c.ext.serialization_format == CDR]
        self.types = reader.typestore
        self._cut = cut
        self._damage: list[int] = []

    @property
    def cut(self) -> bool:  # type: ignore[override]
        return self._cut or (self._scanned is not None and self._scanned.cut)

    @property
    def damaged(self) -> int:  # type: ignore[override]
        return max(len(set(self._damage)), 0 if self._scanned is None else self._scanned.damaged)

    def messages(self, connections: Collection[Connection] | None = None) -> Iterator[Raw]:
        chosen = self.connections if connections is None else list(connections)
        if not chosen:
            return
        messages = self._reader.messages(chosen)
        newest = -1
        given: list[tuple[str, bytes]] = []  # messages of the newest stamp
        while True:
            before = _DAMAGE.set(self._damage)  # for no longer than this bag is read: others may be open
            try:
                message = next(messages, None)
            except Exception:  # a damaged file fails anywhere in the library
                break
            finally:
                _DAMAGE.reset(before)
            if message is None:
                return
            connection, stamp, raw = message
            if stamp != newest:
                newest = stamp
                given.clear()
            given.append((connection.topic, raw))
            yield message
        self._scanned = self._scanned or self._scan()
        for connection, stamp, raw in self._scanned.messages(chosen):
            if stamp == newest and (connection.topic, raw) in given:
                given.remove((connection.topic, raw))
            elif stamp >= newest:
                yield connection, stamp, raw


class _ScannedBag(Bag):
    """Messages taken one by one out of the files into a store, and where in it each one is."""

    def __init__(self, files: list[_File], store: IO[bytes], each_compressed: bool) -> None:
        self._store = store
        self.cut = False
        self.damaged = 0
        known: dict[tuple[str, str], Connection] = {}
        self._index: list[tuple[int, int, tuple[str, str], int]] = []  # stamp, offset, topic and type, length
        at = 0
        most = bound(sum(file.path.stat().st_size for file in files))  # all chunks and messages together
        for file in files:
            for connection, stamp, data in self._scan(file):
                if connection.ext.serialization_format == CDR:
                    raw = inflate("zstd", data) if each_compressed else data
                    if at + len(raw) > most:
                        raise TooLarge(most)
                    key = (connection.topic, connection.msgtype)
                    known.setdefault(key, connection)
                    self._index.append((stamp, at, key, len(raw)))
                    at += store.write(raw)
        self._index.sort()
        self.connections = list(known.values())
        self.types = _types_by(frozenset(_definition(connection) for connection in self.connections))

    def _scan(self, file: _File) -> Iterator[Raw]:
        if file.path.suffix == ".mcap":
            salvage = SalvageMcap(file.path)
            yield from salvage.messages()
            self.cut |= not salvage.complete
            self.damaged += salvage.damaged
        else:
            whole = file.whole and salvage_sqlite.is_sound(file.path)
            yield from SalvageSqlite(file.path, whole).messages()
            self.cut |= not whole

    def messages(self, connections: Collection[Connection] | None = None) -> Iterator[Raw]:
        chosen = {(c.topic, c.msgtype): c for c in (self.connections if connections is None else connections)}
        for stamp, offset, key, length in self._index:
            if key in chosen:
                self._store.seek(offset)
                yield chosen[key], stamp, self._store.read(length)


def _files(path: Path) -> list[Path]:
    """A bag's files in order, by its metadata or else by name. Raises UsageError where there are none."""
    if not path.is_dir():
        if content(path, len(_ROS_1)) == _ROS_1:
            convert = f"convert it: ./esar exec rosbags-convert --src {path} --dst {path.with_suffix('')}"
            raise UsageError(f"{path} is a bag of ROS 1", convert)
        if not path.name.endswith(ENDINGS):
            raise UsageError(f"cannot read bag {path}: it is no .mcap, .db3 or flight log", _WHOLE)
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
    if not (path / "metadata.yaml").is_file():
        if not found:
            raise UsageError(
                f"{path} is no bag: it holds neither metadata.yaml nor an .mcap or .db3 file", "check the path"
            )
        return found
    try:
        listed = [path / Path(str(name)).name for name in _metadata(path)["relative_file_paths"]]
    except (UsageError, KeyError, TypeError):  # cut, too
        if not found:
            raise UsageError(f"cannot read bag {path}: metadata.yaml is no bag's metadata", _WHOLE) from None
        return found
    missing = [file.name for file in listed if not file.is_file()]
    if missing:
        raise UsageError(f"cannot read bag {path}: its file {missing[0]} is missing", "copy the whole folder")
    return listed


def _metadata(path: Path) -> Any:
    return read_yaml(path / "metadata.yaml", "metadata")["rosbag2_bagfile_information"]


def _compressed_messages(path: Path) -> bool:
    """Returns whether every message is compressed individually (ros2 bag record --compression-mode message)."""
    if not (path / "metadata.yaml").is_file():
        return False
    try:
        return str(_metadata(path)["compression_mode"]).lower() == "message"
    except (UsageError, KeyError, TypeError):
        return False


def _prepared(file: Path, folder: Path) -> _File:
    """A file as it is, or its copy in the folder: decompressed, or with SQLite's log worked in."""
    if file.suffix == ".zstd":
        plain = folder / file.stem
        return _File(plain, _unpack(file, plain) and _is_whole(plain))
    log = file.with_name(file.name + "-wal")  # what a killed recorder had not yet moved into the file
    if file.suffix != ".db3" or not log.is_file() or log.stat().st_size == 0:
        return _File(file, _is_whole(file))
    copy = folder / file.name
    shutil.copyfile(file, copy)
    shutil.copyfile(log, copy.with_name(log.name))
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return _File(copy, _is_whole(copy))


def _is_whole(file: Path) -> bool:
    return ends_well(file) if file.suffix == ".mcap" else salvage_sqlite.is_whole(file)


def _unpack(file: Path, target: Path) -> bool:
    """Decompress as much as there is; whether that was all."""
    decompressor = zstd.ZstdDecompressor()
    with file.open("rb") as source, target.open("wb") as out:
        try:
            for piece in pieces(decompressor, iter(lambda: source.read(_COPY), b""), bound(file.stat().st_size)):
                out.write(piece)
        except zstd.ZstdError:
            return False
    return bool(decompressor.eof)


def _definition(connection: Connection) -> tuple[str, str]:
    """Returns the type of a topic's messages and its definition, empty where it is in no form that is read."""
    readable = connection.msgdef.format == MessageDefinitionFormat.MSG
    return connection.msgtype, connection.msgdef.data if readable else ""


@lru_cache(maxsize=4)  # a folder's bags are mostly of one system; to make classes of 200 types takes 0.2 s
def _types_by(definitions: frozenset[tuple[str, str]]) -> Typestore:
    """Types by the definitions that came with the topics; without a readable one a type is known by name or not."""
    types = dict(typestore().fielddefs)
    for name, definition in sorted(definitions):
        if definition:
            with suppress(TypesysError):
                types.update(get_types_from_msg(definition, name))
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store
