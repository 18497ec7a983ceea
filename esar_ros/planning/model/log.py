"""Log of every question and answer of a mission as JSON lines, and replay from it.

A line holds the question (texts; images by hash, their files beside the log), the answer and its cost. A mission flown
again from its log gets the same answers at the same moments, without a server: bit for bit, as all else depends on
brief, seed and observations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from esar_ros.mission.errors import UsageError
from esar_ros.planning.exchange import Question, Reply

SCHEMA = "esar-model-log/1"


def file_name(mission_id: str, vehicle: str, method: str) -> str:
    """Name of the log of one vehicle's planner."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{mission_id}.{vehicle}.{method}")
    return f"{safe.strip('.') or 'mission'}.jsonl"


class Log:
    """Writes one mission's exchanges as they happen; a second run of the same mission begins anew."""

    def __init__(self, path: Path, keep_images: bool, header: dict[str, Any]) -> None:
        """Raises UsageError when the folder cannot be written to."""
        self._path = path
        self._images = path.parent / "pictures" if keep_images else None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if self._images is not None:
                self._images.mkdir(exist_ok=True)
            path.write_text(_line({"schema": SCHEMA, **header}), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}", "choose another folder for model.log") from None

    def write(self, number: int, stamps: tuple[float, float], question: Question, reply: Reply, model: str) -> None:
        """One exchange, asked and delivered at stamps (s). A disk that is full costs the log, not the mission."""
        try:
            if self._images is not None:
                self._keep(question, self._images)
            with self._path.open("a", encoding="utf-8") as file_:
                file_.write(_line(_record(number, stamps, question, reply, model)))
        except (OSError, ValueError):  # a text that no file holds, too
            return

    @staticmethod
    def _keep(question: Question, folder: Path) -> None:
        for one in question.images:
            file = folder / f"{one.sha256}.jpg"
            if not file.exists():
                file.write_bytes(one.jpeg)


class Replay:
    """Gives the recorded answers of one mission."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError when it is no log."""
        self.path = path
        try:
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
            self.header = lines[0]
            if self.header["schema"] != SCHEMA:
                raise ValueError(self.header["schema"])
            self._records = {int(record["number"]): record for record in lines[1:]}
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise UsageError(f"{path}: no log of a model's answers ({error})", f"give a file of {SCHEMA}") from None

    @property
    def model(self) -> str:
        """Name of the model that answered."""
        return str(self.header.get("model", "unknown"))

    def check_method(self, method: str) -> None:
        """Raises UsageError when another method asked."""
        if self.header.get("method") != method:
            raise UsageError(f"{self.path} was recorded by {self.header.get('method')}, not {method}", "fly that one")

    def answer(self, number: int, question: Question) -> tuple[Reply, float]:
        """The recorded reply to a question by number, and the stamp (s) it was delivered at.

        Raises UsageError when the mission asks something else.
        """
        record = self._records.get(number)
        if record is None or record["question_sha256"] != question.digest(self.model):
            what = "ends there" if record is None else "was asked something else"
            raise UsageError(
                f"{self.path} is not of this mission: at question {number} ({question.purpose}) it {what}",
                "fly it with the task, seed and settings of the recording",
            )
        try:
            value = None if record["answer"] is None else question.form.model_validate(record["answer"])
            costs = (record["tokens_in"], record["tokens_out"], record["seconds"], record["attempts"])
            return Reply(value, record["reason"], *costs, tuple(record["said"])), record["delivered"]
        except (ValidationError, LookupError) as error:
            raise UsageError(f"{self.path}: question {number} cannot be read: {error}", "record it again") from None


def find_recording(source: str, name: str) -> Path:
    """A replay's file: the path itself, or the mission's file in that folder."""
    path = Path(source)
    return path / name if path.is_dir() else path


def _record(number: int, stamps: tuple[float, float], question: Question, reply: Reply, model: str) -> dict[str, Any]:
    return {
        "number": number,
        "asked": stamps[0],
        "delivered": stamps[1],
        "purpose": question.purpose,
        "question_sha256": question.digest(model),
        "system": question.system,
        "text": question.text,
        "form": question.form.__name__,
        "pictures": [{"label": one.label, "sha256": one.sha256, "bytes": len(one.jpeg)} for one in question.images],
        "answer": None if reply.value is None else reply.value.model_dump(mode="json"),
        "reason": reply.reason,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "seconds": reply.seconds,
        "attempts": reply.attempts,
        "said": list(reply.said),
        "errors": list(reply.errors),
    }


def _line(record: Sequence[Any] | dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
