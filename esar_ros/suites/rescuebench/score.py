"""The score of a run's results or of walked tracks: as a table by level for the terminal, and as JSON.

Schema of the JSON: rescuebench-score/1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from esar_ros.geometry.frames import Vector
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint, level_name
from esar_ros.scoring.rescue import (
    HAND_OVER,
    HEIGHT,
    Progress,
    RescueRecord,
    RescueScores,
    Rules,
    mean_scores,
    stage_scores,
)
from esar_ros.scoring.similarity import similarity_code, similarity_paper
from esar_ros.suites.rescuebench.files import tracks
from esar_ros.suites.rescuebench.files.lines import lines_of
from esar_ros.suites.rescuebench.files.points import LEVELS, checkout_around, checkout_points
from esar_ros.suites.rescuebench.files.results import Key, read_results, read_trajectories, trajectories_beside
from esar_ros.suites.rescuebench.files.tracks import References, WalkedTrack, filed_as, read_tracks
from esar_ros.suites.rescuebench.settings import SimilaritySettings

SCHEMA = "rescuebench-score/1"
ALL = "all"
JUMP = 1.5  # m between two poses that no step covers
_DASH = "–"
_CHECKOUT = "name a checkout of RescueBench by --rescuebench DIR"


@dataclass(frozen=True)
class _Scored:
    """Episodes to score, and sentences on what they are."""

    kind: Literal["results", "tracks"]
    records: dict[Key, RescueRecord]
    notes: list[str] = field(default_factory=list)


class RescueScore:
    """A run's results, or walked tracks, scored under one set of rules. Raises UsageError."""

    def __init__(self, path: Path, rules: Rules, settings: SimilaritySettings, checkout: Path | None = None) -> None:
        """checkout: of the public code, for its points and tracks; None: that around path, if there is one."""
        self.rules, self._settings = rules, settings
        checkout = checkout or checkout_around(path)
        if _are_tracks(path):
            if checkout is None:
                raise UsageError(f"{path}: tracks without the points that they are of", _CHECKOUT)
            walked = read_tracks(path / tracks.FOLDER if path == checkout else path)
            self._scored = self._of_tracks(walked, checkout)
        else:
            self._scored = self._of_results(path, checkout)
        self.records = list(self._scored.records.values())
        groups = {level_name(level): [record for record in self.records if record.level == level] for level in LEVELS}
        self.scores = {
            name: mean_scores(group, rules) for name, group in (*groups.items(), (ALL, self.records)) if group
        }

    def _of_tracks(self, walked: Sequence[WalkedTrack], checkout: Path) -> _Scored:
        """Returns the episodes of tracks. Raises UsageError for a track without its point."""
        known = checkout_points(checkout)
        references = self._references(checkout)
        records: dict[Key, RescueRecord] = {}
        outside = jumps = 0
        for track in walked:
            point = known.get((track.level, track.point))
            if point is None or filed_as(point.place) != filed_as(track.place):
                what = f"a track of point {track.point} of {level_name(track.level)} in {track.place}"
                raise UsageError(f"{what}, which {checkout} does not have", _CHECKOUT)
            record = track_record(track, point)
            similarity = self._similarity(track.positions, point, references)
            records[track.level, track.point, 0] = replace(record, similarity=similarity)
            outside += record.handed_over and not _within_gate(track, point)
            jumps += int((np.linalg.norm(np.diff(track.positions, axis=0), axis=1) > JUMP).sum())
        steps = sum(track.steps for track in walked)
        notes = [
            "Hand-overs are the world's own (result: success); distances are of the body's middle, not of its camera",
            f"{outside} of the hand-overs ended more than {HAND_OVER:g} m, or {HEIGHT:g} m of height, from the "
            "stretcher",
            f"{jumps} of {steps} steps jump more than {JUMP:g} m; they count as they are",
        ]
        if len(records) < len(walked):
            notes.append(f"! {len(walked) - len(records)} tracks are replaced by later ones of the same points")
        return _Scored("tracks", records, notes)

    def _of_results(self, path: Path, checkout: Path | None) -> _Scored:
        """Returns the episodes of a file of results, compared with people's tracks where all that takes is there."""
        read = read_results(path)
        records, notes = dict(read.records), []
        beside = trajectories_beside(path)
        if beside is not None and checkout is not None:
            known, references = checkout_points(checkout), self._references(checkout)
            walked = read_trajectories(beside)
            for key, record in records.items():
                point, positions = known.get(key[:2]), walked.get(key)
                alike = 0.0 if record.failed else None  # as the public code keeps it
                if not record.failed and point is not None and positions is not None and len(positions) > 1:
                    alike = self._similarity(positions, point, references)
                records[key] = replace(record, similarity=alike)
            notes.append(f"Human similarity: computed from {beside.name}")
        elif self.rules is Rules.PAPER:
            records = {key: replace(record, similarity=None) for key, record in records.items()}
        if self.rules is Rules.CODE:
            notes.append("Stages' points: as the run itself recorded them")
            if read.contradicting:
                notes.append(
                    f"! {_some(read.contradicting)} have points that their distances do not give, as the public code "
                    "writes them of a drone's hand-overs"
                )
        failed = sum(record.failed for record in records.values())
        if failed:
            notes.append(f"! {failed} episodes ended by an exception and count 0")
        if read.replaced:
            notes.append(f"{read.replaced} lines are replaced by later ones of the same episodes")
        return _Scored("results", records, notes)

    def _references(self, checkout: Path) -> References:
        return References(read_tracks(checkout / tracks.FOLDER), self._settings.alias)

    def _similarity(self, positions: Vector, point: RescuePoint, references: References) -> float | None:
        """Returns the similarity of a track to a person's of the same task, None without one."""
        reference = references.find(point)
        if reference is None:
            return None
        if self.rules is Rules.PAPER:
            return similarity_paper(positions, reference.positions, self._settings.sigma)
        return similarity_code(positions, reference.positions)

    def document(self) -> dict[str, Any]:
        """Returns the score as JSON's values; rates are shares of 1, lengths in m."""
        return {
            "schema": SCHEMA,
            "suite": "rescuebench",
            "rules": self.rules.value,
            "of": self._scored.kind,
            "sigma": self._settings.sigma,
            "hs_alias": self._settings.alias,
            "scores": {name: asdict(scores) for name, scores in self.scores.items()},
            "episodes": [self._episode(key, record) for key, record in self._scored.records.items()],
            "notes": self.notes(),
        }

    def _episode(self, key: Key, record: RescueRecord) -> dict[str, Any]:
        scores = stage_scores(record, self.rules)
        return {
            "level": record.level,
            "point": record.point,
            "repetition": key[2],
            "completed": record.completed,
            "picked": record.picked,
            "ts": scores.total,
            **asdict(scores),
            "victim": asdict(record.victim),
            "stretcher": asdict(record.stretcher),
            "seconds": record.seconds,
            "steps": record.steps,
            "collisions": record.collisions,
            "path": record.path,
            "effectiveness": record.effectiveness,
            "similarity": record.similarity,
            "failed": record.failed,
        }

    def table(self) -> RenderableType:
        """Returns tables 3 and 4 of the paper for this run, a row a level, with notes beneath."""
        head = f"RescueBench · {self._scored.kind} · rules: {self.rules.value}"
        overall = self._rows(("episodes", "TCR %", "TS", "time s", "collisions"), _overall)
        stages = self._rows(("S1", "S2", "S3", "S4", "steps", "HS %", "of"), _stages)
        walk = self._rows(("path m", "nearer %", "steps/s"), _walk)
        notes = [Text(note) for note in self.notes()]
        return Group("", Text(head, "bold"), "", overall, "", stages, "", walk, "", *notes)

    def _rows(self, heads: Sequence[str], cells: Callable[[RescueScores], list[str]]) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("", no_wrap=True)
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for name in (*map(level_name, LEVELS), ALL):
            scores = self.scores.get(name)
            table.add_row(
                Text(name, "bold" if name == ALL else ""), *(cells(scores) if scores else [_DASH] * len(heads))
            )
        return table

    def notes(self) -> list[str]:
        """Returns sentences on what the numbers rest on."""
        notes = list(self._scored.notes)
        compared = self.scores[ALL].compared
        if compared:
            how = f"sigma {self._settings.sigma:g} m" if self.rules is Rules.PAPER else "mean gap, 0 at 50 m"
            alias = "on" if self._settings.alias else "off"
            notes.append(f"HS: {compared} of {len(self.records)} episodes have a track ({how}; hs_alias: {alias})")
        return notes


