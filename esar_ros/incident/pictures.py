"""Pictures of finds: the image in which the detector saw each largest, with a frame around it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import read_images, vehicle_messages
from esar_ros.incident.features import Find
from esar_ros.mission import names
from esar_ros.mission.same_object import nearest_of_kind
from esar_ros.mission.stamps import NANO, nanoseconds
from esar_ros.mission.system.incident_files import file_stem
from esar_ros.scoring.record.rows import ReportRow
from esar_ros.scoring.result import write_atomically

FRAME = (255, 214, 51)
QUALITY = 85  # of JPEG
_DETECTIONS = "esar_ros/msg/Detections"
_SLACK = NANO // 100  # ns between a detection and its image
_MARGIN = 6  # px between the object and its frame


class _Seen(NamedTuple):
    topic: str  # of the image
    stamp: int  # ns
    box: tuple[int, int, int, int]  # px: left, top, right, bottom


def save_pictures(
    bag: Path, finds: Sequence[Find], reports: Mapping[str, tuple[str, ReportRow]], folder: Path
) -> list[Find]:
    """Returns the finds, those with a picture that was written into a folder; reports: vehicle and row by a find's id.

    Raises UsageError.
    """
    best = _largest(bag, reports)
    wanted: dict[str, list[int]] = {}
    for seen in best.values():
        wanted.setdefault(seen.topic, []).append(seen.stamp)
    images = read_images(bag, wanted, _SLACK) if wanted else {}
    out = []
    for find in finds:
        shown = best.get(find.id)
        jpeg = None if shown is None else images.get((shown.topic, shown.stamp))
        framed = None if shown is None or jpeg is None else _framed(jpeg, shown.box)
        if framed is not None:
            path = folder / f"{file_stem(find.id)}.jpg"
            write_atomically(path, framed)
            find = replace(find, picture=path)
        out.append(find)
    return out


def _largest(bag: Path, reports: Mapping[str, tuple[str, ReportRow]]) -> dict[str, _Seen]:
    """Returns by a find's id the detection of its kind and place that is largest in its image."""
    found: dict[str, _Seen] = {}
    sizes: dict[str, int] = {}
    with open_bag(bag) as opened:
        for vehicle, _, message in vehicle_messages(opened, (names.DETECTIONS,)):
            if message.__msgtype__ != _DETECTIONS:
                continue  # of a camera, or in space: their names end alike
            own = [(key, row) for key, (owner, row) in reports.items() if owner == vehicle]
            for one in message.detections:
                if not one.has_position:
                    continue
                place = one.position.x, one.position.y, one.position.z
                near = nearest_of_kind(one.kind, place, own, _kind_and_place)
                size = int(one.width) * int(one.height)
                if near is not None and size > sizes.get(near[0], 0):
                    x, y = int(one.x), int(one.y)
                    topic = f"{vehicle}/{names.camera_compressed(one.camera)}"
                    sizes[near[0]] = size
                    box = (x, y, x + int(one.width), y + int(one.height))
                    found[near[0]] = _Seen(topic, nanoseconds(message.header.stamp), box)
    return found


def _kind_and_place(pair: tuple[str, ReportRow]) -> tuple[str, tuple[float, float, float]]:
    row = pair[1]
    return row.kind, (row.x, row.y, row.z)


def _framed(jpeg: bytes, box: tuple[int, int, int, int]) -> bytes | None:
    """Returns an image with a frame around a box; None of what is no image."""
    try:
        image: Any = Image.open(io.BytesIO(jpeg)).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # whatever a damaged one raises
        return None
    left, top, right, bottom = box
    around = (left - _MARGIN, top - _MARGIN, right + _MARGIN, bottom + _MARGIN)
    ImageDraw.Draw(image).rectangle(around, outline=FRAME, width=2)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
