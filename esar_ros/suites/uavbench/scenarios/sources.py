"""Sources of scenarios: a file, a folder, a zip, or a file with one document a line (.jsonl)."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from esar_ros.mission.errors import UsageError
from esar_ros.suites.uavbench.scenarios.reading import LARGEST

MAX_ENTRIES = 200_000  # of a zip
MAX_UNPACKED = 2 << 30  # bytes
_LINES = (".jsonl", ".ndjson")
_LFS = b"version https://git-lfs"


class Document(NamedTuple):
    """The bytes of one document and its name: FILE, FILE:LINE, or ZIP/MEMBER."""

    source: str
    content: bytes  # more than LARGEST bytes: the size alone counts


def documents(paths: Iterable[Path]) -> Iterator[Document]:
    """Yields the documents of all paths in order; folders by name. Raises UsageError for what cannot be read."""
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix in (".json", *_LINES) and not p.is_dir())
            if not found:
                raise UsageError(f"{path} holds no .json or .jsonl file", "name a folder that holds some")
            for file in found:
                yield from _file(file)
        else:
            yield from _file(path)


def _file(path: Path) -> Iterator[Document]:
    try:
        if path.suffix == ".zip":
            yield from _zip(path)
        elif path.suffix in _LINES:
            yield from _lines(path)
        else:
            with path.open("rb") as file:
                yield Document(str(path), _read(file, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", "name a file that can be read") from None


def _read(file: IO[bytes], size: int) -> bytes:
    """Returns a file's bytes, or as many zeros as it has where they are too many to be a scenario."""
    return file.read(LARGEST + 1) if size <= LARGEST else bytes(LARGEST + 1)


def _lines(path: Path) -> Iterator[Document]:
    _refuse_pointer(path)
    number = 0
    with path.open("rb") as file:
        while line := file.readline(LARGEST + 2):
            number += 1
            rest = line
            while len(rest) == LARGEST + 2 and not rest.endswith(b"\n"):  # of a line that is too long
                rest = file.readline(LARGEST + 2)
            if line.strip():
                yield Document(f"{path}:{number}", line.rstrip(b"\r\n"))
    if number == 0:
        raise UsageError(f"{path} is empty", "give one scenario a line")


def _refuse_pointer(path: Path) -> None:
    """Raises UsageError for what Git LFS leaves in the place of a large file."""
    with path.open("rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise UsageError(f"{path} is a Git LFS pointer, not the file", "run `git lfs pull` where it comes from")


def _zip(path: Path) -> Iterator[Document]:
    _refuse_pointer(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(_members(path, archive), key=lambda info: info.filename)
            if not members:
                raise UsageError(f"{path} holds no .json file", "name an archive that holds some")
            for info in members:
                with archive.open(info) as member:
                    yield Document(f"{path}/{info.filename}", _read(member, info.file_size))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no zip that can be read: {error}", "make or fetch it again") from None


def _members(path: Path, archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    """Yields the members that are scenarios. Raises UsageError for an archive that no person makes."""
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise UsageError(f"{path} has {len(entries)} entries, more than {MAX_ENTRIES}", "split it")
    if (unpacked := sum(info.file_size for info in entries)) > MAX_UNPACKED:
        raise UsageError(f"{path} unpacks to {unpacked} bytes, more than {MAX_UNPACKED}", "split it")
    for info in entries:
        name = PurePosixPath(info.filename)
        if name.is_absolute() or ".." in name.parts:
            raise UsageError(f"{path} has a member '{info.filename}' outside itself", "make it again with plain names")
        if not info.is_dir() and name.suffix == ".json":
            yield info
