"""UAVBench's questions: the cost of making, asking, going on and reporting, and what the wording of made ones tells.

python benchmarks/uavbench_questions.py [--questions 2000] [--resumed 100000] [--runs 30] [--workers 8] [--seed 1]
[--page]

Questions are made from generated scenarios and put to a stub on loopback, in a process of its own, that answers at
once. CPU time is this process's: what else runs on the machine counts little, but in answers a second it does.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from page import Table, add_page, goal_table, write_page

from esar_ros.benchmark.runner.store import sealed_line
from esar_ros.mission.chat import ChatServer, Completion
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.suites.uavbench.mcq import run as runs
from esar_ros.suites.uavbench.mcq.asking import Answer, Asker
from esar_ros.suites.uavbench.mcq.baselines import reference_rows
from esar_ros.suites.uavbench.mcq.item import LETTERS, Item
from esar_ros.suites.uavbench.mcq.make.making import checked_items
from esar_ros.suites.uavbench.mcq.measures import Share, share
from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
from esar_ros.suites.uavbench.mcq.report import make_report, write_report
from esar_ros.suites.uavbench.scenarios.generate import scenario
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.scene import Scene

PROTOCOL = PROTOCOLS["esar"]
GOALS: dict[str, Any] = {
    "making_cpu_s": 60.0,
    "answers_per_s": (200.0, ">="),
    "cpu_ms_of_an_answer": 5.0,
    "resume_cpu_s": 2.0,
    "report_cpu_s": 20.0,
}
ORDERS = 7  # in which a question is asked, of a run that is gone on with


class Stub(BaseHTTPRequestHandler):
    """Says that B is right, whatever it is asked."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    answer = json.dumps(
        {
            "model": "stub",
            "choices": [{"message": {"role": "assistant", "content": "Answer: B"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 4},
        }
    ).encode()

    def do_POST(self) -> None:
        """Answers a chat completion."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def serve(pipe: Connection) -> None:
    """Serves the stub for good and sends its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    pipe.send(f"http://127.0.0.1:{server.server_address[1]}/v1")
    server.serve_forever()


def made(count: int, seed: int) -> tuple[list[Item], float]:
    """Returns questions that pass the gate, and the CPU seconds that they took without their scenarios."""
    scenes = [Scene(scenario(seed, number)) for number in range(3 * count // 5)]
    began = time.process_time()
    items = checked_items([(digest(scene.data), scene) for scene in scenes], count, seed)
    return items, time.process_time() - began


def asked(items: Sequence[Item], workers: int, folder: Path) -> dict[str, float]:
    """Returns how fast a run asks."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    model = ModelSettings(base_url=here.recv(), name="stub")
    store = runs.open_run(folder, runs.settings_of(items, PROTOCOL, 1, model), items)
    asker = Asker(ChatServer(model.base_url), model, PROTOCOL)
    cpu, wall = time.process_time(), time.monotonic()
    jobs = runs.jobs_of(items, 1)
    progress = runs.run(jobs, store, asker.ask, PROTOCOL, model, workers, lambda progress: None)
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    store.close()
    server.kill()
    if progress.done != len(items):
        raise SystemExit(f"{progress.done} of {len(items)} answered: {progress.ended}")
    return {"answers_per_s": progress.done / wall, "cpu_ms_of_an_answer": 1e3 * cpu / progress.done}


def answered(items: Sequence[Item], orders: int, most: int, name: str, folder: Path) -> runs.RunSettings:
    """Writes a run of answers of which three in seven are right, and returns its settings."""
    settings = runs.settings_of(items, PROTOCOL, orders, ModelSettings(base_url="http://127.0.0.1/v1", name=name))
    store = runs.open_run(folder, settings, items)
    store.close()
    lines = []
    for number, job in enumerate(runs.jobs_of(items, orders)[:most]):
        right = job.order.index(job.item.key)
        letter = LETTERS[right if zlib.crc32(f"{name}/{number}".encode()) % 7 < 3 else (right + 1) % 7]
        answer = Answer(Completion(f"Answer: {letter}", 300, 4, "stop"), False, 0.1, 1)
        lines.append(sealed_line(runs.answer_record(job, answer, PROTOCOL, settings.hash)))
    (folder / runs.FILES.records).write_bytes(b"".join(lines))
    return settings


def resumed(items: Sequence[Item], answers: int, folder: Path) -> dict[str, float]:
    """Returns the cost of going on with a run that has so many answers."""
    times = -(-answers // (ORDERS * len(items)))
    many = [replace(item, id=f"{item.id}-{k}") for item in items for k in range(times)]
    settings = answered(many, ORDERS, answers, "stub", folder)
    began = time.process_time()
    store = runs.open_run(folder, settings, many)
    jobs = runs.jobs_of(many, ORDERS)
    waiting = [job for job in jobs if job.id not in store.done]
    seconds = time.process_time() - began
    store.close()
    if len(waiting) != len(jobs) - answers:
        raise SystemExit(f"{len(jobs) - len(waiting)} answers found of {answers}")
    return {"resumed_answers": answers, "resume_cpu_s": seconds}


def reported(items: Sequence[Item], count: int, folder: Path) -> dict[str, float]:
    """Returns the cost of a report of so many models."""
    folders = [folder / f"model{number}" for number in range(count)]
    for own in folders:
        answered(items, 1, len(items), own.name, own)
    began = time.process_time()
    read = [runs.read_run(own) for own in folders]
    write_report(read, make_report(read, ModelSettings()), folder / "report")
    return {"reported_models": count, "report_cpu_s": time.process_time() - began}


def shown(found: Share) -> str:
    """Returns a share in per cent with its interval."""
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def main() -> int:
    """Measures; exit code 1 where a goal is missed."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--resumed", type=int, default=100_000, help="answers of the run that is gone on with")
    parser.add_argument("--runs", type=int, default=30, help="models of the report")
    parser.add_argument("--workers", type=int, default=8, help="questions at a time")
    parser.add_argument("--seed", type=int, default=1)
    add_page(parser)
    arguments = parser.parse_args()
    items, seconds = made(arguments.questions, arguments.seed)
    figures: dict[str, float] = {"questions": len(items), "making_cpu_s": seconds}
    rows = {name: share(list(own.values())) for name, own in reference_rows(items, 1).items()}
    with TemporaryDirectory() as folder:
        figures |= asked(items, arguments.workers, Path(folder) / "asked")
        figures |= resumed(items, arguments.resumed, Path(folder) / "resumed")
        figures |= reported(items, arguments.runs, Path(folder))
    for name, value in figures.items():
        print(f"{name:22}{value:>10.4g}", flush=True)
    for name, found in rows.items():
        print(f"{name:22}{shown(found):>22}")
    met = {name: figures[name] <= goal for name, goal in GOALS.items() if name != "answers_per_s"}
    met["answers_per_s"] = figures["answers_per_s"] >= GOALS["answers_per_s"][0]
    if arguments.page:
        about = (
            "Questions with computed answers, made from generated scenarios and put to a stub that answers at once: "
            "each answer is on the disk before it counts. CPU time is that of the process that makes, asks or reports. "
            "Answers a second hang on what else the machine does; the CPU time of an answer hardly does."
        )
        conditions = {name: getattr(arguments, name) for name in ("seed", "workers")}
        baselines = Table(
            ("row", "right, per cent"),
            [(name, shown(found)) for name, found in rows.items()],
            "What needs no understanding",
        )
        write_page(__file__, "UAVBench's questions", about, conditions, [goal_table(figures, GOALS, met), baselines])
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
