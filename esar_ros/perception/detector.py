"""The clue detector all methods share: backend, localisation and fusion over a four-camera frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from esar_ros.mission.observation import SeenClue
from esar_ros.perception.backend import CameraFrame, DetectorBackend, create
from esar_ros.perception.fusion import ClueFusion
from esar_ros.perception.localisation import Sighting, localise
from esar_ros.perception.settings import DetectorSettings, load_detector_settings

_SECONDS = 4_000_000  # ids of this many seconds fit the message's 32 bits


@dataclass(frozen=True)
class FrameResult:
    """What one frame showed, and everything known after it."""

    sightings: tuple[Sighting, ...]
    clues: tuple[SeenClue, ...]


class ClueDetector:
    """Pictures in, objects with positions out."""

    def __init__(self, backend: DetectorBackend, settings: DetectorSettings | None = None) -> None:
        self.backend = backend
        self._settings = settings or load_detector_settings()
        self._fusion: ClueFusion | None = None  # from the first frame on

    def process(self, frames: Sequence[CameraFrame]) -> FrameResult:
        """Detect in every picture, place what was detected, and fuse it with what is known."""
        if self._fusion is None:
            self._fusion = ClueFusion(self._settings.fusion, first_id(frames[0].stamp) if frames else 1)
        detections = self.backend.detect(frames)
        sightings = tuple(
            localise(detection, frame, self._settings.localisation)
            for frame, found in zip(frames, detections, strict=True)
            for detection in found
        )
        return FrameResult(sightings, self._fusion.update(sightings))

    def idle(self) -> FrameResult:
        """What is known, when no frame came."""
        return FrameResult((), self._fusion.clues() if self._fusion is not None else ())


def first_id(stamp: float) -> int:
    """First id of a detector whose first frame has this stamp (s).

    One that is started again in flight thereby gives none that an earlier one gave: no thousand objects a second.
    """
    return 1 + 1000 * (int(stamp) % _SECONDS)


def create_detector(backend: str = "", settings: DetectorSettings | None = None) -> ClueDetector:
    """Detector by backend name (empty: the configured one). Raises UsageError."""
    settings = settings or load_detector_settings()
    name = backend or settings.backend
    return ClueDetector(create(name, settings.backends.get(name)), settings)
