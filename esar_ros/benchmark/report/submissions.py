"""Submissions of a leaderboard: folders of benchmark runs, each with who flew them, and how."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from esar_ros.benchmark.report.bench_results import Bench
from esar_ros.benchmark.report.table import Cell, Table
from esar_ros.benchmark.runner.records import suite_of
from esar_ros.benchmark.runner.store import EPISODES
from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import StrictModel, read_yaml, validated

ABOUT = "submission.yaml"
_DIGITS = 12  # of a digest, as tables show it


class About(StrictModel):
    """The words of a submission about itself."""

    by: str = Field(min_length=1, description="who flew it, as the page names them")
    how: str = Field(min_length=1, description="the command, or what was changed and how it is had")
    machine: str = Field(min_length=1, description="processor, graphics, system")
    date: datetime.date
    link: str = Field("", pattern=r"^(https?://\S+)?$", description="to a paper, a page or the code")


@dataclass(frozen=True)
class Submission:
    """A folder of a benchmark's results, and what is said of it."""

    folder: Path
    about: About


def read_submissions(folder: Path) -> dict[str, list[Submission]]:
    """Returns by suite the submissions that a folder holds, one in each folder of it. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", "give one that holds a folder a submission")
    found: dict[str, list[Submission]] = defaultdict(list)
    for own in sorted(path for path in folder.iterdir() if path.is_dir() and (path / EPISODES).is_file()):
        about = own / ABOUT
        if not about.is_file():
            raise UsageError(f"{own} holds no {ABOUT}", "say there: by, how, machine, date (docs/how-to/benchmark.md)")
        read = validated(About, read_yaml(about, "submission"), about)
        found[suite_of([own])].append(Submission(own, read))
    if not found:
        raise UsageError(f"{folder} holds no submission", f"each is a folder with {EPISODES} and {ABOUT}")
    return dict(found)


def submissions_table(bench: Bench, submissions: Sequence[Submission]) -> Table:
    """Returns a row for each method of each submission.

    Two submissions of one method with the same episodes whose digests are equal scored every episode alike.
    """
    episodes = _episodes(bench)
    rows = tuple(
        (Cell(method), Cell(one.folder.name), Cell(one.about.by), Cell(str(one.about.date)), Cell(one.about.machine),
         Cell(one.about.how), Cell(one.about.link or "\N{EN DASH}"),
         Cell(str(episodes.get((folder, method), 0))), Cell(digest[:_DIGITS]))
        for one in submissions
        for (folder, method), digest in bench.digests.items()
        if folder == str(one.folder)
    )  # fmt: skip
    return Table(
        "submissions", "Submissions", (),
        ("method", "folder", "by", "date", "machine", "how", "link", "episodes that count", "digest of the scores"),
        rows, (),
        ("An episode that two submissions scored alike counts once, for the first of them; so does one "
         "that they scored differently on other processors, and on processors of one kind it is refused. One that "
         "was lost through no fault of the method counts where no other submission flew it.",),
    )  # fmt: skip


def repeats_table(bench: Bench) -> Table:
    """Returns a row for each method that two submissions flew on the same tasks with the same seeds."""
    rows = tuple(
        (Cell(method), Cell(Path(folder).name), Cell(Path(other).name), Cell(str(repeats.alike)),
         Cell(str(repeats.otherwise)))
        for (method, folder, other), repeats in sorted(bench.repeats.items())
    )  # fmt: skip
    return Table(
        "repeats", "Flown twice", (), ("method", "folder", "flown again of", "scored alike", "otherwise"), rows, (),
        ("Alike is: to the last digit of every score. Otherwise is on a processor of another kind, or an unknown one, "
         "since on processors of one kind it is refused.",),
    )  # fmt: skip


def _episodes(bench: Bench) -> Mapping[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for episode in bench.episodes:
        counts[(episode.folder, episode.planner)] += 1
    return counts
