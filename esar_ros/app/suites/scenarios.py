"""`esar scenarios`: check, label, describe, count, make and fly UAVBench's scenarios."""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from typing import Any

from esar_ros.app.arguments import Parser
from esar_ros.app.suites.pool import interruptible_pool
from esar_ros.app.suites.scenario_flights import add_flags, fly_all
from esar_ros.mission.errors import UsageError, seed_number
from esar_ros.suites.uavbench.scenarios.describe import describe
from esar_ros.suites.uavbench.scenarios.findings import ERROR, SEVERITIES, WARNING, Finding, printable
from esar_ros.suites.uavbench.scenarios.generate import scenario, written
from esar_ros.suites.uavbench.scenarios.risk import LEVELS, label
from esar_ros.suites.uavbench.scenarios.schema import json_schema
from esar_ros.suites.uavbench.scenarios.sources import Document, documents
from esar_ros.suites.uavbench.scenarios.statistics import Statistics, agreement
from esar_ros.suites.uavbench.scenarios.validate import PROFILES, Checked, validate

_CHUNK = 200  # documents that a worker is handed at once


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(prog="esar scenarios", description="UAVBench's scenarios: whole UAV missions as JSON.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("schema", help="the JSON Schema of a scenario")
    check = verbs.add_parser("validate", help="what is wrong with scenarios; exit code 2 if anything is an error")
    _add_files(check)
    check.add_argument("--json", action="store_true", help="one JSON object a document")
    check.add_argument("--workers", type=int, default=1, help="processes (%(default)s)")
    risk = verbs.add_parser("label", help="the risk of scenarios by rules, one JSON object a line")
    _add_files(risk)
    risk.add_argument("--against", action="store_true", help="compare with the labels in the files")
    _add_files(verbs.add_parser("describe", help="scenarios in plain sentences, from their fields alone"))
    stats = verbs.add_parser("stats", help="counts by mission, airspace, weather, vehicle, risk and finding")
    _add_files(stats)
    stats.add_argument("--json", action="store_true", help="the numbers as JSON")
    made = verbs.add_parser("generate", help="make valid scenarios by rules: the same bytes from the same seed")
    made.add_argument("--count", type=int, required=True, help="how many")
    made.add_argument("--seed", type=seed_number, default=0, help="(%(default)s)")
    made.add_argument("--out", type=Path, required=True, help="folder to write to")
    made.add_argument("--target-level", type=int, choices=LEVELS, help="risk level (default: the three in turn)")
    made.add_argument("--workers", type=int, default=1, help="processes (%(default)s)")
    flights = verbs.add_parser("fly", help="fly scenarios under the governor; outcome beside predicted risk")
    _add_files(flights)
    add_flags(flights)
    arguments = parser.parse_args(argv)
    if getattr(arguments, "workers", 1) < 1:
        raise UsageError(f"--workers {arguments.workers}", "give 1 or more")
    run = {
        "schema": _schema,
        "validate": _validate,
        "label": _label,
        "describe": _describe,
        "stats": _stats,
        "generate": _generate,
        "fly": fly_all,
    }[arguments.verb]
    return run(arguments)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=".json, .jsonl, a folder or a .zip")
    parser.add_argument("--profile", choices=PROFILES, default="strict", help="(%(default)s)")


def _schema(arguments: argparse.Namespace) -> int:
    print(json_schema(), end="")
    return 0


# -- validate -------------------------------------------------------------------------------------


def _validate(arguments: argparse.Namespace) -> int:
    counts = dict.fromkeys((*SEVERITIES, ""), 0)  # documents by their worst finding
    for source, findings in _findings(arguments):
        counts[min((f.severity for f in findings), key=SEVERITIES.index, default="")] += 1
        if arguments.json:
            print(json.dumps({"source": source, "findings": [finding.document() for finding in findings]}))
        else:
            for finding in findings:
                print(finding.line(source))
    total = sum(counts.values())
    if not arguments.json:
        sound = total - counts[ERROR] - counts[WARNING]
        print(
            f"{total} scenarios: {counts[ERROR]} with errors, {counts[WARNING]} with warnings, {sound} without either"
        )
    return 2 if counts[ERROR] else 0


def _findings(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Finding]]]:
    """Yields name and findings of each document, in their order."""
    found = documents(arguments.files)
    if arguments.workers == 1:
        yield from ((source, validate(content, arguments.profile).findings) for source, content in found)
        return
    waiting: deque[Future[list[tuple[str, list[Finding]]]]] = deque()
    with interruptible_pool(arguments.workers) as pool:
        for chunk in _chunks(found):
            waiting.append(pool.submit(_check_chunk, chunk, arguments.profile))
            if len(waiting) > 2 * arguments.workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _chunks(found: Iterable[Document]) -> Iterator[list[Document]]:
    rest = iter(found)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk


