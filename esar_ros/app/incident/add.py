"""`esar incident add DIR FILE ...`: takes in what was done, each file once."""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from esar_ros.app.incident.places import position
from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.features import Mover, PlaceKind, Position, Search
from esar_ros.incident.ground import Ground
from esar_ros.incident.pod import Curves, Target
from esar_ros.incident.rasters import CANOPY, ELEVATION
from esar_ros.incident.sources import photos, ros_bag
from esar_ros.incident.sources.intake import Intake
from esar_ros.incident.sources.kinds import Kind, recognise
from esar_ros.incident.store import Incident, digest_of
from esar_ros.incident.taking import Terms, take, take_photos
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.weather import Weather
from esar_ros.perception.detectors.chosen import about_chosen, create_chosen
from esar_ros.perception.detectors.real_pictures import load_real_pictures, real_flight_warning

BATCH = 500  # photographs that are taken in at once: what a kill loses at most
WIDE = 16.0 / 9.0  # width over height of a video
NOBODY = "none"  # in place of a detector: nobody looks at the photographs
_BEFORE, _NOTHING = "taken in before", "nothing"
_SHOWN = 6  # endings of files that are not read
_OPTIONS = (  # that change what a file gives
    "home", "mover", "pod", "finds", "no_fly", "detection_range", "target", "camera", "geoid", "utc_offset", "topic",
    "origin", "detector", "recall", "weather",
)  # fmt: skip
_UTC_OFFSETS, _UNDULATIONS = (-14.0, 14.0), (-110.0, 90.0)  # h; m, EGM96's with some more
_TARGETS = {target.name.lower(): target for target in Target}


