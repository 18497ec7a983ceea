"""Camera images of each find, and of the nearest look at each miss, with a ring around the object's position."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from esar_ros.bags.topics import read_images
from esar_ros.benchmark.report.mission_record import MissionRecord
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.stamps import NANO
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.scoring.result import ClueResult, ReportResult, VictimResult

WIDTH = 480  # px of an image in the report
QUALITY = 72
MOST_PIXELS = 50_000_000  # of a recorded image; a few bytes may claim more
RING = (255, 214, 51)
CUT = (0.09, 0.09)  # share of the image's width and height that is shown magnified
MAX_FINDS = 14  # with images: a report of some megabytes, not of hundreds
MAX_MISSES = 6
SLACK = round(1.05 * NANO)  # ns between a report and the image shown with it


@dataclass(frozen=True)
class RingedImage:
    """One image: JPEG bytes, and whether the thing's place lies in it."""

    camera: str
    jpeg: bytes
    holds_it: bool


@dataclass(frozen=True)
class Moment:
    """Time and vehicle of a set of images."""

    vehicle: str
    time: float  # s since the mission's start


@dataclass(frozen=True)
class Find:
    """A victim or clue that was found, the report that did it, and what could be seen then."""

    thing: VictimResult | ClueResult
    report: ReportResult
    views: tuple[RingedImage, ...]


@dataclass(frozen=True)
class Miss:
    """A victim or clue that was missed though images showed it, and the nearest of those."""

    thing: VictimResult | ClueResult
    moment: Moment
    views: tuple[RingedImage, ...]  # that hold it


def collect_finds(flown: MissionRecord) -> list[Find]:
    """Finds in order of time; with images where the bag has them."""
    result = flown.result
    found = [(thing, result.reports[thing.report]) for thing in result.things if thing.report is not None]
    found.sort(key=lambda pair: (pair[1].time, pair[0].id))
    moments = [Moment(report.vehicle, report.time) for _, report in found]
    images = _images(flown, moments[:MAX_FINDS])
    return [
        Find(thing, report, _views(flown, thing, moment, images))
        for (thing, report), moment in zip(found, moments, strict=True)
    ]


def collect_misses(flown: MissionRecord) -> list[Miss]:
    """Returns the objects missed though images showed them, victims first, then the nearest; with images of the bag."""
    missed = [
        (thing, Moment(thing.nearest_picture_vehicle, thing.nearest_picture_time))
        for thing in sorted(flown.result.things, key=lambda t: (isinstance(t, ClueResult), t.nearest_picture or 0.0))
        if thing.report is None and thing.nearest_picture_vehicle is not None and thing.nearest_picture_time is not None
    ][:MAX_MISSES]
    images = _images(flown, [moment for _, moment in missed])
    return [
        Miss(thing, moment, tuple(view for view in _views(flown, thing, moment, images) if view.holds_it))
        for thing, moment in missed
    ]


def _images(flown: MissionRecord, moments: list[Moment]) -> dict[tuple[str, int], bytes]:
    """JPEG by topic and stamp (ns) of all cameras at some moments."""
    wanted: dict[str, list[int]] = {}
    for moment in moments:
        for camera in names.EYES:
            wanted.setdefault(_topic(moment.vehicle, camera), []).append(_stamp(flown, moment))
    return read_images(flown.bag, wanted, SLACK) if flown.bag and wanted else {}


def _topic(vehicle: str, camera: str) -> str:
    return f"{vehicle}/{names.camera_compressed(camera)}"


def _stamp(flown: MissionRecord, moment: Moment) -> int:
    return flown.truth.start + round(moment.time * NANO)


def _views(
    flown: MissionRecord, thing: VictimResult | ClueResult, moment: Moment, images: dict[tuple[str, int], bytes]
) -> tuple[RingedImage, ...]:
    views = []
    for camera in names.EYES:
        jpeg = images.get((_topic(moment.vehicle, camera), _stamp(flown, moment)))
        if jpeg is not None and (view := _marked(flown, thing, moment, camera, jpeg)):
            views.append(view)
    return tuple(views)


def _marked(
    flown: MissionRecord, thing: VictimResult | ClueResult, moment: Moment, camera: str, jpeg: bytes
) -> RingedImage | None:
    """The image made smaller, with a ring about the thing; None when it is no image."""
    try:
        opened = Image.open(io.BytesIO(jpeg))
        if opened.width * opened.height > MOST_PIXELS:
            return None
        image = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # whatever a damaged one raises
        return None
    original = image
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    pixel = _pixel(flown, thing, moment, camera, image.width, image.height)
    if pixel is not None:
        _draw_ring(image, pixel)
        _paste_closer(image, original, pixel)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return RingedImage(camera, buffer.getvalue(), pixel is not None)


def _draw_ring(image: Image.Image, pixel: tuple[float, float]) -> None:
    draw = ImageDraw.Draw(image)
    for radius, width, colour in ((25, 7, (20, 24, 28)), (23, 3, RING)):
        box = (pixel[0] - radius, pixel[1] - radius, pixel[0] + radius, pixel[1] + radius)
        draw.ellipse(box, outline=colour, width=width)


def _paste_closer(image: Image.Image, original: Image.Image, pixel: tuple[float, float]) -> None:
    """A magnified cut about the thing, in the upper corner away from it: from the air most things are a few pixels."""
    scale = original.width / image.width
    half_width, half_height = CUT[0] * original.width / 2, CUT[1] * original.height / 2
    x = min(max(pixel[0] * scale, half_width), original.width - half_width)
    y = min(max(pixel[1] * scale, half_height), original.height - half_height)
    size = (round(image.width * 0.32), round(image.height * 0.32))
    box = (x - half_width, y - half_height, x + half_width, y + half_height)
    closer = original.resize(size, Image.Resampling.BICUBIC, box=box)
    left = image.width - size[0] - 8 if pixel[0] < image.width / 2 else 8
    image.paste(closer, (left, 8))
    ImageDraw.Draw(image).rectangle((left - 1, 7, left + size[0], 8 + size[1]), outline=RING, width=2)


def _pixel(
    flown: MissionRecord, thing: VictimResult | ClueResult, moment: Moment, camera: str, width: int, height: int
) -> tuple[float, float] | None:
    """Returns the pixel (px) of an object's position in an image, None outside of it; occlusion is not checked."""
    stamp = _stamp(flown, moment)
    rows = flown.record.rows(moment.vehicle, names.ODOMETRY, stamp - NANO, stamp + NANO)
    if not rows:
        return None
    row = min(rows, key=lambda r: abs(r.stamp - stamp))
    offset = np.array(flown.truth.vehicles[moment.vehicle].odom_in_map)
    quaternion = np.array(row[4:8])
    if float(np.linalg.norm(quaternion)) < 1e-6:
        return None
    vehicle = load_vehicle()
    warm = camera == names.THERMAL
    mount, fov = (vehicle.thermal if warm else vehicle.cameras[camera]), (vehicle.thermal if warm else vehicle.image)
    optical = Pose(np.array(row[1:4]) + offset, quaternion).compose(mount.pose)
    model = CameraModel.from_horizontal_fov(width, height, float(np.radians(fov.fov_deg)))
    pixel, inside = model.project(optical.inverse().apply(np.array(thing.position)))
    return (float(pixel[0]), float(pixel[1])) if bool(inside) else None
