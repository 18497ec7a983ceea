"""The clue detector all methods share: backends, localisation and fusion over a frame of all cameras."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.clues import KINDS
from esar_ros.mission.errors import nearest
from esar_ros.mission.names import THERMAL
from esar_ros.mission.observation import SeenClue
from esar_ros.perception.crops import Crops
from esar_ros.perception.detectors.backend import Detection2D, DetectorBackend
from esar_ros.perception.detectors.chosen import create_chosen, create_thermal
from esar_ros.perception.detectors.model_card import MISSPELT
from esar_ros.perception.fusion.evidence import Calibrated, Reliability
from esar_ros.perception.fusion.fusion import ClueFusion
from esar_ros.perception.fusion.localisation import Sighting, localise
from esar_ros.perception.settings import DetectorSettings, load_detector_settings

_NUMBER, _WHOLE = (int, float, np.integer, np.floating), (int, np.integer)
_SECONDS = 4_000_000  # ids of this many seconds fit the message's 32 bits


@dataclass(frozen=True)
class FrameResult:
    """Result of one frame: its sightings, and all objects fused up to and including it."""

    sightings: tuple[Sighting, ...]
    clues: tuple[SeenClue, ...]
    owners: Mapping[int, int] = field(default_factory=dict)  # place in the sightings -> its object's id
    merged: Mapping[int, int] = field(default_factory=dict)  # id that is no more -> the object it was found to be
    crops: Mapping[int, bytes] = field(default_factory=dict)  # JPEG of each object first or better shown by this frame
    cameras: tuple[str, ...] = ()  # whose images were looked at


class ClueDetector:
    """Images in, objects with positions out."""

    def __init__(
        self,
        backend: DetectorBackend,
        settings: DetectorSettings | None = None,
        thermal: DetectorBackend | None = None,
    ) -> None:
        """thermal: what looks at a thermal camera's images; None: the same as at colours."""
        self.backend = backend
        self._thermal = thermal
        self._settings = settings or load_detector_settings()
        self._fusion: ClueFusion | None = None  # from the first frame on
        self._crops = Crops()
        self.left_out: Counter[str] = Counter()  # detections that could not be used, by reason
        self.focal = 0.0  # px, focal length of the newest image; 0 before the first

    def process(self, frames: Sequence[CameraFrame]) -> FrameResult:
        """Detect in every image, place what was detected, and fuse it with what is known."""
        together = self._thermal is None
        return self.take_in(frames, self.backend.detect(frames) if together else [self.look(frame) for frame in frames])

    def look(self, frame: CameraFrame) -> list[Detection2D]:
        """Returns what is detected in one image."""
        backend = self._thermal if frame.camera == THERMAL and self._thermal is not None else self.backend
        (found,) = backend.detect([frame])
        return found

    def take_in(self, frames: Sequence[CameraFrame], detections: Sequence[Sequence[Detection2D]]) -> FrameResult:
        """Place what was detected in each of the frames that were looked at, and fuse it with what is known."""
        if self._fusion is None:
            self._fusion = ClueFusion(self._settings.fusion, first_id(frames[0].stamp) if frames else 1)
        backend = self.backend  # what its scores are worth changes with its words
        self._fusion.reliability = _reliability(backend)
        self._fusion.thermal_reliability = _reliability(self._thermal or backend)
        in_colour = [frame for frame in frames if frame.camera != THERMAL]
        self.focal = in_colour[-1].model.fx if in_colour else self.focal
        seen: list[tuple[CameraFrame, Sighting]] = []
        for frame, found in zip(frames, detections, strict=True):
            for detection in found:
                if reason := unusable(detection, frame):
                    self.left_out[reason] += 1
                else:
                    seen.append((frame, localise(detection, frame, self._settings.localisation)))
        sightings = tuple(sighting for _, sighting in seen)
        clues = self._fusion.update(sightings, frames, set(self.backend.prompts.values()))
        fusion = self._fusion
        return FrameResult(
            sightings,
            clues,
            dict(fusion.owners),
            dict(fusion.merged),
            self._best_shown(seen, fusion),
            tuple(frame.camera for frame in frames),
        )

    def _best_shown(self, seen: Sequence[tuple[CameraFrame, Sighting]], fusion: ClueFusion) -> dict[int, bytes]:
        self._crops.merge(fusion.merged)
        better = [
            owner
            for place, owner in sorted(fusion.owners.items())
            if self._crops.offer(owner, seen[place][1].detection, seen[place][0])
        ]
        return {owner: jpeg for owner in better if (jpeg := self._crops.get(owner)) is not None}

    def crop(self, identity: int) -> bytes | None:
        """The best image of an object so far, a small JPEG."""
        return self._crops.get(identity)

    def idle(self) -> FrameResult:
        """Returns the objects fused up to the last frame, when no new frame came."""
        return FrameResult((), self._fusion.clues() if self._fusion is not None else ())


def _reliability(backend: DetectorBackend) -> Reliability:
    return Reliability(backend.reliability if isinstance(backend, Calibrated) else None)


def unusable(detection: Detection2D, frame: CameraFrame) -> str:
    """Returns why a detection cannot be localised; empty when it can. A broken detector must not end a flight."""
    if not np.isfinite([*frame.pose.position, *frame.pose.quaternion]).all():
        return "no pose"
    if not (isinstance(detection.score, _NUMBER) and np.isfinite(detection.score)):
        return "no score"
    if not 0.0 <= detection.score <= 1.0:
        return "score beside 0 to 1"
    if detection.kind not in KINDS:
        meant = nearest(str(detection.kind), KINDS, MISSPELT)
        return f"unknown kind, did you mean {meant}?" if meant else "unknown kind"
    box: object = detection.box
    if (
        not isinstance(box, (tuple, list, np.ndarray))
        or len(box) != 4
        or not all(isinstance(side, _WHOLE) for side in box)
    ):
        return "box that is not four whole numbers of pixels"
    x, y, width, height = detection.box
    if width <= 0 or height <= 0:
        return "empty box"
    if x >= frame.model.width or y >= frame.model.height or x + width <= 0 or y + height <= 0:
        return "box outside the picture"
    if detection.mask is not None and detection.mask.shape != (height, width):
        return "mask of another size"
    return ""


def first_id(stamp: float) -> int:
    """First id of a detector whose first frame has this stamp (s).

    One that is started again in flight thereby gives none that an earlier one gave: no thousand objects a second.
    """
    return 1 + 1000 * (int(stamp) % _SECONDS)


def create_detector(backend: str, settings: DetectorSettings | None = None) -> ClueDetector:
    """Detector by backend, NAME or NAME:FILE. Raises UsageError."""
    settings = settings or load_detector_settings()
    return ClueDetector(create_chosen(backend, settings), settings, create_thermal(backend, settings))
