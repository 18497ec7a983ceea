"""Methods compared over benchmark runs: means with intervals per tier and overall, and differences per task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from esar_ros.benchmark.report.bench_results import Bench, Episode
from esar_ros.benchmark.report.table import Section
from esar_ros.benchmark.runner.job import OK
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.scoring.statistics import DRAWS, Comparison, Estimate, Unit, compare, estimates, over_seeds

OVERALL = "overall"  # the group of all episodes


class Better(Enum):
    """Direction in which a figure is better, as the arrow that tables show."""

    HIGHER = "↑"
    LOWER = "↓"

    def best(self, values: Sequence[float]) -> float:
        """Returns the best of some values."""
        return max(values) if self is Better.HIGHER else min(values)


ARROWS = "↑ higher is better, ↓ lower is better."


@dataclass(frozen=True)
class Layout:
    """Presentation of a suite's results: tables, figures and words."""

    eyebrow: str  # over the page's title
    groups: tuple[str, ...]  # columns of its tables: tiers, sizes
    levels: tuple[str, str, str]  # words for the levels of a Unit, in the plural
    scores: tuple[str, ...]  # figures, shares of 1, by which methods are compared
    ranked_by: str  # the one of them that orders the rows
    names: Mapping[str, str]  # of figures, as tables head them
    shares: Collection[str]  # figures shown in per cent; those of scores are
    better: Mapping[str, Better]  # which way a figure is better, where it is either; those of scores are higher
    terminal: Mapping[str, str]  # further figures of the table on a terminal, and their heads
    references: Collection[str]  # methods that are no rivals, shown as references
    reference_note: str
    endings: Mapping[str, str]  # words for the end of an episode
    headline: str  # the split that headline figures are of
    caveats: Callable[[Method], Sequence[str]]  # what a reader must know of a row
    sections: Callable[[Report], Sequence[Section]]  # tables and images in the order of reading
    by_group: tuple[str, ...] = ()  # further figures that tables show by group
    decimals: int | None = None  # of figures that are no shares; None: one, and none from 100 on
    sought: str = "victim"  # what a task is about, in the legend of tracks
    has_clues: bool = True  # clues and false reports are in that legend too

    def is_share(self, figure: str) -> bool:
        """Shown in per cent; name@x is the figure `name` under another threshold."""
        return figure.partition("@")[0] in (*self.scores, *self.shares)

    def better_way(self, figure: str) -> Better | None:
        """Returns which way a figure is better, None where neither is."""
        name = figure.partition("@")[0]
        return Better.HIGHER if name in self.scores else self.better.get(name)

    def head(self, figure: str) -> str:
        """Returns a figure's name with an arrow that says which way it is better."""
        way = self.better_way(figure)
        return self.names[figure] + (f" {way.value}" if way else "")


@dataclass(frozen=True)
class Method:
    """One row of the tables: a planner under one set of conditions."""

    name: str
    reference: bool
    ineligible: tuple[str, ...]  # why it stands outside the comparison; empty when it competes
    episodes: tuple[Episode, ...]

    @property
    def tasks(self) -> int:
        """Different tasks flown."""
        return len({episode.unit for episode in self.episodes})

    @property
    def seeds(self) -> int:
        """Most seeds of a task."""
        return max(Counter(episode.unit for episode in self.episodes).values())

    @property
    def failed(self) -> int:
        """Episodes that ended with an error of the method or of the infrastructure."""
        return sum(episode.status != OK for episode in self.episodes)

    @property
    def competes(self) -> bool:
        """Stands in the comparison."""
        return not self.reference and not self.ineligible

    def values(self, figure: str, chosen: Callable[[Episode], bool] = lambda _: True) -> dict[Unit, float]:
        """One value per task, seeds averaged; tasks that lack the figure are left out."""
        runs = {
            (episode.unit, episode.seed): episode.figures[figure]
            for episode in self.episodes
            if figure in episode.figures and chosen(episode)
        }
        return over_seeds(runs)


