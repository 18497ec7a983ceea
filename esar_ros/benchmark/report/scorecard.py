"""The scorecard: a table for the terminal and an image with the map."""

from __future__ import annotations

import io
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle, Wedge
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from esar_ros.benchmark.report import formatting
from esar_ros.benchmark.report.mission_map import FOUND, INK, MISSED, NEAR, PAPER, TRACK, draw_map, region_of
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.scoring.result import ClueResult, ReportResult, Result, VictimResult

_SCORES = (("SR", "victims found"), ("TSR", "found in time"), ("CDS", "clues"))
_MARKS = {"found": ("●", FOUND), "exact": ("●", FOUND), "located": ("●", NEAR), "missed": ("○", MISSED)}
_LINE_STEP, _WHERE_STEP = 23.0, 15.0  # of the image's list
_MOST_TOLD = 12  # reports with coordinates in the terminal
_LONGEST_EYES = 32  # characters of the detector's name and file, which share a line of the image
_MUTED, _LINE = "#6b757d", "#e3e7ea"


def terminal_table(result: Result) -> RenderableType:
    """The result as a person reads it in a terminal."""
    m = result.metrics
    title = Text.assemble(
        (f" {result.task.id} ", "bold white on dark_green" if m.rs > 0.5 else "bold white on blue"),
        f"  {result.planner} · {formatting.ending(result)} after {m.elapsed:.0f} s · {formatting.conditions(result)}",
    )
    scores = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value, meaning in (
        ("RS", m.rs, "rescue score"),
        ("SR", m.sr, f"{m.victims_found} of {m.victims} victims found{_gated_first(result)}"),
        ("TSR", m.tsr, "weighted by the time left"),
        ("CDS", m.cds, f"{m.clues_located} of {m.clues} clues located, {m.clues_exact} named right"),
    ):
        scores.add_row(Text(name, "bold"), Text(f"{formatting.score(result, value):>5}", "bold"), _bar(value), meaning)
    things = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    things.add_column("")
    things.add_column("victim or clue")
    things.add_column("outcome")
    things.add_column("", style="dim")
    gate = result.thresholds.error_threshold
    for thing in result.things:
        word = formatting.found_word(thing)
        style = {"missed": "red", "located": "yellow"}.get(word, "green")
        things.add_row(
            Text("●" if word != "missed" else "○", style),
            _name(thing),
            Text(word, style),
            formatting.explanation(thing, gate),
        )
    eyes = formatting.detector(result)
    judged = f", {m.false_reports} false · precision {m.precision:.0%}" if formatting.is_scored(result) else ""
    facts = Text(
        f"{formatting.metres(m.path_length)} flown · {m.coverage:.1%} of the area seen · nearest obstacle "
        f"{formatting.metres(m.min_clearance)} · {m.interventions} interventions · {m.reports} reports{judged}"
        f"{eyes and f' · seen by {eyes}'}",
        "dim",
    )
    unsafe = formatting.unsafe(result)
    safe = [Text("safe", "green")] if m.safe else [Text(unsafe, "red")] if unsafe else []
    notes = [Text(f"! {note}", "yellow") for note in formatting.caveats(result)]
    head = formatting.headline(result)
    first: list[RenderableType] = [Text(head, "bold red"), ""] if head else []
    points = formatting.breakdown(result)
    parts = [Text(f"RS = {points}", "dim")] if points else []
    # Of a run that failed before it found anything the list says no more than the headline.
    nothing = result.error is not None and not (m.victims_found or m.clues_located)
    nothing = nothing or not things.row_count
    listed: list[RenderableType] = [] if nothing else ["", things]
    scored: list[RenderableType] = [scores] if formatting.is_scored(result) else []
    return Group("", title, "", *first, *scored, *parts, *listed, *_told(result), "", facts, *safe, *notes)


