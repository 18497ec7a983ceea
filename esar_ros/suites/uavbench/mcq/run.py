"""A run: one model's answers to a set of questions, each asked once, in a folder that a killed run goes on with.

mcq.json holds the settings, items.jsonl the questions, answers.jsonl one answer a line, sealed and flushed before it
counts (benchmark/runner/store.py). Questions come with the styles in turn, order by order, so any first part is
balanced. A server that fails has given no wrong answer: nothing is written, and the next start asks again.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from esar_ros.benchmark.runner.store import TOGETHER, Files, Store, read_contents, read_manifest, without_collector
from esar_ros.mission.chat import NoAnswer
from esar_ros.mission.errors import UsageError
from esar_ros.planning.model.client import Spent
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.uavbench.mcq.asking import Answer
from esar_ros.suites.uavbench.mcq.baselines import number_of_orders
from esar_ros.suites.uavbench.mcq.item import LETTERS, Item, as_lines, digest, in_turns
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS, Outcome, Protocol, order_of
from esar_ros.suites.uavbench.mcq.reading import usable_items

ANSWER_SCHEMA = "esar-mcq-answer/1"
FILES = Files("mcq.json", "esar-mcq/1", "answers.jsonl", ANSWER_SCHEMA)
ITEMS = "items.jsonl"
IMPORTED = "imported"  # prompt of answers that were not asked here
_FAILURES_IN_A_ROW = 5  # at least, of questions: then the server is given up
_REFUSED = (401, 403, 404)  # HTTP's for a key or an address that is wrong: no question will be answered


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides a run's answers, but the model itself, which its server may change."""

    items: str  # digest of the questions
    count: int
    protocol: str
    prompt: str  # digest of the words around a question
    max_tokens: int
    orders: int
    model: str
    request: str  # further fields of each request, as JSON
    without: str  # what of a question the model was not shown, with commas

    @property
    def hash(self) -> str:
        """Hexadecimal SHA-256 of the settings."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def difference(self, other: dict[str, Any]) -> str:
        """Returns in words the first setting that differs in a manifest's settings; empty where none does."""
        for key, value in asdict(self).items():
            if value != other.get(key):
                long = key in ("items", "prompt")
                return f"{key} differ" if long else f"{key}: {value!r} here, {other.get(key)!r} there"
        return ""


@dataclass(frozen=True, slots=True)
class Job:
    """One question in one order of its options."""

    index: int
    item: Item
    number: int  # of the order

    @property
    def order(self) -> tuple[int, ...]:
        """The places of the options; drawn when it is asked for, so that answers which are there cost nothing."""
        return order_of(self.item, self.number)

    @property
    def id(self) -> str:
        """Names the answer within its run."""
        return f"{self.item.id}/{self.number}"


@dataclass
class Progress:
    """Progress of a run. ended: why it stops before the end, '' while it does not."""

    total: int
    done: int
    asked: int = 0  # by this start
    failed: int = 0  # questions that the server did not answer
    ended: str = ""
    spent: Spent = field(default_factory=Spent)


def settings_of(items: Sequence[Item], protocol: Protocol, orders: int, model: ModelSettings) -> RunSettings:
    """Returns the settings of a run that asks a model."""
    request = json.dumps(model.extra, sort_keys=True)
    without = ", ".join(protocol.without)
    return RunSettings(
        digest(items), len(items), protocol.name, protocol.digest, protocol.max_tokens, orders, model.name, request,
        without,
    )  # fmt: skip


def jobs_of(items: Sequence[Item], orders: int) -> list[Job]:
    """Returns every question in every order: orders outermost, within each the styles in turn."""
    with without_collector():
        turns = in_turns(items)
        shown = {item.id: number_of_orders(item, orders) for item in items}
        found = ((item, number) for number in range(orders) for item in turns if number < shown[item.id])
        return [Job(index, item, number) for index, (item, number) in enumerate(found)]


def open_run(folder: Path, settings: RunSettings, items: Sequence[Item]) -> Store:
    """Begins a run or goes on with one. Raises UsageError for a folder of other settings."""
    store = Store(folder, settings, FILES)
    try:
        if not (folder / ITEMS).exists():
            write_atomically(folder / ITEMS, as_lines(items))
    except BaseException:
        store.close()
        raise
    return store