def declare(verbs: Any) -> None:
    """Adds the verb and its arguments."""
    parser = verbs.add_parser("add", help="take in what was done: logs, tracks, photographs, searched ground, bags")
    parser.add_argument("dir", type=Path, metavar="DIR", help="the incident's folder")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files, folders of photographs, bags")
    parser.add_argument("--home", metavar="LAT,LON", help="where the drone took off: its heights are checked by it")
    parser.add_argument(
        "--as", dest="mover", choices=[each.value for each in Mover], default=Mover.PERSON.value,
        help="who left a GPX (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--pod", type=float, metavar="P", help="of polygons that state none, or that a GPX bounds; 0..1"
    )
    parser.add_argument("--finds", action="store_true", help="the named points of a GPX are finds, not landmarks")
    parser.add_argument(
        "--no-fly", type=float, nargs="?", const=0.0, metavar="M", help="the polygons are zones where nobody may fly; "
        "points and lines with so many metres around them",
    )  # fmt: skip
    parser.add_argument("--detection-range", type=float, metavar="M", help="m, at which people on foot see the target")
    parser.add_argument("--target", choices=_TARGETS, default="medium", help="how visible it is (default: %(default)s)")
    parser.add_argument(
        "--camera", metavar="PITCH,FOV,WIDTH", help="of logs and videos, which have a POD by it: degrees above the "
        "horizon (-90: straight down) at which it looked ahead, horizontal field of view (degrees), width (px)",
    )  # fmt: skip
    parser.add_argument("--geoid", type=float, metavar="M", help="m, of the geoid (EGM96) above the ellipsoid there")
    parser.add_argument("--utc-offset", type=float, metavar="H", help="h, of clocks in local time that do not say")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="ROLE=NAME", help="of a bag: " + ", ".join(ros_bag.ROLES)
    )
    parser.add_argument("--origin", metavar="LAT,LON[,ALT]", help="of a bag's odometry, where it has no NavSatFix")
    parser.add_argument(
        "--detector",
        default=names.DEFAULT_DETECTOR,
        metavar="NAME",
        help=f"looks at photographs; {NOBODY}: nobody (default: %(default)s)",
    )
    parser.add_argument(
        "--recall",
        type=float,
        metavar="P",
        help="share of people near and in the open that whoever looks at the pictures finds, 0..1 (default: the "
        "detector's on real photographs)",
    )
    parser.add_argument(
        "--weather",
        choices=[each.value for each in Weather],
        default=Weather.CLEAR.value,
        help="of flights (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Takes in each file; returns 1 where one gave nothing, after the others were taken."""
    incident = Incident.open(arguments.dir)
    offset = _within("--utc-offset", arguments.utc_offset, "hours", *_UTC_OFFSETS)
    intake = Intake(_near(incident), _within("--geoid", arguments.geoid, "metres", *_UNDULATIONS), offset)
    terms = _terms(arguments, incident)
    console, failed = Console(highlight=False, soft_wrap=True), False
    pictures: list[Path] = []
    told = hashlib.sha256(repr([getattr(arguments, name) for name in _OPTIONS]).encode()).hexdigest()
    for path in arguments.files:
        try:
            if recognise(path) is Kind.PHOTOS:
                pictures += photos.files(path)
                _tell_others(path, intake)
            else:
                words = _add(path, incident, intake, terms, told)
                console.print(f"{path}: {words}")
                failed |= words == _NOTHING
        except UsageError as error:
            print(f"esar: {error}", file=sys.stderr)
            failed = True
    if pictures:
        console.print(f"{len(pictures)} photographs: {_add_photos(pictures, incident, intake, terms, console)}")
        if terms.detector is not None and arguments.recall is None:
            console.print(f"  their POD counts on that: {real_flight_warning(about_chosen(arguments.detector))}")
    for line in intake.faults:
        console.print(f"  left out or in doubt: {line}")
    return 1 if failed else 0


def _add(path: Path, incident: Incident, intake: Intake, terms: Terms, told: str) -> str:
    """Returns what a file gave, in words; with other options than before, what it gives beside that. Raises UsageError.

    told: the digest of all options, which a file may need that was taken in without them.
    """
    digest = digest_of(path)
    again, is_known = f"{digest}:{told}", digest in incident.sources
    before = [key for key in incident.sources if key.startswith(f"{digest}:")]
    is_of_earlier = is_known and set(before) <= {f"{digest}:pod"}  # release, which told a walk's POD alone apart
    if again in before or (is_of_earlier and (before or terms.detection_range is None)):
        return _BEFORE
    search = take(path, intake, terms)
    if is_known:
        search = incident.search.beside(search)
        search.rasters = [raster for raster in search.rasters if f"{digest}:{raster.unit}" not in before]
    words = _words(search)
    if words:
        incident.sources |= {key: path.name for key in (digest, *(f"{digest}:{each.unit}" for each in search.rasters))}
        incident.add(search, again, path.name)
    if is_known:
        return f"{_BEFORE}, which stays; beside it {words}" if words else _BEFORE
    return words or _NOTHING


def _tell_others(folder: Path, intake: Intake) -> None:
    """Says what else lies in a folder of photographs."""
    if folder.is_dir():
        files = {path for path in folder.rglob("*") if path.is_file()} - set(photos.files(folder))
        if kinds := sorted({path.suffix.lower() or path.name for path in files}):
            named = ", ".join([*kinds[:_SHOWN], *["..."] * (len(kinds) > _SHOWN)])
            words = f"{len(files)} other files are not read ({named})"
            intake.fault(folder, words, "give each by itself, if it tells anything")


def _add_photos(paths: Sequence[Path], incident: Incident, intake: Intake, terms: Terms, console: Console) -> str:
    """Takes in the photographs that are new, a batch at a time: a kill loses one batch at most. Returns in words."""
    total, name = Search(paths[0].parent.name), paths[0].parent.name
    columns = (TextColumn("  Reading"), BarColumn(), TextColumn("{task.completed:.0f} / {task.total:.0f}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not sys.stdout.isatty()) as progress:
        task = progress.add_task("", total=len(paths))
        for begin in range(0, len(paths), BATCH):
            batch = paths[begin : begin + BATCH]
            taken = incident.sources
            search, digests = take_photos(name, batch, intake, terms, taken, lambda: progress.advance(task))
            if digests:
                incident.sources.update(digests)
                incident.add(search, hashlib.sha256("".join(digests).encode()).hexdigest(), name)
                total.add(search)
    return _words(total) or "nothing new"


def _words(search: Search) -> str:
    """Returns what a search holds."""
    parts = [
        f"{len(items)} {name}{'s' * (len(items) != 1)}"
        for name, items in (
            ("track", search.tracks), ("find", search.finds), ("place", search.places), ("area", search.areas),
        )
        if items
    ]  # fmt: skip
    for raster in search.rasters:
        seen = raster.values[raster.values > 0.0]
        parts.append(
            f"{seen.size * raster.cell**2 / 1e4:.1f} ha seen, mean POD {seen.mean() if seen.size else 0.0:.2f}"
        )
    return ", ".join(parts)


def _near(incident: Incident) -> Position | None:
    """Returns where the search is: its initial planning point, else its first place."""
    places = sorted(incident.search.places, key=lambda place: place.kind is not PlaceKind.IPP)
    return places[0].position if places else None


def _terms(arguments: argparse.Namespace, incident: Incident) -> Terms:
    """Raises UsageError."""
    elevations = incident.rasters(ELEVATION)
    ground = Ground.of(elevations[-1]) if elevations else None
    home = position("--home", arguments.home) if arguments.home else _home(incident)
    if arguments.home and home and ground and math.isnan(ground.height(*ground.to_grid(home.latitude, home.longitude))):
        raise UsageError(f"--home {arguments.home} lies beside the elevation model", "say where the drone took off")
    nobody = arguments.detector == NOBODY
    return Terms(
        ground=ground,
        canopy=next(iter(incident.rasters(CANOPY)), None),
        curves=_curves(arguments),
        detector=None if nobody else create_chosen(arguments.detector),
        home=home,
        camera=_camera(arguments.camera),
        mover=Mover(arguments.mover),
        pod=_share("--pod", arguments.pod),
        points_are_finds=arguments.finds,
        no_fly=_around(arguments.no_fly),
        detection_range=_positive("--detection-range", arguments.detection_range),
        target=_TARGETS[arguments.target],
        topics=_topics(arguments.topic),
        origin=position("--origin", arguments.origin) if arguments.origin else None,
        pictures=incident.folder / "finds",
    )


def _camera(text: str | None) -> tuple[float, CameraModel] | None:
    """Returns the pitch (degrees) and the lens that PITCH,FOV,WIDTH states. Raises UsageError."""
    if text is None:
        return None
    try:
        pitch, view, width = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--camera {text}", "PITCH,FOV,WIDTH, e.g. -60,73,3840") from None
    if not (-90.0 <= pitch <= 0.0 and 1.0 <= view <= 150.0 and 100.0 <= width <= 20_000.0):
        raise UsageError(
            f"--camera {text}", "a pitch of -90 to 0 and a view of 1 to 150 degrees, a width of 100 to 20000 px"
        )
    return pitch, CameraModel.from_horizontal_fov(int(width), round(width / WIDE), math.radians(view))


def _curves(arguments: argparse.Namespace) -> Curves | None:
    """Returns the POD of whoever looks at pictures; None where nobody does. Raises UsageError."""
    stated = _share("--recall", arguments.recall)
    if stated is not None:
        return Curves(names.DEFAULT_DETECTOR, arguments.weather, stated)
    if arguments.detector == NOBODY:
        return None
    if not load_real_pictures().is_of(about_chosen(arguments.detector)):
        raise UsageError(
            f"what {arguments.detector} finds on real photographs has not been measured",
            "say it: --recall P, 0 to 0.99",
        )
    return Curves(names.DEFAULT_DETECTOR, arguments.weather, photographs=True)


def _home(incident: Incident) -> Position | None:
    """Returns where vehicles start, if all start at one place."""
    homes = [place.position for place in incident.search.places if place.kind is PlaceKind.HOME]
    return homes[0] if len(homes) == 1 else None


def _within(flag: str, value: float | None, unit: str, least: float, most: float) -> float | None:
    if value is not None and not least <= value <= most:
        raise UsageError(f"{flag} {value:g}", f"{unit}, {least:g} to {most:g}")
    return value


def _share(flag: str, value: float | None) -> float | None:
    if value is not None and not 0.0 <= value < 1.0:
        raise UsageError(f"{flag} {value:g}", "a share, 0 to 0.99")
    return value


def _around(metres: float | None) -> float | None:
    if metres is not None and not (math.isfinite(metres) and 0.0 <= metres <= 5000.0):
        raise UsageError(f"--no-fly {metres:g}", "metres, 0 to 5000")
    return metres


def _positive(flag: str, value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value > 0.0):
        raise UsageError(f"{flag} {value:g}", "metres, above 0")
    return value


def _topics(pairs: Sequence[str]) -> dict[str, str]:
    topics = {}
    for pair in pairs:
        role, equals, topic = pair.partition("=")
        if not equals or role not in ros_bag.ROLES:
            raise UsageError(f"--topic {pair}", f"ROLE=NAME; {suggest(role, ros_bag.ROLES)}")
        topics[role] = topic
    return topics
