"""Fusion of sightings into objects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import THERMAL
from esar_ros.perception.detector import first_id
from esar_ros.perception.fusion.fusion import ClueFusion
from esar_ros.perception.fusion.localisation import Sighting
from esar_ros.perception.settings import EvidenceSettings, FusionSettings, PoseSigmas

SHARED = FusionSettings().surface_sigma ** 2
POSE = PoseSigmas().covariance
EVEN = FusionSettings(evidence=EvidenceSettings(prior=0.5))  # as many objects told of are real as not


def test_first_sighting_opens_an_object(sighting: Callable[..., Sighting]) -> None:
    (clue,) = ClueFusion(EVEN).update([sighting([1, 2, 3], stamp=5.0, text="red tent")])
    assert (clue.id, clue.kind, clue.text, clue.views) == (1, "tent", "red tent", 1)
    assert clue.first_seen == clue.last_seen == 5.0
    np.testing.assert_array_equal(clue.position, [1, 2, 3])
    np.testing.assert_allclose(clue.covariance, np.eye(3) * (0.25 + SHARED))
    assert clue.probability == pytest.approx(0.6), "without a reliability curve a score is the probability"


def test_second_sighting_updates_it(sighting: Callable[..., Sighting]) -> None:
    fusion = ClueFusion(EVEN)
    fusion.update([sighting([0, 0, 0], stamp=1.0, view_range=60.0, text="thing")])
    (clue,) = fusion.update([sighting([1, 0, 0], stamp=2.0, view_range=20.0, text="blue tent")])
    np.testing.assert_allclose(clue.position, [0.5, 0, 0])
    np.testing.assert_allclose(clue.covariance, np.eye(3) * (0.125 + SHARED))
    assert (clue.views, clue.nearest_view, clue.first_seen, clue.last_seen) == (2, 20.0, 1.0, 2.0)
    assert clue.text == "blue tent"
    odds = (0.6 / 0.4) ** 1.5  # a look from a third of the range counts half
    assert clue.probability == pytest.approx(odds / (1.0 + odds))


def test_two_cameras_of_one_stamp_are_one_view(sighting: Callable[..., Sighting]) -> None:
    (clue,) = ClueFusion().update([sighting([0, 0, 0], camera="front"), sighting([0.2, 0, 0], camera="down")])
    assert clue.views == 1
    np.testing.assert_allclose(clue.position, [0.1, 0, 0])


def test_kinds_are_kept_apart_unless_confusable(sighting: Callable[..., Sighting]) -> None:
    frames = [[sighting([0, 0, 0], 1.0, kind="tent")], [sighting([0, 0, 0], 2.0, kind="backpack", score=0.9)]]
    apart, together = ClueFusion(), ClueFusion(FusionSettings(confusable=(("tent", "backpack"),)))
    for frame in frames:
        separate, joint = apart.update(frame), together.update(frame)
    assert [clue.kind for clue in separate] == ["tent", "backpack"]
    assert [clue.kind for clue in joint] == ["backpack"], "the kind with more evidence"


@pytest.mark.parametrize("groups", [(("tent", "ufo"),), (("tent", "rope"), ("rope", "light")), (("tent", "tent"),)])
def test_bad_groups_are_refused(groups: Any) -> None:
    with pytest.raises(UsageError, match="confusable"):
        ClueFusion(FusionSettings(confusable=groups))


def test_one_picture_shows_an_object_once(sighting: Callable[..., Sighting]) -> None:
    """Two bottles side by side stay two, however often they are seen."""
    fusion = ClueFusion()
    for stamp in range(10):
        clues = fusion.update([sighting([0, 0, 0], stamp), sighting([0.8, 0, 0], stamp)])
    assert len(clues) == 2
    assert [(clue.views, clue.last_seen) for clue in clues] == [(1, 9.0), (1, 9.0)]
    np.testing.assert_allclose([clue.position[0] for clue in clues], [0.0, 0.8], atol=1e-9)


def test_two_people_seen_in_colour_and_warmth_are_two(sighting: Callable[..., Sighting]) -> None:
    """Side by side in both cameras' pictures: neither one for each camera nor one for both people."""
    fusion = ClueFusion()
    for stamp in range(6):
        clues = fusion.update([
            sighting([east, north, 0], float(stamp), kind="person", camera=camera, sigma=0.3)
            for camera, north in (("down", 0.0), (THERMAL, 0.25)) for east in (0.0, 0.9)
        ])  # fmt: skip
    assert [clue.kind for clue in clues] == ["person", "person"]
    np.testing.assert_allclose([clue.position[0] for clue in clues], [0.0, 0.9], atol=0.05)


