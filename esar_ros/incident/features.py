"""Features of a search on a map: file formats write these features, and sources of all kinds yield them.

Positions are WGS 84 (EPSG:4326), degrees. Altitudes are metres above mean sea level (EGM96), as maps, GPX and KML state
them, and nan or None where nothing states them; a format of another vertical reference converts at its own door. Times
are UTC, seconds since 1970, nan or None where they are not known. Errors are one standard deviation.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
CHI_SQUARE_95 = 5.991  # two degrees of freedom: an ellipse of this squared radius holds 95 %

_DIGITS = 9  # of degrees: a tenth of a millimetre


class Mover(str, Enum):
    """Kinds of those who leave tracks."""

    DRONE = "drone"
    PERSON = "person"
    DOG = "dog"


class FindState(str, Enum):
    """Decisions of a person about a find."""

    NEW = "new"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"


class PlaceKind(str, Enum):
    """Kinds of named points."""

    IPP = "ipp"  # initial planning point: where the person was last seen or known to be
    HOME = "home"  # where a vehicle starts
    CLUE = "clue"
    LANDMARK = "landmark"


class AreaKind(str, Enum):
    """Kinds of ground that a polygon bounds."""

    SEARCH = "search"  # the whole of what is searched
    SEGMENT = "segment"
    SEARCHED = "searched"  # with the POD that somebody states
    FOOTPRINT = "footprint"  # what a flight's pictures showed
    NO_FLY = "no-fly"
    DANGER = "danger"


def wrapped(longitude: ArrayLike) -> Floats:
    """Returns longitudes (degrees) between -180 and 180; those that are, to the bit."""
    told = np.asarray(longitude, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(told) <= 180.0, told, (told + 180.0) % 360.0 - 180.0)


def mark_of(*content: object) -> str:
    """Returns a few signs that tell things of one name apart by their content."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:6]


@dataclass(frozen=True)
class Position:
    """A point on or above the ground."""

    latitude: float  # degrees
    longitude: float  # degrees, -180 to 180 of whatever was told
    altitude: float | None = None  # m above mean sea level

    def __post_init__(self) -> None:
        if abs(self.longitude) > 180.0:
            object.__setattr__(self, "longitude", float(wrapped(self.longitude)))


@dataclass(frozen=True)
class Track:
    """The way that somebody or something went; all arrays are of length N, in the order of time."""

    name: str
    mover: Mover
    latitude: Floats  # degrees
    longitude: Floats  # degrees
    altitude: Floats  # m above mean sea level, nan: not told
    time: Floats  # s since 1970, UTC, nan: not told
    source: str = ""  # file or bag that tells it


@dataclass(frozen=True)
class Ellipse:
    """An error ellipse on the ground."""

    major: float  # m, half axis
    minor: float  # m, half axis
    bearing: float  # degrees clockwise from true north of the major axis, [0, 180)


@dataclass(frozen=True)
class Find:
    """A clue or a person that was found."""

    id: str  # unique within a search
    kind: str  # "person", or a kind of clue (mission.clues)
    position: Position
    covariance: Floats | None = None  # (2, 2) m², east and north; None: not known
    altitude_sigma: float | None = None  # m
    probability: float | None = None  # that it is what `kind` says
    time: float | None = None  # s since 1970, UTC
    state: FindState = FindState.NEW
    picture: Path | None = None
    source: str = ""
    note: str = ""

    def ellipse(self) -> Ellipse | None:
        """Returns the ellipse that holds 95 %; None where no error is known."""
        if self.covariance is None:
            return None
        values, axes = np.linalg.eigh(self.covariance)
        minor, major = np.sqrt(np.maximum(values, 0.0) * CHI_SQUARE_95)
        bearing = math.degrees(math.atan2(axes[0, 1], axes[1, 1])) % 180.0
        return Ellipse(float(major), float(minor), bearing)


@dataclass(frozen=True)
class Place:
    """A named point."""

    name: str
    kind: PlaceKind
    position: Position
    sigma: float | None = None  # m, in each of two directions
    time: float | None = None  # s since 1970, UTC
    note: str = ""


@dataclass(frozen=True)
class Area:
    """A polygon, with its holes."""

    name: str
    kind: AreaKind
    outline: Floats  # (N, 2) longitude and latitude, degrees; not closed
    holes: tuple[Floats, ...] = ()
    poa: float | None = None  # probability of area
    pod: float | None = None  # cumulative probability of detection
    hours: float | None = None  # spent searching there
    note: str = ""


@dataclass(frozen=True)
class Waypoint:
    """A place that a sortie flies to."""

    position: Position  # with an altitude
    above_ground: float | None = None  # m, as planned
    hold: float = 0.0  # s


@dataclass(frozen=True)
class Sortie:
    """A flight that is planned."""

    name: str
    home: Position
    waypoints: tuple[Waypoint, ...]
    speed: float  # m/s
    minutes: float  # of flight
    pos: float | None = None  # probability of success: the gain in detecting the person
    hectares: float | None = None  # that it covers


@dataclass(frozen=True)
class Raster:
    """Cells over the ground; row 0 is the northernmost."""

    name: str
    values: NDArray[np.float32]  # (H, W), nan: no data
    west: float  # left edge, in the units of crs
    north: float  # upper edge
    cell: float  # side of a cell, in the units of crs
    crs: str  # "EPSG:<code>": a UTM zone for what is measured in metres
    unit: str  # what a value is: "m", "probability per cell", "probability of detection"


@dataclass
class Search:
    """All that is known of one search, or of one flight."""

    name: str
    tracks: list[Track] = field(default_factory=list)
    finds: list[Find] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    sorties: list[Sortie] = field(default_factory=list)
    rasters: list[Raster] = field(default_factory=list)

    def beside(self, other: Search) -> Search:
        """Returns what another tells that is not here already, and all of its rasters."""
        new = Search(other.name, rasters=other.rasters)
        for each in fields(self):
            if each.name not in ("name", "rasters"):
                known = {_identity(feature) for feature in getattr(self, each.name)}
                found = [feature for feature in getattr(other, each.name) if _identity(feature) not in known]
                setattr(new, each.name, found)
        return new

    def add(self, other: Search) -> None:
        """Takes in the features of another."""
        for each in fields(self):
            if each.name != "name":
                getattr(self, each.name).extend(getattr(other, each.name))


def _identity(feature: Track | Find | Place | Area | Sortie) -> tuple[object, ...]:
    """Returns by what a feature is the same when its file is read again: where it is, and what is told of it."""
    if isinstance(feature, Track):
        ways = feature.latitude, feature.longitude
        told = bool(np.isfinite(feature.altitude).any()), bool(np.isfinite(feature.time).any())
        return feature.name, feature.mover, *(np.round(way, _DIGITS).tobytes() for way in ways), *told
    if isinstance(feature, Area):
        return feature.name, feature.kind, np.round(feature.outline, _DIGITS).tobytes()
    if isinstance(feature, Place):
        at = feature.position
        return feature.name, feature.kind, round(at.latitude, _DIGITS), round(at.longitude, _DIGITS)
    return (feature.id,) if isinstance(feature, Find) else (feature.name,)
