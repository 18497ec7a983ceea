"""Images of a comparison: figure 5 of the paper, scores by tier, and a gallery of flown tracks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from esar_ros.benchmark.report.bench_results import Episode
from esar_ros.benchmark.report.comparison import Report
from esar_ros.benchmark.report.mission_map import FALSE, FOUND, INK, MISSED, Region, relief
from esar_ros.benchmark.report.table import Drawing
from esar_ros.benchmark.report.tables import label
from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.maps import PlaceMap, load_map

# Distinct to people with any colour vision (Okabe and Ito 2008), then again with another mark.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b3a8c", "#333333")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
MUTED, LINE = "#6b757d", "#dfe4e7"
_CRASH = "#d6453d"


def style_of(index: int) -> tuple[str, str]:
    """Colour and mark of the index-th method."""
    return COLOURS[index % len(COLOURS)], MARKS[(index + index // len(COLOURS)) % len(MARKS)]


def svg(figure: Figure) -> str:
    """The figure as SVG text, the same bytes for the same figure."""
    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "esar", "svg.fonttype": "none", "font.family": "sans-serif"}):
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def jpeg(figure: Figure, dpi: int = 110) -> bytes:
    """The figure as a JPEG image."""
    canvas = FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.set_dpi(dpi)
    canvas.print_jpeg(out, pil_kwargs={"quality": 85})
    return out.getvalue()


def clean(ax: Axes) -> None:
    """Gives axes the look of every page: two spines, a pale grid behind what is drawn."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(MUTED)
    ax.tick_params(colors=MUTED, labelsize=9)
    ax.grid(color=LINE, linewidth=0.7)
    ax.set_axisbelow(True)


def safety_figure(report: Report) -> Figure:
    """Figure 5: task time, safe flight distance and, as the size of the red dot, crash rate of every method."""
    figure = Figure(figsize=(8.2, 5.0), layout="constrained")
    ax = figure.add_subplot()
    clean(ax)
    places: list[tuple[float, float, str]] = []
    for method in report.methods:
        time = report.cell(method.name, "overall", "elapsed")
        distance = report.cell(method.name, "overall", "safe_flight_distance")
        crash = report.cell(method.name, "overall", "crashed")
        if time is None or distance is None or crash is None:
            continue
        ax.errorbar(
            time.mean,
            distance.mean,
            xerr=_reach(time.mean, time.low, time.high),
            yerr=_reach(distance.mean, distance.low, distance.high),
            color=MUTED,
            elinewidth=1.3,
            capsize=2.5,
            zorder=2,
        )
        ax.scatter(time.mean, distance.mean, s=30 + 1400 * crash.mean, color=_CRASH, alpha=0.75, linewidths=0, zorder=3)
        ax.scatter(time.mean, distance.mean, s=7, color=INK, linewidths=0, zorder=4)
        places.append((time.mean, distance.mean, f"{method.name}  {100 * crash.mean:.0f} %"))
    ax.margins(0.08)
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=-0.06 * ax.get_ylim()[1])
    _label_beside(ax, places)
    ax.set_xlabel("task time (s)", color=INK)
    ax.set_ylabel("safe flight distance (m)", color=INK)
    figure.suptitle(
        "Means over tasks with 95 % intervals; the size of a dot and the number beside its name are the crash rate",
        fontsize=9.5,
        color=INK,
        x=0.02,
        ha="left",
    )
    return figure


def _reach(mean: float, low: float, high: float) -> list[list[float]]:
    """Returns how far an interval reaches below and above its mean, as error bars take it.

    Where all values are alike the drawn means differ from theirs in the last bits, on either side.
    """
    return [[max(0.0, mean - low)], [max(0.0, high - mean)]]


def _label_beside(ax: Axes, places: Sequence[tuple[float, float, str]]) -> None:
    """Names in a column right of the axes, in the order of the dots' heights, a line to each dot."""
    low, high = ax.get_ylim()
    step = min(0.075, 1.0 / max(len(places), 1))
    level = -step
    for x, y, text in sorted(places, key=lambda place: (place[1], place[0])):
        left = sum(other[1] > y for other in places)
        level = min(max(level + step, (y - low) / (high - low)), 1.0 - step * left)
        ax.annotate(
            text,
            (x, y),
            xytext=(1.03, level),
            textcoords="axes fraction",
            va="center",
            fontsize=9.5,
            color=INK,
            arrowprops={
                "arrowstyle": "-",
                "color": "#b9c1c6",
                "linewidth": 0.8,
                "linestyle": ":",
                "shrinkA": 0,
                "shrinkB": 2,
            },
            annotation_clip=False,
            zorder=5,
        )