def test_on_a_ground_of_warm_spots_each_is_a_person_less_likely(sighting: Callable[..., Sighting]) -> None:
    """Forty warm spots share the three people that are expected; one of them that is seen in colour too does not."""

    def told(spots: int, also: tuple[Sighting, ...] = ()) -> dict[int, float]:
        fusion = ClueFusion()
        warm = [sighting([20.0 * n, 0, 0], kind="person", camera=THERMAL, score=0.7) for n in range(spots)]
        fusion.update([sighting([0, 90, 0], kind="person", score=0.7), *warm])
        return {round(clue.position[0]): clue.probability for clue in fusion.update(also) if clue.position[1] < 50}

    few, many = told(3), told(40)
    assert set(few.values()) == {few[0]} and set(many.values()) == {many[0]}
    odds = [p / (1.0 - p) for p in (few[0], many[0], 0.13, 3.0 / 40)]
    assert odds[0] / odds[1] == pytest.approx(odds[2] / odds[3])
    coloured = sighting([20.0, 0, 0], 1.0, kind="person", score=0.7)
    mixed = told(40, (coloured,))
    assert mixed[20] == pytest.approx(told(3, (coloured,))[20]) and mixed[0] < mixed[20]


def test_assignment_is_the_best_overall(sighting: Callable[..., Sighting]) -> None:
    """Greedy nearest first would give the second object's track to the first."""
    fusion = ClueFusion(FusionSettings(surface_sigma=0.0))
    fusion.update([sighting([0, 0, 0], 0.0), sighting([1.0, 0, 0], 0.0)])
    clues = fusion.update([sighting([0.9, 0, 0], 1.0), sighting([1.9, 0, 0], 1.0)])
    assert len(clues) == 2
    np.testing.assert_allclose([clue.position[0] for clue in clues], [0.45, 1.45])


def test_duplicates_merge_into_the_elder(sighting: Callable[..., Sighting]) -> None:
    """Two uncertain first views land apart; later views draw both tracks together."""
    fusion = ClueFusion(FusionSettings(surface_sigma=0.2))
    fusion.update([sighting([0, 0, 0], 0.0, sigma=0.3, view_range=40.0)])
    assert len(fusion.update([sighting([1.9, 0, 0], 1.0, sigma=0.3, view_range=50.0)])) == 2
    for stamp in range(2, 8):
        clues = fusion.update([sighting([0.9, 0, 0], stamp, sigma=0.3)])
    assert [clue.id for clue in clues] == [1]
    assert clues[0].first_seen == 0.0 and clues[0].nearest_view == 30.0
    assert fusion.update([sighting([300, 0, 0], 9.0)])[-1].id == 3, "ids are never used again"


def test_two_sides_of_a_large_thing_are_views_of_one(sighting: Callable[..., Sighting]) -> None:
    """Its visible parts lie farther apart than each was measured to."""
    fusion = ClueFusion()
    for stamp, east in enumerate((0.0, 1.5)):
        clues = fusion.update([replace(sighting([east, 0.0, 0.0], float(stamp), sigma=0.1), extent=10.0)])
    assert [clue.id for clue in clues] == [1] and fusion.merged == {}
    np.testing.assert_allclose(clues[0].position, [0.75, 0.0, 0.0], atol=1e-9)