def run(
    jobs: Sequence[Job],
    store: Store,
    ask: Callable[[Item, Sequence[int]], Answer],
    protocol: Protocol,
    prices: ModelSettings,
    workers: int,
    show: Callable[[Progress], None],
) -> Progress:
    """Asks what is not answered yet, several questions at a time, until all are, or the budget is spent.

    prices: whose budget and prices end it. A server that fails at several questions in a row is given up.
    """
    waiting = [job for job in jobs if job.id not in store.done]
    progress = Progress(len(jobs), len(jobs) - len(waiting))
    for record in store.earlier:
        _add(progress.spent, record)
    todo: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    came: queue.SimpleQueue[tuple[Job, Answer | BaseException]] = queue.SimpleQueue()

    def work() -> None:
        while (job := todo.get()) is not None:
            try:
                came.put((job, ask(job.item, job.order)))
            except BaseException as error:  # told by the thread that waits for it
                came.put((job, error))

    for _ in range(workers):
        threading.Thread(target=work, daemon=True).start()  # an answer on its way keeps nobody from ending
    flying, row, place = 0, 0, 0
    show(progress)
    try:
        while True:
            while place < len(waiting) and flying < workers and not progress.ended:
                progress.ended = progress.spent.over(prices)
                if not progress.ended:
                    todo.put(waiting[place])
                    place, flying = place + 1, flying + 1
            if not flying:
                return progress
            answers = [came.get()]
            while not came.empty() and len(answers) < TOGETHER:
                answers.append(came.get())
            flying -= len(answers)
            records = [
                answer_record(job, answer, protocol, store.settings_hash)
                for job, answer in answers
                if isinstance(answer, Answer)
            ]
            if records:
                _append(store, records)
            for record in records:
                _add(progress.spent, record)
            progress.done, progress.asked = progress.done + len(records), progress.asked + len(records)
            for _, answer in answers:
                if isinstance(answer, Answer):
                    row = 0
                elif isinstance(answer, NoAnswer):
                    progress.failed, row = progress.failed + 1, row + 1
                    if row >= max(_FAILURES_IN_A_ROW, 2 * workers) or (
                        answer.status in _REFUSED and not progress.asked
                    ):
                        progress.ended = f"the server failed at {row} questions in a row: {answer}"
                else:
                    raise answer
            show(progress)
    finally:
        for _ in range(workers):
            todo.put(None)


def answer_record(job: Job, answer: Answer, protocol: Protocol, settings_hash: str) -> dict[str, Any]:
    """An answer's line. What depends on the clock stands under `timing`."""
    item, order, completion = job.item, job.order, answer.completion
    outcome, place = protocol.read(completion.text, completion.finish, [item.options[i] for i in order])
    pick = None if place is None else order[place]
    return {
        "schema": ANSWER_SCHEMA,
        "index": job.index,
        "id": job.id,
        "item": item.id,
        "style": item.style,
        "order": "".join(LETTERS[i] for i in order),
        "text": completion.text,
        "finish": completion.finish,
        "outcome": outcome.value,
        "pick": None if pick is None else LETTERS[pick],  # of the original order
        "correct": pick == item.key,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
        "estimated": answer.estimated,
        "changes": list(answer.changes),  # of the request, that the server called for
        "model": completion.model,
        "settings_hash": settings_hash,
        "timing": {"seconds": round(answer.seconds, 4), "attempts": answer.attempts},
    }


def _append(store: Store, records: Sequence[dict[str, Any]]) -> None:
    try:
        store.append(*records)
    except OSError as error:
        raise UsageError(f"cannot write {store.folder}: {error.strerror}", "the same command then goes on") from None


def _add(spent: Spent, record: dict[str, Any]) -> None:
    spent.tokens_in += record["tokens_in"]
    spent.tokens_out += record["tokens_out"]
    spent.seconds += record["timing"]["seconds"]
    spent.estimated |= record["estimated"]


# --- What was run -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run's folder as it is read again."""

    folder: Path
    settings: RunSettings
    items: tuple[Item, ...]
    answers: tuple[dict[str, Any], ...]

    @property
    def is_imported(self) -> bool:
        """True for answers that were not asked here."""
        return self.settings.prompt == IMPORTED

    def count(self, outcome: Outcome) -> int:
        """Returns the number of answers with this outcome."""
        return sum(answer["outcome"] == outcome.value for answer in self.answers)

    @property
    def scores(self) -> dict[str, float]:
        """By item id the mean over the orders that it was asked in."""
        found: dict[str, list[bool]] = {}
        for answer in self.answers:
            found.setdefault(answer["item"], []).append(answer["correct"])
        return {name: sum(own) / len(own) for name, own in found.items()}


def read_run(folder: Path) -> Run:
    """Reads a run. Raises UsageError where the folder is none, or holds other questions than it was run with."""
    if not (folder / FILES.manifest).is_file():
        raise UsageError(f"{folder} holds no run of questions", "name the --out folder of ./esar mcq run or import")
    manifest = read_manifest(folder / FILES.manifest, FILES.schema)
    try:
        settings = RunSettings(**manifest["settings"])
    except TypeError:
        raise UsageError(f"{folder / FILES.manifest}: not the settings of a run", "restore the file") from None
    if settings.hash != manifest["settings_hash"]:
        raise UsageError(f"{folder / FILES.manifest}: its settings were changed after the run", "restore the file")
    items = usable_items([folder / ITEMS]).items
    if digest(items) != settings.items:
        raise UsageError(f"{folder / ITEMS} was changed since it was asked", "restore the file")
    known = {item.id for item in items}
    answers = read_contents(folder, FILES).records
    strange = next((answer["id"] for answer in answers if answer.get("item") not in known), None)
    if strange is not None:
        raise UsageError(f"{folder / FILES.records}: {strange} answers no question of the run", "restore the file")
    other = next((answer["id"] for answer in answers if answer.get("settings_hash") != settings.hash), None)
    if other is not None:
        raise UsageError(f"{folder / FILES.records}: {other} was answered under other settings", "restore the files")
    if settings.protocol not in PROTOCOLS:
        raise UsageError(f"{folder / FILES.manifest}: no protocol '{settings.protocol}'", "restore the file")
    return Run(folder, settings, items, tuple(answers))
