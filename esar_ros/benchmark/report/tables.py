"""Tables of a comparison, and what those of all suites are put together from."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from esar_ros.benchmark.report.comparison import ARROWS, OVERALL, Better, Layout, Method, Report
from esar_ros.benchmark.report.table import Cell, PaperRows, Table
from esar_ros.scoring.statistics import DRAWS, EXACT, Estimate, least_p

_WIDEST = 500  # columns that a table on a terminal may need; a narrower terminal wraps its lines
_UNTESTED = "No two of the methods to be compared flew a task in common: nothing was tested."


def shown(value: float, is_share: bool, decimals: int | None = None) -> str:
    """A number as tables show it; decimals: see Layout."""
    if is_share:
        return f"{100.0 * value:.2f}"
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.1f}"


def estimate_cell(report: Report, method: Method, group: str, figure: str, best: bool = False) -> Cell:
    """Returns the cell of a mean with its interval, a dash where there is none."""
    found = report.cell(method.name, group, figure)
    if found is None:
        return Cell("–")
    is_share, decimals = report.layout.is_share(figure), report.layout.decimals
    mean, low, high = (shown(value, is_share, decimals) for value in (found.mean, found.low, found.high))
    return _with_interval(mean, f"{low}, {high}", found, best)


def _with_interval(text: str, interval: str, found: Estimate, best: bool = False) -> Cell:
    """Returns a cell; with so few tasks that there is no interval, their number stands in its place."""
    return Cell(text, interval, best) if found.has_interval else Cell(text, "", best, f"{found.tasks} task")


def label(method: Method) -> Cell:
    """Returns a row's first cell, marked where the row stands outside the comparison."""
    return Cell(
        method.name + ("*" if method.reference else "") + ("†" if method.ineligible else ""), bad=method.failed > 0
    )


def rules_between(methods: Sequence[Method]) -> tuple[int, ...]:
    """Lines between what competes, the references and what stands outside."""
    kinds = [(bool(method.ineligible), method.reference) for method in methods]
    return tuple(i for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1])


def _footnotes(report: Report, figures: Sequence[str]) -> tuple[str, ...]:
    first, second, third = report.layout.levels
    shares = "Per cent, each" if all(map(report.layout.is_share, figures)) else "Shares in per cent, each figure"
    notes = [f"{shares} with the 95 % interval of a hierarchical bootstrap over {first}, {second} and {third}."]
    if any(method.reference for method in report.methods):
        notes.append(f"* Reference row, not a method: {report.layout.reference_note}")
    if any(map(report.layout.better_way, figures)):
        notes.append(ARROWS)
    notes += [f"† {m.name} is not eligible: {'; '.join(m.ineligible)}." for m in report.methods if m.ineligible]
    return tuple(notes)


