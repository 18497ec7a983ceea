"""The detector's finds in photographs, placed on the ground. Pictures are looked at in slices of its own size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import CHI_SQUARE_95, Find, Position, mark_of
from esar_ros.incident.ground import Ground
from esar_ros.incident.looks import Look
from esar_ros.incident.placing import Withheld, place
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.clues import PERSON
from esar_ros.perception.detectors.backend import Detection2D, DetectorBackend
from esar_ros.perception.fusion.evidence import Calibrated, Reliability
from esar_ros.perception.size_prior import doubted, side_of

SLICE = (640, 480)  # px, of the pictures that the detector was measured on
OVERLAP = 96  # px between slices, more than a person is long in them


@dataclass(frozen=True)
class Spotted:
    """A detection in a whole picture."""

    kind: str
    probability: float
    box: tuple[int, int, int, int]  # x, y of the upper left corner, width, height, px

    @property
    def middle(self) -> tuple[float, float]:
        """The pixel that is placed."""
        x, y, width, height = self.box
        return x + width / 2.0, y + height / 2.0


def finds(
    look: Look, detector: DetectorBackend, ground: Ground, intake: Intake, home: Position | None = None
) -> list[Find]:
    """Returns the finds in a look's picture; of those whose coordinate is withheld the intake is told.

    home: where the drone took off, against which its height is checked. A find whose height could not be checked, or
    whose look is in doubt, says so in its note.
    """
    picture = _pixels(look, intake)
    if picture is None:
        return []
    found = []
    mark = mark_of(look.latitude, look.longitude, look.time)  # cards begin anew to count their pictures
    for number, spotted in enumerate(spot(picture, detector), start=1):
        placed = place(look, spotted.middle, ground, home)
        if isinstance(placed, Withheld):
            intake.fault(look.source, f"{spotted.kind} in it: {placed.why}", "its coordinate is withheld: look at it")
            continue
        probability, doubts = spotted.probability, placed.doubts
        if spotted.kind == PERSON and look.model is not None:
            side = side_of(spotted.box, placed.distance, look.model)
            probability = doubted(probability, side)
            if probability < 0.5 * spotted.probability:
                doubts = (*doubts, f"{side:.1f} m large there: hardly a person")
        found.append(
            Find(
                id=f"{look.source}:{number}-{mark}",
                kind=spotted.kind,
                position=placed.position,
                covariance=placed.covariance,
                altitude_sigma=placed.altitude_sigma,
                probability=probability,
                time=look.time,
                picture=look.picture,
                source=look.source,
                note="; ".join(doubts),
            )
        )
    return found


def merge(told: Sequence[Find]) -> list[Find]:
    """Returns finds of several pictures, those of one thing once: the surest, and in how many pictures it is.

    They are of one thing where they are of one kind and lie no farther apart than both errors allow (95 %); never those
    of one picture. Errors of one flight's pictures have much in common, so that many make none smaller.
    """
    kept: list[tuple[Find, set[str]]] = []
    for find in sorted(told, key=lambda each: -(each.probability or 0.0)):
        for other, pictures in kept:
            if find.kind == other.kind and _picture(find) not in pictures and _may_be_one(find, other):
                pictures.add(_picture(find))
                break
        else:
            kept.append((find, {_picture(find)}))
    return [
        find
        if len(pictures) == 1
        else replace(find, note="; ".join(filter(None, (find.note, f"in {len(pictures)} pictures"))))
        for find, pictures in kept
    ]


def _picture(find: Find) -> str:
    """Returns what tells the picture of a find from every other."""
    return f"{find.source} {find.id.rpartition('-')[2]}"


def _may_be_one(a: Find, b: Find) -> bool:
    if a.covariance is None or b.covariance is None:
        return False
    frame = Origin(a.position.latitude, a.position.longitude, 0.0)
    away = frame.to_enu(b.position.latitude, b.position.longitude, 0.0)[:2]
    return bool(away @ np.linalg.inv(a.covariance + b.covariance) @ away <= CHI_SQUARE_95)


def spot(picture: NDArray[np.uint8], detector: DetectorBackend) -> list[Spotted]:
    """Returns what the detector finds in a picture (H, W, 3) RGB, surest first; what two slices show counts once.

    What one slice shows are several things, however near to each other: the detector has told them apart.
    """
    reliability = Reliability(detector.reliability if isinstance(detector, Calibrated) else None)
    told = [
        (number, Spotted(each.kind, reliability.probability(each.kind, each.score), _moved(each, left, top)))
        for number, (left, top, slice_) in enumerate(_slices(picture))
        for each in detector.detect([_frame(slice_)])[0]
    ]
    kept: list[tuple[set[int], Spotted]] = []  # with the slices that show it
    for number, each in sorted(told, key=lambda one: -one[1].probability):
        same = [shown for shown, other in kept if each.kind == other.kind and _overlap(each, other)]
        if (owner := next((shown for shown in same if number not in shown), None)) is not None:
            owner.add(number)
        else:
            kept.append(({number}, each))
    return [spotted for _, spotted in kept]


def _pixels(look: Look, intake: Intake) -> NDArray[np.uint8] | None:
    """Returns the picture (H, W, 3) RGB as the sensor has it; None, and a line why, where it cannot be read."""
    if look.picture is None or look.model is None:
        return None
    try:
        with Image.open(look.picture) as file:
            image = np.asarray(file.convert("RGB"), dtype=np.uint8)
    except (OSError, ValueError, Image.DecompressionBombError):  # of one that is cut, too
        intake.fault(look.source, "its picture cannot be read to its end", "copy it again from the card")
        return None
    if image.shape[:2] != (look.model.height, look.model.width):
        intake.fault(look.source, "its picture is not as large as it says", "copy it again from the card")
        return None
    return image


def _slices(picture: NDArray[np.uint8]) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yields left and top edge, and pixels, of slices that cover a picture evenly."""
    height, width = picture.shape[:2]
    for top in _starts(height, SLICE[1]):
        for left in _starts(width, SLICE[0]):
            yield left, top, np.ascontiguousarray(picture[top : top + SLICE[1], left : left + SLICE[0]])


def _starts(length: int, side: int) -> list[int]:
    """Returns where slices of a side begin, so that they overlap and the last ends at the edge."""
    if length <= side:
        return [0]
    count = -(-(length - OVERLAP) // (side - OVERLAP))
    return [round(k * (length - side) / (count - 1)) for k in range(count)]


def _frame(picture: NDArray[np.uint8]) -> CameraFrame:
    """Returns a picture as detectors take it; its depth is not known."""
    height, width = picture.shape[:2]
    model = CameraModel.from_horizontal_fov(width, height, 1.0)
    return CameraFrame("photograph", model, Pose(), np.full((height, width), np.nan, np.float32), picture)


def _moved(detection: Detection2D, left: int, top: int) -> tuple[int, int, int, int]:
    x, y, width, height = detection.box
    return x + left, y + top, width, height


def _overlap(a: Spotted, b: Spotted) -> bool:
    """Returns whether the middle of either box lies in the other."""
    return any(
        one.box[0] <= x <= one.box[0] + one.box[2] and one.box[1] <= y <= one.box[1] + one.box[3]
        for one, (x, y) in ((a, b.middle), (b, a.middle))
    )
