"""The pages of docs/results: a benchmark that is called with --page writes the figures that it prints as one.

A page names the command that made it, the day, the version and what it ran on, so that the figures can be made again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import reference

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.processor import processor_name

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
MEASURED = ("esar_ros", "benchmarks", "config", "models")
_LOAD_AT_START = os.getloadavg()[0]


@dataclass(frozen=True)
class Table:
    """A table: columns with their units, and rows of as many cells; numbers are shown with four digits."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""


def add_page(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --page."""
    parser.add_argument("--page", action="store_true", help="also write the figures to docs/results/")


def _without_folder(argument: str) -> str:
    """Returns an argument as it is written down: of a path that holds on one machine, the name."""
    return Path(argument).name if argument.startswith("/") else argument


def end_with(main: Callable[[], int]) -> NoReturn:
    """Ends the script with the exit code of `main`; bad input is told in a line and ends it with 2."""
    try:
        sys.exit(main())
    except UsageError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(2)


def goal_table(
    figures: Mapping[str, Any],
    goals: Mapping[str, Any],
    met: Mapping[str, bool],
    sign: str = "<=",
    intervals: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """Returns a row a figure: its value with its interval, its goal, and whether that is met.

    A goal is a bound of the given sign, a pair (bound, sign) of its own, or a range [low, high]. A figure in ms has
    its ratio to the reference kernel's time of this run beside it, which says more of another machine.
    """
    rows: list[tuple[Any, ...]] = []
    is_timed = any(map(_is_of_processor, figures))
    for name, value in figures.items():
        is_number = _is_of_processor(name) and value is not None
        ratio = [value / reference.kernel_ms() if is_number else ""] * is_timed
        if intervals is not None and name in intervals:
            value = f"{shown(value)} [{', '.join(map(shown, intervals[name]))}]"
        verdict = "" if name not in met else "met" if met[name] else "**missed**"
        stated = (_wanted(goals.get(name), sign), verdict) if goals else ()
        rows.append((name.replace("_", " "), value, *ratio, *stated))
    columns = ("figure", "measured", *["of the reference"] * is_timed, *(("goal", "") if goals else ()))
    return Table(columns, rows)


def _is_of_processor(name: str) -> bool:
    """Returns whether a figure is a time in ms that the processor needs."""
    return name.endswith("_ms") and "cuda" not in name and "gpu" not in name


def _wanted(goal: Any, sign: str) -> str:
    if goal is None:
        return ""
    if not isinstance(goal, (tuple, list)):
        return f"{sign} {shown(goal)}"
    first, second = goal
    return f"{second} {shown(first)}" if isinstance(second, str) else f"{shown(first)} to {shown(second)}"


def write_page(
    script: str, title: str, about: str, conditions: Mapping[str, Any], tables: Sequence[Table | str], part: str = ""
) -> Path:
    """Writes docs/results/<name of the script>.md, or <name>_<part>.md, and returns its path.

    `about` says what was measured and how, in Markdown, and so may a table; `conditions` holds options and seeds,
    beside which stand day, version, command and machine.
    """
    command = shlex.join(
        ["./esar", "exec", "python", f"benchmarks/{Path(script).name}", *map(_without_folder, sys.argv[1:])]
    )
    rows = {
        "command": f"`{command}`",
        **_circumstances(),
        **{key.replace("_", " "): v for key, v in conditions.items()},
    }
    about = textwrap.fill(about, 120, break_long_words=False, break_on_hyphens=False)
    parts = [f"# {title}", f"<!-- Made by `{command}`; do not edit. -->", about]
    for table in tables:
        if isinstance(table, str):
            parts.append(table.strip())
            continue
        parts += [
            *([f"## {table.title}"] if table.title else []),
            markdown(table),
            *([table.note] if table.note else []),
        ]
    parts += ["## Conditions", markdown(Table(("", ""), list(rows.items())))]
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{'_'.join(filter(None, (Path(script).stem, part)))}.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(os.path.relpath(path))
    return path


def markdown(table: Table) -> str:
    """Returns the table as Markdown."""
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join("| " + " | ".join(shown(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def shown(value: Any) -> str:
    """Returns a cell's words: numbers with four digits, whole ones in full, a dash where there is none."""
    if value is None or value != value:
        return "-"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.4g}"
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _circumstances() -> dict[str, str]:
    """Returns day, version and machine."""
    loads = f"{_LOAD_AT_START:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    return {
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "version": f"esar_ros {version('esar_ros')}, commit {_commit()}",
        "machine": f"{os.cpu_count()} cores, {processor_name() or 'unknown CPU'}, {platform.system()}, "
        f"Python {platform.python_version()}",
        "its features": reference.features(),
        "reference": f"{reference.kernel_ms():.3g} ms ({reference.WORDS})",
        "load average (1 min)": loads,
    }


def measured_code() -> str:
    """Returns the commit that last changed what is measured, with a digest of the changes since then."""
    try:
        changes = _git("diff", "HEAD", "--", *MEASURED)
        digest = f" and {hashlib.sha256(changes.encode()).hexdigest()[:8]}" if changes else ""
        return _git("log", "-1", "--format=%h", "--", *MEASURED) + digest
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _commit() -> str:
    """Returns the checkout's commit, with a note where the measured files differ from it."""
    try:
        name = _git("describe", "--always", "--tags")
        return name + (", with changes" if _git("status", "--porcelain", "--", *MEASURED) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(ROOT), *arguments], text=True, stderr=subprocess.DEVNULL).strip()
