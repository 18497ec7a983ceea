"""Content of a map file, checked key by key."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from esar_ros.mission.map_files import OriginSpec
from esar_ros.mission.settings_file import StrictModel, parse_yaml, validated
from esar_ros.sim.terrain.clearings import Clearings
from esar_ros.sim.terrain.coast import CoastalHills
from esar_ros.sim.terrain.land_cover import Cover, LandCover, SettledCover
from esar_ros.sim.terrain.relief import Erosion, Relief
from esar_ros.sim.terrain.settlements.ground import SettlementGround
from esar_ros.sim.terrain.surroundings import SurroundingsSpec
from esar_ros.sim.terrain.tracks import TrackSpec


class PlantSpec(StrictModel):
    """Scatter of a species (or loose rock); shares are probabilities per site by land cover."""

    spacing: float = Field(gt=0.5, description="m between sites")
    height: tuple[float, float] = Field(description="least and greatest, m")
    share: dict[str, float] = Field(description="share of the sites taken, by land cover in lower case")
    steepest: float = Field(1.05, gt=0.0, description="rise over run on which it still stands")

    @field_validator("share")
    @classmethod
    def _known_covers(cls, value: dict[str, float]) -> dict[str, float]:
        for name, share in value.items():
            if name.upper() not in LandCover.__members__:
                raise ValueError(f"no land cover is named '{name}'")
            if not 0.0 <= share <= 1.0:
                raise ValueError(f"the share on {name} is {share}, not within 0 and 1")
        return value


class StructureSpec(StrictModel):
    """A hut, sign or monument that belongs to the place."""

    asset: str
    at: tuple[float, float] = Field(description="m, map frame")
    yaw: float = Field(0.0, description="rad, of its front, counter-clockwise from east")
    scale: float = Field(1.0, gt=0.0)


class ImagerySpec(StrictModel):
    """The colour of the ground, of an orthophoto without its light: square roots of linear colour, south to north."""

    file: str = Field(pattern=r"^[A-Za-z0-9_.-]+\.png$", description="beside the map file")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of that file")


Horizon = Literal["ranges", "flat", "peaks", "sea"]
SIZES, SAMPLES = (200.0, 10_000.0), (65, 4097)  # m, side of a map, and heights a side: least and most


class MapSpec(StrictModel):
    """One config/maps file."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    character: str
    origin: OriginSpec
    utc_offset: float = Field(ge=-12.0, le=14.0, description="h, of local time")
    size: float = Field(ge=SIZES[0], le=SIZES[1], description="m, side of the square")
    samples: int = Field(ge=SAMPLES[0], le=SAMPLES[1])
    seed: int = Field(ge=0)
    water_level: float | None = Field(description="m in the map frame, null without open water")
    horizon: Horizon = Field("ranges", description="what lies beyond the map's edge")
    relief: Relief
    erosion: Erosion
    cover: Cover
    flora: dict[str, PlantSpec]
    larch_above: float | None = Field(None, description="m, map frame z from which conifers are larches")
    tracks: dict[str, TrackSpec] = Field(default_factory=dict)
    clearings: Clearings | None = None
    structures: list[StructureSpec] = Field(default_factory=list)
    imagery: ImagerySpec | None = None
    surroundings: SurroundingsSpec | None = None

    @field_validator("samples")
    @classmethod
    def _power_of_two_plus_one(cls, value: int) -> int:
        if (value - 1) & (value - 2):
            raise ValueError(f"{value} is not a power of two plus one")
        return value

    @model_validator(mode="after")
    def _inside(self) -> MapSpec:
        places = [(f"track {name}", xy) for name, track in self.tracks.items() for xy in track.via]
        places += [(f"structure {item.asset}", item.at) for item in self.structures]
        for what, xy in places:
            if max(abs(xy[0]), abs(xy[1])) > self.size / 2:
                raise ValueError(f"{what} at {xy[0]:g}, {xy[1]:g} is not on the map")
        if isinstance(self.relief, CoastalHills) and self.water_level != -self.origin.altitude:
            raise ValueError(f"water_level {self.water_level} is not sea level, {-self.origin.altitude}")
        if isinstance(self.relief, SettlementGround) != isinstance(self.cover, SettledCover):
            raise ValueError("relief 'settlement' and cover 'settled' go together")
        return self


def parse_spec(text: bytes, source: str) -> MapSpec:
    """Map file from YAML; source names it in errors. Raises UsageError."""
    return validated(MapSpec, parse_yaml(text, source), source, "the map")
