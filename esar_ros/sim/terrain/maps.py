"""The places one can fly in, generated once from their map files (mission/map_files.py) and kept in the cache."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import map_file
from esar_ros.mission.resources import cache_directory
from esar_ros.mission.unpacking import content
from esar_ros.sim.terrain.land_cover import AlpineCover, LandCover
from esar_ros.sim.terrain.map_ground import Ground, generate, ground_digest, read_ground, write_ground
from esar_ros.sim.terrain.map_spec import Horizon, ImagerySpec, MapSpec, PlantSpec, parse_spec
from esar_ros.sim.terrain.relief_image import relief_image
from esar_ros.sim.terrain.settlements.ground import SettlementGround, settlement_plan
from esar_ros.sim.terrain.settlements.plan import Plan
from esar_ros.sim.terrain.surroundings import Surroundings, read_surroundings
from esar_ros.sim.terrain.tracks import Track

# What makes the ground: when any of it changes, cached maps are made anew.
GROUND_MODULES = (
    "clearings", "land_cover", "map_ground", "noise", "ridge_skeleton", "relief", "coast", "dem",
    "desert", "finer_relief", "summit", "tracks", "settlements/farmyard", "settlements/ground",
    "settlements/lake_cabins", "settlements/park", "settlements/plan", "settlements/presets", "settlements/streets",
)  # fmt: skip


class Structure(NamedTuple):
    """A hut, sign or monument; it stands on the ground at xy (m), its front at yaw (rad)."""

    asset: str
    xy: tuple[float, float]
    yaw: float
    scale: float


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
    digest: str  # hexadecimal SHA-256 of the ground, and of the plan where there is one
    tracks: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # named polylines (N, 2) m
    track_width: Mapping[str, float] = field(default_factory=dict)  # m, by track
    clearings: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))  # x, y, radius (m): level, bare
    structures: tuple[Structure, ...] = ()
    horizon: Horizon = "ranges"  # what lies beyond the map's edge
    larch_above: float | None = None  # m, z from which conifers are larches
    plan: Plan | None = None  # of a settlement
    imagery: NDArray[np.uint8] | None = None  # (k, k, 4) RGBA, rows south to north: square roots of linear colour
    surroundings: Surroundings | None = None  # of the same model

    @property
    def samples(self) -> int:
        """Heights along a side."""
        return int(self.heights.shape[0])

    @property
    def cell(self) -> float:
        """Metres between heights."""
        return self.size / (self.samples - 1)

    def contains(self, xy: ArrayLike) -> NDArray[np.bool_]:
        """Returns whether points (..., 2) lie on the map."""
        return np.asarray((np.abs(np.asarray(xy, dtype=np.float64)) <= self.size / 2).all(axis=-1))

    def ground_height(self, xy: ArrayLike) -> NDArray[np.float64]:
        """Bilinear z (m) of points (..., 2); beyond the map its edge goes on level."""
        if np.ndim(xy) == 1:  # asked a hundred times a second
            return np.asarray(self._height_at(float(xy[0]), float(xy[1])))  # type: ignore[index, arg-type]
        i, j, u, v = self._locate(xy)
        h = self.heights
        south = h[j, i] * (1.0 - u) + h[j, i + 1] * u
        north = h[j + 1, i] * (1.0 - u) + h[j + 1, i + 1] * u
        return np.asarray(south * (1.0 - v) + north * v, dtype=np.float64)

    def normal(self, xy: ArrayLike) -> NDArray[np.float64]:
        """Unit normals (..., 3) of the bilinear surface at points (..., 2)."""
        i, j, u, v = self._locate(xy)
        h = self.heights
        low, right, up, far = (
            np.asarray(part, np.float64) for part in (h[j, i], h[j, i + 1], h[j + 1, i], h[j + 1, i + 1])
        )
        gx = ((right - low) * (1.0 - v) + (far - up) * v) / self.cell
        gy = ((up - low) * (1.0 - u) + (far - right) * u) / self.cell
        normal = np.stack([-gx, -gy, np.ones_like(gx)], axis=-1).astype(np.float64)
        return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))

    def cover_at(self, xy: ArrayLike) -> NDArray[np.uint8]:
        """LandCover of the height sample nearest to points (..., 2)."""
        i, j, u, v = self._locate(xy)
        return np.asarray(self.land_cover[j + (v >= 0.5), i + (u >= 0.5)])

    def slope(self, xy: ArrayLike) -> NDArray[np.float64]:
        """Steepness (rad, 0 level) of the ground at points (..., 2)."""
        return np.asarray(np.arccos(np.clip(self.normal(xy)[..., 2], -1.0, 1.0)), dtype=np.float64)

    def is_water(self, xy: ArrayLike) -> NDArray[np.bool_]:
        """Returns whether points (..., 2) lie on open water; there ground_height is the water's surface."""
        return np.asarray(self.cover_at(xy) == LandCover.WATER)

    def shaded_relief(self, pixels: int) -> NDArray[np.uint8]:
        """North-up image (pixels, pixels, 3) RGB: a walking map's colours under a north-western sun, with tracks."""
        if pixels < 8:
            raise ValueError(f"a picture of {pixels} px shows nothing")
        tracks = [Track(line, self.track_width.get(name, 1.0)) for name, line in self.tracks.items()]
        return relief_image(self.heights, self.land_cover, self.size, self.seed, tracks, pixels)

    def _height_at(self, x: float, y: float) -> float:
        """The same of one point, in plain floats; NaN for a point that is none."""
        if math.isnan(x) or math.isnan(y):
            return math.nan
        last, half, cell = self.samples - 1.0, self.size / 2, self.cell
        p, q = min(max((x + half) / cell, 0.0), last), min(max((y + half) / cell, 0.0), last)
        i, j = min(int(p), self.samples - 2), min(int(q), self.samples - 2)
        u, v = p - i, q - j
        (a, b), (c, d) = self.heights[j : j + 2, i : i + 2].tolist()
        return (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v

    def _locate(self, xy: ArrayLike) -> tuple[Any, Any, Any, Any]:
        p = np.clip((np.asarray(xy, dtype=np.float64) + self.size / 2) / self.cell, 0.0, self.samples - 1.0)
        index = np.minimum(p.astype(np.int64), self.samples - 2)
        fraction = p - index
        return index[..., 0], index[..., 1], fraction[..., 0], fraction[..., 1]


def load_spec(map_id: str) -> tuple[MapSpec, bytes]:
    """Validated map file and its bytes. Raises UsageError."""
    path = map_file(map_id)
    text = path.read_bytes()
    spec = parse_spec(text, str(path))
    if spec.id != map_id:
        raise UsageError(f"{path}, key id: '{spec.id}' is not the file's name", "rename one of them")
    return spec, text


def load_map(map_id: str) -> PlaceMap:
    """The place, from the cache when it is there and sound, else generated and kept. Raises UsageError."""
    spec, text = load_spec(map_id)
    path, folder = _cached(map_id, text), map_file(map_id).parent
    ground = read_ground(path, spec.samples)
    if ground is None:
        ground = generate(spec, folder)
        write_ground(path, ground)
    return place_map(
        spec,
        ground,
        None if spec.imagery is None else _imagery(spec.imagery, folder),
        None if spec.surroundings is None else read_surroundings(spec.surroundings, folder),
    )


def _imagery(imagery: ImagerySpec, folder: Path) -> NDArray[np.uint8]:
    path = folder / imagery.file
    data = content(path)
    if hashlib.sha256(data).hexdigest() != imagery.sha256:
        raise UsageError(f"{path} is not the picture the map was made with", "import the map again")
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.ndim != 3 or picture.shape[2] != 4:
        raise UsageError(f"{path} is no picture of the ground", "import the map again")
    return np.ascontiguousarray(picture[..., [2, 1, 0, 3]])


def ground_is_drawn(map_id: str) -> bool:
    """Returns whether the cache holds a map's ground, so that opening it draws nothing. Raises UsageError."""
    return _cached(map_id, load_spec(map_id)[1]).is_file()


def _cached(map_id: str, text: bytes) -> Path:
    key = hashlib.sha256(text + _generator()).hexdigest()
    return cache_directory() / "maps" / f"{map_id}-{key[:16]}.npz"


def _generator() -> bytes:
    here = Path(__file__).parent
    return b"".join((here / f"{name}.py").read_bytes() for name in GROUND_MODULES)


def place_map(
    spec: MapSpec,
    ground: Ground,
    imagery: NDArray[np.uint8] | None = None,
    surroundings: Surroundings | None = None,
) -> PlaceMap:
    """The place of a map file, its ground, the picture of it and what lies around."""
    plan, digest = None, ground_digest(ground)
    if isinstance(spec.relief, SettlementGround):
        plan = settlement_plan(spec.relief, spec.size, spec.seed)
        digest = hashlib.sha256((digest + plan.digest).encode()).hexdigest()
    for beside in (spec.imagery, spec.surroundings):
        if beside is not None:
            digest = hashlib.sha256((digest + beside.sha256).encode()).hexdigest()
    arrays: list[NDArray[Any]] = [ground.heights, ground.land_cover, ground.clearings, *ground.tracks.values()]
    for array in arrays:
        array.setflags(write=False)
    widths = {name: track.width for name, track in spec.tracks.items()}
    if "trail" in ground.tracks and isinstance(spec.cover, AlpineCover):
        widths["trail"] = spec.cover.trail_width
    return PlaceMap(
        id=spec.id,
        name=spec.name,
        size=spec.size,
        origin=Origin(spec.origin.latitude, spec.origin.longitude, spec.origin.altitude),
        utc_offset=spec.utc_offset,
        seed=spec.seed,
        heights=ground.heights,
        land_cover=ground.land_cover,
        water_level=spec.water_level,
        flora=dict(spec.flora),
        digest=digest,
        tracks=ground.tracks,
        track_width=widths,
        clearings=ground.clearings,
        structures=tuple(Structure(item.asset, item.at, item.yaw, item.scale) for item in spec.structures),
        horizon=spec.horizon,
        larch_above=spec.larch_above,
        plan=plan,
        imagery=imagery,
        surroundings=surroundings,
    )