def _told(result: Result) -> list[RenderableType]:
    """Returns the reports with their coordinates, in lines to be copied; persons first, then the surest."""
    order = sorted(result.reports, key=lambda report: (report.type != "victim", -report.confidence, report.time))
    lines: list[RenderableType] = ["", Text("reported (WGS 84, ± holds 95 %)", "dim")] if order else []
    for report in order[:_MOST_TOLD]:
        head = f"{report.text or report.kind}, {report.confidence:.0%}, {report.time:.0f} s"
        lines += [f"● {escape(head)}", f"  {formatting.coordinates(report)}"]
    if len(order) > _MOST_TOLD:
        lines.append(Text(f"and {len(order) - _MOST_TOLD} more in result.json", "dim"))
    return lines


def _gated_first(result: Result) -> str:
    """Returns the secondary figure in words where it differs."""
    m = result.metrics
    return "" if m.sr == m.sr_gated_first else f" ({formatting.percent(m.sr_gated_first)} gated first)"


def _bar(value: float, width: int = 20) -> Text:
    filled = round(width * min(max(value, 0.0), 1.0))
    return Text.assemble(("━" * filled, "green"), ("━" * (width - filled), "grey30"))


def _name(thing: VictimResult | ClueResult) -> str:
    return f"{thing.name} ({thing.pose})" if isinstance(thing, VictimResult) else thing.description


def scorecard_png(flown: MissionRecord) -> bytes:
    """PNG, 1680 x 1050 px: the map on the left, the score on the right."""
    figure = Figure(figsize=(14.0, 8.75), dpi=120, facecolor=PAPER)
    canvas = FigureCanvasAgg(figure)
    map_ax = figure.add_axes((0.0, 0.0, 8.75 / 14.0, 1.0))
    draw_map(map_ax, flown, region_of(flown), pixels=1050)
    _draw_time_scale(map_ax, flown.result.metrics.elapsed)
    # The panel's coordinates are hundredths of an inch from its top left corner.
    panel = figure.add_axes((8.75 / 14.0, 0.0, 5.25 / 14.0, 1.0))
    panel.set_xlim(0.0, 525.0)
    panel.set_ylim(875.0, 0.0)
    panel.axis("off")
    _draw_panel(panel, flown)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def map_jpeg(flown: MissionRecord, inches: float = 9.0) -> bytes:
    """The map alone, square, as JPEG."""
    figure = Figure(figsize=(inches, inches), dpi=130, facecolor=PAPER)
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_map(ax, flown, region_of(flown), pixels=1170, scale=1.25)
    _draw_time_scale(ax, flown.result.metrics.elapsed)
    buffer = io.BytesIO()
    canvas.print_jpg(buffer, pil_kwargs={"quality": 88})
    return buffer.getvalue()


def _draw_time_scale(ax: Axes, elapsed: float) -> None:
    """Draws the colour bar of the track's time, in the map's lower right corner."""
    inset = ax.inset_axes((0.70, 0.032, 0.26, 0.016), zorder=15)
    inset.imshow([[i / 255 for i in range(256)]], cmap=TRACK, aspect="auto", extent=(0.0, max(elapsed, 1.0), 0.0, 1.0))
    inset.set_yticks([])
    inset.set_xticks([0.0, elapsed], ["0 s", f"{elapsed:.0f} s"], fontsize=9, color=INK)
    inset.tick_params(length=0, pad=3)
    inset.xaxis.tick_top()
    for spine in inset.spines.values():
        spine.set_edgecolor(PAPER)
    ax.add_patch(
        FancyBboxPatch(
            (0.678, 0.02), 0.304, 0.062, transform=ax.transAxes, boxstyle="round,pad=0,rounding_size=0.012",
            fc=PAPER, ec="none", alpha=0.72, zorder=14.5,
        )
    )  # fmt: skip


