"""Few triangles for much ground: view-dependent refinement of right triangles, without cracks.

Lindstrom and Pascucci, "Visualization of large terrains made easy", 2001: every height sample carries an
error and a ball that cover all samples refined after it, so the test at a sample implies the tests above
it and neighbours agree by themselves. Cut by the frustum while descending; emitted front to back.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

CAPACITY = 160_000  # triangles a view; refinement stops there
_STACK = 256


class TerrainLod:
    """Triangles of a square height field for one view after another."""

    def __init__(self, heights: NDArray[np.float32], size: float) -> None:
        self._heights = heights
        self._cell = size / (heights.shape[0] - 1)
        self._half = size / 2
        self._errors, self._radii = _nested(heights, self._cell)
        self._slot = np.zeros(heights.shape, dtype=np.int32)
        self._stamp = np.zeros(heights.shape, dtype=np.int32)
        self._view = 0
        self._vertices = np.empty((CAPACITY, 3), dtype=np.float32)
        self._near = np.empty((CAPACITY, 3), dtype=np.int32)
        self._far = np.empty((CAPACITY, 3), dtype=np.int32)

    def select(
        self, eye: NDArray[np.float64], planes: NDArray[np.float64], tolerance: float, cap: float, near: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
        """Vertices (V, 3) in the map frame, triangles near the eye and those beyond `near` metres, (T, 3) each.

        Planes (P, 4) are (unit normal, offset), inside where n.x + offset >= 0. The vertical error stays under
        tolerance (rad) times distance and, within `near`, under cap (m). Arrays are overwritten by the next call.
        """
        self._view += 1
        vertices, close, distant = _refine(
            self._heights,
            self._errors,
            self._radii,
            self._cell,
            self._half,
            eye,
            planes,
            tolerance,
            cap,
            near,
            self._view,
            self._stamp,
            self._slot,
            self._vertices,
            self._near,
            self._far,
        )
        return self._vertices[:vertices], self._near[:close], self._far[:distant]


@njit(cache=True, nogil=True)
def _nested(h, cell):  # type: ignore[no-untyped-def]
    """Error (m) and ball radius (m) of every sample, each at least those of the samples refined after it."""
    n = h.shape[0]
    errors = np.zeros((n, n), np.float32)
    radii = np.zeros((n, n), np.float32)
    half = 1
    while 2 * half < n:
        span = 2 * half
        # Middles of edges: refined into the centres of squares half as large, to both sides.
        for y in range(0, n, half):
            odd = (y // half) & 1
            for x in range(0 if odd else half, n, span):
                a, b = (h[y - half, x], h[y + half, x]) if odd else (h[y, x - half], h[y, x + half])
                _gather(h, errors, radii, cell, x, y, abs(0.5 * (a + b) - h[y, x]), half // 2, half // 2)
        # Centres of squares: refined into the middles of their sides; the diagonals alternate.
        for y in range(half, n, span):
            for x in range(half, n, span):
                turned = ((x // span) + (y // span)) & 1
                a = h[y - half, x + half] if turned else h[y - half, x - half]
                b = h[y + half, x - half] if turned else h[y + half, x + half]
                _gather(h, errors, radii, cell, x, y, abs(0.5 * (a + b) - h[y, x]), half, 0)
        half = span
    return errors, radii


@njit(cache=True, nogil=True)
def _gather(h, errors, radii, cell, x, y, error, along, across):  # type: ignore[no-untyped-def]
    """Give a sample its own error and all that its four children have, at (along, across) and turned by 90 degrees."""
    n = h.shape[0]
    radius = 0.0
    dx = along
    dy = across
    if along > 0:
        for _ in range(4):
            i = x + dx
            j = y + dy
            if 0 <= i < n and 0 <= j < n:
                error = max(error, errors[j, i])
                dz = h[j, i] - h[y, x]
                gap = math.sqrt((dx * dx + dy * dy) * cell * cell + dz * dz)
                radius = max(radius, gap + radii[j, i])
            dx, dy = -dy, dx
    errors[y, x] = error
    radii[y, x] = radius


@njit(cache=True, nogil=True)
def _refine(  # type: ignore[no-untyped-def]
    h, errors, radii, cell, half, eye, planes, tolerance, cap, near, view, stamp, slot, vertices, close, distant
):
    size = h.shape[0] - 1
    stack = np.empty((_STACK, 7), np.int64)  # ax ay bx by cx cy, inside the frustum altogether
    stack[0] = (size, size, 0, 0, 0, size, 0)
    stack[1] = (0, 0, size, size, size, 0, 0)
    top = 2
    corners = np.empty((3, 3), np.float64)
    count = 0
    closes = 0
    distants = 0
    while top > 0:
        top -= 1
        ax = stack[top, 0]
        ay = stack[top, 1]
        bx = stack[top, 2]
        by = stack[top, 3]
        cx = stack[top, 4]
        cy = stack[top, 5]
        inside = stack[top, 6]
        mx = (ax + bx) >> 1
        my = (ay + by) >> 1
        x = mx * cell - half
        y = my * cell - half
        z = h[my, mx]
        ball = radii[my, mx]
        for k in range(3):
            i = ax if k == 0 else (bx if k == 1 else cx)
            j = ay if k == 0 else (by if k == 1 else cy)
            corners[k, 0] = i * cell - half
            corners[k, 1] = j * cell - half
            corners[k, 2] = h[j, i]
            ball = max(ball, math.sqrt((corners[k, 0] - x) ** 2 + (corners[k, 1] - y) ** 2 + (corners[k, 2] - z) ** 2))
        if inside == 0:
            outside = False
            inside = 1
            for k in range(planes.shape[0]):
                gap = planes[k, 0] * x + planes[k, 1] * y + planes[k, 2] * z + planes[k, 3]
                if gap < -ball:
                    outside = True
                    break
                if gap < ball:
                    inside = 0
            if outside:
                continue
        distance = math.sqrt((eye[0] - x) ** 2 + (eye[1] - y) ** 2 + (eye[2] - z) ** 2)
        reach = max(distance - radii[my, mx], 0.0)
        allowed = tolerance * reach
        if reach < near:
            allowed = min(allowed, cap)
        splittable = abs(ax - cx) + abs(ay - cy) > 1 and top < _STACK - 2 and count < CAPACITY - 3
        if splittable and errors[my, mx] > allowed:
            to_a = (eye[0] - corners[0, 0]) ** 2 + (eye[1] - corners[0, 1]) ** 2
            to_b = (eye[0] - corners[1, 0]) ** 2 + (eye[1] - corners[1, 1]) ** 2
            first = top if to_a > to_b else top + 1  # the nearer half is taken off the stack first
            other = top + 1 if first == top else top
            stack[first] = (cx, cy, ax, ay, mx, my, inside)
            stack[other] = (bx, by, cx, cy, mx, my, inside)
            top += 2
            continue
        is_near = distance - ball < near
        for k in range(3):
            i = ax if k == 0 else (bx if k == 1 else cx)
            j = ay if k == 0 else (by if k == 1 else cy)
            if stamp[j, i] != view:
                stamp[j, i] = view
                slot[j, i] = count
                vertices[count, 0] = corners[k, 0]
                vertices[count, 1] = corners[k, 1]
                vertices[count, 2] = corners[k, 2]
                count += 1
            if is_near:
                close[closes, k] = slot[j, i]
            else:
                distant[distants, k] = slot[j, i]
        if is_near:
            closes += 1
        else:
            distants += 1
    return count, closes, distants
