"""Makes a run of answers that people already have: a result file of the paper's script, or lines of id and answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from esar_ros.mission.chat import Completion
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import parse_json, read_text
from esar_ros.suites.uavbench.mcq.asking import Answer
from esar_ros.suites.uavbench.mcq.item import Item, digest
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
from esar_ros.suites.uavbench.mcq.reading import usable_items
from esar_ros.suites.uavbench.mcq.run import IMPORTED, RunSettings, answer_record, jobs_of, open_run
from esar_ros.suites.uavbench.mcq.sources import LARGEST_TABLE, csv_rows, question_name

PAPER_MODEL = "model"  # column of the paper's files


@dataclass(frozen=True)
class Answers:
    """Answers of one model by item id, and the protocol that they were given under."""

    model: str
    protocol: str
    texts: dict[str, str]


def import_answers(path: Path, items: Sequence[Path], model: str, protocol: str, out: Path) -> tuple[int, int]:
    """Makes a run in `out`; returns how many questions it answers, of how many.

    path: the paper's CSV, whose questions are taken where no `items` are given; or JSON lines of `id` and `answer`.
    model, protocol: '' for what the CSV says. Raises UsageError.
    """
    is_csv = path.suffix.lower() == ".csv"
    found = _of_csv(path, model, protocol) if is_csv else _of_lines(path, model, protocol)
    if not items and not is_csv:
        raise UsageError(f"{path} holds answers alone", "name the questions with --items")
    asked = usable_items(items or [path]).items
    known = {item.id for item in asked}
    strange = next((name for name in found.texts if name not in known), None)
    if strange is not None:
        raise UsageError(f"{path}: '{strange}' is none of the questions", "name the set that was asked with --items")
    return _store(out, asked, found), len(asked)


def _store(out: Path, items: Sequence[Item], found: Answers) -> int:
    protocol = PROTOCOLS[found.protocol]
    # Other answers are another run: they are refused where the first ones lie.
    answers = hashlib.sha256(json.dumps(found.texts, sort_keys=True).encode("utf-8")).hexdigest()
    settings = RunSettings(
        digest(items), len(items), protocol.name, IMPORTED, protocol.max_tokens, 1, found.model, answers, ""
    )
    store = open_run(out, settings, items)
    try:
        for job in jobs_of(items, 1):
            if job.item.id in found.texts and job.id not in store.done:
                answer = Answer(Completion(found.texts[job.item.id]), False, 0.0, 1)
                store.append(answer_record(job, answer, protocol, store.settings_hash))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}", "the same command then goes on") from None
    finally:
        store.close()
    return len(store.done)


def _of_csv(path: Path, model: str, protocol: str) -> Answers:
    texts: dict[str, str] = {}
    models = set()
    for where, row in csv_rows(path):
        name = question_name(row)
        if name in texts:
            raise UsageError(f"{where}: the question {name} is answered twice", "remove one of the lines")
        texts[name] = row["answer"]
        models.add(row.get(PAPER_MODEL, ""))
    if not model and len(models) != 1:
        raise UsageError(f"{path} holds answers of {len(models)} models", "name one with --model")
    return Answers(model or models.pop() or path.stem, protocol or "paper", texts)


def _of_lines(path: Path, model: str, protocol: str) -> Answers:
    if not model or not protocol:
        raise UsageError(f"{path} does not say how it was made", "give --model and --protocol")
    texts: dict[str, str] = {}
    for number, line in enumerate(read_text(path, LARGEST_TABLE, "answers").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = parse_json(line, where)
        if not isinstance(value, dict) or not all(isinstance(value.get(key), str) for key in ("id", "answer")):
            raise UsageError(f"{where}: no object with the texts id and answer", "mend the file")
        if value["id"] in texts:
            raise UsageError(f"{where}: the question {value['id']} is answered twice", "remove one of the lines")
        texts[value["id"]] = value["answer"]
    return Answers(model, protocol, texts)
