"""The score of a run's logs: as a table by size class for the terminal, and as JSON (schema uav-on-score/1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from esar_ros.mission.object_goal import SizeClass
from esar_ros.scoring.object_goal import (
    TOTAL,
    GoalScores,
    Rules,
    final_distance,
    oracle_succeeded,
    path_efficiency,
    path_flown,
    scores_by_size,
    succeeded,
)
from esar_ros.suites.uav_on.logs import LoggedFlight, Logs, read_logs

SCHEMA = "uav-on-score/1"
_NAMED = 5  # folders that a note names
_DASH = "–"


class LogScore:
    """A run's logs scored under one set of rules. Raises UsageError on a folder that cannot be scored."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        self.rules = rules
        self.logs: Logs = read_logs(folder)
        self.records = [flight.record for flight in self.logs.flights]
        self.scores = scores_by_size(self.records, rules)

    def document(self) -> dict[str, Any]:
        """The score as JSON's values; rates are shares of 1, lengths in m."""
        return {
            "schema": SCHEMA,
            "suite": "uav-on",
            "rules": self.rules.value,
            "poses": self.records[0].poses,
            "shortest": "dataset",
            "scores": {name: asdict(scores) for name, scores in self.scores.items()},
            "episodes": [self._episode(flight) for flight in self.logs.flights],
            "left_out": [{"folder": folder, "reason": reason} for folder, reason in self.logs.incomplete],
        }

    def _episode(self, flight: LoggedFlight) -> dict[str, Any]:
        record = flight.record
        return {
            "folder": flight.folder,
            "scene": record.scene,
            "id": record.episode,
            "size": record.size.value if record.size else None,
            "success": succeeded(record, self.rules),
            "oracle": oracle_succeeded(record, self.rules),
            "dts": final_distance(record, self.rules),
            "spl": path_efficiency(record, self.rules),
            "ending": record.ending.value,
            "steps": record.steps,
            "path": path_flown(record, self.rules),
            "outcome_from": "folder" if record.recorded else "log",
            "contact_in_stop_by_name": flight.contact_by_name,
            "contradicts_name": flight.contradicts_name,
        }

    def table(self) -> RenderableType:
        """Tables 2 and 3 of the paper for this run, a row a size class, with notes beneath."""
        head = f"UAV-ON · rules: {self.rules.value} · {self.records[0].poses} poses · shortest paths of the dataset"
        navigation = self._rows(("episodes", "DTS m", "SR %", "OSR %", "SPL %"), _navigation)
        flight = self._rows(("stop %", "max step %", "collision %", "steps", "safe dist. m"), _flight)
        notes = [Text(note) for note in self.notes()]
        return Group("", Text(head, "bold"), "", navigation, "", flight, "", *notes)

    def _rows(self, heads: Sequence[str], cells: Callable[[GoalScores], list[str]]) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("")
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for name in (*(size.value for size in SizeClass), TOTAL):
            scores = self.scores.get(name)
            table.add_row(
                Text(name, "bold" if name == TOTAL else ""), *(cells(scores) if scores else [_DASH] * len(heads))
            )
        return table

    def notes(self) -> list[str]:
        """Sentences on what the numbers rest on: outcomes by name, contradictions, what was left out."""
        flights = self.logs.flights
        by_name = sum(flight.record.recorded is not None for flight in flights)
        notes = []
        if self.rules is Rules.CODE:
            notes.append(
                f"Success and oracle success: of {by_name} by the folder's name, {len(flights) - by_name} by the log"
            )
        stops = [flight.folder for flight in flights if flight.contact_by_name]
        if stops:
            notes.append(f"Contact during the stop, known by the folder's name alone: {_some(stops)}")
        wrong = [flight.folder for flight in flights if flight.contradicts_name]
        if wrong:
            notes.append(f"! Folder's name and log contradict each other: {_some(wrong)}")
        times = Counter((record.scene, record.episode) for record in self.records)
        twice = [f"{scene} {id}" for (scene, id), count in times.items() if count > 1]
        if twice:
            notes.append(f"! Logged more than once, each counts: {_some(twice)}")
        unclassed = [flight.folder for flight in flights if flight.record.size is None]
        if unclassed:
            notes.append(f"! Without a size class, in the total alone: {_some(unclassed)}")
        if self.logs.incomplete:
            left = [f"{folder} {reason}" for folder, reason in self.logs.incomplete]
            notes.append(f"! Not written to the end and left out: {_some(left)}")
        return notes


def _some(names: Sequence[str]) -> str:
    """Number of names, and the first of them."""
    more = ", ..." if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(names[:_NAMED])}{more})"


def _navigation(scores: GoalScores) -> list[str]:
    """Cells of table 2."""
    return [str(scores.episodes), f"{scores.dts:.2f}", *map(_percent, (scores.sr, scores.osr, scores.spl))]


def _flight(scores: GoalScores) -> list[str]:
    """Cells of table 3."""
    shares = map(_percent, (scores.stop, scores.step_limit, scores.collision))
    return [*shares, f"{scores.steps:.2f}", f"{scores.path:.2f}"]


def _percent(share: float) -> str:
    return f"{100.0 * share:.2f}"
