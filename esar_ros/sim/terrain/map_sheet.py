"""A place as a sheet to print: relief with tracks and structures, grid of coordinates, scale bar, north arrow."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrow, Patch, Rectangle
from matplotlib.patheffects import withStroke

from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief_image import MAP_COLOURS

_INK = "#1d2429"
_HALO = [withStroke(linewidth=2.5, foreground="white", alpha=0.85)]
_DPI = 140


def position_words(latitude: float, longitude: float, digits: int) -> str:
    """Degrees with N, S, E, W."""
    north, east = "N" if latitude >= 0.0 else "S", "E" if longitude >= 0.0 else "W"
    return f"{abs(latitude):.{digits}f} {north}, {abs(longitude):.{digits}f} {east}"


def save_sheet(place: PlaceMap, path: Path, pixels: int) -> None:
    """Write a PNG whose map is `pixels` wide. Raises OSError or ValueError when it cannot."""
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "font.size": 8}):
        side = pixels / _DPI
        figure = Figure(figsize=(side + 1.5, side + 1.6), dpi=_DPI, facecolor="white")
        ax = figure.add_axes((0.85 / (side + 1.5), 0.85 / (side + 1.6), side / (side + 1.5), side / (side + 1.6)))
        half = place.size / 2
        ax.imshow(place.shaded_relief(pixels), extent=(-half, half, -half, half), interpolation="nearest")
        ax.set_xlim(-half, half)
        ax.set_ylim(-half, half)
        _grid(ax, place)
        _names(ax, place)
        _scale_bar(ax, place)
        _legend(ax, place)
        figure.savefig(path, dpi=_DPI, format="png", metadata={"Software": None})


def _grid(ax: Axes, place: PlaceMap) -> None:
    """Map coordinates below and left; degrees at the corners."""
    half = place.size / 2
    step = 500.0 if place.size > 3000 else 250.0 if place.size > 1200 else 100.0
    ticks = np.arange(-np.floor(half / step) * step, half + 1.0, step)
    ax.set_xticks(ticks)
    ax.set_yticks(ticks)
    ax.tick_params(length=3, color=_INK, labelcolor=_INK, top=True, right=True)
    ax.grid(True, color=_INK, alpha=0.12, linewidth=0.5)
    ax.set_xlabel("east of the centre, m", color=_INK)
    ax.set_ylabel("north of the centre, m", color=_INK)
    low, high = (place.heights.min() + place.origin.altitude, place.heights.max() + place.origin.altitude)
    ax.annotate(
        place.name, (0.0, 1.0), xycoords="axes fraction", xytext=(0, 22), textcoords="offset points", fontsize=13,
        fontweight="bold", color=_INK,
    )  # fmt: skip
    origin = place.origin
    facts = f"centre {position_words(origin.latitude, origin.longitude, 5)}, {origin.altitude:.0f} m"
    facts += f"; {low:.0f} to {high:.0f} m AMSL"
    ax.set_title(facts, loc="left", fontsize=8, color=_INK, y=1.004)
    for x, y, horizontal, vertical in ((-half, -half, "left", "top"), (half, half, "right", "bottom")):
        latitude, longitude, _ = origin.to_geodetic((x, y, 0.0))
        ax.annotate(
            position_words(latitude, longitude, 4), (x, y), xytext=(0, -30 if y < 0 else 6), textcoords="offset points",
            ha=horizontal, va=vertical, fontsize=7, color=_INK,
        )  # fmt: skip


def _names(ax: Axes, place: PlaceMap) -> None:
    for name, line in place.tracks.items():
        if np.hypot(*np.diff(line, axis=0).T).sum() < 0.15 * place.size:
            continue
        east, north = line[len(line) // 2].tolist()
        ax.annotate(
            name.replace("_", " "), (east, north), xytext=(5, 4), textcoords="offset points", fontsize=7,
            fontstyle="italic", color="#8a1f1a", path_effects=_HALO,
        )  # fmt: skip
    for item in place.structures:
        kind = item.asset.removeprefix("structure_").split("/")[0].replace("_", " ")
        ax.plot(*item.xy, marker="s", markersize=4.5, color=_INK, markeredgecolor="white", markeredgewidth=0.8)
        ax.annotate(
            kind, item.xy, xytext=(5, -9), textcoords="offset points", fontsize=7, color=_INK, path_effects=_HALO
        )
    ax.plot(0.0, 0.0, marker="+", markersize=9, color=_INK, markeredgewidth=1.1, path_effects=_HALO)
    row, column = np.unravel_index(int(place.heights.argmax()), place.heights.shape)
    peak = (float(column) * place.cell - place.size / 2, float(row) * place.cell - place.size / 2)
    top = float(place.heights.max()) + place.origin.altitude
    ax.plot(*peak, marker="^", markersize=5, color=_INK, markeredgecolor="white", markeredgewidth=0.8)
    ax.annotate(
        f"{top:.0f}", peak, xytext=(-4 if peak[0] > 0.9 * place.size / 2 else 4, 4), textcoords="offset points",
        ha="right" if peak[0] > 0.9 * place.size / 2 else "left", fontsize=8, fontweight="bold", color=_INK,
        path_effects=_HALO,
    )  # fmt: skip


def _scale_bar(ax: Axes, place: PlaceMap) -> None:
    half = place.size / 2
    length = 10.0 ** np.floor(np.log10(place.size / 4))
    length *= next(factor for factor in (5, 2, 1) if factor * length <= place.size / 4)
    x, y, thick = -half + 0.03 * place.size, -half + 0.03 * place.size, 0.008 * place.size
    ax.add_patch(
        Rectangle((x - 0.012 * place.size, y - 0.012 * place.size), length + 0.085 * place.size, 0.062 * place.size,
                  facecolor="white", alpha=0.8, linewidth=0, zorder=5)
    )  # fmt: skip
    for part in range(4):
        ax.add_patch(
            Rectangle((x + part * length / 4, y), length / 4, thick, facecolor=_INK if part % 2 == 0 else "white",
                      edgecolor=_INK, linewidth=0.7, zorder=6)
        )  # fmt: skip
    for value in (0.0, length / 2, length):
        label = f"{value:.0f}" + (" m" if value == length else "")
        ax.text(x + value, y + 1.8 * thick, label, ha="center", va="bottom", fontsize=7, color=_INK, zorder=6)
    arrow = half - 0.045 * place.size
    ax.add_patch(
        FancyArrow(arrow, arrow - 0.05 * place.size, 0.0, 0.045 * place.size, width=0.004 * place.size,
                   head_width=0.018 * place.size, length_includes_head=True, color=_INK, zorder=6,
                   path_effects=_HALO)
    )  # fmt: skip
    ax.text(arrow, arrow + 0.004 * place.size, "N", ha="center", va="bottom", fontsize=10, fontweight="bold",
            color=_INK, path_effects=_HALO, zorder=6)  # fmt: skip


def _legend(ax: Axes, place: PlaceMap) -> None:
    share = np.bincount(place.land_cover.ravel(), minlength=len(LandCover)) / place.land_cover.size
    shown = sorted((kind for kind in LandCover if share[kind] >= 0.004), key=lambda kind: -share[kind])
    handles = [
        Patch(
            facecolor=MAP_COLOURS[kind], edgecolor=_INK, lw=0.4, label=f"{kind.name.lower()} {100 * share[kind]:.0f} %"
        )
        for kind in shown
    ]
    ax.legend(handles=handles, loc="lower right", fontsize=7, framealpha=0.85, edgecolor="none", borderpad=0.6)
