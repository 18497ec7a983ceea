"""The places one can fly in: config/maps/<id>.yaml, generated once and kept in the cache."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import cache_directory, resource
from esar_ros.sim.land_cover import ALBEDO, AlpineCover, LandCover, classify
from esar_ros.sim.terrain import AlpineRidge, Erosion, generate_heights

MAP_DIRECTORY = "config/maps"
GENERATOR_VERSION = 1  # raise it when the generator's output changes: cached maps are then made anew


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OriginSpec(_Strict):
    """Where the map's centre lies on Earth."""

    latitude: float = Field(ge=-90.0, le=90.0)
    longitude: float = Field(ge=-180.0, le=180.0)
    altitude: float = Field(ge=-500.0, le=9000.0, description="m above mean sea level")


class PlantSpec(_Strict):
    """How a species (or loose rock) is scattered; shares are probabilities per site by land cover."""

    spacing: float = Field(gt=0.5, description="m between sites")
    height: tuple[float, float] = Field(description="least and greatest, m")
    forest: float = Field(0.0, ge=0.0, le=1.0)
    open: float = Field(0.0, ge=0.0, le=1.0)
    blockfield: float = Field(0.0, ge=0.0, le=1.0)


class MapSpec(_Strict):
    """One config/maps file."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    character: str
    origin: OriginSpec
    utc_offset: float = Field(ge=-12.0, le=14.0, description="h, of local time")
    size: float = Field(ge=200.0, le=10_000.0, description="m, side of the square")
    samples: int = Field(ge=65, le=4097)
    seed: int = Field(ge=0)
    water_level: float | None = Field(description="m in the map frame, null without open water")
    relief: AlpineRidge
    erosion: Erosion
    cover: AlpineCover
    flora: dict[str, PlantSpec]

    @field_validator("samples")
    @classmethod
    def _power_of_two_plus_one(cls, value: int) -> int:
        if (value - 1) & (value - 2):
            raise ValueError(f"{value} is not a power of two plus one")
        return value


@dataclass(frozen=True, eq=False)
class PlaceMap:
    """A place's ground. Map frame: x east, y north, origin at the centre, z = 0 on the ground there."""

    id: str
    name: str
    size: float  # m, side of the square; x and y span [-size/2, size/2]
    origin: Origin  # of the map frame, on the ground at the centre
    utc_offset: float  # h, of local time
    seed: int
    heights: NDArray[np.float32]  # (n, n) m; row 0 the south edge, column 0 the west edge
    land_cover: NDArray[np.uint8]  # (n, n) LandCover
    water_level: float | None  # m
    flora: dict[str, PlantSpec]
    digest: str  # hexadecimal SHA-256 of the ground

    @property
    def samples(self) -> int:
        """Heights along a side."""
        return int(self.heights.shape[0])

    @property
    def cell(self) -> float:
        """Metres between heights."""
        return self.size / (self.samples - 1)

    def contains(self, xy: ArrayLike) -> NDArray[np.bool_]:
        """Whether points (..., 2) lie on the map."""
        return np.asarray((np.abs(np.asarray(xy, dtype=np.float64)) <= self.size / 2).all(axis=-1))

    def ground_height(self, xy: ArrayLike) -> NDArray[np.float64]:
        """Bilinear z (m) of points (..., 2); beyond the map its edge goes on level."""
        i, j, u, v = self._locate(xy)
        h = self.heights
        south = h[j, i] * (1.0 - u) + h[j, i + 1] * u
        north = h[j + 1, i] * (1.0 - u) + h[j + 1, i + 1] * u
        return np.asarray(south * (1.0 - v) + north * v, dtype=np.float64)

    def normal(self, xy: ArrayLike) -> NDArray[np.float64]:
        """Unit normals (..., 3) of the bilinear surface at points (..., 2)."""
        i, j, u, v = self._locate(xy)
        h = self.heights.astype(np.float64) if np.ndim(i) == 0 else self.heights
        gx = ((h[j, i + 1] - h[j, i]) * (1.0 - v) + (h[j + 1, i + 1] - h[j + 1, i]) * v) / self.cell
        gy = ((h[j + 1, i] - h[j, i]) * (1.0 - u) + (h[j + 1, i + 1] - h[j, i + 1]) * u) / self.cell
        normal = np.stack([-gx, -gy, np.ones_like(gx)], axis=-1).astype(np.float64)
        return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))

    def cover_at(self, xy: ArrayLike) -> NDArray[np.uint8]:
        """LandCover of the height sample nearest to points (..., 2)."""
        i, j, u, v = self._locate(xy)
        return np.asarray(self.land_cover[j + (v >= 0.5), i + (u >= 0.5)])

    def shaded_relief(self, pixels: int) -> NDArray[np.uint8]:
        """North-up picture (pixels, pixels, 3) RGB: land cover under a north-western sun, trees as dots."""
        if pixels < 8:
            raise ValueError(f"a picture of {pixels} px shows nothing")
        step = self.size / pixels
        centres = (np.arange(pixels) + 0.5) * step - self.size / 2
        xy = np.stack(np.meshgrid(centres, centres[::-1]), axis=-1)
        sun = np.array([-0.5, 0.5, 0.70710678])
        shade = np.clip(self.normal(xy) @ sun, 0.0, None)
        cover = self.cover_at(xy)
        colour = np.sqrt(ALBEDO[cover].astype(np.float64))
        trees = cover == LandCover.FOREST
        dots = np.random.default_rng(self.seed).random((pixels, pixels))
        colour *= (0.45 + 0.85 * shade)[..., None]
        colour[trees] *= (0.62 + 0.42 * dots[trees])[..., None]
        return np.asarray(np.clip(colour * 1.35 * 255.0, 0, 255), dtype=np.uint8)

    def _locate(self, xy: ArrayLike) -> tuple[Any, Any, Any, Any]:
        p = np.clip((np.asarray(xy, dtype=np.float64) + self.size / 2) / self.cell, 0.0, self.samples - 1.0)
        index = np.minimum(p.astype(np.int64), self.samples - 2)
        fraction = p - index
        return index[..., 0], index[..., 1], fraction[..., 0], fraction[..., 1]