def _draw_panel(ax: Axes, flown: MissionRecord) -> None:
    result, m = flown.result, flown.result.metrics
    left, right = 34.0, 491.0
    ax.text(left, 44, "SEARCH AND RESCUE MISSION", fontsize=8.5, color=_MUTED, weight="bold", va="center")
    ax.text(left, 72, result.task.id, fontsize=22, color=INK, weight="bold", va="center")
    ax.text(left, 98, f"{result.planner}  ·  {formatting.ending(result)}", fontsize=11.5, color=INK, va="center")
    tier = f"  ·  {result.task.tier}" if formatting.is_scored(result) else ""
    where = f"{result.task.map}, {formatting.conditions(result)}{tier}"
    ax.text(left, 118, where, fontsize=10, color=_MUTED, va="center")
    if formatting.is_scored(result):
        _draw_gauge(ax, 100.0, 212.0, m.rs, formatting.score(result, m.rs))
    else:
        ax.text(left, 212, "A search of one's own:\nnot scored", fontsize=14, color=_MUTED, va="center")
    for i, (name, meaning) in enumerate(_SCORES if formatting.is_scored(result) else ()):
        value = {"SR": m.sr, "TSR": m.tsr, "CDS": m.cds}[name]
        y = 172.0 + 36.0 * i
        ax.text(196, y, name, fontsize=11, weight="bold", color=INK, va="center")
        words = formatting.score(result, value)
        ax.text(right, y, words, fontsize=12, weight="bold", color=INK, ha="right", va="center")
        ax.text(right - 62, y, meaning, fontsize=8.5, color=_MUTED, ha="right", va="center")
        ax.add_patch(Rectangle((196, y + 10), right - 196, 5, fc=_LINE, ec="none"))
        ax.add_patch(Rectangle((196, y + 10), (right - 196) * min(value, 1.0), 5, fc=FOUND, ec="none"))
    _draw_facts(ax, result, left, right, 306.0)
    bottom = _draw_list(ax, flown.result, left, right, 430.0, 800.0)
    head = formatting.headline(result)
    notes = [note for note in (head, formatting.unsafe(result), *formatting.caveats(result)) if note]
    _draw_notes(ax, notes, left, max(bottom, 770.0))
    seen_by = formatting.detector(result)
    short = seen_by if len(seen_by) <= _LONGEST_EYES else f"{seen_by[: _LONGEST_EYES - 1]}…"
    eyes = f"seen by {short} · " if seen_by else ""
    gate = result.thresholds.error_threshold
    about = f"{eyes}{result.judge} judge · {result.pace} · seed {result.seed} · E = {gate:g} m"
    ax.text(left, 852, about, fontsize=8, color=_MUTED, va="center")
    legend = "★ victim   ◆ clue   (hollow: missed)   × false report   S start   ■ end"
    if flown.truth.run.keep_out:
        legend += "   ▨ keep out"
    ax.text(left, 834, legend, fontsize=8, color=_MUTED, va="center")


def _draw_gauge(ax: Axes, x: float, y: float, value: float, words: str) -> None:
    ax.add_patch(Wedge((x, y), 62, 0, 360, width=11, fc=_LINE, ec="none"))
    if value > 0.0:
        # The y axis points down: the ring then fills clockwise from the top.
        ax.add_patch(Wedge((x, y), 62, -90, -90 + 360 * min(value, 1.0), width=11, fc=FOUND, ec="none"))
    ax.text(x, y - 4, words, fontsize=24, weight="bold", color=INK, ha="center", va="center")
    ax.text(x, y + 22, "RESCUE SCORE", fontsize=7, weight="bold", color=_MUTED, ha="center", va="center")


