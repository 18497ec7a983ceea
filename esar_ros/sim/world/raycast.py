"""Rays against the ground, the plants' solids and the objects' boxes: LiDAR, line of sight, depth truth.

The ground is the bilinear surface through the heights, searched through a pyramid of maxima
(Tevs et al., "Maximum mipmaps for fast, accurate, and scalable dynamic height field rendering", 2008).
Solids and boxes lie in uniform grids that the ray walks (Amanatides and Woo, 1987): boxes in every cell that their
bounds overlap, and most of a cell's are passed over by their bounds alone, since settlements have thousands.
Kernels are serial: a scan is too short to be worth waking threads for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

GRID_CELL = 8.0  # m
NO_HIT = -1
FIXTURE_BASE = -2  # a structure or piece of scenery of the place has this less its index as id
GROUND = 0
PLANT_BASE = 1000  # a plant's or rock's id is this plus its index; 1..254 are spawned objects


class Ground(NamedTuple):
    """Heights and their pyramid of maxima."""

    heights: NDArray[np.float32]  # (n, n), n - 1 a power of two
    maxima: NDArray[np.float32]  # levels one after another, finest first
    offsets: NDArray[np.int64]  # where each level begins; one more entry than levels
    cell: float  # m
    half: float  # m, half the side


class Bins(NamedTuple):
    """Items that touch each cell of a uniform grid, as compressed rows."""

    starts: NDArray[np.int64]  # (cells + 1,)
    items: NDArray[np.int32]
    side: int  # cells along a side
    half: float  # m
    tops: NDArray[np.float64]  # (cells,) greatest z (m) of a cell's items, -inf without any


def build_ground(heights: NDArray[np.float32], size: float) -> Ground:
    """Ground of a map's heights over a square of the given side."""
    h = np.ascontiguousarray(heights, dtype=np.float32)
    level = np.maximum(np.maximum(h[:-1, :-1], h[1:, :-1]), np.maximum(h[:-1, 1:], h[1:, 1:]))
    levels = [level]
    while level.shape[0] > 1:
        n = level.shape[0] // 2
        level = level.reshape(n, 2, n, 2).max(axis=(1, 3))
        levels.append(level)
    offsets = np.cumsum([0] + [part.size for part in levels]).astype(np.int64)
    return Ground(h, np.concatenate([part.ravel() for part in levels]), offsets, size / (h.shape[0] - 1), size / 2)


def build_bins(
    centres: NDArray[np.float64], radii: NDArray[np.float64], tops: NDArray[np.float64], half: float
) -> Bins:
    """Bins of upright discs (M, 2) of radii (M,) with the greatest z (M,) of what stands on each."""
    return _bins(centres - radii[:, None], centres + radii[:, None], tops, half)