def track_record(track: WalkedTrack, point: RescuePoint) -> RescueRecord:
    """Returns what is scored of a track: handed over is what the world ended as a success."""
    progress = Progress(point.victim.position, point.stretcher.position, track.positions[0])
    for position, carrying in zip(track.positions[1:], track.carrying[1:], strict=True):
        progress.update(position, bool(carrying))
    return progress.record(track.level, track.point, track.seconds, track.steps, track.result == "success")


def _within_gate(track: WalkedTrack, point: RescuePoint) -> bool:
    """Returns whether a track ends inside the gate of a hand-over."""
    gap = track.positions[-1] - point.stretcher.position
    return float(np.hypot(gap[0], gap[1])) <= HAND_OVER and abs(float(gap[2])) <= HEIGHT


def _are_tracks(path: Path) -> bool:
    """Returns whether a path holds walked tracks rather than results. Raises UsageError for neither."""
    if path.is_dir():
        return True
    for where, text in lines_of(path, tracks.LARGEST, "results"):
        try:
            keys = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where}: not JSON: {str(error)[:80]}", "give a file of JSON lines") from None
        if isinstance(keys, dict) and "trajectory" in keys and "env_id" in keys:
            return True
        if isinstance(keys, dict) and "point_id" in keys and "success" in keys:
            return False
        break
    what = "neither results nor tracks of RescueBench"
    raise UsageError(f"{path}: {what}", "give benchmark_MODEL_TIME.jsonl, level_N.jsonl of tracks, or a checkout")


def _some(keys: Sequence[Key]) -> str:
    """Returns the number of episodes, and the first of them."""
    named = ", ".join(f"L{level + 1} point {point}" for level, point, _ in keys[:5])
    return f"{len(keys)} episodes ({named}{', ...' if len(keys) > 5 else ''})"


def _overall(scores: RescueScores) -> list[str]:
    """Returns cells of table 3."""
    collisions = _DASH if scores.collisions is None else f"{scores.collisions:.1f}"
    return [
        str(scores.episodes),
        f"{100.0 * scores.tcr:.1f}",
        f"{scores.ts:.1f}",
        f"{scores.seconds:.1f}",
        collisions,
    ]


def _stages(scores: RescueScores) -> list[str]:
    """Returns cells of tables 4 and 5."""
    stages = (scores.explore, scores.rescue, scores.carry_back, scores.hand_over)
    alike = _DASH if scores.similarity is None else f"{100.0 * scores.similarity:.1f}"
    return [*(f"{points:.1f}" for points in stages), f"{scores.steps:.1f}", alike, str(scores.compared)]


def _walk(scores: RescueScores) -> list[str]:
    """Returns cells of what the public code reports besides."""
    return [f"{scores.path:.1f}", f"{100.0 * scores.effectiveness:.1f}", f"{scores.fps:.1f}"]
