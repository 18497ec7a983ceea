"""Any file comes in, by its kind, as features of a search: tracks, POD, finds, footprints."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from esar_ros.bags.flight_logs.ardupilot import read_dataflash
from esar_ros.bags.flight_logs.ulog import read_ulog
from esar_ros.geometry.camera import CameraModel
from esar_ros.incident import flight
from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    Floats,
    Mover,
    Place,
    Position,
    Raster,
    Search,
    Track,
    mark_of,
)
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look, along
from esar_ros.incident.photo_finds import finds, merge
from esar_ros.incident.placing import UNCHECKED, Withheld, camera_height
from esar_ros.incident.pod import Coverage, Curves, Target, pod_of_look, pod_of_walks, sweep_width
from esar_ros.incident.rasters import POD, POD_ON_FOOT, on_raster, raster_on
from esar_ros.incident.sources import flight_log, gpx, photos, polygons, ros_bag, srt
from esar_ros.incident.sources.intake import Intake
from esar_ros.incident.sources.kinds import Kind, recognise
from esar_ros.incident.visibility import see
from esar_ros.mission.errors import UsageError, install
from esar_ros.perception.detectors.backend import DetectorBackend
from esar_ros.planning.belief.detection_probability import TABLE_RANGE

CELL = 5.0  # m, least cell of a POD: a person's place is known no better
_PATCH = 16  # cells
_BELOW = 3.0  # standard deviations that a drone may fly below the ground
_DRONE_HEIGHT = 5.0  # m, error of a drone's height above the sea, as of LookErrors


@dataclass(frozen=True)
class Terms:
    """A person's statements on the files, and all that they are held against."""

    ground: Ground | None = None  # None: nothing is ray-cast, tracks alone are taken
    canopy: Raster | None = None  # share of ground under crowns; None: not known, all counts as open
    curves: Curves | None = None  # of whoever looks at pictures; None: nobody did, and they have no POD
    detector: DetectorBackend | None = None  # that looks for people in photographs; None: nobody does
    home: Position | None = None  # where the drone took off
    camera: tuple[float, CameraModel] | None = None  # pitch (degrees) and lens of whoever flew a log or a video
    mover: Mover = Mover.PERSON  # of GPX
    no_fly: float | None = None  # polygons are zones where nobody may fly, and so many m around points and lines
    points_are_finds: bool = False  # of a GPX: what a team has marked; False: landmarks
    pod: float | None = None  # of polygons without one; of a GPX: it bounds searched ground
    detection_range: float | None = None  # m, at which people on foot see such a target; None: their POD is not known
    target: Target = Target.MEDIUM
    topics: Mapping[str, str] = field(default_factory=dict)  # of a bag, by ros_bag.ROLES
    origin: Position | None = None  # of a bag's odometry
    pictures: Path | None = None  # folder for pictures of a mission's finds; None: none are kept


def take_photos(
    name: str,
    paths: Iterable[Path],
    intake: Intake,
    terms: Terms,
    taken: Collection[str] = (),
    progress: Callable[[], None] = lambda: None,
) -> tuple[Search, dict[str, str]]:
    """Returns what photographs tell that are not among those taken (by digest), and the digests of the taken ones with
    their names. progress: is called before each. Raises UsageError where exifread is not installed."""
    digests: dict[str, str] = {}

    def looks() -> Iterator[Look]:
        for photo in photos.read(paths, intake, taken, progress):
            if photo.digest not in digests:
                digests[photo.digest] = photo.look.source
                yield photo.look

    search = _of_looks(Path(name), looks(), intake, terms, Search(name))
    return search, digests