def _check_chunk(chunk: list[Document], profile: str) -> list[tuple[str, list[Finding]]]:
    return [(source, validate(content, profile).findings) for source, content in chunk]


# -- label, describe, stats -------------------------------------------------------------------------


def _scenes(arguments: argparse.Namespace) -> Iterator[tuple[str, Checked]]:
    """Yields every document. Raises UsageError for one that cannot be read."""
    for source, content in documents(arguments.files):
        checked = validate(content, arguments.profile)
        if checked.scene is None:
            raise UsageError(checked.findings[0].line(source))
        yield source, checked


def _label(arguments: argparse.Namespace) -> int:
    pairs = []
    for source, checked in _scenes(arguments):
        assert checked.scene is not None
        ours = label(checked.scene)
        if not arguments.against:
            print(json.dumps({"source": source, "label": ours}))
        elif (theirs := _level(checked.scene.data)) is not None:
            pairs.append((theirs, int(ours["risk_level"])))
    if arguments.against:
        if not pairs:
            raise UsageError("no file has a label of level 1 to 3", "leave out --against")
        _print_agreement(pairs)
    return 0


def _level(data: dict[str, Any]) -> int | None:
    """Returns the level in a file's label, if it has one."""
    stated = data.get("label")
    level = stated.get("risk_level") if isinstance(stated, dict) else None
    return int(level) if level in LEVELS and not isinstance(level, bool) else None


def _print_agreement(pairs: list[tuple[int, int]]) -> None:
    found = agreement(pairs)
    print("file's level | ours: 1, 2, 3")
    for level, row in zip(LEVELS, found.matrix, strict=True):
        print(f"{level} | {', '.join(map(str, row))}")
    kappa = "undefined" if found.kappa is None else f"{found.kappa:.3f}"
    print(
        f"{len(pairs)} labels: accuracy {found.accuracy:.3f}, always the file's commonest {found.commonest:.3f}, "
        f"Cohen's kappa {kappa}"
    )


def _describe(arguments: argparse.Namespace) -> int:
    for source, checked in _scenes(arguments):
        assert checked.scene is not None
        print(printable(f"{source}: {describe(checked.scene)}"))
    return 0


def _stats(arguments: argparse.Namespace) -> int:
    statistics, unreadable, readable = Statistics(), "", False
    for source, content in documents(arguments.files):
        checked = validate(content, arguments.profile)
        statistics.add(checked)
        readable |= checked.scene is not None
        unreadable = unreadable or (checked.findings[0].line(source) if checked.scene is None else "")
    if unreadable and not readable:
        raise UsageError(unreadable)
    found = statistics.document()
    if arguments.json:
        print(json.dumps(found, indent=1))
        return 0
    print(f"{found['documents']} scenarios, {found['with_errors']} with errors ({arguments.profile})")
    for axis, counts in found["axes"].items():
        print(printable(f"{axis}: " + ", ".join(f"{token} {count}" for token, count in counts.items())))
    for name, spread in found["numbers"].items():
        print(f"{name}: {spread['min']:g} to {spread['max']:g}, median {spread['median']:g}")
    print(
        "documents by finding: " + (", ".join(f"{code} {count}" for code, count in found["findings"].items()) or "none")
    )
    return 0


# -- generate -------------------------------------------------------------------------------------


def _generate(arguments: argparse.Namespace) -> int:
    if arguments.count < 1:
        raise UsageError(f"--count {arguments.count}", "give 1 or more")
    out, seed, level = arguments.out, arguments.seed, arguments.target_level
    chunks = [range(start, min(start + _CHUNK, arguments.count)) for start in range(0, arguments.count, _CHUNK)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        if arguments.workers == 1:
            for numbers in chunks:
                _write_chunk(out, seed, numbers, level)
        else:
            with interruptible_pool(arguments.workers) as pool:
                for done in [pool.submit(_write_chunk, out, seed, numbers, level) for numbers in chunks]:
                    done.result()
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error}", "choose another folder with --out") from None
    print(f"{arguments.count} scenarios of seed {seed} written to {out}")
    return 0


def _write_chunk(out: Path, seed: int, numbers: range, level: int | None) -> None:
    for number in numbers:
        data = scenario(seed, number, level)
        part = out / f"{data['name']}.part"  # an end at any moment leaves no half; 50,000 are not synced to disk
        part.write_bytes(written(data))
        part.replace(out / f"{data['name']}.json")
