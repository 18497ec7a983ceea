"""The detector as a whole: broken detections are counted, crops are kept, scores are calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.perception.crops import SIDE, Crops
from esar_ros.perception.detector import ClueDetector
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.perception.fusion.evidence import Curve
from esar_ros.perception.settings import load_detector_settings


class Scripted:
    """A backend that returns given detections."""

    name, eligible = "scripted", True
    prompts: Mapping[str, str] = {}

    def __init__(self, *found: Detection2D) -> None:
        self.found = list(found)

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        """Nothing to set."""

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        """The same in every frame."""
        return [list(self.found) for _ in frames]


class Modest(Scripted):
    """One that knows its scores to be right a third of the time."""

    share = 1.0 / 3.0

    @property
    def reliability(self) -> Mapping[str, Curve]:
        """Flat."""
        return {"default": [(0.0, self.share), (1.0, self.share)]}


OF_PIXELS = "box that is not four whole numbers of pixels"
GOOD = Detection2D("tent", 0.9, (310, 230, 20, 20), "tent")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (replace(GOOD, box=(310, 230, 0, 20)), "empty box"),
        (replace(GOOD, box=(310, 230, 20, -4)), "empty box"),
        (replace(GOOD, box=(900, 230, 20, 20)), "box outside the picture"),
        (replace(GOOD, score=float("nan")), "no score"),
        (replace(GOOD, score=None), "no score"),  # type: ignore[arg-type]
        (replace(GOOD, score=1.5), "score beside 0 to 1"),
        (replace(GOOD, score=93.0), "score beside 0 to 1"),
        (replace(GOOD, kind="ufo"), "unknown kind"),
        (replace(GOOD, kind="Tent"), "unknown kind, did you mean tent?"),
        (replace(GOOD, box=(310.5, 230.0, 20.2, 20.0)), OF_PIXELS),  # type: ignore[arg-type]
        (replace(GOOD, box=(float("nan"), 230, 20, 20)), OF_PIXELS),  # type: ignore[arg-type]
        (replace(GOOD, box=(310, 230, 20)), OF_PIXELS),  # type: ignore[arg-type]
        (replace(GOOD, mask=np.ones((3, 3), bool)), "mask of another size"),
    ],
)
def test_a_broken_detection_is_counted_and_the_good_one_used(down_frame: CameraFrame, bad: Any, reason: Any) -> None:
    detector = ClueDetector(Scripted(bad, GOOD))
    result = detector.process([down_frame])
    assert result.cameras == (down_frame.camera,) and detector.idle().cameras == ()
    assert [clue.kind for clue in result.clues] == ["tent"]
    assert dict(detector.left_out) == {reason: 1}


def test_whole_numbers_of_numpy_are_whole(down_frame: CameraFrame) -> None:
    box: Any = tuple(np.array(GOOD.box))
    one = replace(GOOD, box=box, score=np.float32(0.9))  # type: ignore[arg-type]
    assert len(ClueDetector(Scripted(one)).process([down_frame]).sightings) == 1


def test_a_frame_without_a_pose_is_counted(down_frame: CameraFrame) -> None:
    detector = ClueDetector(Scripted(GOOD))
    lost = replace(down_frame, pose=Pose(np.full(3, np.nan), down_frame.pose.quaternion))
    assert detector.process([lost]).clues == ()
    assert dict(detector.left_out) == {"no pose": 1}


@pytest.mark.parametrize("depth", [np.nan, np.inf, 0.0])
def test_no_depth_is_a_ray_and_no_object(down_frame: CameraFrame, depth: Any) -> None:
    down_frame.depth[:] = depth
    result = ClueDetector(Scripted(GOOD)).process([down_frame])
    assert len(result.sightings) == 1 and result.clues == () and result.owners == {}


def test_scores_go_through_the_backends_reliability(down_frame: CameraFrame) -> None:
    """Odds of 1 to 2 where every second detection was right are odds of 1 to 2 times those of the prior in flight."""
    settings = load_detector_settings()
    prior = settings.fusion.evidence.prior
    (clue,) = ClueDetector(Modest(GOOD), settings).process([down_frame]).clues
    odds = 0.5 * prior / (1.0 - prior)
    assert clue.probability == pytest.approx(odds / (1.0 + odds))


def test_reliability_is_that_of_the_words_now_looked_for(down_frame: CameraFrame) -> None:
    """A change in flight holds from the next image on."""
    backend, sure = Modest(GOOD), Modest(GOOD)
    detector, other = ClueDetector(backend), ClueDetector(sure)
    nearer = Pose(down_frame.pose.position - [0.0, 0.0, 15.0], down_frame.pose.quaternion)
    again = replace(down_frame, pose=nearer, depth=down_frame.depth - 15.0, stamp=2.0)
    scores = []
    for one, looks, share in ((detector, backend, 0.9), (other, sure, 1.0 / 3.0)):
        one.process([down_frame])
        looks.share = share
        (clue,) = one.process([again]).clues
        scores.append(clue.probability)
    assert scores[0] > scores[1]


def test_the_best_picture_stays_when_two_objects_turn_out_to_be_one(down_frame: CameraFrame) -> None:
    down_frame.rgb[:] = np.random.default_rng(0).integers(0, 256, down_frame.rgb.shape, dtype=np.uint8)
    large = replace(GOOD, box=(280, 200, 80, 80))
    for first, second, best in ((large, GOOD, 1), (GOOD, large, 2)):
        crops = Crops()
        assert crops.offer(1, first, down_frame) and crops.offer(2, second, down_frame)
        wanted = crops.get(best)
        crops.merge({2: 1})
        assert crops.get(1) == wanted and crops.get(2) is None
        assert not crops.offer(1, GOOD, down_frame), "and later ones are held against it"


@pytest.mark.parametrize(("looks_for", "doubted"), [("tent", True), ("person", False)])
def test_only_what_is_looked_for_can_be_missed(down_frame: CameraFrame, looks_for: Any, doubted: Any) -> None:
    """Words taken off a detector in flight say nothing of what was found with them."""
    backend = Scripted(GOOD)
    backend.prompts = {looks_for: looks_for}
    detector = ClueDetector(backend)
    (first,) = detector.process([down_frame]).clues
    backend.found = []
    nearer = Pose(down_frame.pose.position - [0.0, 0.0, 2.0], down_frame.pose.quaternion)
    (after,) = detector.process([replace(down_frame, pose=nearer, stamp=2.0)]).clues
    assert (after.probability < first.probability) is doubted


def test_the_best_picture_is_kept_small(down_frame: CameraFrame) -> None:
    """Near replaces far; far does not replace near."""
    backend = Scripted(GOOD)
    detector = ClueDetector(backend)
    down_frame.rgb[220:260, 300:340] = (250, 120, 10)
    first = detector.process([down_frame])
    (identity,) = first.crops
    backend.found = [replace(GOOD, box=(240, 160, 160, 160))]
    near = replace(down_frame, stamp=2.0)
    larger = detector.process([near]).crops[identity]
    image = cv2.imdecode(np.frombuffer(larger, np.uint8), cv2.IMREAD_COLOR)
    assert max(image.shape[:2]) == SIDE and len(larger) < 8000
    backend.found = [GOOD]
    assert detector.process([replace(down_frame, stamp=3.0)]).crops == {}
    assert detector.crop(identity) == larger
    assert detector.crop(identity + 1) is None


def test_a_box_inside_a_surer_one_is_the_same_object(down_frame: CameraFrame) -> None:
    inner = Detection2D("tent", 0.4, (312, 232, 12, 12), "tent")
    person = Detection2D("person", 0.4, (312, 232, 12, 12), "person")
    result = ClueDetector(Scripted(GOOD, inner, person)).process([down_frame])
    assert sorted(clue.kind for clue in result.clues) == ["person", "tent"]
    assert set(result.owners.values()) == {clue.id for clue in result.clues}


def test_thermal_pictures_go_to_their_own_backend_and_its_reliability(down_frame: CameraFrame) -> None:
    person = replace(GOOD, kind="person", text="person")
    detector = ClueDetector(Modest(GOOD), thermal=Scripted(person))
    result = detector.process([down_frame, replace(down_frame, camera="thermal")])
    seen = {(s.camera, s.detection.kind) for s in result.sightings}
    assert seen == {(down_frame.camera, "tent"), ("thermal", "person")}
    sure = {clue.kind: clue.probability for clue in result.clues}
    assert sure["person"] > sure["tent"], "a score of 0.9 is a probability there, and a third here"
    assert detector.focal == down_frame.model.fx


def test_darkness_says_nothing_of_who_is_warm(down_frame: CameraFrame) -> None:
    person = replace(GOOD, kind="person", text="person")
    blind, warm = Scripted(), Scripted(person)
    blind.prompts = {"person": "person"}
    detector = ClueDetector(blind, thermal=warm)
    (first,) = detector.process([replace(down_frame, camera="thermal")]).clues
    lower = replace(down_frame.pose, position=down_frame.pose.position - np.array([0.0, 0.0, 1.0]))
    down_frame = replace(down_frame, pose=lower)
    (dark,) = detector.process([replace(down_frame, stamp=down_frame.stamp + 1.0)]).clues
    assert dark.probability == first.probability
    warm.found = []
    (cold,) = detector.process([replace(down_frame, camera="thermal", stamp=down_frame.stamp + 2.0)]).clues
    assert cold.probability < first.probability