def group_figure(report: Report) -> Figure:
    """Every score by group, with intervals; hollow: references and what else stands outside the comparison."""
    scores, groups = report.layout.scores, report.layout.groups
    rows = -(-len(scores) // 2)
    figure = Figure(figsize=(10.5, 3.3 * rows), layout="constrained")
    axes = figure.subplots(rows, 2, sharex=True, squeeze=False)
    for ax in axes.flat[len(scores) :]:
        ax.set_visible(False)
    methods = report.methods
    count = len(methods)
    for ax, score in zip(axes.flat, scores, strict=False):
        clean(ax)
        ax.grid(axis="x", visible=False)
        for i, method in enumerate(methods):
            colour, mark = style_of(i)
            for column, group in enumerate(groups):
                found = report.cell(method.name, group, score)
                if found is None:
                    continue
                x = column + (i - (count - 1) / 2) * 0.8 / max(count, 4)
                mean, low, high = (100.0 * value for value in (found.mean, found.low, found.high))
                ax.errorbar(
                    x,
                    mean,
                    _reach(mean, low, high) if found.has_interval else None,
                    color=colour,
                    marker=mark,
                    markersize=5,
                    markerfacecolor=colour if method.competes else "white",
                    elinewidth=1.3,
                )
        top = max(ax.get_ylim()[1], 1.0)  # per cent, also where all is zero
        ax.set_ylim(-0.03 * top, top)
        ax.set_title(f"{report.layout.names[score]} (%)", fontsize=11, color=INK, loc="left")
        ax.set_xticks(range(len(groups)), [group.capitalize() for group in groups])
        for edge in range(1, len(groups)):
            ax.axvline(edge - 0.5, color=LINE, linewidth=0.8)
        ax.set_xlim(-0.5, len(groups) - 0.5)
    handles = [
        Line2D(
            [],
            [],
            color=style_of(i)[0],
            marker=style_of(i)[1],
            markerfacecolor=style_of(i)[0] if method.competes else "white",
            linestyle="",
            label=label(method).text,
        )
        for i, method in enumerate(methods)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(count, 6), frameon=False, fontsize=10)
    return figure


# --- Gallery --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flown:
    """A method's episode of a panel; dotted where the method stands outside the comparison, such as an oracle."""

    index: int  # of the method
    episode: Episode
    competes: bool

    @property
    def line(self) -> dict[str, Any]:
        """Returns the style of its track."""
        return {"color": style_of(self.index)[0], "linestyle": "-" if self.competes else ":"}


def gallery_tasks(report: Report, max_count: int) -> list[str]:
    """Tasks to show: those with tracks, spread over maps and tiers, the ones that most methods flew first."""
    flown: dict[str, set[str]] = {}
    kinds: dict[str, tuple[str, str]] = {}
    for method in report.methods:
        for episode in method.episodes:
            if episode.tracks:
                flown.setdefault(episode.unit.task, set()).add(method.name)
                kinds[episode.unit.task] = (episode.map, episode.group)
    waiting = sorted(flown, key=lambda task: (-len(flown[task]), task))
    chosen: list[str] = []
    while waiting and len(chosen) < max_count:
        seen_maps = [kinds[task][0] for task in chosen]
        seen_tiers = [kinds[task][1] for task in chosen]
        seen_both = [kinds[task] for task in chosen]

        def again(task: str) -> tuple[int, int, int]:
            place, tier = kinds[task]
            return seen_both.count((place, tier)), seen_maps.count(place), seen_tiers.count(tier)  # noqa: B023

        best = min(range(len(waiting)), key=lambda i: (*again(waiting[i]), i))
        chosen.append(waiting.pop(best))
    return chosen


def gallery(report: Report) -> Drawing:
    """Returns the section of flown tracks."""

    def draw() -> bytes | None:
        figure = gallery_figure(report)
        return jpeg(figure) if figure is not None else None

    note = (
        "One panel a task, spread over maps and groups; the first seed of each method. The square is the start; "
        "dotted: references and what else stands outside the comparison."
    )
    return Drawing("tracks.jpg", "Tracks", draw, note)


def gallery_figure(report: Report, max_count: int = 9) -> Figure | None:
    """One panel a task: the track of every method (its first seed) over the ground; None without tracks."""
    tasks = gallery_tasks(report, max_count)
    if not tasks:
        return None
    columns = min(3, len(tasks))
    rows = -(-len(tasks) // columns)
    panel = 3.7 if columns > 1 else 7.4
    figure = Figure(figsize=(panel * columns, (panel + 0.25) * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(tasks) :]:
        ax.set_visible(False)
    places: dict[str, PlaceMap | None] = {}
    for ax, task in zip(axes.flat, tasks, strict=False):
        flown: list[Flown] = []
        for i, method in enumerate(report.methods):
            mine = [e for e in method.episodes if e.unit.task == task and e.tracks]
            if mine:
                flown.append(Flown(i, min(mine, key=lambda e: e.seed), method.competes))
        _panel(ax, task, flown, places)
    handles = [
        Line2D(
            [],
            [],
            color=style_of(i)[0],
            label=label(method).text,
            linewidth=2.2,
            linestyle="-" if method.competes else ":",
        )
        for i, method in enumerate(report.methods)
    ]
    sought = report.layout.sought
    handles += [
        Line2D([], [], marker="*", color=FOUND, linestyle="", label=f"{sought}, found by any", markersize=11),
        Line2D([], [], marker="*", color=MISSED, linestyle="", label=f"{sought}, missed by all", markersize=11),
    ]
    if report.layout.has_clues:
        handles += [
            Line2D([], [], marker="o", color="white", markeredgecolor=INK, linestyle="", label="clue", markersize=5),
            Line2D([], [], marker="x", color=FALSE, linestyle="", label="false report", markersize=5),
        ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 2 + columns), frameon=False, fontsize=9
    )
    return figure


def _panel(ax: Axes, task: str, flown: Sequence[Flown], places: dict[str, PlaceMap | None]) -> None:
    first = flown[0].episode
    if first.map not in places:
        try:
            places[first.map] = load_map(first.map)
        except UsageError:
            places[first.map] = None
    things = np.array([thing.position[:2] for thing in first.things], dtype=np.float64).reshape(-1, 2)
    points = [track.astype(np.float64) for one in flown for track in one.episode.tracks.values() if len(track)]
    everything = np.concatenate([things, *points])
    low, high = everything.min(axis=0), everything.max(axis=0)
    place = places[first.map]
    side = max(1.16 * float((high - low).max()), 20.0 if place is None else 160.0)
    corner = (low + high) / 2 - side / 2
    if place is not None:
        side = min(side, place.size)
        corner = np.clip(corner, -place.size / 2, place.size / 2 - side)
    region = Region(float(corner[0]), float(corner[1]), side)
    if place is not None:
        ax.imshow(relief(place, region, 300), extent=region.extent, interpolation="bilinear", zorder=0)
    else:
        ax.set_facecolor("#e8ebe6")
    for one in flown:
        for report in one.episode.false_reports[:100]:
            ax.plot(report[0], report[1], "x", color=FALSE, markersize=3, alpha=0.6, zorder=2)
        for track in one.episode.tracks.values():
            ax.plot(track[:, 0], track[:, 1], **one.line, linewidth=1.5, alpha=0.9, zorder=3)
    starts = [track[0] for one in flown for track in one.episode.tracks.values() if len(track)]
    if starts:
        ax.plot(starts[0][0], starts[0][1], "s", color=INK, markersize=5, zorder=5)
    judged = [one.episode for one in flown if one.competes] or [one.episode for one in flown]
    found = [any(episode.things[k].found for episode in judged) for k in range(len(first.things))]
    for thing, any_found in zip(first.things, found, strict=True):
        x, y = thing.position[:2]
        if thing.sought:
            ax.plot(x, y, "*", color=FOUND if any_found else MISSED, markersize=13, markeredgecolor="white", zorder=6)
        else:
            ax.plot(x, y, "o", color="white", markeredgecolor=INK, markersize=4, zorder=4)
    ax.set_xlim(region.x, region.x + side)
    ax.set_ylim(region.y, region.y + side)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_title(f"{task} · {first.map}, {first.group}", fontsize=9, color=INK, loc="left")
    step = min((s for s in (5, 10, 20, 50, 100, 200, 500, 1000) if s > side / 8), default=1000)
    x, y = region.x + 0.05 * side, region.y + 0.05 * side
    halo = [withStroke(linewidth=2.5, foreground="white")]
    ax.plot([x, x + step], [y, y], color=INK, linewidth=2.5, solid_capstyle="butt", zorder=7, path_effects=halo)
    ax.text(
        x + step / 2, y + 0.015 * side, f"{step} m", ha="center", fontsize=8, color=INK, zorder=7, path_effects=halo
    )
