"""Average precision against cases worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import KINDS
from esar_ros.training.calibrate import detection_probability, min_score, of_second_stage, reliability, thresholds
from esar_ros.training.evaluate import (
    Found,
    LabelledImage,
    area_under,
    average_precision,
    false_per_image,
    in_range,
    judge,
    of_size,
    overlaps,
    table,
)
from esar_ros.training.labels import Label


def label(kind: str = "person", box: Any = (100, 100, 10, 20), pixels: int = 100, away: float = 20.0) -> Any:
    return Label(kind, f"{kind}/any", False, box, pixels, away, 50.0, 2.0)


def image(labels: Any = (), found: Any = (), weather: str = "clear", light: str = "day") -> Any:
    return LabelledImage("aotai", weather, light, tuple(labels), tuple(found))


def test_the_area_under_five_detections_of_four_objects() -> None:
    # Right, wrong, right, wrong, right: precision 1, 1/2, 2/3, 1/2, 3/5; made to fall: 1, 2/3, 2/3, 3/5, 3/5.
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    right = np.array([True, False, True, False, True])
    assert area_under(scores, right, 4) == pytest.approx((1.0 + 2 / 3 + 3 / 5) / 4)


def test_overlap_of_a_shifted_box() -> None:
    assert overlaps((0, 0, 4, 2), np.array([[2.0, 0.0, 4.0, 2.0], [10.0, 0.0, 4.0, 2.0]])) == pytest.approx(
        [1 / 3, 0.0]
    )


def test_a_label_is_found_once_and_by_its_own_class() -> None:
    seen = image([label()], [Found("person", 0.9, (100, 100, 10, 20)), Found("person", 0.8, (101, 100, 10, 20)),
                               Found("tent", 0.7, (100, 100, 10, 20))])  # fmt: skip
    assert [v.label is not None for v in judge([seen])] == [True, False, False]
    ap, count = average_precision([seen], judge([seen]), "person")
    assert (ap, count) == (1.0, 1)
    assert np.isnan(average_precision([seen], judge([seen]), "tent")[0])


def test_what_is_too_small_to_count_is_neither_wanted_nor_wrong() -> None:
    seen = image([label(pixels=3, box=(50, 50, 2, 2))], [Found("person", 0.9, (49, 49, 4, 4))])
    (verdict,) = judge([seen])
    assert verdict.ignored
    assert average_precision([seen], [verdict], "person")[1] == 0
    assert false_per_image([seen], dict.fromkeys(KINDS, 0.1))["all"] == 0.0


def test_bands_take_their_own_labels_and_false_detections() -> None:
    near, far = label(), label(box=(400, 100, 4, 8), pixels=30, away=50.0)
    found = [Found("person", 0.9, (100, 100, 10, 20)), Found("person", 0.8, (420, 100, 4, 8))]  # beside the far one
    seen = image([near, far], found)
    verdicts = judge([seen])
    assert average_precision([seen], verdicts, "person", *in_range(0.0, 30.0)) == (1.0, 1)
    assert average_precision([seen], verdicts, "person", *in_range(30.0, 60.0)) == (0.0, 1)
    assert average_precision([seen], verdicts, "person", *of_size(64, 256)) == (1.0, 1)


def test_pointing_forgives_a_box_of_the_wrong_size() -> None:
    seen = image([label(box=(100, 100, 3, 7))], [Found("person", 0.9, (98, 98, 8, 12))])
    assert judge([seen])[0].label is None
    assert judge([seen], pointing=True)[0].label is not None


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), max_size=30), st.integers(1, 40))
def test_precision_lies_within_its_bounds(rows: Any, more: Any) -> None:
    scores, right = np.array([s for s, _ in rows]), np.array([r for _, r in rows], dtype=bool)
    wanted = int(right.sum()) + more
    assert 0.0 <= area_under(scores, right, wanted) <= right.sum() / wanted + 1e-9


def test_a_table_has_every_class_and_no_number_where_there_is_no_label() -> None:
    rows = table([image([label()], [Found("person", 0.9, (100, 100, 10, 20))])])
    assert rows["all"]["ap"]["person"] == 1.0
    assert rows["all"]["ap"]["tent"] is None
    assert rows["all"]["mean"] == 1.0
    assert set(rows["0-30 m"]["ap"]) == set(KINDS)


def _population(count: int = 400) -> Any:
    """Pictures whose detections are right as often as their score says."""
    rng = np.random.default_rng(5)
    images = []
    for _ in range(count):
        score = float(rng.random())
        box = (100, 100, 10, 20) if rng.random() < score else (400, 300, 10, 20)
        images.append(image([label(away=float(rng.uniform(1.0, 119.0)))], [Found("person", score, box)]))
    return images


def test_reliability_of_honest_scores_is_the_score() -> None:
    curve = reliability(_population())["person"]
    assert list(curve["probability"]) == sorted(curve["probability"])
    assert list(curve["score"]) == sorted(set(curve["score"]))
    assert np.abs(np.array(curve["probability"]) - np.array(curve["score"])).max() < 0.15


def test_a_threshold_keeps_the_precision_that_was_asked_for() -> None:
    images = _population()
    least = thresholds(images, precision=0.8)["person"]
    kept = [v for v in judge(images, pointing=True) if v.score >= least]
    assert np.mean([v.label is not None for v in kept]) >= 0.8
    assert 0.4 < least < 0.75
    assert thresholds(images, precision=0.8)["tent"] == 0.75  # never seen: cautious


def test_alarms_on_empty_ground_raise_a_threshold() -> None:
    images, box = _population(), (50, 50, 9, 9)
    before = thresholds(images)
    empty = [image(found=[Found("person", score, box), Found("tent", 0.4, box)]) for score in (0.92, 0.95, 0.9)]
    after = thresholds(images, empty)
    assert after["person"] == pytest.approx(0.951), "above the surest of too few pictures for one false alarm"
    assert after["tent"] == before["tent"] == 0.75, "it was above them already"
    many = empty + [image()] * 397
    assert thresholds(images, many)["person"] == pytest.approx(0.901), "five in a thousand are allowed"


def test_an_unsure_person_is_told_from_the_score_at_which_its_curve_reaches_a_quarter() -> None:
    curve = {"score": [0.2, 0.4, 0.6], "probability": [0.0, 0.1, 0.7]}
    assert min_score(curve) == pytest.approx(0.45)
    assert min_score(curve, 0.0) == 0.2
    assert min_score({"score": [0.02, 0.9], "probability": [0.3, 0.9]}) == 0.1, "not below the lowest"
    assert min_score({"score": [0.9], "probability": [0.1]}) == 0.75, "nor above the highest"


def test_a_second_stage_tells_unsure_people_and_counts_alarms_in_its_curves() -> None:
    images = _population()
    empty = [image(found=[Found("person", score, (50, 50, 9, 9))]) for score in (0.92, 0.95, 0.9)]
    limits, curves = of_second_stage(images, empty)
    assert limits["person"] == min_score(curves["person"]) < thresholds(images, empty)["person"]
    assert limits["tent"] == 0.75
    assert curves["person"]["probability"][-1] < reliability(images)["person"]["probability"][-1]


def test_detection_probability_finds_the_range_at_which_a_detector_fades() -> None:
    rng = np.random.default_rng(6)
    images = []
    for _ in range(1500):
        away = float(rng.uniform(1.0, 119.0))
        hit = rng.random() < 0.9 / (1.0 + np.exp((away - 45.0) / 6.0))
        found = [Found("person", 0.9, (100, 100, 10, 20))] if hit else []
        images.append(image([label(away=away)], found))
    fit = detection_probability(images, dict.fromkeys(KINDS, 0.5))["fit"]["person"]
    assert fit["best"] == pytest.approx(0.9, abs=0.06)
    assert fit["half"] == pytest.approx(45.0, abs=4.0)