def test_a_position_that_drifts_away_takes_its_objects_along(sighting: Callable[..., Sighting]) -> None:
    """Odometry as wrong as 4 m, by and by: what is seen at another place each second is still one thing."""
    fusion, pose = ClueFusion(FusionSettings(surface_sigma=0.05)), np.diag([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    fusion.update([sighting([0.0, 0.0, 0.0], 0.0, sigma=0.05, pose=pose)])
    for second in range(11):
        east = 3.0 + 0.4 * second
        clues = fusion.update([sighting([east, 0.0, 0.0], 600.0 + second, sigma=0.05, pose=pose)])
    assert [clue.id for clue in clues] == [1]


def test_what_was_seen_beside_a_duplicate_stays_beside_its_elder(sighting: Callable[..., Sighting]) -> None:
    """Object 3 was seen in one image with 2, which turned out to be 1: it never becomes 1 itself."""
    fusion = ClueFusion(FusionSettings(surface_sigma=0.2))
    fusion.update([sighting([0.0, 0.0, 0.0], 0.0, sigma=0.3)])
    fusion.update([sighting([1.9, 0.0, 0.0], 1.0, sigma=0.3), sighting([1.9, 1.4, 0.0], 1.0, sigma=0.3)])
    for stamp in range(2, 8):
        clues = fusion.update([sighting([0.9, 0.0, 0.0], float(stamp), sigma=0.3)])
    assert [clue.id for clue in clues] == [1, 3]
    for stamp in range(8, 28):
        nearer = clues[1].position + 0.3 * (clues[0].position - clues[1].position)
        clues = fusion.update([sighting(nearer, float(stamp), sigma=0.3)])
    assert [clue.id for clue in clues] == [1, 3]
    apart = clues[1].position - clues[0].position
    spread = clues[0].covariance + clues[1].covariance
    assert apart @ np.linalg.solve(spread, apart) < FusionSettings().merge_gate, "near enough to be taken for one"


def test_seen_again_after_ten_minutes_keeps_its_id(sighting: Callable[..., Sighting]) -> None:
    fusion = ClueFusion()
    for stamp in range(30):
        fusion.update([sighting([10, 20, 5], float(stamp))])
    (clue,) = fusion.update([sighting([10.9, 19.4, 5.3], 630.0)])
    assert clue.id == 1 and clue.last_seen == 630.0


def test_answers_are_copies(sighting: Callable[..., Sighting]) -> None:
    fusion = ClueFusion()
    (clue,) = fusion.update([sighting([0, 0, 0])])
    clue.position[:] = 99.0
    np.testing.assert_array_equal(fusion.clues()[0].position, [0, 0, 0])


_PLACES = st.lists(
    st.tuples(
        st.sampled_from(["tent", "person", "rope"]),
        st.sampled_from(["front", "left", "right", "down"]),
        st.tuples(*[st.integers(-8, 8)] * 3),
        st.integers(1, 9),
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames=st.lists(_PLACES, max_size=5), seed=st.integers(0, 100))
def test_order_of_sightings_does_not_matter(sighting: Callable[..., Sighting], frames: Any, seed: int) -> None:
    def run(shuffle: bool) -> list[tuple[Any, ...]]:
        rng, fusion = np.random.default_rng(seed), ClueFusion()
        for stamp, frame in enumerate(frames):
            seen = [
                replace(
                    sighting(place, stamp, camera, kind, score=score / 10, view_range=float(score), pose=POSE),
                    noise=np.eye(3) * 0.3,
                )
                for kind, camera, place, score in frame
            ]
            fusion.update([seen[i] for i in rng.permutation(len(seen))] if shuffle else seen)
        return [
            (c.id, c.kind, c.probability, c.views, c.nearest_view, *c.position.tolist(), *c.covariance.ravel().tolist())
            for c in fusion.clues()
        ]

    straight = run(False)
    assert run(True) == straight
    ids = [clue[0] for clue in straight]
    assert ids == sorted(set(ids))
    assert all(0.0 < clue[2] <= 1.0 for clue in straight)


def test_normalised_error_is_consistent(sighting: Callable[..., Sighting]) -> None:
    """NEES of 100 objects, 20 views each, drifting camera frame: the stated covariance holds on average."""
    rng = np.random.default_rng(11)
    shared, runs, total = 0.5, 100, 0.0
    for _ in range(runs):
        fusion = ClueFusion(FusionSettings(surface_sigma=shared))
        truth = rng.uniform(-100, 100, 3)
        bias = rng.normal(0.0, shared, 3)
        for stamp in range(20):
            a = rng.normal(size=(3, 3)) * 0.5
            covariance = a @ a.T + 0.04 * np.eye(3)
            noise = rng.multivariate_normal(np.zeros(3), covariance)
            seen = replace(sighting(truth + bias + noise, float(stamp)), noise=covariance)
            clues = fusion.update([seen])
        # The gate drops one view in 370, which may open a second object.
        clue = max(clues, key=lambda c: c.last_seen - c.first_seen)
        error = clue.position - truth
        total += float(error @ np.linalg.solve(clue.covariance, error))
    assert chi2.ppf(0.0005, 3 * runs) < total < chi2.ppf(0.9995, 3 * runs)


def test_duplicates_per_object_over_a_flight(sighting: Callable[..., Sighting]) -> None:
    """A camp of twelve objects a few metres apart, flown by from 100 m to 10 m with a drifting position."""
    rng = np.random.default_rng(5)
    truth = np.array([[4.0 * (i % 4), 4.0 * (i // 4), 0.0] for i in range(12)])
    kinds = ["tent", "backpack", "person"]
    fusion, drift = ClueFusion(), np.zeros(3)
    for stamp in range(120):
        distance = 10.0 + 90.0 * abs(math.cos(stamp / 20.0))
        drift = 0.99 * drift + rng.normal(0.0, 0.05, 3)
        sigma = 0.1 + 0.006 * distance
        fusion.update(
            [
                sighting(
                    place + drift + rng.normal(0.0, sigma, 3), float(stamp), kind=kinds[i % 3], sigma=sigma,
                    camera=("front", "down")[stamp % 2], view_range=distance, pose=np.diag([0.35**2] * 3 + [0.0] * 3),
                )
                for i, place in enumerate(truth)
                if rng.uniform() < 0.8
            ]
        )  # fmt: skip
    tracks = [clue for clue in fusion.clues() if clue.last_seen > clue.first_seen]
    assert 12 <= len(tracks) <= 13
    for place, kind in zip(truth, kinds * 4, strict=True):
        nearest = min(np.linalg.norm(c.position - place) for c in tracks if c.kind == kind)
        assert nearest < 1.0


def test_a_detector_started_again_gives_no_id_twice() -> None:
    assert first_id(0.05) == 1
    assert first_id(14.05) == 14_001
    assert first_id(1.7e9) < 2**32


def test_what_pictures_do_not_show_again_is_doubted(sighting: Callable[..., Sighting], down_frame: CameraFrame) -> None:
    """A picture counts against an object only where it should have shown it: not hidden, and as near as it was seen."""
    place = [5.0, 7.0, 0.0]
    fusion, hidden = ClueFusion(), replace(down_frame, depth=np.full_like(down_frame.depth, 20.0))
    above, below = (
        replace(down_frame, pose=Pose(down_frame.pose.position + [0.0, 0.0, up], down_frame.pose.quaternion))
        for up in (5.0, -2.0)
    )
    seen = sighting(place, 1.0, camera="down", direction=(0.0, 0.0, -1.0), score=0.9)
    (first,) = fusion.update([seen], [down_frame])
    for frame in (hidden, above):
        (same,) = fusion.update([], [frame])
        assert same.probability == first.probability
    (again,) = fusion.update([], [below])
    assert again.probability < first.probability and again.views == 1 and again.last_seen == 1.0


def test_a_camera_that_shows_it_excuses_no_other(sighting: Callable[..., Sighting], down_frame: CameraFrame) -> None:
    """Seen by one camera and missed by another that should have shown it, an object is doubted."""
    place, probability = [5.0, 7.0, 0.0], []
    nearer = replace(down_frame, pose=Pose(down_frame.pose.position - [0.0, 0.0, 2.0], down_frame.pose.quaternion))
    for frames in ([], [nearer]):
        fusion = ClueFusion()
        for stamp in (1.0, 2.0):
            seen = sighting(place, stamp, camera="front", direction=(0.0, 0.0, -1.0), score=0.9)
            (clue,) = fusion.update([seen], frames if stamp == 2.0 else [])
        probability.append(clue.probability)
    assert probability[1] < probability[0]


def test_a_picture_in_which_a_kind_was_not_looked_for_doubts_none_of_it(
    sighting: Callable[..., Sighting], down_frame: CameraFrame
) -> None:
    seen = sighting([5.0, 7.0, 0.0], 1.0, camera="down", direction=(0.0, 0.0, -1.0), score=0.9)
    nearer = replace(down_frame, pose=Pose(down_frame.pose.position - [0.0, 0.0, 2.0], down_frame.pose.quaternion))
    fusion = ClueFusion()
    (first,) = fusion.update([seen], [down_frame])
    (unasked,) = fusion.update([], [nearer], kinds=("rope",))
    (asked,) = fusion.update([], [nearer], kinds=("tent",))
    assert asked.probability < unasked.probability == first.probability


@pytest.mark.parametrize("scores", [(0.6, 0.9), (0.9, 0.6)])
def test_of_two_boxes_around_one_object_the_surer_counts(sighting: Callable[..., Sighting], scores: Any) -> None:
    box = (10, 10, 40, 40)
    frame = [sighting([0.1 * n, 0.0, 0.0], score=score, box=box) for n, score in enumerate(scores)]
    (clue,) = ClueFusion(EVEN).update(frame)
    assert clue.probability == pytest.approx(0.9)


def test_a_picture_without_a_pose_doubts_nothing(sighting: Callable[..., Sighting], down_frame: CameraFrame) -> None:
    fusion = ClueFusion()
    (first,) = fusion.update([sighting([5.0, 7.0, 0.0], camera="down", direction=(0.0, 0.0, -1.0))])
    lost = replace(down_frame, pose=Pose(np.full(3, np.nan), down_frame.pose.quaternion))
    assert fusion.update([], [lost])[0].probability == first.probability
