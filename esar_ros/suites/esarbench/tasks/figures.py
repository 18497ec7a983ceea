"""Images of tasks: one task on its map, and a set's statistics in the layout of the paper's figure 4."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from esar_ros.benchmark.report.mission_map import Region, relief
from esar_ros.mission.task import TIERS, Task
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.world.scatter import scatter
from esar_ros.suites.esarbench.tasks.statistics import PAPER_TIERS, Statistics

_INK = "#1d2429"
_TIER_COLOURS = ("#7fb685", "#e8c468", "#e08e45", "#b5403a")
_WORD_COLOURS = ((38, 70, 83), (42, 112, 125), (94, 60, 108), (171, 78, 52), (90, 110, 60))
_HALO = [withStroke(linewidth=2.5, foreground="white")]


def draw_task(task: Task, place: PlaceMap, lines: Mapping[str, NDArray[np.float64]], path: Path) -> None:
    """Draws a task on its map as PNG with its ground truth: walked lines, victims, clues, distractors, start."""
    figure = Figure(figsize=(12.0, 9.6), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0.02, 0.13, 0.74, 0.84))
    points = np.array([task.start.position, *(v.position for v in task.victims), *(c.position for c in task.clues)])
    region = _region(points, place.size)
    ax.imshow(relief(place, region, 900), extent=region.extent, interpolation="bilinear", zorder=0)
    _contours(ax, place, region)
    _plants(ax, place, region)
    for line in lines.values():
        ax.plot(line[:, 0], line[:, 1], "--", color="#5b4636", linewidth=1.3, alpha=0.8, zorder=3)
    for thing in task.distractors:
        ax.plot(*thing.position, "x", color="#707070", markersize=6, zorder=4)
    rows = []
    for number, clue in enumerate(task.clues, 1):
        ax.plot(*clue.position, "o", color="#e0a100", markeredgecolor=_INK, markersize=8, zorder=5)
        _label(ax, clue.position, str(number))
        rows.append(f"{number}  {clue.description}")
    for victim in task.victims:
        ax.plot(*victim.position, "*", color="#d6453d", markeredgecolor=_INK, markersize=17, zorder=6)
        _label(ax, victim.position, victim.name)
        rows.append(f"★  {victim.name}, {victim.pose.value}, {victim.variant}")
    x, y = task.start.position
    ax.plot(x, y, "^", color="#2b5cd9", markeredgecolor=_INK, markersize=12, zorder=6)
    ax.annotate(
        "",
        (x + 0.05 * region.side * np.cos(task.start.yaw), y + 0.05 * region.side * np.sin(task.start.yaw)),
        (x, y),
        arrowprops={"arrowstyle": "->", "color": "#2b5cd9", "lw": 2.0},
    )
    _label(ax, task.start.position, "start")
    _scale_bar(ax, region)
    ax.set_xlim(region.x, region.x + region.side)
    ax.set_ylim(region.y, region.y + region.side)
    ax.set_axis_off()
    about = [
        task.id, f"{task.map}, {task.tier} (S = {task.difficulty})", f"{task.local_time:%Y-%m-%d %H:%M}",
        task.weather.value.replace("_", " "), f"wind {task.wind.speed:.1f} m/s", f"at most {task.t_max:.0f} s", "",
        *rows,
        *([f"x  {len(task.distractors)} distractors"] if task.distractors else []),
    ]  # fmt: skip
    figure.text(0.775, 0.96, "\n".join(about), va="top", fontsize=10, color=_INK, linespacing=1.5)
    figure.text(0.02, 0.115, textwrap.fill(task.prompt, 175), va="top", fontsize=8.5, color=_INK, linespacing=1.35)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def draw_statistics(stats: Statistics, path: Path) -> None:
    """PNG after the paper's figure 4: words of the prompts, tiers, clues, distances."""
    figure = Figure(figsize=(13.0, 9.0), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    ((words, tiers), (clues, far)) = figure.subplots(2, 2, gridspec_kw={"width_ratios": [1.25, 1.0]})
    words.imshow(word_cloud(stats.words, 1100, 720), interpolation="bilinear")
    words.set_axis_off()
    words.set_title("(a) words of the prompts", loc="left")
    _draw_tiers(tiers, stats)
    names = sorted(stats.clues, key=lambda name: stats.clues[name])
    bars = clues.barh(
        [name.replace("_", " ") for name in names], [stats.clues[name] for name in names], color="#6c8ea4"
    )
    clues.bar_label(bars, padding=3, fontsize=9)
    clues.spines[["top", "right"]].set_visible(False)
    clues.set_title(f"(c) clues in {stats.snapshots} snapshots", loc="left")
    far.hist(stats.distances, bins=40, color="#8fae9a", edgecolor="white")
    for mine, paper in zip(stats.quartiles, DISTANCE_QUARTILES, strict=True):
        far.axvline(paper, color="#b5403a", linewidth=1.2)
        far.axvline(mine, color=_INK, linewidth=1.2, linestyle=":")
    far.set_xlabel("mean distance from start to victims (m)")
    far.spines[["top", "right"]].set_visible(False)
    far.set_title("(d) distances; quartiles dotted, the paper's red", loc="left")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def word_cloud(words: Mapping[str, int], width: int, height: int, max_words: int = 110) -> NDArray[np.uint8]:
    """Image (height, width, 3): the commonest words, larger the commoner, set along a spiral where there is room."""
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    taken = np.zeros((height, width), dtype=np.bool_)
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:max_words]
    largest = ranked[0][1] if ranked else 1
    for rank, (word, count) in enumerate(ranked):
        font = ImageFont.load_default(size=int(12 + 60 * (count / largest)))
        left, top, right, bottom = (int(v) for v in draw.textbbox((0, 0), word, font=font))
        w, h = right - left + 6, bottom - top + 6
        for step in range(4000):
            radius, angle = 0.09 * step, 0.35 * step**0.75
            x = int(width / 2 + 1.6 * radius * np.cos(angle) - w / 2)
            y = int(height / 2 + radius * np.sin(angle) - h / 2)
            if x < 0 or y < 0 or x + w > width or y + h > height or taken[y : y + h, x : x + w].any():
                continue
            draw.text((x + 3 - left, y + 3 - top), word, font=font, fill=_WORD_COLOURS[rank % len(_WORD_COLOURS)])
            taken[y : y + h, x : x + w] = True
            break
    return np.asarray(image)