def _draw_facts(ax: Axes, result: Result, left: float, right: float, top: float) -> None:
    m, scored = result.metrics, formatting.is_scored(result)
    facts = [
        *(
            (("victims found", f"{m.victims_found}/{m.victims}"), ("clues located", f"{m.clues_located}/{m.clues}"))
            if scored
            else (("reports", str(m.reports)),)
        ),
        ("mission time", formatting.seconds(m.elapsed)),
        ("flown", formatting.metres(m.path_length)),
        *((("report precision", f"{m.precision:.0%}"),) if scored else ()),
        ("nearest obstacle", formatting.metres(m.min_clearance)),
        ("area seen", f"{m.coverage:.1%}"),
        ("steps corrected", str(m.interventions)),
    ]
    width = (right - left) / 4
    for i, (name, value) in enumerate(facts):
        x, y = left + width * (i % 4), top + 58.0 * (i // 4)
        ax.text(x, y, value, fontsize=14, weight="bold", color=INK, va="center")
        ax.text(x, y + 19, name, fontsize=8, color=_MUTED, va="center")
    ax.plot([left, right], [top - 26] * 2, color=_LINE, lw=1)
    ax.plot([left, right], [top + 98] * 2, color=_LINE, lw=1)


def _draw_list(ax: Axes, result: Result, left: float, right: float, top: float, bottom: float) -> float:
    """One line per victim and clue and one for its coordinates as reported, as many as fit; answers where it ends."""
    things = result.things
    reports = () if formatting.is_scored(result) else result.reports
    y, drawn = top - 18.0, 0
    for item in (*things, *reports):
        report = _report_of(result, item)
        if y + _LINE_STEP + (_WHERE_STEP if report else 0.0) > bottom - 40.0:
            break
        y, drawn = y + _LINE_STEP, drawn + 1
        if isinstance(item, ReportResult):
            ax.plot(left + 6, y, marker="o", ms=7, mfc=NEAR, mec=NEAR)
            ax.text(left + 24, y, item.text or item.kind, fontsize=10.5, color=INK, va="center")
            ax.text(right, y, f"{item.confidence:.0%}", fontsize=9, color=_MUTED, va="center", ha="right")
        else:
            _draw_thing(ax, item, left, right, y, result.thresholds.error_threshold)
        if report:
            y += _WHERE_STEP
            ax.text(left + 24, y, formatting.coordinates(report), fontsize=7.5, color=_MUTED, va="center")
    if drawn < len(things) + len(reports):
        y += _LINE_STEP
        words = f"and {len(things) + len(reports) - drawn} more"
        ax.text(left + 24, y, words, fontsize=9, color=_MUTED, va="center")
    return y + _LINE_STEP


def _report_of(result: Result, item: VictimResult | ClueResult | ReportResult) -> ReportResult | None:
    """Returns the report of an entry of the list, where it tells a place on Earth."""
    index = None if isinstance(item, ReportResult) else item.report
    report = item if isinstance(item, ReportResult) else None if index is None else result.reports[index]
    return report if report is not None and report.where is not None else None


def _draw_thing(ax: Axes, thing: VictimResult | ClueResult, left: float, right: float, y: float, gate: float) -> None:
    mark, colour = _MARKS[formatting.found_word(thing)]
    person, hollow = isinstance(thing, VictimResult), mark == "○"
    marker, size = ("*", 13) if person else ("D", 7)
    ax.plot(left + 6, y, marker=marker, ms=size, mfc=PAPER if hollow else colour, mec=colour, mew=1.4)
    weight = "bold" if person else "normal"
    ax.text(left + 24, y, _name(thing), fontsize=10.5, color=INK, va="center", weight=weight)
    word = formatting.found_word(thing)
    ax.text(right - 140, y, word, fontsize=9.5, color=colour, va="center", ha="right", weight="bold")
    ax.text(right, y, formatting.explanation(thing, gate), fontsize=9, color=_MUTED, va="center", ha="right")


def _draw_notes(ax: Axes, notes: Iterable[str], left: float, top: float) -> None:
    for i, note in enumerate(list(notes)[:3]):
        y = min(top + 18.0 * i, 814.0)
        ax.text(left, y, f"!  {note}"[:84], fontsize=9, color="#a05a00", va="center")