def known_maps() -> list[str]:
    """Ids of the shipped maps."""
    return sorted(path.stem for path in resource(MAP_DIRECTORY).glob("*.yaml"))


def load_spec(map_id: str) -> tuple[MapSpec, bytes]:
    """Validated map file and its bytes. Raises UsageError."""
    if map_id not in known_maps():
        raise UsageError(f"unknown map '{map_id}'", f"known: {', '.join(known_maps())}")
    path = resource(f"{MAP_DIRECTORY}/{map_id}.yaml")
    return parse_spec(path.read_bytes(), str(path)), path.read_bytes()


def parse_spec(text: bytes, source: str) -> MapSpec:
    """Map file from YAML; source names it in errors. Raises UsageError."""
    try:
        return MapSpec.model_validate(yaml.safe_load(text))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{source}: not YAML: {error}", "mend the file") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the map"
        raise UsageError(f"{source}, key {key}: {first['msg']}", "mend the file") from None


def load_map(map_id: str) -> PlaceMap:
    """The place, from the cache when it is there and sound, else generated and kept. Raises UsageError."""
    spec, text = load_spec(map_id)
    key = hashlib.sha256(text + f"/{GENERATOR_VERSION}".encode()).hexdigest()
    folder = cache_directory() / "maps"
    path = folder / f"{map_id}-{key[:16]}.npz"
    arrays = _read(path, spec.samples)
    if arrays is None:
        arrays = generate(spec)
        _write(path, arrays)
    return _place(spec, *arrays)


def generate(spec: MapSpec) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Heights and land cover of a map file, the same bytes every time."""
    heights = generate_heights(spec.relief, spec.erosion, spec.samples, spec.size, spec.seed)
    return heights, classify(spec.cover, heights, spec.size, spec.relief.crest_offset, spec.seed)


def _place(spec: MapSpec, heights: NDArray[np.float32], cover: NDArray[np.uint8]) -> PlaceMap:
    heights.setflags(write=False)
    cover.setflags(write=False)
    return PlaceMap(
        id=spec.id,
        name=spec.name,
        size=spec.size,
        origin=Origin(spec.origin.latitude, spec.origin.longitude, spec.origin.altitude),
        utc_offset=spec.utc_offset,
        seed=spec.seed,
        heights=heights,
        land_cover=cover,
        water_level=spec.water_level,
        flora=dict(spec.flora),
        digest=_digest(heights, cover),
    )


def _digest(heights: NDArray[np.float32], cover: NDArray[np.uint8]) -> str:
    return hashlib.sha256(heights.tobytes() + cover.tobytes()).hexdigest()


def _read(path: Path, samples: int) -> tuple[NDArray[np.float32], NDArray[np.uint8]] | None:
    """Cached arrays, or None when absent or damaged: then the map is made anew."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            heights, cover = stored["heights"], stored["land_cover"]
            digest = str(stored["digest"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shape = (samples, samples)
    if heights.shape != shape or cover.shape != shape or digest != _digest(heights, cover):
        return None
    return heights, cover


def _write(path: Path, arrays: tuple[NDArray[np.float32], NDArray[np.uint8]]) -> None:
    """Write aside and rename, so that a reader never meets half a file. A full or read-only disk costs only time."""
    buffer = io.BytesIO()
    heights, cover = arrays
    np.savez(buffer, heights=heights, land_cover=cover, digest=np.array(_digest(heights, cover)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(buffer.getvalue())
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
