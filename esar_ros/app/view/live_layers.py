"""Grids of the live page as images that lie on its map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esar_ros.app.view.encode import encode_png
from esar_ros.mission import names


def _ramp(stops: list[tuple[int, tuple[int, int, int, int]]]) -> NDArray[np.uint8]:
    """Colours (256, 4) BGRA of cell values -128..127, read as bytes; unknown and 0 are clear."""
    at = [value for value, _ in stops]
    colours = np.array([colour for _, colour in stops], dtype=np.float64)
    table = np.zeros((256, 4), dtype=np.uint8)
    values = np.arange(1, 101)
    for channel in range(4):
        table[1:101, channel] = np.interp(values, at, colours[:, channel])
    return table


# From the reader's side: belief is warm and grows denser, what has been looked at is a cool veil.
PALETTES = {
    names.BELIEF: _ramp([(1, (120, 210, 255, 15)), (35, (60, 150, 250, 90)), (100, (30, 30, 215, 200))]),
    names.MAP_COVERAGE: _ramp([(1, (235, 190, 120, 25)), (100, (235, 170, 70, 70))]),
}


@dataclass(frozen=True)
class Layer:
    """A grid by its newest message; the image is made when somebody asks for it."""

    name: str  # topic
    serial: int
    cells: NDArray[np.int8]  # (rows = y, columns = x)
    extent: tuple[float, float, float, float]  # west, south, east, north, m, map frame

    @staticmethod
    def of(name: str, serial: int, grid: Any) -> Layer:
        """From a nav_msgs/OccupancyGrid. Raises ValueError for one of no cells, or of others than it counts."""
        info = grid.info
        west, south = float(info.origin.position.x), float(info.origin.position.y)
        size = float(info.resolution)
        cells = np.frombuffer(grid.data, dtype=np.int8).reshape(info.height, info.width)
        if not cells.size:
            raise ValueError("a grid of no cells")
        return Layer(name, serial, cells, (west, south, west + size * info.width, south + size * info.height))

    def image(self) -> bytes:
        """North-up PNG, clear where nothing is known."""
        return encode_png(PALETTES[self.name][self.cells[::-1].view(np.uint8)])
