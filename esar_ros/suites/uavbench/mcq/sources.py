"""Files that hold questions: a folder or a zip of JSON files, JSON lines, one JSON file, or the paper's result CSV.

What is unreadable is refused in one line. Sizes are bounded, so that a small archive fills no memory.
"""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from esar_ros.mission.errors import UsageError, first_line
from esar_ros.mission.task_files import parse_json, read_text

LARGEST = 1 << 20  # bytes of one question
LARGEST_SET = 2 << 30  # bytes of a set, unpacked
MOST = 200_000  # files of a set
_POINTER = b"version https://git-lfs"
_WHAT = "questions"
CSV_COLUMNS = ("file", "answer", "correct_letter", "question", "context", "style_id", "style", "gt_reason")
CHOICES = tuple(f"choice_{letter}" for letter in "ABCDEFG")


def documents(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yields each question of a source: where it stands (for errors), a name, and its JSON value.

    Raises UsageError for a source, or a part of it, that cannot be read.
    """
    _refuse_pointer(path)
    kind = path.suffix.lower()
    if path.is_dir():
        yield from _folder(path)
    elif kind == ".zip":
        yield from _archive(path)
    elif kind == ".jsonl":
        for number, line in enumerate(read_text(path, LARGEST_SET, _WHAT).split("\n"), 1):
            if line.strip():
                where = f"{path}, line {number}"
                yield where, f"{path.stem}-{number:06d}", _value(_bounded(line, where), where)
    elif kind == ".csv":
        yield from _rows(path)
    elif kind == ".json":
        yield str(path), path.stem, _value(read_text(path, LARGEST, _WHAT), str(path))
    else:
        _text = read_text(path, LARGEST_SET, _WHAT)  # says so where there is no such file
        raise UsageError(f"{path} holds no questions", "give a folder, .zip, .jsonl, .json or the paper's .csv")


def csv_rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the rows of a result file of the paper with where they stand. Raises UsageError."""
    text = read_text(path, LARGEST_SET, _WHAT)
    csv.field_size_limit(LARGEST)
    reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
    try:
        missing = [name for name in (*CSV_COLUMNS, *CHOICES) if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(f"{path}: no column {missing[0]}", "give a result file of UAVBench's evaluation script")
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise UsageError(f"{where}: not as many cells as columns", "restore the file")
            yield where, row
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {first_line(error)}", "restore the file") from None


def _rows(path: Path) -> Iterator[tuple[str, str, Any]]:
    for where, row in csv_rows(path):
        style = row["style_id"].strip()
        yield (
            where,
            item_name(row),
            {
                "scenario_name": row.get("scenario_name", ""),
                "description": row["context"],
                "question": row["question"],
                "choices": [row[name] for name in CHOICES],
                "correct_choice": row["correct_letter"],
                "reason": row["gt_reason"],
                "style_id": int(float(style)) if style.replace(".", "", 1).isdecimal() else style,
                "style": row["style"],
            },
        )


def item_name(row: dict[str, str]) -> str:
    """Returns the name of the question of a row: that of its file."""
    return PurePosixPath(row["file"]).name.removesuffix(".json")


def _folder(path: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        found = sorted(file for file in path.rglob("*.json"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "check the path") from None
    if not found:
        raise UsageError(f"{path} holds no .json file", "give the folder of the questions")
    _check_count(len(found), path)
    for file in found:
        name = file.relative_to(path).with_suffix("").as_posix()
        yield str(file), name, _value(read_text(file, LARGEST, "question"), str(file))


def _archive(path: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = [part for part in archive.infolist() if not part.is_dir()]
            for part in parts:
                if part.filename.startswith("/") or ".." in PurePosixPath(part.filename).parts:
                    raise UsageError(f"{path} holds the path {part.filename[:100]!r}", "pack it without such paths")
            found = sorted((part for part in parts if part.filename.endswith(".json")), key=lambda part: part.filename)
            if not found:
                raise UsageError(f"{path} holds no .json file", "give the archive of the questions")
            _check_count(len(parts), path)
            left = LARGEST_SET
            for part in found:
                where = f"{path}, {part.filename}"
                with archive.open(part) as stream:
                    data = stream.read(LARGEST + 1)
                left -= len(data)
                if left < 0:
                    raise UsageError(f"{path} unpacks to more than {LARGEST_SET / 1e9:.1f} GB", "give it in parts")
                try:
                    text = data.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise UsageError(f"{where}: not UTF-8 text at byte {error.start}", "mend the file") from None
                name = PurePosixPath(part.filename).with_suffix("").as_posix()
                yield where, name, _value(_bounded(text, where), where)
    # What a damaged or encrypted archive fails with is many errors of zipfile's.
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise UsageError(f"cannot read {path}: {first_line(error)}", "restore the archive") from None


def _refuse_pointer(path: Path) -> None:
    """Raises UsageError for the stand-in that git keeps of a large file."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_POINTER))
    except OSError:
        return  # a folder, or told by what reads it
    if start == _POINTER:
        raise UsageError(f"{path} is a pointer of Git LFS and not the file itself", "fetch it with git lfs pull")


def _bounded(text: str, where: str) -> str:
    if len(text) > LARGEST:
        raise UsageError(f"{where}: more than {LARGEST / 1e6:.1f} MB", "a question takes some kilobytes")
    return text


def _check_count(count: int, path: Path) -> None:
    if count > MOST:
        raise UsageError(f"{path} holds {count} files", f"at most {MOST} are read")


def _value(text: str, where: str) -> Any:
    """JSON of finite numbers. Raises UsageError."""
    value = parse_json(text, where)
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise UsageError(f"{where}: a number is NaN or infinite", "mend the file") from None
    except RecursionError:
        raise UsageError(f"{where}: nested too deeply", "mend the file") from None
    return value
