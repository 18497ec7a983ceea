"""Images of a report of questions: balance of the rows, their styles on a radar, and the questions themselves.

The first is figure 5 of the paper with intervals, the last what its figure 3 tells of a set; the radar is ours.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.projections.polar import PolarAxes
from matplotlib.typing import LineStyleType

from esar_ros.benchmark.report.comparison_figures import COLOURS, LINE, MUTED, clean
from esar_ros.benchmark.report.mission_map import INK
from esar_ros.suites.uavbench.mcq.baselines import CHANCE, letters_right
from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, STYLES, Item
from esar_ros.suites.uavbench.mcq.measures import Measures

SHORT = {
    1: "Physics",
    2: "Navigation",
    3: "Policy",
    4: "Sensors",
    5: "Multi-agent",
    6: "Security",
    7: "Energy",
    8: "Ethics",
    9: "Compare",
    10: "Hybrid",
}
_MODEL, _REFERENCE = COLOURS[0], "#9aa4ab"
_DASHES: tuple[LineStyleType, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
)  # told apart without their colours
_COLUMNS = 3  # of radars
_LEAST_STYLES = 3  # that a polygon needs
_MOST_CHARACTERS, _BARS = 160, 20  # of options in the histogram; longer ones stand in the last bar

Rows = Mapping[str, Measures]  # in the order of the tables, references first
_Panel = tuple[str, float, Callable[[Measures], tuple[float, float, float] | None]]  # title, scale, value and interval


def balance_figure(rows: Rows, references: int) -> Figure:
    """Mean, sigma and BSS of every row with intervals, a dash where a row lacks them; accuracy where all rows do."""
    panels: tuple[_Panel, ...] = (
        ("Mean of the styles (%)\nlonger is better", 100.0, lambda found: found.mean),
        ("Sigma between the styles (points)\nshorter is better", 100.0, lambda found: found.sigma),
        ("Balanced Style Score (0 to 1)\nlonger is better", 1.0, lambda found: found.bss),
    )
    if all(found.bss is None for found in rows.values()):
        panels = (("Right (%): not all styles have questions\nlonger is better", 100.0, _accuracy),)
    figure = Figure(figsize=(11.0, 1.4 + 0.3 * len(rows)), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (title, scale, value) in zip(axes, panels, strict=True):
        clean(ax)
        ax.grid(axis="y", visible=False)
        ax.set_title(title, fontsize=9.5, color=INK, loc="left")
        for place, (name, found) in enumerate(rows.items()):
            estimate = value(found)
            if estimate is None:
                ax.text(0.0, place, " –", va="center", color=MUTED)
                continue
            mean, low, high = (scale * number for number in estimate)
            ax.barh(place, mean, height=0.66, color=_REFERENCE if place < references else _MODEL)
            if name != CHANCE:  # which is exact; and a bootstrap's interval need not hold the value itself
                ax.hlines(place, low, high, color=INK, linewidth=1.2)
                ax.vlines((low, high), place - 0.16, place + 0.16, color=INK, linewidth=1.2)
            end = mean if name == CHANCE else max(mean, high)
            text = f"{mean:.3f}" if scale == 1.0 else f"{mean:.1f}"
            ax.annotate(text, (end, place), (4, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
        if references < len(rows):
            ax.axhline(references - 0.5, color=MUTED, linewidth=0.8)
        right = max(ax.get_xlim()[1], 0.01)
        ax.set_xlim(0.0, 1.14 * right)  # room for the numbers
    axes[0].set_yticks(range(len(rows)), [_literal(name, 36) for name in rows], color=INK, fontsize=9)
    axes[0].set_ylim(len(rows) - 0.4, -0.6)
    return figure


def radar_figure(rows: Rows, references: int) -> Figure | None:
    """Accuracy by style: the references together in the first panel, then every model in its own, over them.

    The axes are the styles that have questions; None of fewer than three.
    """
    styles = sorted({style for found in rows.values() for style in found.styles})
    if len(styles) < _LEAST_STYLES:
        return None
    angles = {style: 2 * math.pi * place / len(styles) for place, style in enumerate(styles)}
    names = list(rows)
    count = 1 + len(names) - references
    lines = -(-count // _COLUMNS)
    figure = Figure(figsize=(10.6, 3.25 * lines + 0.4), layout="constrained")
    axes = figure.subplots(lines, _COLUMNS, subplot_kw={"projection": "polar"}, squeeze=False)
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, ["What needs no understanding", *names[references:]], strict=False):
        own = rows[name] if name in names[references:] else None
        _radar_axes(ax, name, angles)
        for place, reference in enumerate(names[:references]):
            _polygon(ax, angles, rows[reference], _colour(place), _dash(place), 1.6 if own is None else 1.0)
        if own is not None:
            _polygon(ax, angles, own, _MODEL, "-", 2.2)
            at = [angles[style] for style in own.styles]
            value, low, high = (
                [100.0 * getattr(found, end) for found in own.styles.values()] for end in ("value", "low", "high")
            )
            ax.vlines(at, low, high, color=_MODEL, linewidth=1.1)
            ax.plot(at, value, "o", color=_MODEL, markersize=4.5)
    handles = [
        Line2D([], [], color=_colour(place), linestyle=_dash(place), linewidth=1.6, label=name)
        for place, name in enumerate(names[:references])
    ]
    if count > 1:
        handles.append(Line2D([], [], color=_MODEL, marker="o", linewidth=2.2, label="the model, 95 % intervals"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9)
    return figure


def items_figure(items: Sequence[Item]) -> Figure:
    """A set's questions by style, places of the right options, and lengths of right and wrong ones."""
    figure = Figure(figsize=(11.0, 3.7), layout="constrained")
    by_style, by_place, by_length = figure.subplots(1, 3, width_ratios=(1.25, 0.9, 1.1))
    for ax, axis in ((by_style, "y"), (by_place, "x"), (by_length, "x")):
        clean(ax)
        ax.grid(axis=axis, visible=False)
    counts = Counter(item.style for item in items)
    bars = by_style.barh(list(STYLES), [counts[style] for style in STYLES], color=_MODEL, height=0.7)
    by_style.bar_label(bars, padding=3, fontsize=8, color=INK)
    by_style.set_yticks(list(STYLES), [f"{style} {SHORT[style]}" for style in STYLES], color=INK)
    by_style.set_ylim(len(STYLES) + 0.6, 0.4)
    by_style.margins(x=0.12)
    by_style.set_title("Questions by style", fontsize=9.5, color=INK, loc="left")
    right = letters_right(items)
    bars = by_place.bar(range(OPTIONS), [100.0 * right[letter] / len(items) for letter in LETTERS], color=_MODEL)
    by_place.axhline(100.0 / OPTIONS, color=COLOURS[1], linestyle="--", linewidth=1.3)
    by_place.set_xticks(range(OPTIONS), list(LETTERS), color=INK)
    by_place.set_title("Right letter (% of questions)\ndashed: one in seven", fontsize=9.5, color=INK, loc="left")
    lengths = {
        "right": [len(item.options[item.key]) for item in items],
        "wrong": [len(text) for item in items for place, text in enumerate(item.options) if place != item.key],
    }
    longest = max(map(max, lengths.values()))
    width = -(-min(longest, _MOST_CHARACTERS) // _BARS)
    edges = list(range(0, min(longest, _MOST_CHARACTERS) + width + 1, width))
    for (name, own), colour, dash in zip(lengths.items(), COLOURS, ("-", "--"), strict=False):
        share, _ = np.histogram(np.minimum(own, edges[-1]), edges)
        label = f"{name}, {np.mean(own):.1f} on average"
        by_length.stairs(100.0 * share / len(own), edges, color=colour, linestyle=dash, linewidth=1.8, label=label)
    by_length.set_xlim(0.0, edges[-1])
    by_length.set_ylim(0.0, 1.3 * by_length.get_ylim()[1])  # room for the legend
    by_length.set_xlabel("characters" + f", {edges[-1]}: or more" * (longest > edges[-1]), color=INK)
    by_length.set_title("Length of right and wrong options\n(% of each)", fontsize=9.5, color=INK, loc="left")
    by_length.legend(loc="upper left", frameon=False, fontsize=8.5)
    return figure


def _literal(name: str, width: int) -> str:
    """A name in lines of at most so many characters, with nothing in it read as a formula."""
    return textwrap.fill(name, width).replace("$", r"\$")


def _accuracy(found: Measures) -> tuple[float, float, float]:
    return found.accuracy.value, found.accuracy.low, found.accuracy.high


def _radar_axes(ax: PolarAxes, title: str, angles: Mapping[int, float]) -> None:
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ax.set_ylim(0.0, 100.0)
    ax.set_yticks((25, 50, 75, 100), ("25", "50", "75", "100 %"), fontsize=7.5, color=MUTED)
    ax.set_rlabel_position(180.0 / len(angles))  # between two styles
    ax.set_xticks(list(angles.values()), [SHORT[style] for style in angles], fontsize=8.5, color=INK)
    ax.tick_params(axis="x", pad=1)
    for label, angle in zip(ax.get_xticklabels(), angles.values(), strict=True):
        side = math.sin(angle)
        label.set_horizontalalignment("center" if abs(side) < 0.1 else "left" if side > 0.0 else "right")
    ax.grid(color=LINE, linewidth=0.8)
    ax.spines["polar"].set_color(LINE)
    ax.set_title(_literal(title, 44), fontsize=10, color=INK, pad=10)


def _polygon(
    ax: PolarAxes, angles: Mapping[int, float], row: Measures, colour: str, dash: LineStyleType, width: float
) -> None:
    """Draws a row's accuracies, with a gap where it has no answers of a style."""
    values = [100.0 * row.styles[style].value if style in row.styles else math.nan for style in angles]
    around = [*angles.values(), next(iter(angles.values()))]
    ax.plot(around, [*values, values[0]], color=colour, linestyle=dash, linewidth=width)


def _colour(place: int) -> str:
    """The colour of a reference; the first is the models' own."""
    return COLOURS[1 + place % (len(COLOURS) - 1)]


def _dash(place: int) -> LineStyleType:
    return _DASHES[(place + 1) % len(_DASHES)]