@dataclass(frozen=True)
class Report:
    """Everything that tables, figures and the page are made of."""

    bench: Bench
    methods: tuple[Method, ...]
    cells: Mapping[tuple[str, str, str], Estimate]  # (method, group, figure); no entry where nothing was flown
    pairs: Mapping[str, tuple[Comparison, ...]]  # score -> comparisons
    figures: tuple[str, ...]  # all figures that some cell holds
    against: str | None
    notes: tuple[str, ...]
    layout: Layout

    @property
    def unfinished(self) -> str:
        """The runs that have episodes which are not flown, in a sentence to be read before any number; empty: none."""
        runs = [
            f"{folder} holds {flown} of its {all_} episodes" for folder, (flown, all_) in self.bench.unflown.items()
        ]
        return f"Unfinished: {', '.join(runs)}; the same esar bench goes on." if runs else ""

    def cell(self, method: str, group: str, figure: str) -> Estimate | None:
        """Mean and interval, None where nothing was flown."""
        return self.cells.get((method, group, figure))


def make_report(
    bench: Bench, layout: Layout, against: str | None = None, draws: int = DRAWS, by: Collection[str] = ()
) -> Report:
    """Compare all methods of a benchmark. Raises UsageError, also for runs that may not stand together.

    by: conditions that part a method's rows; all others must be equal.
    """
    methods = _methods(bench, layout, by)
    if against is not None and against not in {method.name for method in methods}:
        raise UsageError(f"no method '{against}' to compare with", suggest(against, [m.name for m in methods]))
    figures = tuple(dict.fromkeys(name for episode in bench.episodes for name in episode.figures))
    cells: dict[tuple[str, str, str], Estimate] = {}
    for method in methods:
        for group in (*layout.groups, OVERALL):
            # Only what tables show by group is drawn by group.
            wanted = figures if group == OVERALL else (*layout.scores, *layout.by_group)
            cells.update(_cells(method, group, wanted, draws))
    rivals = [method for method in methods if method.competes or method.name == against]
    if len(rivals) < 2:  # a method alone is measured by what stands outside the comparison
        rivals = list(methods)
    pairs = {
        score: compare({method.name: method.values(score) for method in rivals}, against, draws)
        for score in layout.scores
    }
    return Report(bench, methods, cells, pairs, figures, against, tuple(_notes(bench, methods, layout)), layout)


def _cells(method: Method, group: str, figures: Collection[str], draws: int) -> dict[tuple[str, str, str], Estimate]:
    """Figures of one row and group; those of the same tasks share their draws."""
    columns: dict[tuple[Unit, ...], dict[str, dict[Unit, float]]] = {}
    for figure in figures:
        values = method.values(figure, lambda episode: group in (OVERALL, episode.group))
        if values:
            columns.setdefault(tuple(sorted(values)), {})[figure] = values
    return {
        (method.name, group, figure): found
        for together in columns.values()
        for figure, found in estimates(together, draws).items()
    }


def _methods(bench: Bench, layout: Layout, by: Collection[str]) -> tuple[Method, ...]:
    """Rows in order: those that compete, the references, those outside; each by its score, highest first."""
    _check_conditions(bench, by)
    varied = [name for name in by if len({episode.conditions.as_text[name] for episode in bench.episodes}) > 1]
    rows: dict[str, list[Episode]] = {}
    for episode in bench.episodes:
        own_text = episode.conditions.as_text
        variant = ", ".join(f"{name.replace('_', ' ')} {own_text[name]}" for name in varied)
        rows.setdefault(f"{episode.planner} ({variant})" if variant else episode.planner, []).append(episode)
    shared = _shared_reasons(bench)
    methods = [
        Method(
            name,
            episodes[0].planner in layout.references,
            tuple(dict.fromkeys(r for e in episodes if not e.eligible for r in e.reasons if r not in shared)),
            tuple(episodes),
        )
        for name, episodes in rows.items()
    ]

    def place(method: Method) -> tuple[bool, bool, float, str]:
        scores = method.values(layout.ranked_by).values()
        return bool(method.ineligible), method.reference, -sum(scores) / len(scores), method.name

    return tuple(sorted(methods, key=place))


