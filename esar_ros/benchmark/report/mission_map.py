"""The map of a flown mission: ground from above, the flown track by time, what was there and what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Circle, Polygon
from matplotlib.patheffects import AbstractPathEffect, withStroke
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates

from esar_ros.benchmark.report.mission_record import Coverage, MissionRecord
from esar_ros.mission.stamps import NANO
from esar_ros.sim.terrain.land_cover import LandCover
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.terrain.relief_image import MAP_COLOURS
from esar_ros.sim.world.scatter import SPECIES, scatter

FOUND, NEAR, MISSED, FALSE = "#1f9d6b", "#e0a100", "#d6453d", "#8b2f2a"
INK, PAPER = "#1d2429", "#ffffff"
TRACK = LinearSegmentedColormap.from_list("track", ["#2b5cd9", "#8a3fd1", "#e0358f", "#ff8a1f"])

_TREES = {
    "conifer": ("#5d7f58", 0.9),
    "broadleaf": ("#7c9c60", 1.0),
    "bush": ("#a3b485", 0.7),
    "rock": ("#a9a49d", 0.6),
}


@dataclass(frozen=True)
class Region:
    """A square of the map frame, m."""

    x: float  # west edge
    y: float  # south edge
    side: float

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """West, east, south, north."""
        return self.x, self.x + self.side, self.y, self.y + self.side


def region_of(flown: MissionRecord, margin: float = 0.12, min_side: float = 220.0) -> Region:
    """The square that shows the flight and everything that was to be found, without far-off false reports."""
    points = [flight.positions[:, :2] for flight in flown.flights]
    points.append(flown.home[None, :2])
    points.append(np.array([thing.position[:2] for thing in flown.result.things]).reshape(-1, 2))
    everything = np.concatenate(points)
    low, high = everything.min(axis=0), everything.max(axis=0)
    side = max(float((high - low).max()) * (1.0 + 2.0 * margin), min_side)
    corner = (low + high) / 2 - side / 2
    if flown.place is not None:
        # Rather off-centre than beyond the map's edge, where there is nothing to show.
        half = flown.place.size / 2
        side = min(side, 2 * half)
        corner = np.clip(corner, -half, half - side)
    return Region(float(corner[0]), float(corner[1]), side)


def relief(place: PlaceMap, region: Region, pixels: int) -> NDArray[np.float64]:
    """North-up image (pixels, pixels, 3) of 0..1: land cover under a north-western sun, smooth between samples."""
    offsets = (np.arange(pixels) + 0.5) * region.side / pixels
    east, north = np.meshgrid(region.x + offsets, (region.y + offsets)[::-1])
    index = np.stack([(north + place.size / 2) / place.cell, (east + place.size / 2) / place.cell])
    # Only the samples around the region take part: a spline over the whole map would take seconds.
    low = np.clip(np.floor(index.min(axis=(1, 2))).astype(int) - 4, 0, place.samples - 8)
    high = np.clip(np.ceil(index.max(axis=(1, 2))).astype(int) + 5, low + 8, place.samples)
    part = np.s_[low[0] : high[0], low[1] : high[1]]
    local = index - low[:, None, None]
    heights = map_coordinates(place.heights[part].astype(np.float64), local, order=3, mode="nearest")
    step = region.side / pixels
    down, right = np.gradient(heights, step)
    normal = np.stack([-right, down, np.ones_like(right)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    sun = np.array([-0.5, 0.5, 0.70710678])
    shade = np.clip(normal @ sun, 0.0, 1.0) / float(sun[2])
    palette = np.array([MAP_COLOURS[kind] for kind in LandCover]) * 0.45 + 0.52  # muted: marks are drawn on it
    cover = gaussian_filter(palette[place.land_cover[part]], sigma=(0.6, 0.6, 0.0), mode="nearest")
    colour = np.stack([map_coordinates(cover[..., k], local, order=1, mode="nearest") for k in range(3)], axis=-1)
    image = colour * np.clip(0.30 + 0.70 * shade, 0.35, 1.10)[..., None]
    image[~place.contains(np.stack([east, north], axis=-1))] = 0.93
    return np.asarray(np.clip(image, 0.0, 1.0))


def draw_map(ax: Axes, flown: MissionRecord, region: Region, pixels: int = 900, scale: float = 1.0) -> None:
    """Draw the whole map into axes. scale: of marks and letters, 1 for a map 9 inches wide."""
    ax.set_xlim(region.x, region.x + region.side)
    ax.set_ylim(region.y, region.y + region.side)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    if flown.place is not None:
        draw_ground(ax, flown.place, region, pixels)
    else:
        ax.set_facecolor("#e8ebe6")
    if flown.coverage is not None:
        _draw_unseen(ax, flown.coverage)
    for corners in flown.truth.run.keep_out:
        ax.add_patch(Polygon(corners, fc=(*to_rgb(MISSED), 0.14), ec=MISSED, hatch="//", lw=1.3 * scale, zorder=3))
    _draw_tracks(ax, flown, scale)
    _draw_reports(ax, flown, region, scale)
    _draw_things(ax, flown, region, scale)
    draw_scale_bar(ax, region, scale)


def draw_ground(ax: Axes, place: PlaceMap, region: Region, pixels: int) -> None:
    """Relief, contour lines and plants of a region."""
    ax.imshow(relief(place, region, pixels), extent=region.extent, interpolation="bilinear", zorder=0)
    grid = np.linspace(0.0, region.side, 220)
    xs, ys = region.x + grid, region.y + grid
    heights = place.ground_height(np.stack(np.meshgrid(xs, ys), axis=-1))
    step = 10.0 if region.side < 700 else 20.0 if region.side < 1500 else 50.0
    levels = np.arange(np.floor(heights.min() / step) * step, heights.max() + step, step)
    if len(levels) > 1:
        major = np.isclose(np.mod(levels, 5 * step), 0.0)
        ax.contour(xs, ys, heights, levels=levels, colors="#7d6f58", linewidths=np.where(major, 0.8, 0.35), alpha=0.45)
    flora = scatter(place)
    near = (
        (flora.positions[:, 0] > region.x)
        & (flora.positions[:, 0] < region.x + region.side)
        & (flora.positions[:, 1] > region.y)
        & (flora.positions[:, 1] < region.y + region.side)
    )
    points_per_metre = ax.get_window_extent().width / ax.figure.dpi * 72.0 / region.side
    for index, species in enumerate(SPECIES):
        chosen = near & (flora.species == index)
        colour, alpha = _TREES.get(species, ("#8a8a8a", 0.5))
        diameter = 2.0 * flora.crown_radius[chosen] * points_per_metre
        ax.scatter(
            flora.positions[chosen, 0],
            flora.positions[chosen, 1],
            s=np.clip(diameter, 0.6, None) ** 2,
            c=colour,
            alpha=0.75 * alpha,
            linewidths=0,
            rasterized=True,
            zorder=1,
        )


def _draw_unseen(ax: Axes, coverage: Coverage) -> None:
    """Draws a veil over ground that no camera saw."""
    veil = np.zeros((*coverage.seen.shape, 4))
    veil[..., :3] = (0.28, 0.33, 0.38)
    veil[..., 3] = np.where(coverage.seen, 0.0, 0.34)
    (x, y), (rows, columns) = coverage.origin, coverage.seen.shape
    extent = (x, x + columns * coverage.resolution, y, y + rows * coverage.resolution)
    limits = ax.axis()
    ax.imshow(veil, extent=extent, origin="lower", interpolation="bilinear", zorder=2)
    ax.axis(limits)


def _draw_tracks(ax: Axes, flown: MissionRecord, scale: float) -> None:
    for number, flight in enumerate(flown.flights):
        if len(flight.positions) < 2:
            continue
        every = max(1, len(flight.positions) // 3000)
        xy = flight.positions[::every, :2]
        times = (flight.stamps[::every] - flown.truth.start) / NANO
        segments = np.stack([xy[:-1], xy[1:]], axis=1)
        ax.add_collection(
            LineCollection(list(segments), colors=PAPER, linewidths=4.2 * scale, capstyle="round", alpha=0.85, zorder=4)
        )
        line = LineCollection(list(segments), cmap=TRACK, linewidths=2.3 * scale, capstyle="round", zorder=5)
        line.set_array(times[:-1])
        line.set_clim(0.0, max(flown.result.metrics.elapsed, 1.0))
        ax.add_collection(line)
        _badge(ax, flight.positions[0], "S" if len(flown.flights) == 1 else f"S{number + 1}", INK, scale)
        for stamp in flight.collisions[:1]:
            at = flight.positions[np.searchsorted(flight.stamps, stamp, side="right") - 1]
            ax.plot(*at[:2], marker="X", ms=15 * scale, mfc=MISSED, mec=PAPER, mew=1.4 * scale, zorder=13)
        end = flight.positions[-1]
        ax.plot(*end[:2], marker="s", ms=8 * scale, mfc=TRACK(1.0), mec=PAPER, mew=1.4 * scale, zorder=11)


def _badge(ax: Axes, position: NDArray[np.float64], letters: str, colour: str, scale: float) -> None:
    ax.plot(*position[:2], marker="o", ms=15 * scale, mfc=colour, mec=PAPER, mew=1.6 * scale, zorder=11)
    x, y = float(position[0]), float(position[1])
    ax.text(x, y, letters, color=PAPER, fontsize=8.5 * scale, weight="bold", ha="center", va="center", zorder=12)


def _draw_reports(ax: Axes, flown: MissionRecord, region: Region, scale: float) -> None:
    """False reports as crosses, good ones as a thread to what they found, and as points where nobody knows."""
    truth = {thing.id: thing.position for thing in flown.result.things}
    for report in flown.result.reports:
        if report.position is None or report.verdict == "over_cap":
            continue
        x, y = report.position[:2]
        if report.ok and report.matched in truth:
            tx, ty = truth[report.matched][:2]
            ax.plot([x, tx], [y, ty], color=INK, lw=1.0 * scale, zorder=8)
            ax.plot(x, y, marker="o", ms=3.2 * scale, mfc=INK, mec=PAPER, mew=0.6 * scale, zorder=9)
        elif region.x < x < region.x + region.side and region.y < y < region.y + region.side:
            colour = FALSE if report.verdict == "false" else NEAR
            marker = "o" if report.verdict == "unknown" else "x"
            cross = ax.plot(x, y, marker=marker, ms=6.5 * scale, mec=colour, mew=1.8 * scale, zorder=8)[0]
            cross.set_path_effects([withStroke(linewidth=3.4 * scale, foreground=PAPER)])


def _draw_things(ax: Axes, flown: MissionRecord, region: Region, scale: float) -> None:
    """Victims as stars, clues as diamonds, filled when found, each with its name where there is room."""
    labels = Labels(ax, region, scale)
    gate = flown.result.thresholds.error_threshold
    for victim in flown.result.victims:
        x, y = victim.position[:2]
        colour = FOUND if victim.found else MISSED
        ax.add_patch(Circle((x, y), gate, fill=False, ec=colour, lw=1.1 * scale, ls=(0, (4, 3)), zorder=6))
        face, edge = (colour, PAPER) if victim.found else (PAPER, colour)
        ax.plot(x, y, marker="*", ms=23 * scale, mfc=face, mec=edge, mew=1.6 * scale, zorder=10)
        labels.reserve(x, y, 12 * scale)
    for clue in flown.result.clues:
        x, y = clue.position[:2]
        colour = FOUND if clue.exact else NEAR if clue.located else MISSED
        face, edge = (colour, PAPER) if clue.located else (PAPER, colour)
        ax.plot(x, y, marker="D", ms=9 * scale, mfc=face, mec=edge, mew=1.5 * scale, zorder=9)
        labels.reserve(x, y, 7 * scale)
    for victim in flown.result.victims:
        labels.put(*victim.position[:2], victim.name, 12 * scale, bold=True)
    for clue in flown.result.clues:
        labels.put(*clue.position[:2], clue.kind.replace("_", " "), 8 * scale)


# Where a name may stand about its mark, the best places first.
_SIDES = ((1, 0), (-1, 0), (0.7, 1), (0.7, -1), (-0.7, 1), (-0.7, -1), (0, 1.3), (0, -1.3))


_MISTAKEN = 150.0  # square points of overlap that are as bad as a name nearer to another mark than to its own
_ALIKE = 3.0  # points between distances that look the same


class Labels:
    """Greedy placing of names beside their marks, in points, so that few overlap and none seems another mark's."""

    def __init__(self, ax: Axes, region: Region, scale: float) -> None:
        self._ax, self._region, self._scale = ax, region, scale
        self._points_per_metre = ax.get_window_extent().width / ax.figure.dpi * 72.0 / region.side
        self._boxes: list[tuple[float, float, float, float]] = []
        self._marks: list[tuple[float, float]] = []

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return (x - self._region.x) * self._points_per_metre, (y - self._region.y) * self._points_per_metre

    def reserve(self, x: float, y: float, radius: float) -> None:
        """Keep names off a mark."""
        px, py = self._at(x, y)
        self._boxes.append((px - radius, py - radius, px + radius, py + radius))
        self._marks.append((px, py))

    def put(self, x: float, y: float, words: str, distance: float, bold: bool = False) -> None:
        """Write beside a mark where it overlaps least."""
        size = (10.5 if bold else 8.5) * self._scale
        width, height = 0.62 * size * len(words), 1.25 * size
        px, py = self._at(x, y)
        best: tuple[float, Any] | None = None
        for rank, (dx, dy) in enumerate(_SIDES):
            cx = px + dx * (distance + (width / 2 if dx else 0))
            cy = py + dy * (distance + height / 2)
            box = (cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2)
            cost = sum(_overlap(box, other) for other in self._boxes) + 0.5 * rank
            own, middle = _away(box, (px, py)), math.dist((cx, cy), (px, py))
            nearer = (_away(box, at) <= own + _ALIKE and math.dist((cx, cy), at) < middle for at in self._marks)
            cost += _MISTAKEN * any(nearer)
            side = self._region.side * self._points_per_metre
            cost += 1e4 * (box[0] < 0 or box[1] < 0 or box[2] > side or box[3] > side)
            if best is None or cost < best[0]:
                best = (cost, (cx, cy, box))
        assert best is not None
        cx, cy, box = best[1]
        self._boxes.append(box)
        text = self._ax.text(
            self._region.x + cx / self._points_per_metre,
            self._region.y + cy / self._points_per_metre,
            words,
            fontsize=size,
            weight="bold" if bold else "normal",
            color=INK,
            ha="center",
            va="center",
            zorder=14,
        )
        text.set_path_effects([withStroke(linewidth=2.6 * self._scale, foreground=PAPER, alpha=0.9)])


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return max(wide, 0.0) * max(high, 0.0)


