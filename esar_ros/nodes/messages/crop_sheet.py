"""The best image of each thing found, side by side: one image for RViz."""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence

import cv2
import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import Image

from esar_ros.mission import names
from esar_ros.mission.clues import PERSON
from esar_ros.mission.observation import SeenClue
from esar_ros.planning.reporting import shared_settings

TILE, CAPTION, COLUMNS, MAX_TILES = 128, 34, 4, 12  # px, px, tiles in a row, tiles in all
_PAPER, _INK, _ALARM, _DIM = (32, 36, 40), (230, 230, 230), (255, 90, 70), (150, 150, 150)


def crop_sheet(clues: Sequence[SeenClue], crop: Callable[[int], bytes | None], now: float, stamp: Time) -> Image:
    """RGB image of the newest MAX_TILES objects with an image; crop: id -> JPEG; now: s.

    Persons come first, and candidates last and in grey.
    """
    shown = [(clue, jpeg) for clue in _in_order(clues) if (jpeg := crop(clue.id)) is not None][:MAX_TILES]
    rows = max(1, -(-len(shown) // COLUMNS))
    sheet: NDArray[np.uint8] = np.full((rows * (TILE + CAPTION), COLUMNS * TILE, 3), _PAPER, np.uint8)
    for number, (clue, jpeg) in enumerate(shown):
        top, left = number // COLUMNS * (TILE + CAPTION), number % COLUMNS * TILE
        _paste(sheet[top : top + TILE, left : left + TILE], jpeg)
        color = _DIM if _is_candidate(clue) else _ALARM if clue.kind == PERSON else _INK
        age = max(0.0, now - clue.last_seen)
        for line, words in enumerate((clue.kind.replace("_", " "), f"{clue.probability:.2f}, {age:.0f} s ago")):
            place = (left + 4, top + TILE + 13 + 15 * line)
            cv2.putText(sheet, words, place, cv2.FONT_HERSHEY_SIMPLEX, 0.42, color, 1, cv2.LINE_AA)
    message = Image(height=sheet.shape[0], width=sheet.shape[1], encoding="rgb8", step=3 * sheet.shape[1])
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    message.data = array.array("B", sheet.tobytes())
    return message


def _is_candidate(clue: SeenClue) -> bool:
    return shared_settings().is_candidate(clue.kind, clue.probability)


def _in_order(clues: Sequence[SeenClue]) -> list[SeenClue]:
    return sorted(clues, key=lambda clue: (_is_candidate(clue), clue.kind != PERSON, -clue.last_seen, clue.id))


def _paste(tile: NDArray[np.uint8], jpeg: bytes) -> None:
    """Fit an image into a tile, keeping its proportions; one that cannot be read leaves it empty."""
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        return
    scale = min(tile.shape[1] / image.shape[1], tile.shape[0] / image.shape[0])
    width, height = (max(1, round(scale * edge)) for edge in (image.shape[1], image.shape[0]))
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    y, x = (tile.shape[0] - height) // 2, (tile.shape[1] - width) // 2
    tile[y : y + height, x : x + width] = small[:, :, ::-1]
