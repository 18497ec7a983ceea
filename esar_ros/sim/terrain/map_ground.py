"""A map's ground: made from its file, kept on disk, hashed."""

from __future__ import annotations

import hashlib
import io
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import write_atomically
from esar_ros.sim.terrain.clearings import lay_clearings
from esar_ros.sim.terrain.land_cover import classify, trail_north
from esar_ros.sim.terrain.map_spec import MapSpec
from esar_ros.sim.terrain.relief import AlpineRidge, generate_heights
from esar_ros.sim.terrain.tracks import lay_track


class Ground(NamedTuple):
    """Generated ground, as kept in the cache and hashed."""

    heights: NDArray[np.float32]  # (n, n) m
    land_cover: NDArray[np.uint8]  # (n, n) LandCover
    tracks: dict[str, NDArray[np.float64]]  # polylines (N, 2) m
    clearings: NDArray[np.float64]  # (N, 3) x, y, radius in m


def generate(spec: MapSpec, folder: Path | None = None) -> Ground:
    """Ground of a map file, the same bytes every time.

    folder is where the file lies: an imported relief's heights are beside it.
    """
    heights, surface = generate_heights(
        spec.relief, spec.erosion, spec.samples, spec.size, spec.seed, spec.origin.altitude, folder, spec.water_level
    )
    if spec.water_level is not None:
        heights = np.maximum(heights, np.float32(spec.water_level))
    crest = spec.relief.crest_offset if isinstance(spec.relief, AlpineRidge) else None
    cover = classify(spec.cover, heights, surface, spec.size, spec.seed, spec.water_level, crest)
    tracks = {name: lay_track(track, heights, cover, spec.size) for name, track in spec.tracks.items()}
    if crest is not None:
        x = np.arange(-spec.size / 2, spec.size / 2 + 1.0, 4.0)
        y = [trail_north(float(east), crest, spec.seed) for east in x]
        tracks = {"trail": np.column_stack([x, y]), **tracks}
    clearings = np.zeros((0, 3))
    if spec.clearings is not None:
        clearings = lay_clearings(spec.clearings, heights, cover, tracks, spec.size)
    return Ground(heights, cover, tracks, clearings)


def ground_digest(ground: Ground) -> str:
    total = hashlib.sha256(ground.heights.tobytes() + ground.land_cover.tobytes())
    total.update(ground.clearings.tobytes())
    for name, line in ground.tracks.items():
        total.update(name.encode() + line.tobytes())
    return total.hexdigest()


def read_ground(path: Path, samples: int) -> Ground | None:
    """Stored ground, or None when absent or damaged: then the map is made anew."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            names = [str(name) for name in stored["track_names"]]
            tracks = {name: stored[f"track_{index}"] for index, name in enumerate(names)}
            ground = Ground(stored["heights"], stored["land_cover"], tracks, stored["clearings"])
            digest = str(stored["digest"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shape = (samples, samples)
    if ground.heights.shape != shape or ground.land_cover.shape != shape or digest != ground_digest(ground):
        return None
    return ground


def write_ground(path: Path, ground: Ground) -> None:
    """Write aside and rename, so that a reader never meets half a file. A full or read-only disk costs only time."""
    buffer = io.BytesIO()
    lines: dict[str, Any] = {f"track_{index}": line for index, line in enumerate(ground.tracks.values())}
    np.savez(
        buffer, heights=ground.heights, land_cover=ground.land_cover, digest=np.array(ground_digest(ground)),
        track_names=np.array(list(ground.tracks), dtype=str), clearings=ground.clearings, **lines,
    )  # fmt: skip
    with suppress(UsageError):
        write_atomically(path, buffer.getvalue())
