"""The report at the end of a mission: a table, an image and a page."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from esar_ros.benchmark.report.mission_page import render_html
from esar_ros.benchmark.report.mission_record import MissionRecord, open_record
from esar_ros.benchmark.report.scorecard import scorecard_png, terminal_table
from esar_ros.scoring.result import Result, write_atomically


def show_mission(folder: Path, console: Console | None = None) -> Result:
    """Write scorecard.png and report.html beside result.json and bag/, print the table, and return the result.

    Raises UsageError.
    """
    flown = open_record(folder)
    write_views(flown, folder)
    screen = console or Console(highlight=False)
    screen.print(terminal_table(flown.result, flown.record.origin))
    screen.print(f"\n{folder / 'report.html'}\n{folder / 'scorecard.png'}", soft_wrap=True)
    return flown.result


def write_views(flown: MissionRecord, folder: Path) -> None:
    """scorecard.png and report.html of a mission. Raises UsageError."""
    write_atomically(folder / "scorecard.png", scorecard_png(flown))
    write_atomically(folder / "report.html", render_html(flown))
