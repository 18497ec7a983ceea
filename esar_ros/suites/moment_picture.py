"""A moment of an episode as one picture: what the four cameras see, beside the map."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.names import CAMERAS
from esar_ros.planning.methods.models.strategy_map import MapDrawing, draw

_GAP = 2  # px


def draw_moment(pictures: Mapping[str, NDArray[np.uint8]], scene: MapDrawing) -> NDArray[np.uint8]:
    """Returns an RGB image (692, width, 3): front and left above right and down, then the map with what is known.

    pictures: (h, w, 3) RGB by camera, all of one size.
    """
    ground = draw(scene)
    high, wide = next(iter(pictures.values())).shape[:2]
    rows = (ground.shape[0] - _GAP) // 2
    size = (round(rows * wide / high), rows)
    tiles = []
    for name in CAMERAS:
        tile = cv2.resize(pictures[name], size, interpolation=cv2.INTER_AREA)
        (width, _), _ = cv2.getTextSize(name, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
        cv2.rectangle(tile, (0, 0), (width + 16, 24), (40, 40, 40), -1)
        cv2.putText(tile, name, (8, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
        tiles.append(np.pad(tile, ((0, 0), (0, _GAP), (0, 0)), constant_values=255))
    gap = np.full((ground.shape[0] - 2 * rows, 2 * tiles[0].shape[1], 3), 255, np.uint8)
    eyes = np.vstack([np.hstack(tiles[:2]), gap, np.hstack(tiles[2:])])
    return np.hstack([eyes, ground]).astype(np.uint8)
