"""The map of an incident as a picture: the ground in relief, what is left of the POA, what was covered, by whom."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from matplotlib.colors import LightSource, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse as Oval

from esar_ros.incident.features import Area, AreaKind, Floats, Mover, PlaceKind, Position, Search
from esar_ros.incident.formats.words import find_colour, is_faint
from esar_ros.incident.ground import Ground
from esar_ros.mission.clues import PERSON

DOTS = 220  # an inch
MOST, NEAREST = 0.6, 800.0  # share of the POA on the ground that is shown at least; m a side
COVERED = 0.5  # POD from which ground is drawn as covered
MOVERS = {Mover.DRONE: ("#1f5fbf", "drone"), Mover.PERSON: ("#2b8a3e", "on foot"), Mover.DOG: ("#8a5a2b", "dog")}
PLANNED = "#7b3fa0"
_LIKELY = LinearSegmentedColormap.from_list("poa", [(1, 0.8, 0.3, 0.0), (1, 0.6, 0.15, 0.6), (0.8, 0.05, 0.05, 0.8)])


def draw_map(search: Search, segments: list[Area], ground: Ground, poa: Floats, pod: Floats) -> bytes:
    """Returns a PNG. ground: by the cells of POA (what is left) and POD, (H, W) each."""
    figure = Figure(figsize=(5.8, 5.8), layout="constrained")
    axes = figure.add_subplot()
    rows, columns = ground.heights.shape
    extent = (ground.west, ground.west + columns * ground.cell, ground.north - rows * ground.cell, ground.north)
    heights = np.nan_to_num(ground.heights, nan=float(np.nanmean(ground.heights)))
    shade = LightSource(315, 45).hillshade(heights, dx=ground.cell, dy=ground.cell)
    axes.imshow(shade, cmap="gray", vmin=-0.3, vmax=1.3, extent=extent, interpolation="bilinear")
    top = float(np.quantile(poa[poa > 0.0], 0.995)) if (poa > 0.0).any() else 1.0
    axes.imshow(poa, cmap=_LIKELY, vmin=0.0, vmax=top, extent=extent, interpolation="bilinear")
    if (pod >= COVERED).any():
        x = ground.west + ground.cell * (np.arange(columns) + 0.5)
        y = ground.north - ground.cell * (np.arange(rows) + 0.5)
        axes.contourf(x, y, pod, levels=[COVERED, 1.01], colors="none", hatches=["////"])
        axes.contour(x, y, pod, levels=[COVERED], colors="#1d2429", linewidths=0.7)
    _draw_areas(axes, search, segments, ground)
    _draw_ways(axes, search, ground)
    _draw_marks(axes, search, ground)
    _finish(axes, view_of(search, ground, poa), ground)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DOTS)
    return picture.getvalue()


def view_of(search: Search, ground: Ground, poa: Floats) -> tuple[float, float, float, float]:
    """Returns west, east, south and north of a square that shows where MOST of the POA on the ground lies densest, and
    all ways and marks on it."""
    rows, columns = ground.heights.shape
    size = ground.cell * np.array([columns, rows])
    low, high = np.array([ground.west, ground.north - size[1]]), np.array([ground.west + size[0], ground.north])
    order = np.argsort(poa, axis=None)[::-1]
    dense = order[: int(np.searchsorted(np.cumsum(poa.ravel()[order]), MOST * float(poa.sum()))) + 1]
    row, column = np.unravel_index(dense, poa.shape)
    marks = [find.position for find in search.finds] + [place.position for place in search.places]
    marks += [point.position for sortie in search.sorties for point in sortie.waypoints]
    ways = [np.array([(each.longitude, each.latitude) for each in marks]).reshape(-1, 2)]
    ways += [np.stack([track.longitude, track.latitude], axis=1) for track in search.tracks]
    places = ground.on_grid(np.concatenate(ways))
    cells = np.stack([ground.west + ground.cell * (column + 0.5), ground.north - ground.cell * (row + 0.5)], axis=1)
    shown = np.concatenate([cells, places[((places >= low) & (places <= high)).all(axis=1)]])
    middle = (shown.min(axis=0) + shown.max(axis=0)) / 2.0
    half = min(max(0.55 * float(np.ptp(shown, axis=0).max()), NEAREST / 2.0), float(size.min()) / 2.0)
    middle = np.clip(middle, low + half, high - half)
    return middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half


def _draw_areas(axes: Any, search: Search, segments: list[Area], ground: Ground) -> None:
    likeliest = {area.name for area in sorted(segments, key=lambda area: -(area.poa or 0.0))[:12]}
    for area in segments:
        ring = ground.on_grid(area.outline)
        axes.plot(*_closed(ring).T, color="#33333355", linewidth=0.4)
        if area.name in likeliest:
            axes.text(*ring.mean(axis=0), area.name, ha="center", va="center", fontsize=7, color="#222", clip_on=True)
    for kind, colour in ((AreaKind.NO_FLY, "#d7191c"), (AreaKind.DANGER, "#f28e2b"), (AreaKind.SEARCH, "#222222")):
        for number, area in enumerate(area for area in search.areas if area.kind is kind):
            label = kind.value.replace("-", " ") if number == 0 else None
            axes.plot(*_closed(ground.on_grid(area.outline)).T, color=colour, linewidth=1.4, label=label)


def _draw_ways(axes: Any, search: Search, ground: Ground) -> None:
    named = set()
    for track in search.tracks:
        colour, name = MOVERS[track.mover]
        way = ground.on_grid(np.stack([track.longitude, track.latitude], axis=1))
        axes.plot(*way.T, color=colour, linewidth=1.1, label=None if name in named else name)
        named.add(name)
    for number, sortie in enumerate(search.sorties):
        places = [sortie.home, *(point.position for point in sortie.waypoints)]
        way = ground.on_grid(np.array([(place.longitude, place.latitude) for place in places]))
        label = "planned" if number == 0 else None
        axes.plot(*way.T, color=PLANNED, linewidth=0.9, linestyle=(0, (4, 2)), label=label)


def _draw_marks(axes: Any, search: Search, ground: Ground) -> None:
    for place in search.places:
        if place.kind is PlaceKind.HOME and any(place.position == other.position for other in search.places[:1]):
            continue  # they start where somebody was last seen
        x, y = _point(place.position, ground)
        marker = {PlaceKind.IPP: "P", PlaceKind.HOME: "^"}.get(place.kind, "o")
        axes.plot(x, y, marker, color="#1d2429", markersize=7, markeredgecolor="white", zorder=5)
        axes.annotate(place.name, (x, y), (5, 5), textcoords="offset points", fontsize=8, zorder=6)
    for find in search.finds:
        x, y = _point(find.position, ground)
        colour = find_colour(find)
        if (ellipse := find.ellipse()) is not None and not is_faint(find):
            oval = Oval((x, y), 2 * ellipse.minor, 2 * ellipse.major, angle=-ellipse.bearing, fill=False, color=colour)
            axes.add_patch(oval)
        shape = "*" if find.kind == PERSON else "o"
        if is_faint(find):  # it was dismissed or is improbable: a point without a name, which would hide the others'
            axes.plot(x, y, shape, color=colour, markersize=4, zorder=6)
            continue
        axes.plot(x, y, shape, color=colour, markersize=9, markeredgecolor="white", zorder=7)
        axes.annotate(find.id, (x, y), (5, -9), textcoords="offset points", fontsize=8, color=colour, zorder=7)


def _finish(axes: Any, view: tuple[float, float, float, float], ground: Ground) -> None:
    axes.set_xlim(view[0], view[1])
    axes.set_ylim(view[2], view[3])
    axes.set_aspect("equal")
    axes.ticklabel_format(style="plain", useOffset=False)
    axes.tick_params(labelsize=7)
    zone = int(ground.crs.removeprefix("EPSG:")) % 100
    axes.set_xlabel(f"UTM {zone}, m east", fontsize=8)
    axes.set_ylabel("m north", fontsize=8)
    axes.annotate(
        "N", (0.965, 0.985), (0.965, 0.91), xycoords="axes fraction", ha="center", fontsize=9,
        arrowprops={"arrowstyle": "->", "lw": 1.4},
    )  # fmt: skip
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", fontsize=7, framealpha=0.85)


def _closed(ring: Floats) -> Floats:
    return np.concatenate([ring, ring[:1]])


def _point(position: Position, ground: Ground) -> tuple[float, float]:
    return ground.to_grid(position.latitude, position.longitude)
