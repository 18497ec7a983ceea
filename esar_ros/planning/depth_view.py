"""Depth images as free corridors, coarse ranges, and the places of pixels and of what a box holds."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Observation

_COLUMNS = 160  # pixels looked at in a row of an image, about
BOX_GRID = 1000.0  # a model's coordinates run from 0 to this over an image
_THICK = 2.5  # m of depth, at least, around that of an object in which its pixels lie
_ENOUGH = 3  # points that make an obstacle, so that one false pixel makes none


def surface_points(views: Iterable[CameraFrame]) -> NDArray[np.float64]:
    """Map-frame points (N, 3) of an even grid of pixels with a measured depth; too near counts as 0.3 m."""
    clouds = [np.zeros((0, 3))]
    for view in views:
        stride = max(view.depth.shape[1] // _COLUMNS, 1)
        depth = view.depth[stride // 2 :: stride, stride // 2 :: stride].astype(np.float64)
        depth = np.where(np.isneginf(depth), 0.3, depth)
        rows, columns = np.nonzero(np.isfinite(depth) & (depth > 0.0))
        pixels = np.stack([columns, rows], axis=-1) * stride + stride // 2 + 0.5
        clouds.append(view.pose.apply(view.model.back_project(pixels, depth[rows, columns])))
    return np.concatenate(clouds)


def corridor_clear(points: NDArray[np.float64], start: Vector, end: Vector, radius: float) -> bool:
    """Returns whether no surface (N, 3) lies within radius (m) of a segment (3,), points behind its start aside."""
    segment = end - start
    length = float(np.linalg.norm(segment))
    if length < 1e-6 or not len(points):
        return True
    offset = points - start
    along = np.clip(offset @ segment / length, 0.0, length)
    distance = np.linalg.norm(offset - along[:, None] * segment / length, axis=1)
    return bool(np.count_nonzero((distance <= radius) & (along > 1e-6)) < _ENOUGH)


def min_pooled(depth: NDArray[np.float32], parts: int = 3) -> NDArray[np.float64]:
    """Least measured depth (parts, parts) of each part of an image, m; +inf where nothing is in range."""
    out = np.full((parts, parts), math.inf)
    for row, band in enumerate(np.array_split(depth, parts, axis=0)):
        for column, tile in enumerate(np.array_split(band, parts, axis=1)):
            known = tile[~np.isnan(tile)]
            out[row, column] = max(float(known.min()), 0.0) if known.size else math.inf
    return out


def pooled_words(depth: NDArray[np.float32], parts: int = 3, decimals: int = 0) -> str:
    """The same as words of a prompt, row by row: "[5, 12, free; ...]"."""
    rows = (
        ", ".join("free" if math.isinf(d) else f"{d:.{decimals}f}" for d in row) for row in min_pooled(depth, parts)
    )
    return "[" + "; ".join(rows) + "]"


def depth_near(view: CameraFrame, u: float, v: float, reach: int = 4) -> float:
    """Median depth (m) around a pixel; +inf when nothing is in range there, NaN when nothing is known."""
    row, column = int(np.clip(v, 0, view.depth.shape[0] - 1)), int(np.clip(u, 0, view.depth.shape[1] - 1))
    tile = view.depth[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
    known = tile[~np.isnan(tile)]
    return float(np.median(known)) if known.size else math.nan


def bearing_deg(observation: Observation, position: Vector) -> float:
    """Horizontal direction (degrees, left positive) of a map-frame position from the vehicle's nose."""
    offset = np.asarray(position)[:2] - observation.pose.position[:2]
    angle = math.degrees(math.atan2(offset[1], offset[0]) - observation.pose.yaw)
    return (angle + 180.0) % 360.0 - 180.0


def surface_in_box(view: CameraFrame, box: tuple[float, float, float, float]) -> NDArray[np.float64]:
    """Returns the map-frame points (N, 3) of an object in a box of an image: x, y, x, y, each 0 to BOX_GRID.

    The pixels at about the depth of the box's middle stand for the object; none where no depth is measured.
    """
    height, width = view.depth.shape
    columns, rows = (np.array(box[at::2]) / BOX_GRID * size for at, size in ((0, width), (1, height)))
    left, right = int(np.clip(columns.min(), 0, width - 1)), int(np.clip(math.ceil(columns.max()), 1, width))
    top, bottom = int(np.clip(rows.min(), 0, height - 1)), int(np.clip(math.ceil(rows.max()), 1, height))
    right, bottom = max(right, left + 1), max(bottom, top + 1)
    depth = view.depth[top:bottom, left:right].astype(np.float64)
    in_rows, in_columns = (size // 4 for size in depth.shape)
    middle = depth[in_rows : depth.shape[0] - in_rows, in_columns : depth.shape[1] - in_columns]
    measured = middle[np.isfinite(middle) & (middle > 0.0)]
    if not measured.size:
        return np.zeros((0, 3))
    of_object = float(np.median(measured))
    near = np.isfinite(depth) & (np.abs(depth - of_object) <= max(_THICK, 0.1 * of_object))
    y, x = np.nonzero(near)
    pixels = np.stack([x + left, y + top], axis=-1) + 0.5
    points: NDArray[np.float64] = view.pose.apply(view.model.back_project(pixels, depth[y, x]))
    return points
