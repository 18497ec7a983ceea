"""Hypotheses follow the words of a brief."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from esar_ros.planning.belief.brief.facts import Passage, StartFact
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.prior import PriorSettings, sample

HOME = np.array([100.0, 50.0])


def ends(text, person=None, seed=0):
    return sample(parse_brief(text), person, HOME, PriorSettings(), np.random.default_rng(seed)).ends


def share_near(points, place, radius):
    return float(np.mean(np.linalg.norm(points - np.array(place), axis=1) < radius))


def test_the_landmark_lies_back_from_the_start_and_the_person_beyond():
    points = ends("The drone starts 200 m east of the hut. He is 300 m north of the hut.")
    assert share_near(points, (-100.0, 350.0), 120.0) > 0.45
    assert share_near(points, (300.0, 350.0), 120.0) < 0.05, "not seen from the start"


def test_without_words_people_are_around_the_start():
    points = ends("Someone is missing.")
    assert share_near(points, HOME, 400.0) > 0.6
    assert np.abs(np.mean(points, axis=0) - HOME).max() < 40.0


def test_a_vague_way_is_wider_than_a_told_one():
    told = ends("We start close to the hut. He went 300 m west of the hut.")
    vague = ends("We start close to the hut. He went west of the hut.")
    assert np.std(vague[:, 0]) > np.std(told[:, 0])


def test_each_person_has_his_own_words():
    text = (
        "Missing are Jan and Eva. The drone starts near the hut. Jan went 300 m east of the hut. Eva went 300 m west."
    )
    assert np.median(ends(text, "Jan")[:, 0]) > HOME[0] + 100 > HOME[0] - 100 > np.median(ends(text, "Eva")[:, 0])


def test_not_reached_means_before_it():
    text = "The drone stands 200 m north of the mark. He follows the track south. He cannot have reached the mark."
    mark = HOME - np.array([0.0, 200.0])
    points = ends(text)
    assert np.mean(points[:, 1] > mark[1]) > 0.6


def test_a_share_has_nothing_to_do_with_the_brief():
    facts = parse_brief("The drone starts at the hut. He is 3 km west of the hut.")
    settings = PriorSettings(samples=1000)
    shares = []
    for unread in (0, 3):
        passages = (Passage(0, 1, StartFact("the hut", None, None)), *(Passage(n, n + 1, None) for n in range(unread)))
        lines = sample(replace(facts, passages=passages), None, HOME, settings, np.random.default_rng(0))
        shares.append(lines.doubted.mean())
        assert share_near(lines.ends[lines.doubted], HOME, 1000.0) > 0.9
    assert shares == pytest.approx([settings.doubt, settings.doubt + 0.75 * settings.doubt_unread])


def test_same_seed_same_lines():
    text = "The drone starts 200 m east of the hut. He is somewhere north of it."
    assert np.array_equal(ends(text), ends(text))
    assert not np.array_equal(ends(text), ends(text, seed=1))
    assert ends(text) == pytest.approx(ends(text))