def _draw_tiers(ax: Axes, stats: Statistics) -> None:
    shares = [100.0 * stats.tiers[name] / max(1, stats.tasks) for name in TIERS]
    labels = [
        f"{name}\n{share:.1f} % (paper {paper:.1f})"
        for name, share, paper in zip(TIERS, shares, PAPER_TIERS, strict=True)
    ]
    ax.pie(
        shares, labels=labels, colors=_TIER_COLOURS, startangle=90, counterclock=False,
        wedgeprops={"width": 0.42, "edgecolor": "white"}, textprops={"fontsize": 10},
    )  # fmt: skip
    ax.set_title(f"(b) difficulty of {stats.tasks} tasks", loc="left")


def _region(points: NDArray[np.float64], size: float) -> Region:
    low, high = points.min(axis=0), points.max(axis=0)
    side = min(max(1.3 * float((high - low).max()), 200.0), size)
    corner = np.clip((low + high) / 2 - side / 2, -size / 2, size / 2 - side)
    return Region(float(corner[0]), float(corner[1]), side)


def _contours(ax: Axes, place: PlaceMap, region: Region) -> None:
    grid = np.linspace(0.0, region.side, 200)
    xs, ys = region.x + grid, region.y + grid
    heights = place.ground_height(np.stack(np.meshgrid(xs, ys), axis=-1))
    step = next(s for s in (1.0, 5.0, 10.0, 25.0, 50.0, 1e9) if float(np.ptp(heights)) / s < 30.0)
    levels = np.arange(np.floor(heights.min() / step) * step, heights.max() + step, step)
    if len(levels) > 1:
        ax.contour(xs, ys, heights, levels=levels, colors="#7d6f58", linewidths=0.4, alpha=0.6, zorder=1)


def _plants(ax: Axes, place: PlaceMap, region: Region) -> None:
    flora = scatter(place)
    x, y = flora.positions[:, 0] - region.x, flora.positions[:, 1] - region.y
    near = (x > 0) & (x < region.side) & (y > 0) & (y < region.side)
    size = (2.0 * flora.crown_radius[near] / region.side * 0.74 * 12.0 * 72.0) ** 2
    ax.scatter(
        flora.positions[near, 0], flora.positions[near, 1], s=np.clip(size, 0.3, None), c="#5d7f58", alpha=0.35,
        linewidths=0, zorder=2,
    )  # fmt: skip


def _label(ax: Axes, at: tuple[float, float], words: str) -> None:
    ax.annotate(
        words, at, (7, 5), textcoords="offset points", fontsize=10, color=_INK, path_effects=_HALO, zorder=7
    )  # fmt: skip


def _scale_bar(ax: Axes, region: Region) -> None:
    length = next(v for v in (20.0, 50.0, 100.0, 200.0, 500.0, 1000.0) if v >= region.side / 8)
    x, y = region.x + 0.03 * region.side, region.y + 0.03 * region.side
    ax.plot([x, x + length], [y, y], color=_INK, linewidth=3, zorder=7, solid_capstyle="butt")
    _label(ax, (x, y), f"{length:.0f} m")
