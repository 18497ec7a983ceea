"""Tables of a comparison as markdown, LaTeX and CSV; tables 2 and 3 have the paper's layout."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table as RichTable

from esar_ros.benchmark.report.comparison import FLIGHT, REPORTS, SCORES, Method, Report
from esar_ros.benchmark.report.formatting import CAUSES
from esar_ros.benchmark.report.paper_rows import PaperRows
from esar_ros.mission.task import TIERS
from esar_ros.scoring.losses import LOOK_RANGE, OFF
from esar_ros.scoring.statistics import Estimate

SHARES = frozenset({"sr_gated_first", "rs_without_safety", "crashed", "safe", "coverage", "precision"})
NAMES = {
    "sr": "SR", "tsr": "TSR", "cds": "CDS", "rs": "RS", "sr_gated_first": "SR gated first",
    "rs_without_safety": "RS without safety", "crashed": "crash rate", "safe": "safe", "elapsed": "task time (s)",
    "safe_flight_distance": "safe distance (m)", "path_length": "path (m)", "coverage": "coverage",
    "min_clearance": "clearance (m)", "interventions": "interventions", "reports": "reports", "precision": "precision",
    "false_reports": "false reports", "reports_over_cap": "over the cap", "cds_label": "exact label",
    "cds_offline": "offline judge", "cds_llm": "model as judge",
}  # fmt: skip

_COLUMNS = (*TIERS, "overall")


@dataclass(frozen=True)
class Cell:
    """One number as text, and its interval, empty where there is none. best: the highest of its column."""

    text: str
    interval: str = ""
    best: bool = False


@dataclass(frozen=True)
class Table:
    """heads: (text, columns that it spans) over the second line of heads. rules: rows before which a line is drawn."""

    name: str
    title: str
    groups: tuple[tuple[str, int], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    rules: tuple[int, ...]
    notes: tuple[str, ...]


def is_share(figure: str) -> bool:
    """Shown in per cent."""
    return figure.partition("@")[0] in (*SCORES, *SHARES) or figure.startswith("cds_")


def shown(value: float, figure: str) -> str:
    """A number of a figure as tables show it."""
    if is_share(figure):
        return f"{100.0 * value:.2f}"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.1f}"


def _cell(found: Estimate | None, figure: str, best: bool = False) -> Cell:
    if found is None:
        return Cell("–")
    return Cell(shown(found.mean, figure), f"{shown(found.low, figure)}, {shown(found.high, figure)}", best)


def _label(method: Method) -> Cell:
    return Cell(method.name + ("*" if method.reference else "") + ("†" if method.ineligible else ""))


def _rules(methods: Sequence[Method]) -> tuple[int, ...]:
    """Lines between what competes, the references and what stands outside."""
    kinds = [(bool(method.ineligible), method.reference) for method in methods]
    return tuple(i for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1])


def _footnotes(report: Report) -> tuple[str, ...]:
    notes = ["Per cent, each with the 95 % interval of a hierarchical bootstrap over events, snapshots and tasks."]
    if any(method.reference for method in report.methods):
        notes.append("* Reference row, not a method: stay does nothing, flooder reports a grid without looking.")
    notes += [f"† {m.name} is not eligible: {'; '.join(m.ineligible)}." for m in report.methods if m.ineligible]
    return tuple(notes)


def _grid(report: Report, columns: Sequence[tuple[str, str]]) -> tuple[tuple[Cell, ...], ...]:
    """Rows of (tier, figure) cells; the best of each column among those that compete is marked."""
    best: dict[tuple[str, str], float] = {}
    for tier, figure in columns:
        values = [c.mean for m in report.methods if m.competes and (c := report.cell(m.name, tier, figure))]
        if len(values) > 1 and max(values) > 0.0:
            best[tier, figure] = max(values)
    rows = []
    for method in report.methods:
        cells = []
        for tier, figure in columns:
            found = report.cell(method.name, tier, figure)
            winner = method.competes and found is not None and found.mean == best.get((tier, figure))
            cells.append(_cell(found, figure, winner))
        flown = report.cell(method.name, "overall", "sr")
        rows.append((_label(method), *cells, Cell(str(flown.tasks if flown else 0)), Cell(str(method.seeds))))
    return tuple(rows)


def _by_tier(report: Report, name: str, title: str, pair: tuple[str, str]) -> Table:
    return Table(
        name,
        title,
        (("", 1), *((tier.capitalize(), 2) for tier in _COLUMNS), ("", 2)),
        ("method", *(NAMES[figure] for _ in _COLUMNS for figure in pair), "tasks", "seeds"),
        _grid(report, [(tier, figure) for tier in _COLUMNS for figure in pair]),
        _rules(report.methods),
        _footnotes(report),
    )


def _overall(report: Report, name: str, title: str, columns: Sequence[str], notes: tuple[str, ...]) -> Table:
    """Figures over all tasks, a column each."""
    rows = tuple(
        (_label(method), *(_cell(report.cell(method.name, "overall", figure), figure) for figure in columns))
        for method in report.methods
    )
    heads = ("method", *(NAMES[figure] for figure in columns))
    return Table(name, title, (), heads, rows, _rules(report.methods), notes)


def _sensitivity(report: Report) -> Table:
    gates = sorted({float(f.partition("@")[2]) for f in report.figures if "@" in f})
    columns = [(score, f"{gate:g}") for score in SCORES for gate in gates]
    rows = tuple(
        (
            _label(method),
            *(
                _cell(report.cell(method.name, "overall", f"{score}@{gate}"), f"{score}@{gate}")
                for score, gate in columns
            ),
        )
        for method in report.methods
    )
    return Table(
        "sensitivity",
        "Scores at other error thresholds E, overall",
        (("", 1), *((NAMES[score], len(gates)) for score in SCORES)),
        ("method", *(f"{gate} m" for _, gate in columns)),
        rows,
        _rules(report.methods),
        (f"The benchmark's E is {report.bench.thresholds['error_threshold']:g} m.",),
    )


def _losses(report: Report) -> Table:
    """Returns the table of victims by cause: numbers of victims over all episodes."""
    counts = [Counter(cause for e in method.episodes for cause in e.causes) for method in report.methods]
    recorded = not any(count[None] for count in counts)
    causes = [*CAUSES, *([] if recorded else [None])]
    rows = tuple(
        (_label(method), Cell(str(count.total())), *(Cell(str(count[cause])) for cause in causes))
        for method, count in zip(report.methods, counts, strict=True)
    )
    gate = report.bench.thresholds["error_threshold"]
    notes = (
        f"Numbers of victims, each under one cause: the latest stage reached. Looked and missed: in a picture within "
        f"{LOOK_RANGE:g} m, past the ground, and no track of a person within {gate:g} m. Seen, not reported: such a "
        f"track. Reported off: a report meant for him, up to {OFF * gate:g} m away or of another kind.",
        "Of those never looked at: too late where time ended the flight, crashed where a collision, a breach or a "
        "failure did, never looked where the method stopped.",
    )
    heads = ("method", "victims", *(CAUSES[cause] if cause else "not recorded" for cause in causes))
    return Table("losses", "Where victims were lost", (), heads, rows, _rules(report.methods), notes)


def _judges(report: Report) -> Table:
    columns = tuple(f for f in ("cds_label", "cds_offline", "cds_llm") if f in report.figures)
    asked = sorted({judge for e in report.bench.episodes for judge in e.judges.values()})
    notes = [f"Asked: {', '.join(asked)}." if asked else "No judge was asked."]
    if "cds_llm" not in columns:
        notes.append("No model was asked (--judge llm asks one).")
    return _overall(report, "judges", "CDS under each judge, overall", columns, tuple(notes))


def _comparison(report: Report) -> Table:
    """A row per pair: for each score the difference with its interval, and its corrected p-value."""
    rows: list[tuple[Cell, ...]] = []
    for together in zip(*report.pairs.values(), strict=True):
        cells: list[Cell] = []
        for pair in together:
            d = pair.difference
            cells.append(Cell(f"{100 * d.mean:+.2f}", f"{100 * d.low:+.2f}, {100 * d.high:+.2f}"))
            cells.append(Cell(_p(pair.p_holm), best=pair.p_holm < 0.05))
        first = together[0]
        ends = (Cell(str(first.difference.tasks)), Cell(str(first.difference.events)))
        rows.append((Cell(f"{first.a} − {first.b}"), *cells, *ends))
    events = max((pair.difference.events for pairs in report.pairs.values() for pair in pairs), default=0)
    notes = (
        "Differences per task in points of a per cent, with 95 % intervals. p: two-sided, by an exact sign-flip test "
        "with the event as the unit, Holm-corrected over the pairs of one score.",
        f"With {events} events no p-value is below {2 / 2**events:.3g} before the correction.",
    )
    return Table(
        "comparison",
        "Methods compared task by task",
        (("", 1), *((NAMES[score], 2) for score in SCORES), ("", 2)),
        ("methods", *(head for _ in SCORES for head in ("difference", "p")), "tasks", "events"),
        tuple(rows),
        (),
        notes if rows else ("Fewer than two methods compete.",),
    )


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def paper_table(paper: PaperRows) -> Table:
    """Returns the published scores as one table."""
    rows = tuple(
        (Cell(method), *(Cell(f"{values[tier, score]:.2f}") for tier in _COLUMNS for score in SCORES))
        for method, values in paper.methods.items()
    )
    return Table(
        "paper",
        f"The paper's own numbers ({paper.source})",
        (("", 1), *((tier.capitalize(), len(SCORES)) for tier in _COLUMNS)),
        ("method", *(NAMES[score] for _ in _COLUMNS for score in SCORES)),
        rows,
        (),
        ("Per cent. " + paper.caveat,),
    )


def all_tables(report: Report) -> tuple[Table, ...]:
    """In the order of reading; the paper's numbers last."""
    return (
        _by_tier(report, "table2", "Table 2: finding victims", ("sr", "tsr")),
        _by_tier(report, "table3", "Table 3: clues and the rescue score", ("cds", "rs")),
        _comparison(report),
        _losses(report),
        _overall(
            report,
            "flight",
            "Safety and flight, overall",
            FLIGHT,
            ("Shares in per cent. Clearance is over the flights that took off.",),
        ),
        _overall(
            report,
            "reports",
            "Reports, and scores that they cannot buy, overall",
            REPORTS,
            (
                f"Shares in per cent, the rest per task. Precision is 0 where nothing was reported. Reports beyond "
                f"{report.bench.thresholds['report_cap']} a task are not scored.",
            ),
        ),
        _judges(report),
        _sensitivity(report),
        *((paper_table(report.paper),) if report.paper is not None else ()),
    )


