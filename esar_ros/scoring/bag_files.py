"""Bags opened, whatever state they are in: MCAP or sqlite3, split, compressed, without metadata, cut short, killed.

A whole bag is read by the rosbags library. Of a damaged one everything that lies before the damage is taken out into
a temporary file and read from there, in the order of stamps.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rosbags.highlevel import AnyReader
from rosbags.interfaces import Connection, MessageDefinitionFormat
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import read_yaml
from esar_ros.scoring import salvage_sqlite
from esar_ros.scoring.bag_writer import typestore
from esar_ros.scoring.salvage_mcap import SalvageMcap, ends_well
from esar_ros.scoring.salvage_sqlite import SalvageSqlite

if sys.version_info >= (3, 14):
    from compression import zstd
else:  # rosbags brings it
    from backports import zstd

ENDINGS = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
_COPY = 1 << 20  # bytes
_WHOLE = "give a rosbag2 of a mission"

Raw = tuple[Connection, int, bytes]


class Bag(ABC):
    """An open bag. `cut`: some of its messages are missing, since a file ends too early."""

    cut: bool
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
    """A bag's folder, or one of its files. Raises UsageError, also for what fails while it is being read."""
    if not path.exists():
        raise UsageError(f"no bag at {path}", "check the path")
    try:
        with tempfile.TemporaryDirectory(prefix="esar-bag-") as folder:
            whole = _whole_source(path)
            if whole is not None:
                with AnyReader([whole], default_typestore=typestore()) as reader:
                    yield _WholeBag(reader)
                return
            with Path(folder, "messages").open("w+b") as store:
                yield _DamagedBag(path, store, Path(folder))
    except UsageError:
        raise
    # A damaged file can fail anywhere inside the reader and the decoder, with any error.
    except Exception as error:
        reason = " ".join((str(error) or type(error).__name__).split())
        raise UsageError(f"cannot read bag {path}: {reason}", _WHOLE) from None


class _WholeBag(Bag):
    def __init__(self, reader: AnyReader) -> None:
        self._reader = reader
        self.connections = list(reader.connections)
        self.types = reader.typestore
        self.cut = False

    def messages(self, connections: Collection[Connection] | None = None) -> Iterator[Raw]:
        chosen = self.connections if connections is None else list(connections)
        if chosen:
            yield from self._reader.messages(chosen)


class _DamagedBag(Bag):
    """Messages taken out into a store, and where in it each one is."""

    def __init__(self, path: Path, store: IO[bytes], folder: Path) -> None:
        self._store = store
        self.cut = False
        known: dict[tuple[str, str], Connection] = {}
        self._index: list[tuple[int, int, tuple[str, str], int]] = []  # stamp, offset, topic and type, length
        each = _compressed_messages(path)
        at = 0
        for file in _files(path):
            for connection, stamp, data in self._from_file(file, folder):
                raw = zstd.decompress(data) if each else data
                key = (connection.topic, connection.msgtype)
                known.setdefault(key, connection)
                self._index.append((stamp, at, key, len(raw)))
                at += store.write(raw)
        self._index.sort()
        self.connections = list(known.values())
        self.types = _types_of(self.connections)

    def _from_file(self, file: Path, folder: Path) -> Iterator[Raw]:
        plain = _prepared(file, folder)
        shortened = plain != file and file.suffix == ".zstd" and not _unpack(file, plain)
        if plain.suffix == ".mcap":
            salvage = SalvageMcap(plain)
            yield from salvage.messages()
            self.cut |= shortened or not salvage.complete
        else:
            whole = salvage_sqlite.is_whole(plain)
            yield from SalvageSqlite(plain).messages()
            self.cut |= shortened or not whole

    def messages(self, connections: Collection[Connection] | None = None) -> Iterator[Raw]:
        chosen = {(c.topic, c.msgtype): c for c in (self.connections if connections is None else connections)}
        for stamp, offset, key, length in self._index:
            if key in chosen:
                self._store.seek(offset)
                yield chosen[key], stamp, self._store.read(length)


