"""Tiles of ground: kept in the cache, and as bright as the ground that they lie on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.sim.render.tiles.fields import SIDE
from esar_ros.sim.render.tiles.store import COLOUR_RANGE, MAKERS, load_tile, missing_tiles

QUICK = ("street", "sand", "clay")  # to make


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path))
    return tmp_path / "tiles"


def test_a_tile_is_made_once_and_read_again(cache: Path) -> None:
    assert missing_tiles() == list(MAKERS)
    made = load_tile(QUICK[0])
    assert QUICK[0] not in missing_tiles() and len(missing_tiles()) == len(MAKERS) - 1
    (path,) = cache.iterdir()
    written = path.stat().st_mtime_ns
    again = load_tile(QUICK[0])
    assert path.stat().st_mtime_ns == written
    assert np.array_equal(made.height, again.height) and np.array_equal(made.colour, again.colour)


def test_a_damaged_tile_is_made_anew(cache: Path) -> None:
    made = load_tile(QUICK[0])
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes()[:1000])
    assert np.array_equal(load_tile(QUICK[0]).colour, made.colour)


@pytest.mark.parametrize("name", QUICK)
def test_a_tile_changes_no_mean_brightness_and_wraps(name: str, cache: Path) -> None:
    tile = load_tile(name)
    assert tile.height.shape == (SIDE, SIDE) and tile.colour.shape == (SIDE, SIDE, 3)
    roots = tile.colour / 255.0 * np.sqrt(COLOUR_RANGE)
    assert roots.mean(axis=(0, 1)) == pytest.approx([1.0, 1.0, 1.0], abs=0.005)
    inside = np.abs(np.diff(tile.height, axis=1)).max()
    assert np.abs(tile.height[:, 0] - tile.height[:, -1]).max() <= inside
    assert np.abs(tile.height[0] - tile.height[-1]).max() <= np.abs(np.diff(tile.height, axis=0)).max()