def _grid(report: Report, columns: Sequence[tuple[str, str]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows of (group, figure) cells; the best of each column among those that compete is marked."""
    best: dict[tuple[str, str], float] = {}
    for group, figure in columns:
        way = report.layout.better_way(figure)
        rivals = [method for method in report.methods if _may_be_best(method, way)]
        values = [c.mean for m in rivals if (c := report.cell(m.name, group, figure))]
        if way is not None and len(set(values)) > 1:
            best[group, figure] = way.best(values)
    rows = []
    for method in report.methods:
        cells = []
        for group, figure in columns:
            found = report.cell(method.name, group, figure)
            is_best = found is not None and found.mean == best.get((group, figure))
            winner = is_best and _may_be_best(method, report.layout.better_way(figure))
            cells.append(estimate_cell(report, method, group, figure, winner))
        flown = report.cell(method.name, OVERALL, report.layout.ranked_by)
        counts = (Cell(str(flown.tasks if flown else 0)), Cell(str(method.seeds)), *_failed(report, method))
        rows.append((label(method), *cells, *counts))
    return tuple(rows)


def _may_be_best(method: Method, way: Better | None) -> bool:
    """Returns whether a row may be marked; what counts as 0 for a failed episode is no low value."""
    return method.competes and not (way is Better.LOWER and method.failed)


def _failed(report: Report, method: Method) -> tuple[Cell, ...]:
    """Returns the cell of a method's failed episodes; none where no method of the report has any."""
    if not any(other.failed for other in report.methods):
        return ()
    return (Cell(f"{method.failed} of {len(method.episodes)}" if method.failed else "–", bad=method.failed > 0),)


def by_group(report: Report, name: str, title: str, figures: Sequence[str]) -> Table:
    """Returns a table with the figures of every group and overall, a column each."""
    columns = (*report.layout.groups, OVERALL)
    counts = ("tasks", "seeds", *(["failed"] if any(method.failed for method in report.methods) else []))
    return Table(
        name,
        title,
        (("", 1), *((group.capitalize(), len(figures)) for group in columns), ("", len(counts))),
        ("method", *(report.layout.head(figure) for _ in columns for figure in figures), *counts),
        _grid(report, [(group, figure) for group in columns for figure in figures]),
        rules_between(report.methods),
        _footnotes(report, figures),
    )


def overall(report: Report, name: str, title: str, figures: Sequence[str], notes: tuple[str, ...]) -> Table:
    """Returns a table of figures over all tasks, a column each."""
    rows = tuple(
        (label(method), *(estimate_cell(report, method, OVERALL, figure) for figure in figures))
        for method in report.methods
    )
    heads = ("method", *(report.layout.head(figure) for figure in figures))
    if any(map(report.layout.better_way, figures)):
        notes = (*notes, ARROWS)
    return Table(name, title, (), heads, rows, rules_between(report.methods), notes)


def endings(report: Report) -> Table:
    """Returns the table of episodes by how they ended."""
    known = report.layout.endings
    found = {episode.end for episode in report.bench.episodes}
    ends = [end for end in known if end in found]
    rows = tuple(
        (label(method), *(Cell(str(sum(e.end == end for e in method.episodes) or "–")) for end in ends))
        for method in report.methods
    )
    return Table("endings", "Why episodes ended", (), ("method", *(known[end] for end in ends)), rows, (), ())


def comparison(report: Report) -> Table:
    """A row per pair: for each score the difference with its interval, and its corrected p-value."""
    rows: list[tuple[Cell, ...]] = []
    marked = {method.name: label(method).text for method in report.methods}
    for together in zip(*report.pairs.values(), strict=True):
        cells: list[Cell] = []
        for pair in together:
            d = pair.difference
            cells.append(_with_interval(f"{100 * d.mean:+.2f}", f"{100 * d.low:+.2f}, {100 * d.high:+.2f}", d))
            cells.append(Cell(_p(pair.p_holm), best=pair.p_holm < 0.05))
        first = together[0]
        counts = (Cell(str(first.difference.tasks)), Cell(str(first.difference.events)))
        rows.append((Cell(f"{marked[first.a]} − {marked[first.b]}"), *cells, *counts))
    layout = report.layout
    event = layout.levels[0].removesuffix("s")
    events = max((pair.difference.events for pairs in report.pairs.values() for pair in pairs), default=0)
    drawn = f"a sign-flip test of {DRAWS:,}".replace(",", " ")
    drawn += f" drawn sign patterns (exact up to {EXACT} {layout.levels[0]})"
    test = drawn if events > EXACT else "an exact sign-flip test"
    notes = (
        f"Differences per task in points of a per cent, with 95 % intervals. p: two-sided, by {test} "
        f"with the {event} as the unit, Holm-corrected over the pairs of one score.",
        *(
            ("Fewer than two methods compete: pairs with what stands outside the comparison (* †), for reference.",)
            if sum(method.competes for method in report.methods) < 2
            else ()
        ),
        f"With {events} {layout.levels[0]} no p-value is below {least_p(events):.3g} before the correction.",
    )
    return Table(
        "comparison",
        "Methods compared task by task",
        (("", 1), *((layout.names[score], 2) for score in layout.scores), ("", 2)),
        ("methods", *(head for _ in layout.scores for head in ("difference", "p")), layout.levels[2], layout.levels[0]),
        tuple(rows),
        (),
        notes if rows else (_UNTESTED if len(report.methods) > 1 else "There is one method alone.",),
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def paper_table(paper: PaperRows, layout: Layout) -> Table:
    """Returns the published scores as one table."""
    known = {key for row in paper.methods.values() for key in row}
    scores = {
        group: [score for score in layout.names if (group, score) in known] for group in (*layout.groups, OVERALL)
    }
    columns = [(group, score) for group, names in scores.items() for score in names]
    rows = tuple(
        (Cell(method), *(Cell(f"{values[column]:.2f}") for column in columns))
        for method, values in paper.methods.items()
    )
    shares = all(layout.is_share(score) for _, score in columns)
    return Table(
        "paper",
        f"The paper's own numbers ({paper.source})",
        (("", 1), *((group.capitalize(), len(names)) for group, names in scores.items())),
        ("method", *(layout.names[score] for _, score in columns)),
        rows,
        (),
        (("Per cent. " if shares else "Shares in per cent. ") + paper.caveat,),
    )


def terminal_table(report: Report) -> RichTable:
    """The scores overall in per cent, the one that ranks with its interval, for a terminal."""
    layout = report.layout
    ranked = layout.scores.index(layout.ranked_by)
    shown_table = RichTable(box=None, padding=(0, 1, 0, 0), header_style="bold", caption_justify="left")
    shown_table.add_column("method", no_wrap=True, min_width=max(len(label(m).text) for m in report.methods))
    scores = [layout.names[figure] for figure in layout.scores]
    failures = any(method.failed for method in report.methods)
    lower = [figure for figure in layout.terminal if layout.better_way(figure) is Better.LOWER]
    others = [f"{name} {Better.LOWER.value}" if figure in lower else name for figure, name in layout.terminal.items()]
    shown_table.caption = "↓ lower is better" if lower else None
    for head in (layout.levels[2], *scores, "95 %", *others, *(["failed"] if failures else [])):
        shown_table.add_column(head, justify="right", no_wrap=True)
    for method in report.methods:
        cells = [estimate_cell(report, method, OVERALL, figure) for figure in (*layout.scores, *layout.terminal)]
        texts = [cell.text for cell in cells]
        texts.insert(len(scores), cells[ranked].interval or cells[ranked].note)
        texts += [cell.text for cell in _failed(report, method)]
        shown_table.add_row(
            escape(label(method).text), str(method.tasks), *texts, style="red" if method.failed else None
        )
    return shown_table


def print_report(report: Report, console: Console) -> None:
    """Prints on a terminal what is unfinished, the scores and the notes; their words are not read as markup."""
    if report.unfinished:
        console.print(f"[red]{escape(report.unfinished)}[/red]", soft_wrap=True)
    table = terminal_table(report)
    wide = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    console.width = max(console.width, wide)  # long names must not cost digits
    console.print(table, crop=False)
    for note in report.notes:
        console.print(f"[yellow]note[/yellow] {escape(note)}")


def episodes_csv(report: Report) -> str:
    """Every episode with every figure, unrounded: for one's own statistics."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "method",
            "task",
            *(level.removesuffix("s") for level in report.layout.levels[:2]),
            "map",
            "split",
            "tier",
            "seed",
        ]
        + ["status", "end", "reason", "eligible"]
        + list(report.figures)
    )
    for method in report.methods:
        for e in method.episodes:
            row = [method.name, e.unit.task, e.unit.event, e.unit.snapshot, e.map, e.split, e.group, e.seed]
            row += [e.status, e.end, e.reason or "", e.eligible]
            writer.writerow(row + [e.figures.get(figure, "") for figure in report.figures])
    return out.getvalue()