def _away(box: tuple[float, float, float, float], point: tuple[float, float]) -> float:
    """Distance of a point from a box, 0 inside."""
    east = max(box[0] - point[0], point[0] - box[2], 0.0)
    north = max(box[1] - point[1], point[1] - box[3], 0.0)
    return math.hypot(east, north)


def draw_scale_bar(ax: Axes, region: Region, scale: float) -> None:
    """A length in the lower left corner and an arrow to the north."""
    length = next(step for step in (500, 200, 100, 50, 20) if step <= region.side / 4)
    x0, y0 = region.x + 0.03 * region.side, region.y + 0.03 * region.side
    halo: list[AbstractPathEffect] = [withStroke(linewidth=4.0 * scale, foreground=PAPER)]
    bar = ax.plot([x0, x0 + length], [y0, y0], color=INK, lw=2.4 * scale, solid_capstyle="butt", zorder=14)[0]
    bar.set_path_effects(halo)
    text = ax.text(
        x0 + length / 2, y0 + 0.012 * region.side, f"{length} m", fontsize=9 * scale, ha="center", color=INK, zorder=14
    )
    text.set_path_effects(halo)
    north = ax.annotate(
        "N",
        xy=(region.x + 0.955 * region.side, region.y + 0.965 * region.side),
        xytext=(region.x + 0.955 * region.side, region.y + 0.905 * region.side),
        ha="center",
        va="center",
        fontsize=11 * scale,
        weight="bold",
        color=INK,
        arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.6 * scale},
        zorder=14,
    )
    north.set_path_effects(halo)
