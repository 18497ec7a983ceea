"""The image on which a strategist plans: map, belief, finds, the track flown and numbered candidates, north up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import FREE, OCCUPIED, Grid, SeenClue

SIDE = 640  # px of the map; a strip with the legend lies below it
_STRIP = 52  # px
_MIN_SPAN = 240.0  # m that the map shows at least
_PAD = 0.14  # of the span around what must be shown
_MAX_CLUES = 25
# RGB
_UNKNOWN, _FREE, _OCCUPIED, _OUTSIDE = (176, 180, 186), (246, 246, 242), (92, 88, 84), (128, 132, 140)
_LIKELY, _LESS_LIKELY = (214, 30, 20), (255, 196, 60)
_VEHICLE, _TRACK, _AREA = (16, 64, 208), (90, 130, 230), (20, 20, 20)
_CLUE, _PERSON, _MARK = (0, 120, 60), (190, 0, 170), (0, 0, 0)
_FONT = cv2.FONT_HERSHEY_SIMPLEX


@dataclass(frozen=True)
class MapDrawing:
    """Content of the drawing; map frame, m."""

    here: Vector  # (2,)
    yaw: float
    home: Vector  # (2,)
    track: NDArray[np.float64]  # (N, 2)
    area: NDArray[np.float64]  # (M, 2)
    candidates: Sequence[Vector]  # (2,) each, numbered from 1
    clues: Sequence[SeenClue]
    grid: Grid | None  # bird's-eye view
    belief: Grid | None  # per cent of the greatest


class _Frame:
    """Pixels of a square of the map frame."""

    def __init__(self, scene: MapDrawing) -> None:
        shown = np.array([scene.here, scene.home, *scene.candidates])
        low, high = shown.min(axis=0), shown.max(axis=0)
        self.span = max(float((high - low).max()) * (1.0 + 2.0 * _PAD), _MIN_SPAN)
        self.corner = (low + high) / 2.0 - self.span / 2.0
        self.scale = SIDE / self.span

    def pixel(self, place: Vector) -> tuple[int, int]:
        """Column and row; north is up."""
        x, y = (place[:2] - self.corner) * self.scale
        return round(float(x)), round(SIDE - 1 - float(y))

    def sample(self, grid: Grid, outside: int) -> NDArray[np.int16]:
        """A grid's cells at every pixel (SIDE, SIDE)."""
        metres = (np.arange(SIDE) + 0.5) / self.scale
        columns = np.floor((self.corner[0] + metres - grid.origin[0]) / grid.resolution).astype(int)
        rows = np.floor((self.corner[1] + metres[::-1] - grid.origin[1]) / grid.resolution).astype(int)
        known = np.ix_((rows >= 0) & (rows < grid.cells.shape[0]), (columns >= 0) & (columns < grid.cells.shape[1]))
        out = np.full((SIDE, SIDE), outside, np.int16)
        out[known] = grid.cells[np.ix_(rows[known[0][:, 0]], columns[known[1][0]])]
        return out


def draw(scene: MapDrawing) -> NDArray[np.uint8]:
    """RGB image (SIDE + strip, SIDE, 3)."""
    frame = _Frame(scene)
    canvas = np.empty((SIDE + _STRIP, SIDE, 3), np.uint8)
    canvas[:] = 255
    ground = canvas[:SIDE]
    ground[:] = _UNKNOWN
    if scene.grid is not None:
        cells = frame.sample(scene.grid, -1)
        ground[cells == FREE] = _FREE
        ground[cells == OCCUPIED] = _OCCUPIED
    if scene.belief is not None:
        _heat(ground, frame.sample(scene.belief, 0))
    _fence(ground, scene, frame)
    if len(scene.track) > 1:
        line = np.array([frame.pixel(place) for place in scene.track], np.int32)
        cv2.polylines(ground, [line.reshape(-1, 1, 2)], False, _TRACK, 2, cv2.LINE_AA)
    _finds(ground, scene, frame)
    x, y = frame.pixel(scene.home)
    cv2.rectangle(ground, (x - 5, y - 5), (x + 5, y + 5), _VEHICLE, 2)
    _vehicle(ground, scene, frame)
    for number, place in enumerate(scene.candidates, 1):
        _number(ground, frame.pixel(place), number)
    _compass_and_scale(ground, frame)
    _legend(canvas)
    return canvas


def _heat(ground: NDArray[np.uint8], cells: NDArray[np.int16]) -> None:
    """Yellow to red where somebody is expected; the root lets faint belief be seen beside a sharp peak."""
    share = np.sqrt(np.clip(cells, 0, 100) / 100.0)[..., None]
    colour = np.array(_LESS_LIKELY) * (1.0 - share) + np.array(_LIKELY) * share
    alpha = np.where(share > 0.2, 0.15 + 0.6 * share, 0.0)
    ground[:] = (ground * (1.0 - alpha) + colour * alpha).astype(np.uint8)


