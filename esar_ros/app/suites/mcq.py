"""`esar mcq`: questions about UAV missions: checked, put to a language model, and its answers compared."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from esar_ros.app.arguments import Parser
from esar_ros.mission.errors import UsageError, seed_number

if TYPE_CHECKING:
    from esar_ros.planning.model.settings import ModelSettings
    from esar_ros.suites.uavbench.mcq.reading import Finding
    from esar_ros.suites.uavbench.mcq.run import Progress

INTERRUPTED = 130
QUIET_PERIOD = 10.0  # s between lines of progress
MOST_NOTES = 5  # of oddities before a run
LOCAL_MODELS = ("smollm2",)
PROTOCOL_NAMES = ("esar", "paper")
PART_NAMES = ("description", "question")
_ITEMS = "questions: a folder, .zip, .jsonl, .json, or a result .csv of the paper's script"


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar mcq", description="Multiple-choice questions about UAV missions for language models.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _run_arguments(commands.add_parser("run", help="put questions to a model; the same command goes on"))
    report = commands.add_parser("report", help="page, tables and figures of runs, beside what needs no understanding")
    report.add_argument("folders", nargs="+", metavar="DIR", help="--out folders of runs")
    report.add_argument("--out", metavar="DIR", help="where to write (default: report/ in the first folder)")
    report.add_argument("--nearest", action="store_true", help="also the option nearest in meaning (extra text)")
    imported = commands.add_parser("import", help="make a run of answers that were given elsewhere")
    imported.add_argument("file", metavar="FILE", help="the paper's .csv, or .jsonl with id and answer on each line")
    imported.add_argument("--items", nargs="+", default=[], metavar="ITEMS", help=f"{_ITEMS} (default: the .csv's own)")
    imported.add_argument("--model", default="", metavar="NAME", help="who answered (default: what the .csv says)")
    imported.add_argument("--protocol", default="", choices=PROTOCOL_NAMES, help="how (default: paper, of a .csv)")
    imported.add_argument("--out", required=True, metavar="DIR", help="folder of the run")
    check = commands.add_parser("check", help="tell what is wrong with questions and what gives their answers away")
    check.add_argument("items", nargs="+", metavar="ITEMS", help=_ITEMS)
    make = commands.add_parser("make", help="questions whose answers are computed from scenarios (styles 1, 2, 5, 7)")
    make.add_argument("scenarios", nargs="+", metavar="SCENARIOS", help="a folder, .zip, .jsonl or .json of them")
    make.add_argument("--out", required=True, metavar="FILE", help="JSON lines of questions")
    make.add_argument("--flights", metavar="DIR", help="--out folder of their flights: also what these showed")
    make.add_argument("--count", type=int, default=400, metavar="N", help="as many a style (default %(default)s)")
    make.add_argument(
        "--seed", type=seed_number, default=0, metavar="N", help="same seed, same bytes (default %(default)s)"
    )
    arguments = parser.parse_args(argv)
    verbs = {"run": _run, "report": _report, "import": _import, "check": _check, "make": _make}
    return verbs[arguments.command](arguments)


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("items", nargs="+", metavar="ITEMS", help=_ITEMS)
    add("--out", required=True, metavar="DIR", help="folder of the answers; the same one goes on")
    add("--model", default="", metavar="NAME", help="model's name at the server (default: ESAR_MODEL_NAME)")
    add("--local", default="", choices=LOCAL_MODELS, help="a tiny model on this machine instead (extra tinylm)")
    add("--protocol", default="esar", choices=PROTOCOL_NAMES, help="how to ask and to read (default %(default)s)")
    add("--max-tokens", type=int, default=0, metavar="N", help="of an answer under protocol esar (default 1024)")
    add("--orders", type=int, default=1, metavar="K", help="orders of the options, the original first (default 1)")
    add(
        "--without",
        action="append",
        default=[],
        choices=PART_NAMES,
        metavar="PART",
        help="leave description or question out; given for both, the options stand alone",
    )
    add("--limit", type=int, default=None, metavar="N", help="at most N questions now; any such part is balanced")
    add("--budget", type=float, default=0.0, metavar="MONEY", help="end when the answers have cost this much")
    add("--workers", type=int, default=4, metavar="K", help="questions at a time (default %(default)s)")


def _run(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.uavbench.mcq.asking import Asker, model_settings, server_of
    from esar_ros.suites.uavbench.mcq.local import local_model
    from esar_ros.suites.uavbench.mcq.protocol import PROTOCOLS
    from esar_ros.suites.uavbench.mcq.reading import usable_items
    from esar_ros.suites.uavbench.mcq.run import jobs_of, open_run, run, settings_of

    for name, value, least, most in (
        ("orders", arguments.orders, 1, 7),
        ("workers", arguments.workers, 1, 256),
        ("limit", 1 if arguments.limit is None else arguments.limit, 1, 10**9),
        ("max-tokens", arguments.max_tokens or 16, 16, 1 << 20),
    ):
        if not least <= value <= most:
            raise UsageError(f"--{name} {value}", f"between {least} and {most}")
    protocol = PROTOCOLS[arguments.protocol]
    if arguments.max_tokens:
        if protocol.name == "paper":
            raise UsageError("--max-tokens with --protocol paper", f"it is {protocol.max_tokens} there")
        protocol = replace(protocol, max_tokens=arguments.max_tokens)
    protocol = replace(protocol, without=tuple(part for part in PART_NAMES if part in arguments.without))
    if arguments.local and arguments.model:
        raise UsageError("--local with --model", "leave one out")
    reading = usable_items([Path(name) for name in arguments.items])
    _tell(reading.findings)
    local = local_model(arguments.local, arguments.workers) if arguments.local else None
    with local or nullcontext(None) as served:
        settings = served or model_settings(arguments.model)
        settings = _budgeted(settings, arguments.budget)
        asked = settings_of(reading.items, protocol, arguments.orders, settings)
        store = open_run(Path(arguments.out), asked, reading.items)
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            jobs = jobs_of(reading.items, arguments.orders)[: arguments.limit]
            begun = "Going on with" if store.resumed else "Asking"
            shown = f" without {asked.without}" * bool(asked.without)
            print(f"{begun} {len(jobs)} questions{shown}, put to {settings.name}", flush=True)
            # A local model computes one answer at a time.
            asker = Asker(server_of(settings), settings, protocol)
            workers = 1 if arguments.local else arguments.workers
            line = _Lines()
            progress = run(jobs, store, asker.ask, protocol, settings, workers, line.show)
        except KeyboardInterrupt:
            print(f"Interrupted with {len(store.done)} answered; the same command goes on", file=sys.stderr)
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGTERM, before)
            store.close()
    print(f"{progress.done} of {progress.total} answered; tables: ./esar mcq report {arguments.out}")
    if progress.ended:
        print(f"Ended early: {progress.ended}", file=sys.stderr)
    if progress.failed:
        print(f"{progress.failed} without an answer of the server; the same command asks them again", file=sys.stderr)
    return 1 if progress.failed else 0


def _budgeted(settings: ModelSettings, money: float) -> ModelSettings:
    if not money:
        return settings
    if not money > 0.0 or not (settings.price_in or settings.price_out):
        raise UsageError(f"--budget {money:g}", "above 0, with price_in and price_out in config/planners.yaml, model")
    return settings.model_copy(update={"budget": settings.budget.model_copy(update={"money": money})})


def _report(arguments: argparse.Namespace) -> int:
    from esar_ros.benchmark.report.table import Table, markdown
    from esar_ros.planning.model.settings import ModelSettings
    from esar_ros.planning.parameters import MODEL, check, configured
    from esar_ros.suites.uavbench.mcq.report import make_report, write_report
    from esar_ros.suites.uavbench.mcq.run import read_run

    folders = [Path(name) for name in arguments.folders]
    prices = check(ModelSettings, configured("mcq", {}, shared=(MODEL,))[MODEL], "mcq")
    encode = None
    if arguments.nearest:
        from esar_ros.perception.text.sentence_encoder import SentenceEncoder

        encode = SentenceEncoder().encode
    runs = [read_run(folder) for folder in folders]
    sections = make_report(runs, prices, encode)
    out = Path(arguments.out) if arguments.out else folders[0] / "report"
    page, *others = write_report(runs, sections, out)
    for section in sections:
        if isinstance(section, Table) and section.name.startswith("mcq_overall"):
            print(markdown(section))
    tables = sum(isinstance(section, Table) for section in sections)
    drawings = len(sections) - tables
    print(f"{page}  (and {len(others)} files: {tables} tables as .md, .tex and .csv, {drawings} drawings as .svg)")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.uavbench.mcq.importing import import_answers

    items = [Path(name) for name in arguments.items]
    count, total = import_answers(Path(arguments.file), items, arguments.model, arguments.protocol, Path(arguments.out))
    print(f"{count} answers to {total} questions in {arguments.out}; tables: ./esar mcq report {arguments.out}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from esar_ros.suites.uavbench.mcq.check import gate
    from esar_ros.suites.uavbench.mcq.reading import read_items

    reading = read_items([Path(name) for name in arguments.items])
    findings = list(reading.findings)
    if reading.items:
        more, rows = gate(reading.items)
        findings += more
        for name, found in rows.items():
            print(f"{name:<18} {100 * found.value:5.1f} %  [{100 * found.low:.1f}, {100 * found.high:.1f}]")
    for finding in findings:
        print(f"{finding.where}: {finding.text} [{'error' if finding.is_error else 'note'}]")
    errors = sum(finding.is_error for finding in findings)
    print(f"{len(reading.items)} questions, {errors} errors, {len(findings) - errors} notes")
    return 2 if errors else 0


def _make(arguments: argparse.Namespace) -> int:
    from esar_ros.scoring.result import write_atomically
    from esar_ros.suites.uavbench.mcq.item import as_lines
    from esar_ros.suites.uavbench.mcq.make.flown import read_flights
    from esar_ros.suites.uavbench.mcq.make.making import checked_items, read_scenes, shortfall, styles_of

    if not 4 <= arguments.count <= 100_000:
        raise UsageError(f"--count {arguments.count}", "between 4 and 100000")
    flights = read_flights(Path(arguments.flights)) if arguments.flights else {}
    scenes, left_out = read_scenes([Path(name) for name in arguments.scenarios])
    if left_out:
        print(f"note: {left_out} scenarios with errors left out; see ./esar scenarios validate --profile public")
    items = checked_items(scenes, arguments.count, arguments.seed, flights)
    write_atomically(Path(arguments.out), as_lines(items))
    for style, made in shortfall(items, arguments.count, styles_of(flights)).items():
        print(f"note: only {made} of style {style}: there is no more to ask about")
    print(f"{len(items)} questions of {len(scenes)} scenarios in {arguments.out}")
    return 0


def _tell(findings: tuple[Finding, ...]) -> None:
    """Prints the first of the oddities of questions that are asked all the same."""
    for finding in findings[:MOST_NOTES]:
        print(f"note: {finding.where}: {finding.text}")
    if len(findings) > MOST_NOTES:
        print(f"note: {len(findings) - MOST_NOTES} more; see ./esar mcq check")


class _Lines:
    """Prints a line of progress now and then."""

    def __init__(self) -> None:
        self._printed = time.monotonic()

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._printed >= QUIET_PERIOD:
            self._printed = now
            failed = f", {progress.failed} failed" if progress.failed else ""
            print(f"  {progress.done} of {progress.total} answered{failed}", flush=True)


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt
