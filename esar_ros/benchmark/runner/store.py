"""A run's folder: a manifest holds the settings, and a file of lines one finished unit of work a line.

A benchmark's are bench.json and episodes.jsonl; runs of another kind name theirs (`Files`). A line is written whole and
flushed to the disk before its unit counts as done, so after a crash, SIGKILL or a full disk the file is the finished
units and at most what was being written, of which the next opening cuts off what is torn. A line holds a digest of its
content (seal.py), which is checked when it is read.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from esar_ros.benchmark.runner.job import SCHEMA
from esar_ros.benchmark.runner.seal import sealed_line, take_seal
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically

MANIFEST, EPISODES, LOCK = "bench.json", "episodes.jsonl", ".lock"
EPISODE_SCHEMA: Final = "esar-episode/1"
TOGETHER = 256  # records that are flushed at once, at most
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Files:
    """Names of a store's files and their schemas."""

    manifest: str
    schema: str
    records: str
    record_schema: str


BENCH = Files(MANIFEST, SCHEMA, EPISODES, EPISODE_SCHEMA)


class Stored(Protocol):
    """Settings of a run, a dataclass: everything that decides its results."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def hash(self) -> str:
        """Hexadecimal digest of the settings."""
        ...

    def difference(self, other: dict[str, Any]) -> str:
        """Returns in words the first setting that differs in a manifest's settings; empty where none does."""
        ...


class Store:
    """The folder of a run while it goes on; one process at a time. Raises UsageError."""

    def __init__(self, folder: Path, settings: Stored, files: Files = BENCH) -> None:
        """Open or begin. A folder with results of other settings is refused."""
        self.folder = folder
        self.files = files
        self.settings_hash = settings.hash
        self._lock = _take_lock(folder)
        self._file: Any = None
        try:
            self.resumed = self._check_manifest(settings)
            path = folder / files.records
            self._file = _open(path)
            found = _intact(path, files.record_schema)
            self.earlier = found.records  # of the runs before this one
            self._file.truncate(found.size)
            self._size = found.size
            self.done = {str(record["id"]) for record in self.earlier}
            foreign = {record.get("settings_hash") for record in self.earlier} - {self.settings_hash}
            if foreign:
                raise UsageError(f"{path} holds records of other settings", "choose another --out")
        except BaseException:
            self.close()
            raise

    def append(self, *records: dict[str, Any]) -> None:
        """Add records, TOGETHER at most, for good. Raises OSError when the disk is full; the file is then as it was."""
        lines = b"".join(map(sealed_line, records))
        try:
            os.lseek(self._file.fileno(), self._size, os.SEEK_SET)
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
            os.fsync(self._file.fileno())
        except OSError:
            os.ftruncate(self._file.fileno(), self._size)
            raise
        self._size += len(lines)
        self.done.update(str(record["id"]) for record in records)

    def close(self) -> None:
        """Let others have the folder."""
        if self._file is not None:
            self._file.close()
        self._lock.close()

    def _check_manifest(self, settings: Stored) -> bool:
        """Returns whether the folder holds a run of these settings; writes the manifest if there is none."""
        path = self.folder / self.files.manifest
        if not path.exists():
            new = {"schema": self.files.schema, "settings": asdict(settings), "settings_hash": settings.hash}
            write_atomically(path, json.dumps(new, indent=1, sort_keys=True) + "\n")
            return False
        manifest = read_manifest(path, self.files.schema)
        why = settings.difference(manifest["settings"])
        if why:
            raise UsageError(f"{self.folder} holds a run with other settings ({why})", "choose another --out")
        self.settings_hash = manifest["settings_hash"]
        return True


def read_manifest(path: Path, schema: str = SCHEMA) -> dict[str, Any]:
    """A run's manifest. Raises UsageError."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["schema"] == schema and isinstance(manifest["settings"], dict):
            manifest["settings_hash"]
            return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise UsageError(f"{path} is no {schema} manifest", "restore the file, or name another folder")


@dataclass(frozen=True)
class Contents:
    """A file of records as it was read: those of whole lines, one an id; size: where they end, bytes.

    torn: something follows that a killed run left unfinished.
    """

    records: list[dict[str, Any]]
    size: int
    torn: bool


def read_contents(folder: Path, files: Files) -> Contents:
    """Returns what a run's folder holds, its records in the plan's order. Raises UsageError."""
    path = folder / files.records
    if not path.is_file():
        raise UsageError(f"{folder} holds no {files.records}", "give the folder that was written with --out")
    found = _intact(path, files.record_schema)
    return replace(found, records=sorted(found.records, key=lambda record: int(record["index"])))


def _intact(path: Path, schema: str) -> Contents:
    """Returns what a file holds, its records in the order of its lines. Raises UsageError."""
    records: dict[str, dict[str, Any]] = {}
    size = 0
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "choose another folder") from None
    lines = data.split(b"\n")
    last = len(lines) - 1
    with without_collector():
        for number, line in enumerate(lines[:-1], 1):
            try:
                record = _parsed(line.decode())
                if record["schema"] != schema:
                    raise ValueError
                int(record["index"])
                take_seal(record, f"{path}, line {number}", line)
                records.setdefault(str(record["id"]), record)
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                if (number == last and not lines[-1]) or (b"\0" in line and last - number < TOGETHER):
                    break  # torn by a crash of the machine: blocks reached the disk out of order
                raise UsageError(f"{path}, line {number}: no {schema} record", "remove that line") from None
            size += len(line) + 1
    return Contents(list(records.values()), size, size < len(data))


def _parsed(line: str) -> Any:
    """Returns a line's JSON, sooner where it begins and ends as it is written. Raises ValueError."""
    if line[:1] == "{" and line[-1:] == "}":
        record, end = _DECODER.raw_decode(line)
        if end == len(line):
            return record
    return json.loads(line)


@contextmanager
def without_collector() -> Iterator[None]:
    """Keeps the cyclic garbage collector from walking again and again over objects that only grow in number."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _open(path: Path) -> Any:
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "choose another --out") from None


def _take_lock(folder: Path) -> Any:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}", "choose another --out") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UsageError(f"another run is writing to {folder}", "wait for it, or choose another --out") from None
    return file