def _fence(ground: NDArray[np.uint8], scene: MapDrawing, frame: _Frame) -> None:
    corners = np.array([frame.pixel(corner) for corner in scene.area], np.int32)
    inside = np.zeros((SIDE, SIDE), np.uint8)
    cv2.fillPoly(inside, [corners], 1)
    ground[inside == 0] = _OUTSIDE
    cv2.polylines(ground, [corners], True, _AREA, 2)


def _finds(ground: NDArray[np.uint8], scene: MapDrawing, frame: _Frame) -> None:
    for clue in sorted(scene.clues, key=lambda c: (c.kind != PERSON, -c.probability, c.id))[:_MAX_CLUES]:
        if not np.isfinite(clue.position).all():
            continue
        x, y = frame.pixel(clue.position)
        colour = _PERSON if clue.kind == PERSON else _CLUE
        diamond = np.array([(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], np.int32)
        cv2.fillPoly(ground, [diamond], colour, cv2.LINE_AA)
        _words(ground, clue.kind.replace("_", " "), (x + 11, y + 17), colour, 0.42)


def _vehicle(ground: NDArray[np.uint8], scene: MapDrawing, frame: _Frame) -> None:
    x, y = frame.pixel(scene.here)
    turned = [(scene.yaw + angle, length) for angle, length in ((0.0, 15.0), (2.5, 11.0), (math.pi, 4.0), (-2.5, 11.0))]
    arrow = [(round(x + length * math.cos(a)), round(y - length * math.sin(a))) for a, length in turned]
    cv2.fillPoly(ground, [np.array(arrow, np.int32)], _VEHICLE, cv2.LINE_AA)


def _number(ground: NDArray[np.uint8], pixel: tuple[int, int], number: int) -> None:
    cv2.circle(ground, pixel, 14, (255, 255, 255), -1, cv2.LINE_AA)
    cv2.circle(ground, pixel, 13, _MARK, -1, cv2.LINE_AA)
    text = str(number)
    (width, height), _ = cv2.getTextSize(text, _FONT, 0.55, 2)
    at = (pixel[0] - width // 2, pixel[1] + height // 2)
    cv2.putText(ground, text, at, _FONT, 0.55, (255, 255, 255), 2, cv2.LINE_AA)


def _compass_and_scale(ground: NDArray[np.uint8], frame: _Frame) -> None:
    cv2.arrowedLine(ground, (SIDE - 26, 56), (SIDE - 26, 22), _MARK, 2, cv2.LINE_AA, tipLength=0.35)
    _words(ground, "N", (SIDE - 32, 16), _MARK, 0.5)
    length = next((m for m in (1000, 500, 200, 100, 50, 20) if m * frame.scale <= SIDE / 3.0), 10)
    end = 16 + round(length * frame.scale)
    cv2.line(ground, (16, SIDE - 16), (end, SIDE - 16), _MARK, 3)
    _words(ground, f"{length} m", (16, SIDE - 24), _MARK, 0.5)


def _legend(canvas: NDArray[np.uint8]) -> None:
    entries = (
        ("likely", _LIKELY), ("less likely", _LESS_LIKELY), ("mapped", _FREE), ("not mapped", _UNKNOWN),
        ("obstacle", _OCCUPIED), ("drone, start, its way", _VEHICLE), ("clue", _CLUE), ("person", _PERSON),
        ("out of bounds", _OUTSIDE),
    )  # fmt: skip
    x, y = 8, SIDE + 17
    for words, colour in entries:
        (width, _), _ = cv2.getTextSize(words, _FONT, 0.42, 1)
        if x + width + 24 > SIDE:
            x, y = 8, y + 24
        cv2.rectangle(canvas, (x, y - 10), (x + 12, y + 2), colour, -1)
        cv2.rectangle(canvas, (x, y - 10), (x + 12, y + 2), _MARK, 1)
        cv2.putText(canvas, words, (x + 17, y), _FONT, 0.42, _MARK, 1, cv2.LINE_AA)
        x += width + 32


def _words(
    ground: NDArray[np.uint8], text: str, at: tuple[int, int], colour: tuple[int, int, int], size: float
) -> None:
    cv2.putText(ground, text, at, _FONT, size, (255, 255, 255), 4, cv2.LINE_AA)
    cv2.putText(ground, text, at, _FONT, size, colour, 1, cv2.LINE_AA)
