"""Tiles of ground by name, made once a machine and kept in the cache by the digest of the modules that make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.kept_arrays import Arrays, kept_arrays, kept_path
from esar_ros.sim.render.tiles import hard_ground, soft_ground
from esar_ros.sim.render.tiles.fields import Field, blurred

COLOUR_RANGE = 4.0  # times the map's own colour that 255 stands for
_BRIGHTER = {"salt": 1.03}  # of roots, as the pattern of plates is in pictures of low quality

MAKERS: dict[str, Callable[[], soft_ground.Tile]] = {
    "turf": soft_ground.turf,
    "litter": soft_ground.litter,
    "earth": soft_ground.earth,
    "sand": soft_ground.sand,
    "snow": soft_ground.snow,
    "street": soft_ground.street,
    "blocks": hard_ground.blocks,
    "gravel": hard_ground.gravel,
    "salt": hard_ground.salt,
    "clay": hard_ground.clay,
    "cliff": hard_ground.cliff,
    "ice": hard_ground.ice,
}


@dataclass(frozen=True, eq=False)
class Ground:
    """A tile as it is kept: height (SIDE, SIDE) in m; colour (SIDE, SIDE, 3), square roots over COLOUR_RANGE."""

    height: Field
    colour: NDArray[np.uint8]


def load_tile(name: str) -> Ground:
    """The tile from the cache, else made and kept."""
    kept = kept_arrays(_path(name), lambda: _make(name))
    return Ground(kept["height"].astype(np.float32), kept["colour"])


def missing_tiles() -> list[str]:
    """Names of the tiles that the cache does not hold."""
    return [name for name in MAKERS if not _path(name).is_file()]


def _path(name: str) -> Path:
    here = Path(__file__).parent
    modules = tuple(here / f"{module}.py" for module in ("fields", "soft_ground", "hard_ground", "store"))
    return kept_path("tiles", name, modules)


def _make(name: str) -> Arrays:
    height, colour = MAKERS[name]()
    height = np.ascontiguousarray(height - height.mean(), dtype=np.float32)
    # Hollows see less of the sky.
    near, wide = (np.maximum(0.0, blurred(height, width) - height) for width in (0.30, 1.0))
    root = np.sqrt(np.maximum(colour * np.clip(1.0 - 5.0 * near - 0.8 * wide, 0.35, 1.0)[..., None], 0.0))
    # The picture's tone and the smaller levels of a texture are means of roots: with the roots' mean at 1 the
    # ground is as bright as without the tile, near and far.
    root *= _BRIGHTER.get(name, 1.0) / root.mean(axis=(0, 1))
    colour = np.clip(255.0 * root / np.sqrt(COLOUR_RANGE) + 0.5, 0, 255).astype(np.uint8)
    return {"height": height.astype(np.float16), "colour": colour}
