"""What a person on foot goes around, into and up: crates, decks, ramps, stairs, houses with floors and doorways."""

from __future__ import annotations

import numpy as np

from esar_ros.sim.assets.buildings.masonry import Masonry
from esar_ros.sim.assets.mesh_builder import Colour
from esar_ros.sim.assets.palette import shade
from esar_ros.sim.terrain.settlements.plan import Piece

_BOARD: Colour = (0.36, 0.26, 0.15)


def crates(m: Masonry, piece: Piece) -> None:
    """A stack of wooden crates with battens along their edges."""
    rng = np.random.default_rng(piece.seed)
    x, y, top = piece.length / 2, piece.width / 2, piece.height
    tone = shade(_BOARD, float(rng.uniform(0.7, 1.2)))
    m.block((-x, -y, -0.05), (x, y, top), tone, solid=True)
    layers = max(1, round(top / 0.8))
    for k in range(layers):
        low, high = k * top / layers, (k + 1) * top / layers
        for z in (low + 0.05, high - 0.05):
            for s in (-1.0, 1.0):
                m.boxes([(0.0, s * (y + 0.01), z)], (x + 0.02, 0.015, 0.05), shade(tone, 0.7))
                m.boxes([(s * (x + 0.01), 0.0, z)], (0.015, y + 0.02, 0.05), shade(tone, 0.7))
        for u in np.linspace(-x + 0.06, x - 0.06, max(2, round(piece.length / 0.7) + 1)):
            for s in (-1.0, 1.0):
                m.boxes([(u, s * (y + 0.01), (low + high) / 2)], (0.05, 0.012, (high - low) / 2), shade(tone, 0.8))
