"""`esar scenarios fly`: scenarios flown one by one or in processes, kept in a folder, and their agreement."""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from typing import Any

from esar_ros import __version__
from esar_ros.app.arguments import ON_OFF, on_off
from esar_ros.app.suites.pool import interruptible_pool
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.uavbench.scenarios.flights.agreement import agreement_of
from esar_ros.suites.uavbench.scenarios.flights.files import read_flight, write_flight
from esar_ros.suites.uavbench.scenarios.flights.flight import Options, try_to_fly
from esar_ros.suites.uavbench.scenarios.reading import digest
from esar_ros.suites.uavbench.scenarios.sources import documents
from esar_ros.suites.uavbench.scenarios.validate import validate

RUN_SCHEMA = "esar-scenario-run/2"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `fly` beside its files."""
    parser.add_argument("--out", type=Path, help="folder of results, which goes on where it was ended")
    about = "off: it only watches (%(default)s)"
    parser.add_argument("--governor", type=on_off, choices=ON_OFF, default="on", help=about)
    parser.add_argument("--as-multirotor", action="store_true", help="fly wings and hybrids, too, as if they hovered")
    parser.add_argument(
        "--traffic", choices=("told", "silent"), default="told", help="what the governor knows of others (%(default)s)"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes (%(default)s)")


def fly_all(arguments: argparse.Namespace) -> int:
    """Flies every scenario that is valid in the profile. Raises UsageError."""
    options = Options(arguments.governor == "on", arguments.as_multirotor, arguments.traffic == "told")
    if arguments.out is not None:
        _open_run(arguments.out, {"schema": RUN_SCHEMA, "version": __version__, **asdict(options)})
    results = []
    for source, result in _results(arguments, options):
        results.append(result)
        if arguments.out is None:
            print(json.dumps({"source": source, **result}))
        else:
            print(f"{source}: {_summary(result)}", flush=True)
    found = agreement_of(results)
    if arguments.out is not None:
        _write(arguments.out / "agreement.json", found)
        print(_agreement_lines(found))
    return 1 if any(result["status"] == "error" for result in results) else 0


def _results(arguments: argparse.Namespace, options: Options) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields name and result of each scenario in order; those that are there already are not flown again."""
    waiting: deque[tuple[str, Future[dict[str, Any]] | dict[str, Any]]] = deque()
    with interruptible_pool(arguments.workers) as pool:
        for source, content in documents(arguments.files):
            checked = validate(content, arguments.profile)
            if checked.has_error or checked.scene is None:
                error = next(finding for finding in checked.findings if finding.severity == "error")
                raise UsageError(error.line(source), "validate it first; --profile public reads the released files")
            path = arguments.out / "flights" / f"{digest(checked.scene.data)}.json" if arguments.out else None
            if path is not None and path.is_file():
                waiting.append((source, read_flight(path)))
            elif arguments.workers == 1:
                waiting.append((source, _fly_one(content, arguments.profile, options, path)))
            else:
                waiting.append((source, pool.submit(_fly_one, content, arguments.profile, options, path)))
            if len(waiting) > 2 * (arguments.workers - 1):
                yield _next(waiting)
        while waiting:
            yield _next(waiting)


def _next(waiting: deque[tuple[str, Future[dict[str, Any]] | dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    source, result = waiting.popleft()
    return source, result.result() if isinstance(result, Future) else result


def _fly_one(content: bytes, profile: str, options: Options, path: Path | None) -> dict[str, Any]:
    scene = validate(content, profile).scene
    assert scene is not None
    result = try_to_fly(scene, options)
    if path is not None and result["status"] != "error":  # the next run tries again
        write_flight(path, result)
    return result


def _open_run(out: Path, settings: dict[str, Any]) -> None:
    """Makes a folder of results, or goes on in one of the same settings. Raises UsageError."""
    path = out / "run.json"
    try:
        (out / "flights").mkdir(parents=True, exist_ok=True)
        if path.is_file():
            if json.loads(path.read_text(encoding="utf-8")) != settings:
                raise UsageError(f"{out} holds flights of other settings or another version", "choose another --out")
        else:
            _write(path, settings)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot use {out}: {error}", "choose another folder with --out") from None


def _write(path: Path, value: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(value, indent=1) + "\n")


def _summary(result: dict[str, Any]) -> str:
    if result["status"] != "flown":
        return f"{result['status']}: {result['why']}"
    points = result["waypoints"]
    return (
        f"predicted {result['predicted']['risk_level']}, outcome {result['outcome_level']}, "
        f"{points['reached']} of {points['of']} waypoints in {result['seconds']:.0f} s"
    )


def _agreement_lines(found: dict[str, Any]) -> str:
    lines = [", ".join(f"{count} {status}" for status, count in found["flights"].items())]
    lines.append("predicted level | outcome 0, 1, 2, 3")
    lines += [f"{level} | {', '.join(map(str, row))}" for level, row in enumerate(found["matrix"], 1)]
    for name in ("spearman", "auc_of_risk_score"):
        value = found[name]
        text = "undefined" if value is None else f"{value['value']:.2f} [{value['low']:.2f}, {value['high']:.2f}]"
        lines.append(f"{name.replace('_', ' ')}: {text}")
    lines.append(
        f"{found['collisions']} collisions, {found['geofence_breaches']} fence breaches, "
        f"{found['altitude_violations']} altitude violations"
    )
    lines.append("This measures our rules against our simulator.")
    return "\n".join(lines)
