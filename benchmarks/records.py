"""Records of a long benchmark: lines of JSON behind a header that says what made them, so that a run can go on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import esar_ros
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource


def code_digests(parts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Returns the digest of each part's sources: files, or folders with all Python files in and below them.

    Paths are those of a checkout: "esar_ros/safety" is the imported package's, "config/safety.yaml" the one in use.
    """
    return {name: _digest([_in_use(path) for path in paths]) for name, paths in parts.items()}


def _in_use(path: str) -> Path:
    package = Path(esar_ros.__path__[0])
    return package.parent / path if path.partition("/")[0] == package.name else resource(path)


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            content = source.read_bytes()
            digest.update(f"{source.relative_to(path.parent).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


class Records:
    """Lines of a file, one value each; kept in memory alone where there is no path."""

    def __init__(self, path: Path | None, header: dict[str, Any]) -> None:
        """Opens the file, or begins it with the header; a last line that a kill left unfinished is cut off.

        Raises:
            UsageError: if the file is of another header or holds no records.
        """
        self.lines: list[Any] = []
        self._path = path
        if path is None:
            return
        try:
            self._open(path, header)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}; name a file that can be written") from error

    def _open(self, path: Path, header: dict[str, Any]) -> None:
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if not content:
            path.write_text(json.dumps(header) + "\n")
            return
        try:
            first, *self.lines = map(json.loads, whole.splitlines())
        except ValueError as error:  # no line at all is one value too few; neither UTF-8 nor JSON
            raise UsageError(f"{path}: no file of records; name another file") from error
        if first != header:
            told = first if isinstance(first, dict) else {}
            other = [name for name in header | told if told.get(name) != header.get(name)]
            raise UsageError(f"{path}: made with another {', '.join(other)}; name another file, or remove it")
        if whole != content:
            os.truncate(path, len(whole))

    def add(self, line: Any) -> None:
        """Adds a line, and writes it."""
        self.lines.append(line)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(line) + "\n")
