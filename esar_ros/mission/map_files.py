"""Locations of map files, and what they say of a map before its ground is made: how large it is and where it lies.

Wildernesses lie in config/maps itself, settlements in a folder of their own: no story of a lost person is told there.
Imported maps lie in the folders of ESAR_MAPS, or in the cache.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.resources import cache_directory, resource
from esar_ros.mission.settings_file import StrictModel, parse_yaml, validated

MAP_DIRECTORY = "config/maps"
SETTLEMENT_DIRECTORY = "config/maps/settlements"


class OriginSpec(StrictModel):
    """Geodetic position of the map's centre: degrees WGS 84, m above mean sea level."""

    latitude: float = Field(ge=-90.0, le=90.0)
    longitude: float = Field(ge=-180.0, le=180.0)
    altitude: float = Field(ge=-500.0, le=9000.0, description="m above mean sea level")


class _Head(StrictModel):
    origin: OriginSpec
    size: float = Field(gt=0.0)
    utc_offset: float = Field(ge=-12.0, le=14.0)


@dataclass(frozen=True)
class MapExtent:
    """The square that a map covers."""

    size: float  # m, its side; x and y span [-size/2, size/2]
    origin: Origin  # of the map frame, on the ground at the centre
    utc_offset: float  # h, of local time


def shipped_maps() -> list[str]:
    """Ids of the wildernesses that come with the package."""
    return sorted(path.stem for path in resource(MAP_DIRECTORY).glob("*.yaml"))


def settlement_maps() -> list[str]:
    """Ids of the settlements that come with the package."""
    return sorted(path.stem for path in resource(SETTLEMENT_DIRECTORY).glob("*.yaml"))


def user_map_directory() -> Path:
    """Returns the folder of imported maps: the first of ESAR_MAPS, else one in the cache."""
    return _user_directories()[0]


def _user_directories() -> list[Path]:
    named = [Path(part) for part in os.environ.get("ESAR_MAPS", "").split(os.pathsep) if part]
    return [*named, cache_directory() / "imported"]


def known_maps() -> list[str]:
    """Ids of all maps, shipped and imported."""
    imported = (path.stem for folder in _user_directories() for path in folder.glob("*.yaml"))
    return sorted({*shipped_maps(), *settlement_maps(), *imported})


def map_file(map_id: str) -> Path:
    """A map's file; a shipped map comes before an imported one of the same id. Raises UsageError."""
    if map_id in shipped_maps():
        return resource(f"{MAP_DIRECTORY}/{map_id}.yaml")
    if map_id in settlement_maps():
        return resource(f"{SETTLEMENT_DIRECTORY}/{map_id}.yaml")
    for folder in _user_directories():
        path = folder / f"{map_id}.yaml"
        if map_id in known_maps() and path.is_file():
            return path
    raise UsageError(f"unknown map '{map_id}'", suggest(map_id, known_maps()))


def map_extent(map_id: str) -> MapExtent:
    """Returns what a map covers, by its file alone. Raises UsageError."""
    path = map_file(map_id)
    content = parse_yaml(path.read_bytes(), str(path))
    known = {key: content[key] for key in _Head.model_fields if key in content} if isinstance(content, dict) else {}
    head = validated(_Head, known, str(path), "the map")
    origin = Origin(head.origin.latitude, head.origin.longitude, head.origin.altitude)
    return MapExtent(head.size, origin, head.utc_offset)