def _shared_reasons(bench: Bench) -> tuple[str, ...]:
    """Returns the reasons common to all episodes if none is eligible: they set no method apart from the others."""
    first, *others = ([] if episode.eligible else list(episode.reasons) for episode in bench.episodes)
    return tuple(reason for reason in dict.fromkeys(first) if all(reason in reasons for reasons in others))


def _check_conditions(bench: Bench, by: Collection[str]) -> None:
    """Raises UsageError where compared episodes differ in their conditions, other than those named in `by`."""
    first = bench.episodes[0]
    of_method, apart = first.conditions.OF_METHOD, first.conditions.NEVER_TOGETHER
    of_planner: dict[tuple[str, ...], Episode] = {}
    for episode in bench.episodes:
        own_text = episode.conditions.as_text
        own = of_planner.setdefault((episode.planner, *(own_text[name] for name in by)), episode)
        names = [name for name in first.conditions.differing(episode.conditions) if name not in of_method]
        pairs = [(first, names), (own, list(own.conditions.differing(episode.conditions)))]
        for other, differing in pairs:
            name = next((name for name in differing if name in apart or name not in by), None)
            if name is None:
                continue
            whose = f"{episode.planner} of " if name in of_method else ""
            raise UsageError(
                f"{name.replace('_', ' ')} of {whose}{episode.folder} is {own_text[name]}, in {other.folder} "
                f"{other.conditions.as_text[name]}",
                "report them apart" if name in apart else f"report them apart, or make rows of them with --by {name}",
            )


def _notes(bench: Bench, methods: tuple[Method, ...], layout: Layout) -> list[str]:
    """Returns the caveats that a reader must know before trusting a row."""
    notes = [f"No row is eligible: {reason}. Compare within this page only." for reason in _shared_reasons(bench)]
    everything = {episode.unit for episode in bench.episodes}
    for method in methods:
        flown = {episode.unit for episode in method.episodes}
        if flown != everything:
            notes.append(f"{method.name} flew {len(flown)} of the {len(everything)} tasks: its means are over those.")
        failed = Counter(e.status for e in method.episodes if e.status != OK)
        if failed:
            counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in sorted(failed.items()))
            notes.append(f"{method.name}: {counts} of {len(method.episodes)} episodes, scored 0 and kept in the means.")
        notes += [f"{method.name}: {caveat}" for caveat in layout.caveats(method)]
        seeds = Counter(Counter(e.unit for e in method.episodes).values())
        if len(seeds) > 1:
            notes.append(f"{method.name}: tasks flown with {min(seeds)} to {max(seeds)} seeds, averaged per task.")
    events = len({unit.event for unit in everything})
    if events < 6:
        words = layout.levels[0] if events != 1 else layout.levels[0].removesuffix("s")
        notes.append(f"Only {events} {words}: intervals and p-values say little of {layout.levels[0]} not flown.")
    for (name, folder, other), repeats in bench.repeats.items():
        if repeats.otherwise:
            notes.append(
                f"{name}: {repeats.otherwise} episodes of {folder} were scored otherwise on a processor of another "
                f"kind, or an unknown one; {other} counts."
            )
    if bench.torn:
        notes.append(f"{bench.torn} unfinished last line of an interrupted run was left out.")
    splits = {episode.split for episode in bench.episodes}
    if splits != {layout.headline}:
        notes.append(
            f"Tasks of split {', '.join(sorted(splits))}: headline figures are those of the split {layout.headline} "
            "alone."
        )
    return notes