def take(path: Path, intake: Intake, terms: Terms) -> Search:
    """Returns what a file or a folder of photographs tells; the intake is told of each thing left out.

    Raises UsageError where all of it is unusable.
    """
    kind = recognise(path)
    if kind is Kind.PHOTOS:
        return take_photos(path.stem, photos.files(path), intake, terms)[0]
    if kind is Kind.BAG and flight.is_of_a_mission(path):
        search = _of_looks(path, flight.looks_of(path, intake), intake, terms, _of_mission(path, intake, terms))
    elif kind is Kind.BAG:
        search, looks = ros_bag.read(path, intake, terms.topics, terms.origin)
        search = _of_looks(path, looks, intake, terms, search)
    elif kind in (Kind.POLYGONS, Kind.GPX) and terms.no_fly is not None:
        return polygons.read_zones(path, intake, terms.no_fly)
    elif kind is Kind.POLYGONS or (kind is Kind.GPX and terms.pod is not None):
        return polygons.read(path, intake, terms.pod)
    elif kind is Kind.GPX:
        search = gpx.read(path, intake, terms.mover)
        if terms.points_are_finds:
            search.finds = [_find(place, number, path) for number, place in enumerate(search.places, start=1)]
            search.places = []
        _count_walks(path, search, intake, terms)
    elif kind is Kind.SRT:
        search = srt.read(path, intake)
    else:
        read_log = {Kind.ULOG: read_ulog, Kind.ARDUPILOT: read_dataflash}[kind]
        search = flight_log.search_of(read_log(path), path, intake)
    search.tracks = [_checked(track, path, intake, terms.ground) for track in search.tracks]
    if terms.camera is not None and kind in (Kind.ULOG, Kind.ARDUPILOT, Kind.SRT):
        pitch, model = terms.camera
        shown: Iterable[Look] = (look for track in search.tracks for look in along(track, pitch, model))
        if kind is Kind.SRT and srt.tells_gimbal(path):
            shown = srt.looks(path, intake, model)
        _of_looks(path, shown, intake, terms, search)
    elif kind is Kind.SRT and terms.ground is not None and srt.tells_gimbal(path):
        intake.fault(
            path, "it tells where its camera looked, not how wide", "it counts as a track: say the lens, --camera"
        )
    return search


def _of_mission(path: Path, intake: Intake, terms: Terms) -> Search:
    """Returns tracks, finds and homes of a mission of this package. Raises UsageError where it lies elsewhere."""
    flown = flight.search_of(path, terms.pictures)
    for track in flown.tracks:
        if wrong := intake.why_not(track.latitude, track.longitude):
            raise UsageError(f"{path}: {wrong[0]}", wrong[1])
    return Search(flown.name, tracks=flown.tracks, finds=flown.finds, places=flown.places)


def _checked(track: Track, path: Path, intake: Intake, ground: Ground | None) -> Track:
    """Returns a track, without its heights where a drone's lie below the ground by more than their error."""
    if ground is None or track.mover is not Mover.DRONE or not np.isfinite(track.altitude).any():
        return track
    below = ground.under(track.latitude, track.longitude)
    if not np.isfinite(track.altitude - below).any():
        intake.fault(path, "it lies beside the elevation model", "its heights are not checked")
        return track
    if np.nanmedian(track.altitude - below) > -_BELOW * np.hypot(ground.sigma, _DRONE_HEIGHT):
        return track
    intake.fault(path, "its heights lie below the ground", "they are left out: is the elevation model above the sea?")
    return replace(track, altitude=np.full_like(below, np.nan))


def _find(place: Place, number: int, path: Path) -> Find:
    """Returns a point that a team has marked as something found there."""
    at = place.position
    identity = f"{path.stem}-{number}-{mark_of(at.latitude, at.longitude, place.name, place.time)}"
    return Find(identity, place.name, at, time=place.time, source=path.name, note=place.note)


def _count_walks(path: Path, search: Search, intake: Intake, terms: Terms) -> None:
    """Adds the POD of people on foot, where the range at which they see is known."""
    walks = [track for track in search.tracks if track.mover is Mover.PERSON]
    if not walks:
        return
    if terms.ground is None or terms.detection_range is None:
        if terms.ground is not None:
            intake.fault(path, "it has no POD: at which range they see is not said", "again, with --detection-range M")
        return
    ground = terms.ground.coarser(CELL)
    width = sweep_width(terms.detection_range, terms.target)
    search.rasters.append(_pod(path.stem, pod_of_walks(walks, ground, width), ground, POD_ON_FOOT))


