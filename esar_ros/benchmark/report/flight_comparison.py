"""Two flights of one place side by side: tracks on one map, what each found and when, decisions, governor, scores."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from esar_ros.benchmark.report import formatting
from esar_ros.benchmark.report.mission_map import INK, PAPER, Labels, Region, draw_ground, draw_scale_bar, region_of
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.benchmark.report.mission_timeline import Span, decision_spans, mode_spans
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import NANO
from esar_ros.scoring.result import ClueResult, Result, VictimResult

COLOURS = ("#1f6fb4", "#d9660a")
_MUTED, _LINE = "#6b757d", "#e3e7ea"
_VERDICT_MARKS = {
    "found": "*",
    "exact": "D",
    "located": "d",
    "false": "x",
    "duplicate": "|",
    "lost": "x",
    "unknown": "o",
}
_ACTIONS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#d9d9d9", "#ccebc5")
_MODES = {"normal": "#d5ead8", "slow": "#f3dc8c", "hold": "#e8a39b", "climb": "#e8a39b", "return": "#d98c84"}
_MINUTE = 60.0  # s


class ComparedFlight(NamedTuple):
    """One of the two flights, and its name in the image."""

    name: str
    flown: MissionRecord


def comparison_png(a: ComparedFlight, b: ComparedFlight) -> bytes:
    """PNG, 1920 x 1200 px. Raises UsageError for flights of different places."""
    flights = (a, b)
    places = [flight.flown.truth.task.map for flight in flights]
    if places[0] != places[1]:
        raise UsageError(
            f"{a.name} was flown on map '{places[0]}', {b.name} on '{places[1]}'", "compare flights of one place"
        )
    figure = Figure(figsize=(16.0, 10.0), dpi=120, facecolor=PAPER)
    canvas = FigureCanvasAgg(figure)
    _draw_map(figure.add_axes((0.0, 0.0, 0.60, 0.96)), flights)
    _draw_heading(figure, flights)
    _draw_scores(figure.add_axes((0.62, 0.50, 0.36, 0.44)), flights)
    max_elapsed = max(flight.flown.result.metrics.elapsed for flight in flights)
    for number, flight in enumerate(flights):
        timeline = figure.add_axes((0.69, 0.285 - 0.225 * number, 0.29, 0.165))
        _draw_timeline(timeline, flight, COLOURS[number], max(max_elapsed, 1.0))
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def _draw_legend(ax: Axes) -> None:
    legend = (
        "★ victim  ◆ clue: left half filled when A found it, right half when B    ✕ false report    ①: minutes flown"
    )
    text = ax.text(0.985, 0.012, legend, fontsize=8, color=INK, ha="right", transform=ax.transAxes, zorder=15)
    text.set_path_effects([withStroke(linewidth=3.0, foreground=PAPER)])


def _draw_heading(figure: Figure, flights: Sequence[ComparedFlight]) -> None:
    task = [flight.flown.truth.task for flight in flights]
    what = task[0].id if task[0].id == task[1].id else f"{task[0].id} and {task[1].id}: different tasks"
    figure.text(0.012, 0.978, f"{what}  ·  {task[0].map}", fontsize=15, weight="bold", color=INK, va="center")
    for number, flight in enumerate(flights):
        result = flight.flown.result
        text = f"{'AB'[number]}  {flight.name}: {result.planner}, seed {result.seed}, {formatting.ending(result)}"
        figure.text(0.40 + 0.30 * number, 0.978, text, fontsize=11, color=COLOURS[number], weight="bold", va="center")


def _region(flights: Sequence[ComparedFlight]) -> Region:
    """The square that shows both flights."""
    regions = [region_of(flight.flown) for flight in flights]
    west, south = min(r.x for r in regions), min(r.y for r in regions)
    side = max(max(r.x + r.side for r in regions) - west, max(r.y + r.side for r in regions) - south)
    place = flights[0].flown.place
    if place is None:
        return Region(west, south, side)
    half = place.size / 2
    side = min(side, place.size)
    return Region(min(max(west, -half), half - side), min(max(south, -half), half - side), side)


def _draw_map(ax: Axes, flights: Sequence[ComparedFlight]) -> None:
    region = _region(flights)
    ax.set_xlim(region.x, region.x + region.side)
    ax.set_ylim(region.y, region.y + region.side)
    ax.set_aspect("equal")
    ax.axis("off")
    place = flights[0].flown.place
    if place is not None:
        draw_ground(ax, place, region, pixels=1100)
    for number, flight in enumerate(flights):
        _draw_tracks(ax, flight.flown, COLOURS[number])
        _draw_reports(ax, flight.flown.result, COLOURS[number])
    _draw_things(ax, flights, region)
    draw_scale_bar(ax, region, 1.0)
    _draw_legend(ax)


def _draw_tracks(ax: Axes, flown: MissionRecord, colour: str) -> None:
    """Tracks with a numbered dot at each full minute."""
    for flight in flown.flights:
        if not len(flight.positions):
            continue
        xy = flight.positions[:, :2]
        ax.plot(xy[:, 0], xy[:, 1], color=PAPER, lw=4.0, alpha=0.8, zorder=4)
        ax.plot(xy[:, 0], xy[:, 1], color=colour, lw=2.2, zorder=5)
        times = (flight.stamps - flown.truth.start) / NANO
        for minute in range(1, int(times[-1] // _MINUTE) + 1):
            at = xy[min(int(np.searchsorted(times, minute * _MINUTE)), len(xy) - 1)]
            ax.plot(*at, marker="o", ms=11, mfc=PAPER, mec=colour, mew=1.3, zorder=6)
            ax.text(
                at[0], at[1], str(minute), fontsize=6.5, color=colour, ha="center", va="center", weight="bold", zorder=7
            )
        ax.plot(*xy[0], marker="o", ms=9, mfc=INK, mec=PAPER, mew=1.2, zorder=8)
        ax.plot(*xy[-1], marker="s", ms=8, mfc=colour, mec=PAPER, mew=1.2, zorder=8)


def _draw_reports(ax: Axes, result: Result, colour: str) -> None:
    """False reports as crosses, the others as dots."""
    for report in result.reports:
        if report.position is None or report.verdict == "over_cap":
            continue
        marker, size = ("o", 5) if report.ok else ("x", 8)
        mark = ax.plot(*report.position[:2], marker=marker, ms=size, mfc=colour, mec=colour, mew=1.8, zorder=9)[0]
        mark.set_path_effects([withStroke(linewidth=3.2, foreground=PAPER)])


def _draw_things(ax: Axes, flights: Sequence[ComparedFlight], region: Region) -> None:
    """Victims as stars, clues as diamonds: the left half filled when A found it, the right half when B did."""
    labels = Labels(ax, region, 1.0)
    things = {thing.id: thing for flight in reversed(flights) for thing in flight.flown.result.things}
    for thing in things.values():
        marker, size = ("*", 22) if isinstance(thing, VictimResult) else ("D", 10)
        found = [_found(flight.flown.result, thing.id) for flight in flights]
        left, right = (colour if hit else PAPER for hit, colour in zip(found, COLOURS, strict=True))
        ax.plot(
            *thing.position[:2], marker=marker, ms=size, fillstyle="left", markerfacecolor=left,
            markerfacecoloralt=right, mec=INK, mew=1.2, zorder=10,
        )  # fmt: skip
        labels.reserve(*thing.position[:2], 0.5 * size)
    for thing in things.values():
        person = isinstance(thing, VictimResult)
        labels.put(*thing.position[:2], _name(thing), 12 if person else 8, bold=person)


def _found(result: Result, thing: str) -> bool:
    return any(formatting.found_word(other) != "missed" for other in result.things if other.id == thing)


def _name(thing: VictimResult | ClueResult) -> str:
    return thing.name if isinstance(thing, VictimResult) else formatting.plain(thing.kind)


def _draw_scores(ax: Axes, flights: Sequence[ComparedFlight]) -> None:
    """Draws a table of both flights' scores; where a score has a better value, that one is bold."""
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.0)
    ax.axis("off")
    rows = _rows([flight.flown.result for flight in flights])
    step = 1.0 / (len(rows) + 1)
    for number, x in enumerate((0.70, 1.0)):
        ax.text(x, 1.0 - 0.4 * step, "AB"[number], color=COLOURS[number], fontsize=13, weight="bold", ha="right")
    for i, (name, values, texts, direction) in enumerate(rows, 1):
        y = 1.0 - (i + 0.4) * step
        ax.text(0.0, y, name, fontsize=10.5, color=INK)
        ax.plot([0.0, 1.0], [y + 0.70 * step] * 2, color=_LINE, lw=0.8)
        for number, x in enumerate((0.70, 1.0)):
            better = direction != 0 and direction * (values[number] - values[1 - number]) > 1e-9
            weight = "bold" if better else "normal"
            ax.text(x, y, texts[number], fontsize=11, color=INK if better else _MUTED, weight=weight, ha="right")


