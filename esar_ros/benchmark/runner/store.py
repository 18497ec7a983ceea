"""A benchmark's folder: bench.json holds the settings, episodes.jsonl one finished episode a line.

A line is written whole and flushed to the disk before the next episode counts as done, so after a crash, SIGKILL or a
full disk the file is the finished episodes and at most one torn line, which the next opening cuts off. It holds a
digest of its content (seal.py), which is checked when it is read.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from esar_ros.benchmark.runner.job import FIRST_SCHEMA, SCHEMA, Settings
from esar_ros.benchmark.runner.seal import sealed_line, take_seal
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically

MANIFEST, EPISODES, LOCK = "bench.json", "episodes.jsonl", ".lock"
EPISODE_SCHEMA = "esar-episode/1"


class Store:
    """The folder while a benchmark runs; one process at a time. Raises UsageError."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Open or begin. A folder with results of other settings is refused."""
        self.folder = folder
        self.settings_hash = settings.hash
        self._lock = _take_lock(folder)
        self._file: Any = None
        try:
            self.resumed = self._check_manifest(settings)
            self._file = _open(folder / EPISODES)
            kept, size = _intact(folder / EPISODES)
            self._file.truncate(size)
            self._size = size
            self.done = {str(record["id"]) for record in kept}
            foreign = {record.get("settings_hash") for record in kept} - {self.settings_hash}
            if foreign:
                raise UsageError(f"{folder / EPISODES} holds episodes of other settings", "choose another --out")
        except BaseException:
            self.close()
            raise

    def append(self, record: dict[str, Any]) -> None:
        """Add one episode for good. Raises OSError when the disk is full; the file is then as it was."""
        line = sealed_line(record)
        try:
            os.lseek(self._file.fileno(), self._size, os.SEEK_SET)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
            os.fsync(self._file.fileno())
        except OSError:
            os.ftruncate(self._file.fileno(), self._size)
            raise
        self._size += len(line)
        self.done.add(str(record["id"]))

    def close(self) -> None:
        """Let others have the folder."""
        if self._file is not None:
            self._file.close()
        self._lock.close()

    def _check_manifest(self, settings: Settings) -> bool:
        """Returns whether the folder holds a benchmark of these settings; writes the manifest if there is none."""
        path = self.folder / MANIFEST
        if not path.exists():
            new = {"schema": SCHEMA, "settings": asdict(settings), "settings_hash": settings.hash}
            write_atomically(path, json.dumps(new, indent=1, sort_keys=True) + "\n")
            return False
        manifest = read_manifest(path)
        why = settings.difference(manifest["settings"])
        if why:
            raise UsageError(f"{self.folder} holds a benchmark with other settings ({why})", "choose another --out")
        self.settings_hash = manifest["settings_hash"]
        return True


def read_manifest(path: Path) -> dict[str, Any]:
    """bench.json. Raises UsageError."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["schema"] in (SCHEMA, FIRST_SCHEMA) and isinstance(manifest["settings"], dict):
            manifest["settings_hash"]
            return dict(manifest)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise UsageError(f"{path} is no {SCHEMA} manifest", "choose another --out, or restore the file")


def read_episodes(folder: Path) -> list[dict[str, Any]]:
    """Finished episodes of a benchmark's folder in the plan's order, without a torn last line. Raises UsageError."""
    path = folder / EPISODES if folder.is_dir() else folder
    if not path.is_file():
        raise UsageError(f"{path} is not there", "give the folder that esar bench wrote with --out")
    return sorted(_intact(path)[0], key=lambda record: int(record["index"]))


def find_episode(folder: Path, episode: str) -> dict[str, Any]:
    """One finished episode by its id. Raises UsageError."""
    records = read_episodes(folder)
    found = next((record for record in records if record["id"] == episode), None)
    if found is None:
        raise UsageError(f"{folder} holds no episode '{episode}'", f"e.g. {records[0]['id']}" if records else "run one")
    return found


def _intact(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Records of whole lines, one per episode, and where they end (bytes)."""
    records: dict[str, dict[str, Any]] = {}
    size = 0
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "choose another folder") from None
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            record = json.loads(line)
            if record["schema"] != EPISODE_SCHEMA:
                raise ValueError
            int(record["index"])
            take_seal(record, f"{path}, line {number}")
            records.setdefault(str(record["id"]), record)
        except (ValueError, KeyError, TypeError, RecursionError):
            if number == len(lines) - 1 and not lines[-1]:
                break  # torn by a crash of the machine: blocks reached the disk out of order
            raise UsageError(f"{path}, line {number}: no {EPISODE_SCHEMA} record", "remove that line") from None
        size += len(line) + 1
    return list(records.values()), size


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
        raise UsageError(f"another benchmark is writing to {folder}", "wait for it, or choose another --out") from None
    return file
