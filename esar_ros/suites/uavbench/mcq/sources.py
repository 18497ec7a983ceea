"""Files that hold questions: those that hold scenarios (a folder, a zip, JSON lines), and the paper's result CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from esar_ros.mission.errors import UsageError, first_line
from esar_ros.mission.task_files import read_text
from esar_ros.suites.uavbench.mcq.item import LETTERS
from esar_ros.suites.uavbench.scenarios import sources
from esar_ros.suites.uavbench.scenarios.findings import Finding
from esar_ros.suites.uavbench.scenarios.reading import LARGEST, parse

LARGEST_TABLE = 1 << 30  # bytes
_COLUMNS = ("file", "answer", "correct_letter", "question", "context", "style_id", "style", "gt_reason")
_CHOICES = tuple(f"choice_{letter}" for letter in LETTERS)
_KINDS = (".json", ".jsonl", ".ndjson", ".zip")


class Document(NamedTuple):
    """One question's object, or what is wrong with its text; where it stands, and its name."""

    where: str
    name: str
    value: Mapping[str, Any]
    problem: str


def documents(path: Path) -> Iterator[Document]:
    """Yields the questions of a source. Raises UsageError for a source that cannot be read."""
    if path.suffix.lower() == ".csv":
        for where, row in csv_rows(path):
            yield Document(where, question_name(row), _of_row(row), "")
        return
    if path.is_file() and path.suffix not in _KINDS:
        raise UsageError(f"{path} holds no questions", "give a folder, .zip, .jsonl, .json or the paper's .csv")
    for source, content in sources.documents([path]):
        found = parse(content)
        name = PurePosixPath(source).name.removesuffix(".json")
        if isinstance(found, Finding):
            yield Document(source, name, {}, found.text)
        else:
            yield Document(source, name, found, "")


def csv_rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the rows of a result file of the paper with where they stand. Raises UsageError."""
    text = read_text(path, LARGEST_TABLE, "answers")
    csv.field_size_limit(LARGEST)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = [name for name in (*_COLUMNS, *_CHOICES) if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(f"{path}: no column {missing[0]}", "give a result file of UAVBench's evaluation script")
        for row in reader:
            where = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise UsageError(f"{where}: not as many cells as columns", "restore the file")
            yield where, row
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {first_line(error)}", "restore the file") from None


def question_name(row: Mapping[str, str]) -> str:
    """Returns the name of a row's question: that of its file."""
    return PurePosixPath(row["file"]).name.removesuffix(".json")


def _of_row(row: Mapping[str, str]) -> dict[str, Any]:
    style = row["style_id"].strip()
    return {
        "scenario_name": row.get("scenario_name", ""),
        "description": row["context"],
        "question": row["question"],
        "choices": [row[name] for name in _CHOICES],
        "correct_choice": row["correct_letter"],
        "reason": row["gt_reason"],
        "style_id": int(float(style)) if style.replace(".", "", 1).isdecimal() else style,
        "style": row["style"],
    }
