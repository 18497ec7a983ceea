"""What the cameras saw at each find: four pictures with a ring where the thing lies."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from esar_ros.bags.topics import read_pictures
from esar_ros.benchmark.flown import Flown
from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.stamps import NANO
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.scoring.result import ClueResult, ReportResult, VictimResult

WIDTH = 480  # px of a picture in the report
QUALITY = 72
RING = (255, 214, 51)
CUT = (0.09, 0.09)  # share of the picture's width and height that is shown magnified
MOST_FINDS = 14  # with pictures: a report of some megabytes, not of hundreds
SLACK = round(1.05 * NANO)  # ns between a report and the picture shown with it


@dataclass(frozen=True)
class View:
    """One picture: JPEG bytes, and whether the thing's place lies in it."""

    camera: str
    jpeg: bytes
    holds_it: bool


@dataclass(frozen=True)
class Find:
    """A victim or clue that was found, the report that did it, and what could be seen then."""

    thing: VictimResult | ClueResult
    report: ReportResult
    views: tuple[View, ...]


def collect_finds(flown: Flown) -> list[Find]:
    """Finds in order of time; with pictures where the bag has them."""
    result = flown.result
    found = [(thing, result.reports[thing.report]) for thing in result.things if thing.report is not None]
    found.sort(key=lambda pair: (pair[1].time, pair[0].id))
    wanted: dict[str, list[int]] = {}
    for _, report in found[:MOST_FINDS]:
        for camera in names.CAMERAS:
            wanted.setdefault(_topic(report.vehicle, camera), []).append(_stamp(flown, report))
    pictures = read_pictures(flown.bag, wanted, SLACK) if flown.bag and wanted else {}
    return [Find(thing, report, _views(flown, thing, report, pictures)) for thing, report in found]


def _topic(vehicle: str, camera: str) -> str:
    return f"{vehicle}/{names.camera_compressed(camera)}"


def _stamp(flown: Flown, report: ReportResult) -> int:
    return flown.truth.start + round(report.time * NANO)


def _views(
    flown: Flown, thing: VictimResult | ClueResult, report: ReportResult, pictures: dict[tuple[str, int], bytes]
) -> tuple[View, ...]:
    views = []
    for camera in names.CAMERAS:
        jpeg = pictures.get((_topic(report.vehicle, camera), _stamp(flown, report)))
        if jpeg is not None and (view := _marked(flown, thing, report, camera, jpeg)):
            views.append(view)
    return tuple(views)


def _marked(
    flown: Flown, thing: VictimResult | ClueResult, report: ReportResult, camera: str, jpeg: bytes
) -> View | None:
    """The picture made smaller, with a ring about the thing; None when it is no picture."""
    try:
        picture = Image.open(io.BytesIO(jpeg)).convert("RGB")
    except OSError:
        return None
    original = picture
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    pixel = _pixel(flown, thing, report, camera, picture.width, picture.height)
    if pixel is not None:
        _draw_ring(picture, pixel)
        _paste_closer(picture, original, pixel)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return View(camera, buffer.getvalue(), pixel is not None)


def _draw_ring(picture: Image.Image, pixel: tuple[float, float]) -> None:
    draw = ImageDraw.Draw(picture)
    for radius, width, colour in ((25, 7, (20, 24, 28)), (23, 3, RING)):
        box = (pixel[0] - radius, pixel[1] - radius, pixel[0] + radius, pixel[1] + radius)
        draw.ellipse(box, outline=colour, width=width)


def _paste_closer(picture: Image.Image, original: Image.Image, pixel: tuple[float, float]) -> None:
    """A magnified cut about the thing, in the upper corner away from it: from the air most things are a few pixels."""
    scale = original.width / picture.width
    half_width, half_height = CUT[0] * original.width / 2, CUT[1] * original.height / 2
    x = min(max(pixel[0] * scale, half_width), original.width - half_width)
    y = min(max(pixel[1] * scale, half_height), original.height - half_height)
    size = (round(picture.width * 0.32), round(picture.height * 0.32))
    box = (x - half_width, y - half_height, x + half_width, y + half_height)
    closer = original.resize(size, Image.Resampling.BICUBIC, box=box)
    left = picture.width - size[0] - 8 if pixel[0] < picture.width / 2 else 8
    picture.paste(closer, (left, 8))
    ImageDraw.Draw(picture).rectangle((left - 1, 7, left + size[0], 8 + size[1]), outline=RING, width=2)


def _pixel(
    flown: Flown, thing: VictimResult | ClueResult, report: ReportResult, camera: str, width: int, height: int
) -> tuple[float, float] | None:
    """Where a thing's place falls in a picture (px), None outside of it. What stands in between is not looked at."""
    stamp = _stamp(flown, report)
    rows = flown.record.rows(report.vehicle, names.ODOMETRY, stamp - NANO, stamp + NANO)
    if not rows:
        return None
    row = min(rows, key=lambda r: abs(r.stamp - stamp))
    offset = np.array(flown.truth.vehicles[report.vehicle].odom_in_map)
    quaternion = np.array(row[4:8])
    if float(np.linalg.norm(quaternion)) < 1e-6:
        return None
    vehicle = load_vehicle()
    optical = Pose(np.array(row[1:4]) + offset, quaternion).compose(vehicle.cameras[camera].pose)
    model = CameraModel.from_horizontal_fov(width, height, float(np.radians(vehicle.image.fov_deg)))
    pixel, inside = model.project(optical.inverse().apply(np.array(thing.position)))
    return (float(pixel[0]), float(pixel[1])) if bool(inside) else None
