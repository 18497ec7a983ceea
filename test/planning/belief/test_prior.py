"""Hypotheses follow the words of a brief."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.planning.belief.brief.coordinates import Ground
from esar_ros.planning.belief.brief.facts import Passage, StartFact
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.prior import PriorSettings, half_area, sample

HOME = np.array([100.0, 50.0])


def ends(text: Any, person: Any = None, seed: int = 0) -> Any:
    return sample(parse_brief(text), person, HOME, PriorSettings(), np.random.default_rng(seed)).ends


def share_near(points: Any, place: Any, radius: Any) -> Any:
    return float(np.mean(np.linalg.norm(points - np.array(place), axis=1) < radius))


def test_the_landmark_lies_back_from_the_start_and_the_person_beyond() -> None:
    points = ends("The drone starts 200 m east of the hut. He is 300 m north of the hut.")
    assert share_near(points, (-100.0, 350.0), 120.0) > 0.45
    assert share_near(points, (300.0, 350.0), 120.0) < 0.05, "not seen from the start"


def test_without_words_people_are_around_the_start() -> None:
    points = ends("Someone is missing.")
    assert share_near(points, HOME, 400.0) > 0.4
    assert np.abs(np.mean(points, axis=0) - HOME).max() < 40.0


def test_a_vague_way_is_wider_than_a_told_one() -> None:
    told = ends("We start close to the hut. He went 300 m west of the hut.")
    vague = ends("We start close to the hut. He went west of the hut.")
    assert np.std(vague[:, 0]) > np.std(told[:, 0])


def test_each_person_has_his_own_words() -> None:
    text = (
        "Missing are Jan and Eva. The drone starts near the hut. Jan went 300 m east of the hut. Eva went 300 m west."
    )
    assert np.median(ends(text, "Jan")[:, 0]) > HOME[0] + 100 > HOME[0] - 100 > np.median(ends(text, "Eva")[:, 0])


def test_not_reached_means_before_it() -> None:
    text = "The drone stands 200 m north of the mark. He follows the track south. He cannot have reached the mark."
    mark = HOME - np.array([0.0, 200.0])
    points = ends(text)
    assert np.mean(points[:, 1] > mark[1]) > 0.6


def test_a_share_has_nothing_to_do_with_the_brief() -> None:
    facts = parse_brief("The drone starts at the hut. He is 3 km west of the hut.")
    settings = PriorSettings(samples=1000)
    shares, near = [], []
    for unread in (0, 3):
        passages = (Passage(0, 1, StartFact("the hut", None, None)), *(Passage(n, n + 1, None) for n in range(unread)))
        lines = sample(replace(facts, passages=passages), None, HOME, settings, np.random.default_rng(0))
        assert lines.doubted is not None
        shares.append(lines.doubted.mean())
        near.append(share_near(lines.ends[lines.doubted], HOME, 1000.0))
    assert shares == pytest.approx([settings.doubt, settings.doubt + 0.75 * settings.doubt_unread])
    assert near[0] > 0.9 > near[1], "half of what is added lies anywhere within reach"


def spread(text: str, area: np.ndarray | None = None) -> np.ndarray:
    return sample(parse_brief(text), None, HOME, PriorSettings(samples=4000), np.random.default_rng(0), area).ends


READ = "The drone starts at the hut. She was last seen 300 m north of the hut."


@pytest.mark.parametrize(
    ("text", "more", "wider"),
    [
        (READ, "POA 50/30/20.", 1.1),
        (READ, "Do not fly over the glacier tongue.", 1.1),
        (READ, "Her phone was at 34.0012N 107.3110E.", 1.1),
    ],
)
def test_what_is_not_read_widens(text: str, more: str, wider: float) -> None:
    assert half_area(spread(f"{text} {more}")) > wider * half_area(spread(text))


def test_silence_is_as_wide_as_what_is_not_read() -> None:
    silent, unread = spread("The drone starts at the hut."), spread("The drone starts at the hut. See sheet 1247.")
    assert half_area(silent) == pytest.approx(half_area(unread), rel=0.1)
    assert half_area(silent) > 5.0 * half_area(spread(READ))


def test_ground_that_was_searched_in_vain_draws_no_search() -> None:
    text = "The drone starts at the hut. The gully 600 m north of the hut was searched in vain."
    assert share_near(spread(text), HOME + (0.0, 600.0), 150.0) < 0.05
    assert (
        share_near(spread(text.replace("was searched in vain", "is where she lies")), HOME + (0.0, 600.0), 150.0) > 0.25
    )


def test_a_landmark_that_may_not_be_the_start_is_doubted() -> None:
    lost = "Her bicycle was found. She was heard 600 m north of the bicycle."
    known = f"The drone starts at the bicycle. {lost}"
    north = HOME + (0.0, 600.0)
    assert 0.2 < share_near(spread(lost), north, 250.0) < 0.8 * share_near(spread(known), north, 250.0)


def test_a_way_from_a_place_that_is_not_located_is_not_sure() -> None:
    """ "Between the antenna and the village, 2 miles south of the antenna": where the antenna is, nobody says."""
    text = "You take off at the village. He was seen between the antenna and the village, 2 miles south of the antenna."
    assert half_area(spread(text)) > 25.0
    assert share_near(spread(text), HOME, 250.0) < 0.5


def test_what_is_not_read_stays_in_the_area() -> None:
    area = HOME + np.array([[-300.0, -400.0], [500.0, -400.0], [500.0, 700.0], [-300.0, 700.0]])
    lines = sample(
        parse_brief("The drone starts at the hut. POA 50/30/20."),
        None, HOME, PriorSettings(samples=4000, astray_way=1.0, unknown_way=1.0), np.random.default_rng(0), area,
    )  # fmt: skip
    off = lines.untold - HOME
    assert np.mean(np.linalg.norm(off, axis=1) > 100.0) > 0.4
    assert (off > [-330.0, -430.0]).all() and (off < [530.0, 730.0]).all()


def test_coordinates_are_a_place_with_their_accuracy() -> None:
    ground = Ground(Origin(34.0, 107.31, 0.0), HOME)
    facts = parse_brief("Last cell ping at 34.0050N 107.3130E, accuracy 200 m.", ground)
    points = sample(facts, None, HOME, PriorSettings(samples=4000), np.random.default_rng(0)).ends
    place = ground.place(34.005, 107.313)
    assert np.median(points, axis=0) == pytest.approx(place, abs=60.0)
    assert 0.4 < share_near(points, place, 250.0) < 0.75


def test_same_seed_same_lines() -> None:
    text = "The drone starts 200 m east of the hut. He is somewhere north of it."
    assert np.array_equal(ends(text), ends(text))
    assert not np.array_equal(ends(text), ends(text, seed=1))
    assert ends(text) == pytest.approx(ends(text))