def _of_looks(path: Path, looks: Iterable[Look], intake: Intake, terms: Terms, search: Search) -> Search:
    """Adds to a search what looks show: one after the other, none is kept."""
    ground = None if terms.ground is None else terms.ground.coarser(CELL)
    coverage = None if ground is None else Coverage(ground.heights.shape)
    transmission = None
    if ground is not None and terms.canopy is not None:
        transmission = 1.0 - on_raster(raster_on(ground, ground.heights, "", ""), terms.canopy)
    places: list[tuple[float, ...]] = []
    for look in looks:
        told = (math.nan if each is None else each for each in (look.altitude, look.time))
        places.append((look.latitude, look.longitude, *told))
        if ground is None or coverage is None or look.model is None or look.yaw is None or look.pitch is None:
            continue
        if not _show(look, ground, transmission, coverage, intake, terms):
            continue
        if terms.detector is not None and terms.ground is not None and look.picture is not None:
            search.finds += finds(look, terms.detector, terms.ground, intake, terms.home)
    search.finds = merge(search.finds)
    if len(places) > 1 and not search.tracks:
        search.tracks = intake.track(path, path.stem, Mover.DRONE, *np.array(places).T)
    if ground is not None and coverage is not None and coverage.shown.any():
        search.areas += footprints(path.stem, coverage.shown, ground)
        if terms.curves is not None:
            search.rasters.append(_pod(path.stem, coverage.pod, ground))
    return search


def _show(
    look: Look, ground: Ground, transmission: Floats | None, coverage: Coverage, intake: Intake, terms: Terms
) -> bool:
    """Counts what a look shows; returns whether its height is to be trusted."""
    height = camera_height(look, ground, terms.home)
    if isinstance(height, Withheld):
        intake.fault(look.source, height.why, "nothing in it is placed or counted as seen")
        return False
    if not height.checked:
        intake.fault(look.source, UNCHECKED, "say where the drone took off: --home LAT,LON")
    seen = see(look, ground, height.altitude, TABLE_RANGE)
    pod = np.zeros(len(seen.row))
    if terms.curves is not None and look.model is not None:
        detection = terms.curves.of(look.model.fx, look.time, look.longitude)
        pod = terms.curves.share(look.model.fx) * pod_of_look(seen, detection, transmission)
    coverage.add(seen, pod)
    return True


def _pod(name: str, pod: Floats, ground: Ground, unit: str = POD) -> Raster:
    return raster_on(ground, np.where(np.isfinite(ground.heights), pod, np.nan), name, unit)


def footprints(name: str, seen: np.ndarray, ground: Ground) -> list[Area]:
    """Returns the outlines of cells (H, W) that were seen; patches and holes of a few cells are not told."""
    try:
        import shapely
        from rasterio import Affine
        from rasterio.features import shapes, sieve
    except ImportError as error:
        raise UsageError(f"footprints need {error.name}", install("geo")) from None
    place = Affine(ground.cell, 0.0, ground.west, 0.0, -ground.cell, ground.north)
    areas = []
    whole = sieve(seen.astype(np.uint8), _PATCH)
    for shape, _ in shapes(whole, mask=whole > 0, transform=place):
        polygon = shapely.geometry.shape(shape).simplify(ground.cell)
        rings = [_degrees(np.array(ring.coords)[:-1], ground) for ring in (polygon.exterior, *polygon.interiors)]
        areas.append(Area(name, AreaKind.FOOTPRINT, rings[0], tuple(rings[1:])))
    return areas


def _degrees(ring: Floats, ground: Ground) -> Floats:
    """Returns longitudes and latitudes (N, 2) of east and north."""
    return np.array([ground.to_geodetic(x, y)[::-1] for x, y in ring])