def _whole_source(path: Path) -> Path | None:
    """What the rosbags library can open and read to its end; None for a bag that needs mending."""
    if not path.is_dir():
        return path if path.name.endswith(ENDINGS[:2]) and _is_whole(path) else None
    if (path / "metadata.yaml").is_file():
        files = _files(path, strict=True)
        return path if all(_is_whole(file) for file in files) else None
    files = _files(path)
    return files[0] if len(files) == 1 and files[0].name.endswith(ENDINGS[:2]) and _is_whole(files[0]) else None


def _is_whole(file: Path) -> bool:
    if not file.is_file() or _log(file) is not None:
        return False
    if file.suffix == ".mcap":
        return ends_well(file)
    if file.suffix == ".db3":
        return salvage_sqlite.is_whole(file)
    return _unpack(file, None)


def _files(path: Path, strict: bool = False) -> list[Path]:
    """A bag's files in order. Raises UsageError where there are none; strict: also where its metadata is broken."""
    if not path.is_dir():
        if not path.name.endswith(ENDINGS):
            raise UsageError(f"cannot read bag {path}: it is neither .mcap nor .db3", _WHOLE)
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
    if (path / "metadata.yaml").is_file():
        try:
            listed = [path / Path(str(name)).name for name in _metadata(path)["relative_file_paths"]]
        except (UsageError, KeyError, TypeError):
            if not found:
                raise UsageError(f"cannot read bag {path}: metadata.yaml is no bag's metadata", _WHOLE) from None
            return found
        missing = [file.name for file in listed if not file.is_file()]
        if missing and (strict or len(missing) == len(listed)):
            raise UsageError(f"bag {path} lacks its file {missing[0]}", "copy the whole folder")
        return listed
    if not found:
        raise UsageError(
            f"{path} is no bag: it holds neither metadata.yaml nor an .mcap or .db3 file", "check the path"
        )
    return found


def _metadata(path: Path) -> Any:
    return read_yaml(path / "metadata.yaml", "metadata")["rosbag2_bagfile_information"]


def _compressed_messages(path: Path) -> bool:
    """Whether every message is compressed on its own (ros2 bag record --compression-mode message)."""
    try:
        return str(_metadata(path)["compression_mode"]).lower() == "message"
    except (UsageError, KeyError, TypeError):
        return False


def _log(file: Path) -> Path | None:
    """SQLite's write-ahead log beside a file: what a killed recorder had not yet moved into it."""
    log = file.with_name(file.name + "-wal")
    return log if file.suffix == ".db3" and log.is_file() and log.stat().st_size > 0 else None


def _prepared(file: Path, folder: Path) -> Path:
    """The file itself, or where in the folder its unpacked copy goes or is."""
    if file.suffix == ".zstd":
        return folder / file.stem
    log = _log(file)
    if log is None:
        return file
    copy = folder / file.name
    shutil.copyfile(file, copy)
    shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
    connection = sqlite3.connect(copy)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError:  # too damaged for SQLite; the pages are read as they are
        pass
    finally:
        connection.close()
    return copy


def _unpack(file: Path, target: Path | None) -> bool:
    """Decompress as much as there is (None: only try); whether that was all."""
    decompressor = zstd.ZstdDecompressor()
    with file.open("rb") as source, (target or Path("/dev/null")).open("wb") as out:
        try:
            while not decompressor.eof and (piece := source.read(_COPY)):
                out.write(decompressor.decompress(piece))
        except zstd.ZstdError:
            return False
    return bool(decompressor.eof)


def _types_of(connections: Collection[Connection]) -> Typestore:
    """Types by the definitions that came with the topics; what has none is known by name or not at all."""
    types = dict(typestore().fielddefs)
    for connection in connections:
        if connection.msgdef.format == MessageDefinitionFormat.MSG:
            types.update(get_types_from_msg(connection.msgdef.data, connection.msgtype))
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store