def _rows(results: Sequence[Result]) -> list[tuple[str, list[float], list[str], int]]:
    """Returns the rows of the table: name, values, values as text, direction.

    direction: +1 where more is better, -1 where less is, 0 where neither.
    """
    m = [result.metrics for result in results]
    gate = [f"{result.thresholds.error_threshold:g}" for result in results]
    percent = formatting.percent
    rows: list[tuple[str, list[float], list[str], int]] = [
        ("RS  rescue score", [x.rs for x in m], [percent(x.rs) for x in m], 1),
        ("SR  victims found", [x.sr for x in m], [f"{x.victims_found}/{x.victims}   {percent(x.sr)}" for x in m], 1),
        ("TSR  weighted by time left", [x.tsr for x in m], [percent(x.tsr) for x in m], 1),
        ("CDS  clues", [x.cds for x in m], [f"{x.clues_located}/{x.clues}   {percent(x.cds)}" for x in m], 1),
        ("first victim", *_first(results, "victim"), -1),
        ("first clue", *_first(results, "clue"), -1),
        ("false reports", [x.false_reports for x in m], [f"{x.false_reports} of {x.reports}" for x in m], -1),
        ("safe", [float(x.safe) for x in m], ["yes" if x.safe else "no" for x in m], 1),
        ("nearest obstacle", [x.min_clearance or 0.0 for x in m], [formatting.metres(x.min_clearance) for x in m], 0),
        ("interventions", [x.interventions for x in m], [str(x.interventions) for x in m], 0),
        ("area seen", [x.coverage for x in m], [f"{x.coverage:.1%}" for x in m], 1),
        ("flown", [x.path_length for x in m], [formatting.metres(x.path_length) for x in m], 0),
        ("time", [x.elapsed for x in m], [formatting.seconds(x.elapsed) for x in m], 0),
        ("error threshold E, judge", [0.0, 0.0], [f"{g} m, {r.judge}" for g, r in zip(gate, results, strict=True)], 0),
    ]
    return rows