def bounded(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Oriented boxes (B, 15) with their bounds (B, 20): radius of the upright cylinder about each (m), its least and
    greatest z, and half extents along x and y."""
    if not len(boxes):
        return np.zeros((0, 20))
    axes = np.abs(boxes[:, 6:].reshape(-1, 3, 3))
    reach = (boxes[:, 3:6, None] * axes).sum(axis=1)  # (B, 3) half extents along the map's axes
    flat = boxes[:, 6:].reshape(-1, 3, 3)[:, :, :2] * boxes[:, 3:6, None]  # (B, 3, 2) half axes seen from above
    signs = np.array([[1.0, y, z] for y in (-1.0, 1.0) for z in (-1.0, 1.0)])  # four corners; the others mirror them
    radius = np.linalg.norm(np.einsum("sk,bkc->bsc", signs, flat), axis=2).max(axis=1)
    low, high = boxes[:, 2] - reach[:, 2], boxes[:, 2] + reach[:, 2]
    return np.column_stack([boxes, radius, low, high, reach[:, 0], reach[:, 1]])


def box_bins(boxes: NDArray[np.float64], half: float) -> Bins:
    """Bins of bounded boxes (B, 20)."""
    return _bins(boxes[:, :2] - boxes[:, 18:20], boxes[:, :2] + boxes[:, 18:20], boxes[:, 17], half)


def _bins(low: NDArray[np.float64], high: NDArray[np.float64], tops: NDArray[np.float64], half: float) -> Bins:
    """Bins of upright rectangles from low (M, 2) to high (M, 2), with the greatest z (M,) of each."""
    side = max(1, math.ceil(2.0 * half / GRID_CELL))
    counts = np.zeros(side * side + 1, dtype=np.int64)
    _bin(low, high, half, side, counts, np.zeros(0, dtype=np.int32), False)
    starts = np.concatenate([[0], np.cumsum(counts[:-1])]).astype(np.int64)
    items = np.zeros(int(starts[-1]), dtype=np.int32)
    _bin(low, high, half, side, starts[:-1].copy(), items, True)
    highest = np.full(side * side, -np.inf)
    np.maximum.at(highest, np.repeat(np.arange(side * side), np.diff(starts)), tops[items])
    return Bins(starts, items, side, half, highest)


@njit(cache=True, nogil=True)
def _bin(low, high, half, side, cursor, items, fill):  # type: ignore[no-untyped-def]
    for k in range(low.shape[0]):
        x0 = max(0, math.floor((low[k, 0] + half) / GRID_CELL))
        x1 = min(side - 1, math.floor((high[k, 0] + half) / GRID_CELL))
        y0 = max(0, math.floor((low[k, 1] + half) / GRID_CELL))
        y1 = min(side - 1, math.floor((high[k, 1] + half) / GRID_CELL))
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                c = y * side + x
                if fill:
                    items[cursor[c]] = k
                cursor[c] += 1


@njit(cache=True, nogil=True)
def ground_height(ground, x, y):  # type: ignore[no-untyped-def]
    """Bilinear z at x, y (m); beyond the map its edge goes on level."""
    h = ground.heights
    n = h.shape[0]
    u = min(max((x + ground.half) / ground.cell, 0.0), n - 1.0)
    v = min(max((y + ground.half) / ground.cell, 0.0), n - 1.0)
    i = min(int(u), n - 2)
    j = min(int(v), n - 2)
    u -= i
    v -= j
    south = h[j, i] * (1.0 - u) + h[j, i + 1] * u
    north = h[j + 1, i] * (1.0 - u) + h[j + 1, i + 1] * u
    return south * (1.0 - v) + north * v


@njit(cache=True, nogil=True)
def cast_ground(ground, ox, oy, oz, dx, dy, dz, reach):  # type: ignore[no-untyped-def]
    """Range (m) along a unit ray to the ground, inf beyond reach. A start below ground answers 0."""
    h = ground.heights
    n = h.shape[0] - 1
    levels = ground.offsets.shape[0] - 1
    x0 = (ox + ground.half) / ground.cell
    y0 = (oy + ground.half) / ground.cell
    sx = dx / ground.cell
    sy = dy / ground.cell
    if abs(sx) < 1e-12:
        sx = 1e-12
    if abs(sy) < 1e-12:
        sy = 1e-12
    ix = 1.0 / sx
    iy = 1.0 / sy
    enter_x = min(-x0 * ix, (n - x0) * ix)
    leave_x = max(-x0 * ix, (n - x0) * ix)
    enter_y = min(-y0 * iy, (n - y0) * iy)
    leave_y = max(-y0 * iy, (n - y0) * iy)
    t = max(0.0, max(enter_x, enter_y)) + 1e-6
    end = min(reach, min(leave_x, leave_y))
    level = 2
    while t < end:
        x = x0 + sx * t
        y = y0 + sy * t
        width = n >> level
        column = int(x) >> level
        row = int(y) >> level
        if x < 0.0 or y < 0.0 or column >= width or row >= width:
            return math.inf
        side = 1 << level
        edge_x = (column + 1) * side if sx > 0.0 else column * side
        edge_y = (row + 1) * side if sy > 0.0 else row * side
        leave = max(min((edge_x - x0) * ix, (edge_y - y0) * iy), t)
        top = ground.maxima[ground.offsets[level] + row * width + column]
        z = oz + dz * t
        if min(z, oz + dz * leave) > top:
            t = leave + 1e-6 * (1.0 + leave)
            if level < levels - 1:
                level += 1
            continue
        if level > 0:
            if dz < 0.0 and z > top:
                t = max(t, (top - oz) / dz)
            level -= 1
            continue
        hit = _cast_patch(h, column, row, x, y, oz + dz * t, sx, sy, dz, leave - t)
        if hit >= 0.0:
            return t + hit if t + hit <= reach else math.inf
        t = leave + 1e-6 * (1.0 + leave)
    return math.inf


@njit(cache=True, nogil=True)
def _cast_patch(h, i, j, x, y, z, sx, sy, dz, span):  # type: ignore[no-untyped-def]
    """Parameter within [0, span] at which a ray meets one bilinear patch, or -1."""
    h00 = h[j, i]
    a = h[j, i + 1] - h00
    b = h[j + 1, i] - h00
    c = h[j + 1, i + 1] - h00 - a - b
    u = x - i
    v = y - j
    gap = z - h00 - a * u - b * v - c * u * v
    if gap <= 0.0:
        return 0.0
    slope = dz - a * sx - b * sy - c * (u * sy + v * sx)
    bend = -c * sx * sy
    hit = -1.0
    if abs(bend) < 1e-12:
        if slope < 0.0:
            hit = -gap / slope
    else:
        root = slope * slope - 4.0 * bend * gap
        if root >= 0.0:
            q = -0.5 * (slope + math.copysign(math.sqrt(root), slope))
            r1 = q / bend
            r2 = gap / q if q != 0.0 else math.inf
            if r1 > r2:
                r1, r2 = r2, r1
            hit = r1 if r1 >= 0.0 else r2
    if 0.0 <= hit <= span + 1e-6:
        return hit
    return -1.0


@njit(cache=True, nogil=True)
def _cast_ellipsoid(s, ox, oy, oz, dx, dy, dz):  # type: ignore[no-untyped-def]
    a = (ox - s[1]) / s[4]
    b = (oy - s[2]) / s[4]
    c = (oz - s[3]) / s[5]
    u = dx / s[4]
    v = dy / s[4]
    w = dz / s[5]
    quad = u * u + v * v + w * w
    lin = a * u + b * v + c * w
    con = a * a + b * b + c * c - 1.0
    if con <= 0.0:
        return 0.0
    root = lin * lin - quad * con
    if root < 0.0 or lin > 0.0:
        return math.inf
    return (-lin - math.sqrt(root)) / quad


@njit(cache=True, nogil=True)
def _cast_cone(s, ox, oy, oz, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Solid upright cone: base disc at z of radius r, apex at z + height."""
    x = ox - s[1]
    y = oy - s[2]
    base = s[3]
    radius = s[4]
    height = s[5]
    k = radius / height
    w = base + height - oz  # from the ray's start up to the apex
    quad = dx * dx + dy * dy - k * k * dz * dz
    lin = x * dx + y * dy + k * k * w * dz
    con = x * x + y * y - k * k * w * w
    if con <= 0.0 and base <= oz <= base + height:
        return 0.0
    best = math.inf
    root = lin * lin - quad * con
    if root >= 0.0 and abs(quad) > 1e-12:
        root = math.sqrt(root)
        for sign in (-1.0, 1.0):
            t = (-lin + sign * root) / quad
            z = oz + dz * t
            if 0.0 <= t < best and base <= z <= base + height:
                best = t
    if dz > 0.0:
        t = (base - oz) / dz
        px = x + dx * t
        py = y + dy * t
        if 0.0 <= t < best and px * px + py * py <= radius * radius:
            best = t
    return best


@njit(cache=True, nogil=True)
def _cast_box(box, ox, oy, oz, dx, dy, dz):  # type: ignore[no-untyped-def]
    """Oriented box: centre (3), half extents (3), axes (9, row a box axis), and what may follow."""
    near = 0.0
    far = math.inf
    px = ox - box[0]
    py = oy - box[1]
    pz = oz - box[2]
    for axis in range(3):
        ax = box[6 + 3 * axis]
        ay = box[7 + 3 * axis]
        az = box[8 + 3 * axis]
        p = px * ax + py * ay + pz * az
        d = dx * ax + dy * ay + dz * az
        half = box[3 + axis]
        if abs(d) < 1e-12:
            if abs(p) > half:
                return math.inf
            continue
        t1 = (-half - p) / d
        t2 = (half - p) / d
        near = max(near, min(t1, t2))
        far = min(far, max(t1, t2))
        if near > far:
            return math.inf
    return near


@njit(cache=True, nogil=True)
def cast(ground, shapes, owners, alive, bins, boxes, box_ids, box_bins, origins, directions, reach, ranges, ids):  # type: ignore[no-untyped-def]
    """Fill ranges (N,) and ids (N,) of unit rays; owners not alive are not there."""
    for k in range(directions.shape[0]):
        ox = origins[k, 0]
        oy = origins[k, 1]
        oz = origins[k, 2]
        dx = directions[k, 0]
        dy = directions[k, 1]
        dz = directions[k, 2]
        best = cast_ground(ground, ox, oy, oz, dx, dy, dz, reach)
        found = NO_HIT if best == math.inf else GROUND
        best = min(best, reach)
        flat = dx * dx + dy * dy
        side = bins.side
        gx = math.floor((ox + bins.half) / GRID_CELL)
        gy = math.floor((oy + bins.half) / GRID_CELL)
        step_x = 1 if dx > 0.0 else -1
        step_y = 1 if dy > 0.0 else -1
        next_x = ((gx + (1 if dx > 0.0 else 0)) * GRID_CELL - bins.half - ox) / dx if dx != 0.0 else math.inf
        next_y = ((gy + (1 if dy > 0.0 else 0)) * GRID_CELL - bins.half - oy) / dy if dy != 0.0 else math.inf
        across_x = abs(GRID_CELL / dx) if dx != 0.0 else math.inf
        across_y = abs(GRID_CELL / dy) if dy != 0.0 else math.inf
        t = 0.0
        while t < best:
            if 0 <= gx < side and 0 <= gy < side:
                c = gy * side + gx
                # What the ray meets outside this cell it meets in another: in this one it has these heights.
                leave = min(min(next_x, next_y), best)
                z_low = oz + dz * (leave if dz < 0.0 else t) - 1e-6
                if z_low <= bins.tops[c]:
                    for q in range(bins.starts[c], bins.starts[c + 1]):
                        item = bins.items[q]
                        # Seen from above, most rays pass beside most trunks of a cell.
                        aside = (shapes[item, 1] - ox) * dy - (shapes[item, 2] - oy) * dx
                        if aside * aside > shapes[item, 4] * shapes[item, 4] * flat:
                            continue
                        if not alive[owners[item]]:
                            continue
                        if shapes[item, 0] == 1.0:
                            hit = _cast_cone(shapes[item], ox, oy, oz, dx, dy, dz)
                        else:
                            hit = _cast_ellipsoid(shapes[item], ox, oy, oz, dx, dy, dz)
                        if hit < best:
                            best = hit
                            found = PLANT_BASE + owners[item]
                if z_low <= box_bins.tops[c]:
                    leave = min(leave, best)
                    z_low = oz + dz * (leave if dz < 0.0 else t) - 1e-6
                    z_high = oz + dz * (t if dz < 0.0 else leave) + 1e-6
                    for q in range(box_bins.starts[c], box_bins.starts[c + 1]):
                        item = box_bins.items[q]
                        if boxes[item, 16] > z_high or boxes[item, 17] < z_low:
                            continue
                        aside = (boxes[item, 0] - ox) * dy - (boxes[item, 1] - oy) * dx
                        if aside * aside > boxes[item, 15] * boxes[item, 15] * flat:
                            continue
                        hit = _cast_box(boxes[item], ox, oy, oz, dx, dy, dz)
                        if hit < best:
                            best = hit
                            found = box_ids[item]
            if next_x < next_y:
                t = next_x
                next_x += across_x
                gx += step_x
            else:
                t = next_y
                next_y += across_y
                gy += step_y
        ranges[k] = best if found != NO_HIT else math.inf
        ids[k] = found