def terminal_table(report: Report) -> RichTable:
    """The four scores overall in per cent, RS with its interval, for a terminal."""
    shown_table = RichTable(box=None, padding=(0, 2, 0, 0), header_style="bold")
    shown_table.add_column("method", no_wrap=True)
    for head in ("tasks", *(NAMES[score] for score in SCORES), "95 %", "crashed", "time (s)"):
        shown_table.add_column(head, justify="right", no_wrap=True)
    for method in report.methods:
        cells = [_cell(report.cell(method.name, "overall", f), f) for f in (*SCORES, "crashed", "elapsed")]
        scores, others = [cell.text for cell in cells[:4]], [cell.text for cell in cells[4:]]
        shown_table.add_row(_label(method).text, str(method.tasks), *scores, cells[3].interval, *others)
    return shown_table


# --- Formats --------------------------------------------------------------------------------------------------------


def _heads(table: Table) -> list[str]:
    """One line of heads, for formats that have no more."""
    groups = [text for text, span in table.groups for _ in range(span)] or [""] * len(table.heads)
    return [f"{group} {head}".strip() for group, head in zip(groups, table.heads, strict=True)]


def markdown(table: Table) -> str:
    """GitHub's tables."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    def text(cell: Cell) -> str:
        value = f"**{cell.text}**" if cell.best else plain(cell.text)
        return f"{value} [{cell.interval}]" if cell.interval else value

    def plain(text: str) -> str:
        return text.replace("*", r"\*")  # the mark of references is neither a list's nor emphasis

    heads = _heads(table)
    lines = [f"## {table.title}", "", line(heads), line(["---", *["---:"] * (len(heads) - 1)])]
    lines += [line([text(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, "", *(f"{plain(note)}  " for note in table.notes), ""])


_TEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "$": r"\$", "–": "--", "−": "$-$",
        "†": r"$^\dagger$", "*": r"$^*$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
        "\\": r"\textbackslash{}"}  # fmt: skip


def tex_text(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    return "".join(_TEX.get(character, character) for character in text)


def latex(table: Table) -> str:
    """A tabular with booktabs; needs \\usepackage{booktabs,graphicx}."""

    def text(cell: Cell) -> str:
        value = rf"\textbf{{{tex_text(cell.text)}}}" if cell.best else tex_text(cell.text)
        return rf"{value} {{\scriptsize [{tex_text(cell.interval)}]}}" if cell.interval else value

    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex_text(table.title)}. {tex_text(' '.join(table.notes))}}}",
    ]
    lines += [rf"\label{{tab:{table.name}}}", r"\resizebox{\linewidth}{!}{%"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}", r"\toprule"]
    if table.groups:
        spans = [rf"\multicolumn{{{span}}}{{c}}{{{tex_text(text)}}}" for text, span in table.groups]
        lines.append(" & ".join(spans) + r" \\")
        start = 1
        rules = []
        for title, span in table.groups:
            if title:
                rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
            start += span
        lines.append(" ".join(rules))
    lines += [" & ".join(tex_text(head) for head in table.heads) + r" \\", r"\midrule"]
    for i, row in enumerate(table.rows):
        if i in table.rules:
            lines.append(r"\midrule")
        lines.append(" & ".join(text(cell) for cell in row) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}}", r"\end{table}", ""]
    return "\n".join(lines)


def table_csv(table: Table) -> str:
    """The table as it is read, intervals in columns of their own."""
    wide = [any(row[i].interval for row in table.rows) for i in range(len(table.heads))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads: list[str] = []
    for head, has_interval in zip(_heads(table), wide, strict=True):
        heads += [head, f"{head} low", f"{head} high"] if has_interval else [head]
    writer.writerow(heads)
    for row in table.rows:
        line: list[str] = []
        for cell, has_interval in zip(row, wide, strict=True):
            low, _, high = cell.interval.partition(", ")
            line += [cell.text, low, high] if has_interval else [cell.text]
        writer.writerow(line)
    return out.getvalue()


def episodes_csv(report: Report) -> str:
    """Every episode with every figure, unrounded: for one's own statistics."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["method", "task", "event", "snapshot", "map", "split", "tier", "seed", "status", "end", "reason", "eligible"]
        + list(report.figures)
    )
    for method in report.methods:
        for e in method.episodes:
            row = [method.name, e.unit.task, e.unit.event, e.unit.snapshot, e.map, e.split, e.tier, e.seed]
            row += [e.status, e.end.value, e.reason or "", e.eligible]
            writer.writerow(row + [e.figures.get(figure, "") for figure in report.figures])
    return out.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "csv": table_csv}