def _first(results: Sequence[Result], kind: str) -> tuple[list[float], list[str]]:
    """Returns each flight's time (s) of the first correct report of a victim or a clue, and the same in words."""
    times = [min((r.time for r in result.reports if r.ok and r.type == kind), default=None) for result in results]
    return [float("inf") if time is None else time for time in times], [formatting.seconds(time) for time in times]


def _draw_timeline(ax: Axes, flight: ComparedFlight, colour: str, max_elapsed: float) -> None:
    """Draws decisions, the governor's modes and reports of a flight over its time."""
    flown = flight.flown
    vehicle = sorted(flown.truth.vehicles)[0]
    ax.set_xlim(0.0, max_elapsed)
    ax.set_ylim(0.0, 3.0)
    decisions = decision_spans(flown, vehicle)
    actions = list(dict.fromkeys(span.word for span in decisions))
    paints = {word: _ACTIONS[i % len(_ACTIONS)] for i, word in enumerate(actions)}
    _draw_spans(ax, decisions, 2.05, paints, max_elapsed)
    ax.legend(
        handles=[Patch(fc=paint, label=formatting.plain(word)[:24]) for word, paint in list(paints.items())[:6]],
        loc="lower right", bbox_to_anchor=(1.01, 0.98), ncols=6, fontsize=7, frameon=False, handlelength=1.0,
        columnspacing=1.0, labelcolor=_MUTED,
    )  # fmt: skip
    _draw_spans(ax, mode_spans(flown, vehicle), 1.05, _MODES, max_elapsed)
    for report in flown.result.reports:
        if report.verdict != "over_cap":
            marker = _VERDICT_MARKS[report.verdict]
            ax.plot(report.time, 0.5, marker=marker, ms=12 if marker == "*" else 7, color=colour, mec=colour, mew=1.4)
    ax.axvline(flown.result.metrics.elapsed, color=colour, lw=1.2, ls=(0, (3, 2)))
    ax.set_yticks([0.5, 1.5, 2.5], ["reports", "governor", "decisions"], fontsize=9, color=INK)
    ax.tick_params(length=0, labelsize=8.5, colors=_MUTED)
    ax.set_title(f"{flight.name}, s", fontsize=9.5, color=colour, loc="left", weight="bold", pad=3)
    for spine in ax.spines.values():
        spine.set_color(_LINE)


def _draw_spans(ax: Axes, spans: Sequence[Span], y: float, colours: dict[str, str], max_elapsed: float) -> None:
    for span in spans:
        width = max(span.end - span.start, 0.0)
        ax.broken_barh([(span.start, width)], (y, 0.9), facecolors=colours.get(span.word, "#e8a39b"), linewidth=0)
        label = formatting.plain(span.word)
        if width > 0.014 * max_elapsed * len(label):  # where there is room for the word
            ax.text(span.start + width / 2, y + 0.45, label, fontsize=7, color=INK, ha="center", va="center")
