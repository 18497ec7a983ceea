"""A sphere against the ground, the plants' solids and the objects' boxes, by signed distances.

Distances after Quilez, "Distance functions"; the ellipsoid's is first order, exact at its surface.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from esar_ros.sim.world.raycast import GRID_CELL, GROUND, NO_HIT, PLANT_BASE, ground_height


@njit(cache=True, nogil=True)
def touch(ground, shapes, owners, alive, bins, boxes, box_ids, box_bins, x, y, z, radius):  # type: ignore[no-untyped-def]
    """Deepest contact of a sphere: id (NO_HIT for none), penetration depth (m) and outward normal."""
    step = 0.5 * ground.cell
    gx = (ground_height(ground, x + step, y) - ground_height(ground, x - step, y)) / (2.0 * step)
    gy = (ground_height(ground, x, y + step) - ground_height(ground, x, y - step)) / (2.0 * step)
    up = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
    best = (z - ground_height(ground, x, y)) * up
    nx = -gx * up
    ny = -gy * up
    nz = up
    found = GROUND
    plants = (shapes, owners, alive, bins)
    found, best, nx, ny, nz = nearest_solid(
        plants, (boxes, box_ids, box_bins), x, y, z, radius, math.inf, (found, best, nx, ny, nz)
    )
    if best >= radius:
        found = NO_HIT
    return found, radius - best, nx, ny, nz


@njit(cache=True, nogil=True)
def nearest_solid(plants, solids, x, y, z, radius, head, nearest):  # type: ignore[no-untyped-def]
    """The nearest plant or box whose cells a sphere reaches, if nearer than what is given: id, distance (m), normal.

    plants: shapes, owners, alive and their bins; solids: boxes, ids and their bins; nearest: as returned. Crowns whose
    middle is above head (m, z) are passed over.
    """
    shapes, owners, alive, bins = plants
    boxes, box_ids, box_bins = solids
    found, best, nx, ny, nz = nearest
    side = bins.side
    x0 = max(0, math.floor((x - radius + bins.half) / GRID_CELL))
    x1 = min(side - 1, math.floor((x + radius + bins.half) / GRID_CELL))
    y0 = max(0, math.floor((y - radius + bins.half) / GRID_CELL))
    y1 = min(side - 1, math.floor((y + radius + bins.half) / GRID_CELL))
    for row in range(y0, y1 + 1):
        for column in range(x0, x1 + 1):
            c = row * side + column
            for q in range(bins.starts[c], bins.starts[c + 1]):
                item = bins.items[q]
                if not alive[owners[item]]:
                    continue
                if shapes[item, 0] == 1.0:
                    d, ax, ay, az = distance_to_cone(shapes[item], x, y, z)
                elif shapes[item, 3] > head:
                    continue
                else:
                    d, ax, ay, az = distance_to_ellipsoid(shapes[item], x, y, z)
                if d < best:
                    best, nx, ny, nz, found = d, ax, ay, az, PLANT_BASE + owners[item]
            for q in range(box_bins.starts[c], box_bins.starts[c + 1]):
                item = box_bins.items[q]
                if boxes[item, 16] > z + radius or boxes[item, 17] < z - radius:
                    continue  # too far above or below to touch
                if (boxes[item, 0] - x) ** 2 + (boxes[item, 1] - y) ** 2 > (boxes[item, 15] + radius) ** 2:
                    continue  # too far aside
                d, ax, ay, az = distance_to_box(boxes[item], x, y, z)
                if d < best:
                    best, nx, ny, nz, found = d, ax, ay, az, box_ids[item]
    return found, best, nx, ny, nz


@njit(cache=True, nogil=True)
def sweep(ground, shapes, owners, alive, bins, boxes, box_ids, box_bins, start, end, radius):  # type: ignore[no-untyped-def]
    """First contact of a sphere moved from start to end (3,): fraction of the path, then as touch().

    Samples lie at most half a radius apart, so nothing that the sphere would hit is passed over.
    """
    dx = end[0] - start[0]
    dy = end[1] - start[1]
    dz = end[2] - start[2]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    count = max(1, math.ceil(length / max(0.5 * radius, 1e-3)))
    for k in range(count + 1):
        f = k / count
        found, depth, nx, ny, nz = touch(
            ground,
            shapes,
            owners,
            alive,
            bins,
            boxes,
            box_ids,
            box_bins,
            start[0] + f * dx,
            start[1] + f * dy,
            start[2] + f * dz,
            radius,
        )
        if found != NO_HIT:
            return f, found, depth, nx, ny, nz
    return 1.0, NO_HIT, 0.0, 0.0, 0.0, 1.0


@njit(cache=True, nogil=True)
def distance_to_ellipsoid(s, x, y, z):  # type: ignore[no-untyped-def]
    px = x - s[1]
    py = y - s[2]
    pz = z - s[3]
    k0 = math.sqrt((px * px + py * py) / s[4] ** 2 + pz * pz / s[5] ** 2)
    gx = px / s[4] ** 2
    gy = py / s[4] ** 2
    gz = pz / s[5] ** 2
    k1 = math.sqrt(gx * gx + gy * gy + gz * gz)
    if k1 < 1e-9:
        return -min(s[4], s[5]), 0.0, 0.0, 1.0
    return k0 * (k0 - 1.0) / k1, gx / k1, gy / k1, gz / k1


@njit(cache=True, nogil=True)
def distance_to_cone(s, x, y, z):  # type: ignore[no-untyped-def]
    px = x - s[1]
    py = y - s[2]
    q = math.sqrt(px * px + py * py)
    w = z - s[3]
    radius = s[4]
    height = s[5]
    slant = math.sqrt(radius * radius + height * height)
    # In the half plane (q, w): the slant runs from (radius, 0) to (0, height), the base along w = 0.
    along = min(1.0, max(0.0, ((q - radius) * -radius + w * height) / (slant * slant)))
    sq = q - radius * (1.0 - along)
    sw = w - height * along
    to_slant = math.sqrt(sq * sq + sw * sw)
    bq = max(q - radius, 0.0)
    to_base = math.sqrt(bq * bq + w * w)
    inside = w > 0.0 and q * height + w * radius < height * radius
    rx = px / q if q > 1e-9 else 1.0
    ry = py / q if q > 1e-9 else 0.0
    if inside:
        return -min(to_slant, to_base), rx * height / slant, ry * height / slant, radius / slant
    if to_base < to_slant and w < 0.0:
        d = max(to_base, 1e-9)
        return to_base, rx * bq / d, ry * bq / d, w / d
    d = max(to_slant, 1e-9)
    return to_slant, rx * sq / d, ry * sq / d, sw / d


@njit(cache=True, nogil=True)
def distance_to_box(box, x, y, z):  # type: ignore[no-untyped-def]
    local = np.empty(3)
    outside = np.empty(3)
    total = 0.0
    deepest = -math.inf
    face = 0
    for axis in range(3):
        p = (x - box[0]) * box[6 + 3 * axis] + (y - box[1]) * box[7 + 3 * axis] + (z - box[2]) * box[8 + 3 * axis]
        local[axis] = p
        over = abs(p) - box[3 + axis]
        outside[axis] = max(over, 0.0)
        total += outside[axis] ** 2
        if over > deepest:
            deepest = over
            face = axis
    normal = np.zeros(3)
    if total > 0.0:
        distance = math.sqrt(total)
        for axis in range(3):
            for k in range(3):
                normal[k] += math.copysign(outside[axis], local[axis]) / distance * box[6 + 3 * axis + k]
        return distance, normal[0], normal[1], normal[2]
    for k in range(3):
        normal[k] = math.copysign(1.0, local[face]) * box[6 + 3 * face + k]
    return deepest, normal[0], normal[1], normal[2]
