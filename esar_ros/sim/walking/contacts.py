"""An upright capsule against ground, plants and boxes: the floor under a walker, and the walls about it.

A capsule below the step height feels nothing: what is lower is stepped on. The floor is the highest surface under the
capsule's axis that is no more than a step above its foot, so that decks, stairs and ramps, which are boxes, bear it as
the ground does.
"""

from __future__ import annotations

import math

from numba import njit

from esar_ros.sim.world.collision import nearest_solid
from esar_ros.sim.world.raycast import GRID_CELL, GROUND, NO_HIT, ground_height

RADIUS = 0.34  # m, of the capsule
HALF_HEIGHT = 0.9  # m
STEP_HEIGHT = 0.45  # m, stepped up or down without a fall
STEEPEST = math.tan(math.radians(44.0))  # rise over run that is walked up
_SPACING = 0.22  # m between the spheres that stand for the capsule
_TURNS = 4  # pushes in which a capsule must come free


@njit(cache=True, nogil=True)
def floor_under(scene, x, y, limit):  # type: ignore[no-untyped-def]
    """The highest surface at x, y that is no higher than limit (m): z, gradient along x and y, and z of its crest.

    Below the ground there is nothing: where it is higher than limit it is the floor all the same. The ground's crest is
    inf, a box's its highest point: what is steep, but ends within a step, is stepped on.
    """
    ground, _, _, _, _, boxes, _, bins = scene
    z = ground_height(ground, x, y)
    reach = 0.5 * ground.cell
    gx = (ground_height(ground, x + reach, y) - ground_height(ground, x - reach, y)) / (2.0 * reach)
    gy = (ground_height(ground, x, y + reach) - ground_height(ground, x, y - reach)) / (2.0 * reach)
    column = math.floor((x + bins.half) / GRID_CELL)
    row = math.floor((y + bins.half) / GRID_CELL)
    if not (0 <= column < bins.side and 0 <= row < bins.side):
        return z, gx, gy, math.inf
    cell = row * bins.side + column
    crest = math.inf
    for q in range(bins.starts[cell], bins.starts[cell + 1]):
        box = boxes[bins.items[q]]
        if box[16] > limit or box[17] <= z:
            continue
        low, top, tx, ty = span_of_box(box, x, y)
        if low <= top and z < top <= limit:
            z, gx, gy, crest = top, tx, ty, box[17]
    return z, gx, gy, crest


@njit(cache=True, nogil=True)
def span_of_box(box, x, y):  # type: ignore[no-untyped-def]
    """Lowest and highest z of a box over x, y, and the gradient of its top there; top < low where it is not there."""
    low = -math.inf
    top = math.inf
    gx = 0.0
    gy = 0.0
    for axis in range(3):
        ax = box[6 + 3 * axis]
        ay = box[7 + 3 * axis]
        az = box[8 + 3 * axis]
        half = box[3 + axis]
        flat = (x - box[0]) * ax + (y - box[1]) * ay
        if abs(az) < 1e-9:
            if abs(flat) > half:
                return 0.0, -1.0, 0.0, 0.0
            continue
        one = box[2] + (-half - flat) / az
        other = box[2] + (half - flat) / az
        low = max(low, min(one, other))
        if max(one, other) < top:
            top = max(one, other)
            gx = -ax / az
            gy = -ay / az
    return low, top, gx, gy


@njit(cache=True, nogil=True)
def deepest(scene, x, y, z, radius, head):  # type: ignore[no-untyped-def]
    """The deepest contact of a sphere with what is not ground: id or NO_HIT, depth (m), normal.

    Crowns whose middle is above head (m, z) give way.
    """
    _, shapes, owners, alive, plants, boxes, box_ids, bins = scene
    nothing = (NO_HIT, radius, 0.0, 0.0, 1.0)
    found, best, nx, ny, nz = nearest_solid(
        (shapes, owners, alive, plants), (boxes, box_ids, bins), x, y, z, radius, head, nothing
    )
    return found, radius - best, nx, ny, nz


@njit(cache=True, nogil=True)
def freed(scene, x, y, foot, lift, height):  # type: ignore[no-untyped-def]
    """Moves a capsule aside until nothing is in it: x, y, whether it came free, and the id of what it met or NO_HIT.

    foot: z of its lowest point; lift: m above the foot below which it feels nothing; height: m, of the whole capsule.
    """
    met = NO_HIT
    low = foot + lift + RADIUS
    high = max(low, foot + height - RADIUS)
    count = max(1, math.ceil((high - low) / _SPACING))
    for _ in range(_TURNS):
        worst = 1e-3  # m: what touches is not in the way
        wx = 0.0
        wy = 0.0
        wall = NO_HIT
        for k in range(count + 1):
            z = low + (high - low) * k / count
            found, depth, nx, ny, _ = deepest(scene, x, y, z, RADIUS, foot + height)
            if found != NO_HIT and depth > worst:
                flat = math.sqrt(nx * nx + ny * ny)
                worst, wall = depth, found
                # Only level moves free it: out of a leaning face they are longer; out of a ceiling there is none.
                wx = nx / flat * min(depth / flat, RADIUS) if flat > 0.1 else 0.0
                wy = ny / flat * min(depth / flat, RADIUS) if flat > 0.1 else 0.0
        if wall == NO_HIT:
            return x, y, True, met
        met = wall
        if wx == 0.0 and wy == 0.0:
            return x, y, False, met
        x += wx
        y += wy
    return x, y, False, met


@njit(cache=True, nogil=True)
def moved(scene, x, y, foot, dx, dy, dz, height):  # type: ignore[no-untyped-def]
    """One short move of a capsule: x, y, foot, whether it stands, and the id of what stopped it or NO_HIT.

    dx, dy: m, level; dz: m, fall (negative) or rise of one in the air, NaN for one that stands. Ground and boxes that
    are too steep stop it as walls do, with the id GROUND.
    """
    airborne = not math.isnan(dz)
    lift = 0.0 if airborne else STEP_HEIGHT
    met = NO_HIT
    top = foot + lift + 1e-6  # what is higher is a wall
    floor, gx, gy, crest = floor_under(scene, x + dx, y + dy, top)
    slope = math.sqrt(gx * gx + gy * gy)
    uphill = (dx * gx + dy * gy) / slope if slope > STEEPEST and crest > foot + STEP_HEIGHT else 0.0
    if uphill > 0.0:  # along the slope it goes on
        dx -= uphill * gx / slope
        dy -= uphill * gy / slope
        met = GROUND
    z = max(foot + dz, min(floor, foot)) if airborne else foot
    to_x, to_y, free, wall = freed(scene, x + dx, y + dy, z, lift, height)
    if wall != NO_HIT:
        met = wall
    floor = floor_under(scene, to_x, to_y, top)[0]
    if not free or floor > top:
        to_x, to_y = x, y
        floor = floor_under(scene, x, y, top)[0]
        if airborne and dz > 0.0:
            z = foot  # its head is at something
    if airborne:
        return to_x, to_y, max(z, floor), dz <= 0.0 and z <= floor, met
    if floor < foot - STEP_HEIGHT:
        return to_x, to_y, foot, False, met
    if floor > foot and not freed(scene, to_x, to_y, floor, lift, height)[2]:
        return x, y, foot, True, met  # no room for its head up there
    return to_x, to_y, floor, True, met
