"""Clues and empty looks move the belief the right way, and never make it more than certain."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.errors import UsageError
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.belief.belief_map import PersonBelief
from esar_ros.planning.belief.brief.parser import parse_brief
from esar_ros.planning.belief.detection_probability import Detection, DetectionSettings
from esar_ros.planning.belief.evidence import (
    EvidenceSettings,
    ReportedClue,
    believed,
    distance_to_lines,
    log_likelihood,
    through_clues,
)
from esar_ros.planning.belief.look_map import LookMap, side_of
from esar_ros.planning.belief.prior import Hypotheses, PriorSettings, sample
from esar_ros.planning.search_area import distance_to_edge

AREA = np.array([[-500.0, -500], [500, -500], [500, 500], [-500, 500]])
CAMERAS = [(load_vehicle().image.model, mount.pose) for mount in load_vehicle().cameras.values()]
FLAT = (0.0, np.zeros(2))


def belief(text: str = "Someone is missing.", absent: float = 0.1) -> Any:
    looks = LookMap(AREA, 10.0)
    centres = np.stack(np.meshgrid(looks.x, looks.y), axis=-1)
    lines = sample(parse_brief(text), None, np.zeros(2), PriorSettings(samples=2000), np.random.default_rng(0))
    return PersonBelief(lines, looks, absent, distance_to_edge(AREA, centres) > 0), looks


def mass_near(person: Any, looks: Any, place: Any, radius: Any) -> Any:
    distance = np.hypot(looks.x[None, :] - place[0], looks.y[:, None] - place[1])
    return float(person.posterior[distance < radius].sum())


def pose(x: Any, y: Any, z: float = 30.0, yaw: float = 0.0) -> Any:
    return Pose(np.array([x, y, z]), quaternion_from_yaw(yaw))


@pytest.fixture
def detection(brief: Any) -> Any:
    return Detection(DetectionSettings(), brief())


def test_a_misread_brief_costs_no_more_than_its_doubt() -> None:
    """Nowhere is the density below that of no brief by more than the share of doubt, but for the drawing of samples."""
    none, looks = belief("")
    misread, _ = belief("The drone starts at the hut. He is 3 km west of the hut.")
    near = np.hypot(looks.x[None, :], looks.y[:, None]) < 300.0
    loss = np.log(none.prior[near] / misread.prior[near])
    assert loss.max() < math.log(1.0 / PriorSettings().doubt) + 1.5 and np.median(loss) > 1.0
    assert misread.prior.sum() < 0.2 + none.prior.sum() <= 1.2


def line(*places: Any, kinds: Any = ()) -> Any:
    nodes = np.array([places], dtype=float)
    named = tuple(frozenset(kinds[n] if n < len(kinds) else ()) for n in range(len(places)))
    return Hypotheses(nodes, named)


def test_where_no_place_is_named_its_share_goes_to_the_others() -> None:
    lines, clue = line((0, 0), (100, 0), (200, 0)), [ReportedClue("tent", np.array([120.0, 10.0]))]
    with_place = EvidenceSettings(on_line=0.45, at_place=0.15)
    without = EvidenceSettings(on_line=0.45 / 0.85, at_place=0.0)
    assert log_likelihood(lines, clue, with_place) == pytest.approx(log_likelihood(lines, clue, without))


@pytest.mark.parametrize("real", [1.0, 0.4])
def test_a_clue_far_from_every_line_is_somebody_elses_or_none(real: Any) -> None:
    """So likely it would lie there whatever the line; what a person dropped would lie elsewhere."""
    far = [ReportedClue("tent", np.array([1e6, 0.0]), real)]
    likely = log_likelihood(line((0, 0), (100, 0)), far, EvidenceSettings(foreign=0.15))
    assert likely == pytest.approx(math.log((1.0 - 0.85 * real) / 1e6))


def test_a_place_named_twice_is_one_place() -> None:
    clue = [ReportedClue("tent", np.array([105.0, 0.0]))]
    once = line((0, 0), (100, 0), (100, 0), (200, 0), kinds=((), ("tent",)))
    twice = line((0, 0), (100, 0), (100, 0), (200, 0), kinds=((), ("tent",), ("tent",)))
    never = line((0, 0), (100, 0), (100, 0), (200, 0))
    first, second, none = (log_likelihood(lines, clue, EvidenceSettings())[0] for lines in (once, twice, never))
    assert first == pytest.approx(second) and first > none + 0.1


def test_people_are_nearer_to_later_clues() -> None:
    lines = line((0, 0), (1000, 0))
    clues = [ReportedClue("backpack", np.array([x, 0.0])) for x in (300.0, 900.0)]
    settings = EvidenceSettings()
    drawn = through_clues(lines, np.ones(1), clues, settings, 4000, np.random.default_rng(0))
    near_first = float(np.mean(np.abs(drawn.ends[:, 0] - 300.0) < 200.0))
    assert near_first == pytest.approx(0.6 / 3.0, abs=0.03), "a third of those who are at a clue, two at the later one"


def test_detection_falls_with_range_weather_and_night(brief: Any) -> None:
    day = Detection(DetectionSettings(), brief())
    fog = Detection(DetectionSettings(), brief(weather="dense_fog"))
    night = Detection(DetectionSettings(), brief(local_time="2024-05-01T23:00:00"))
    assert np.all(np.diff(day.person) <= 0) and 0 < day.person[0] < 1
    assert day.person[60] == pytest.approx(DetectionSettings().best / 2, rel=0.01)
    assert np.all(fog.person <= day.person) and fog.person[60] < 0.6 * day.person[60]
    assert night.person[60] < 0.5 * day.person[60] and np.all(day.clue <= day.person)
    assert Detection(DetectionSettings(), brief(weather="unheard of", local_time="soon")).person == pytest.approx(
        day.person
    )


def test_half_the_pixels_see_half_as_far(brief: Any) -> None:
    sharp, small = (Detection(DetectionSettings(), brief(weather="clear"), "", focal) for focal in (320.0, 160.0))
    assert sharp.person == pytest.approx(Detection(DetectionSettings(), brief(weather="clear")).person)
    assert small.person[:75] == pytest.approx(sharp.person[: 2 * 75 : 2]), "config/vehicle.yaml's pictures have 320 px"
    assert small.reach == pytest.approx(sharp.reach / 2, abs=1.0)


def test_the_card_s_pictures_stay_as_they_were_measured_whatever_camera_is_flown(
    brief: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, rig, where = DetectionSettings(), load_vehicle(), "esar_ros.planning.belief.detection_probability"
    shipped = Detection(settings, brief(), "esar_yolo")
    assert shipped._sharpness == 1.0, "bit by bit the card's own shares with config/vehicle.yaml as it is shipped"
    wide = rig.model_copy(update={"image": rig.image.model_copy(update={"fov_deg": 120.0})})
    monkeypatch.setattr(f"{where}.load_vehicle", lambda: wide)
    own, look = Detection(settings, brief(), "esar_yolo"), Detection(settings, brief(), "esar_yolo", 320.0)
    assert own.person[60] < 0.7 * shipped.person[60], "a wide lens shows people smaller"
    assert look.person == pytest.approx(shipped.person), "and takes nothing from pictures of another"
    measured = {"fit": {"person": {"best": 1.0, "half": 30.0, "softness": 5.0}}, "focal": wide.image.model.fx}
    (tmp_path / "own.json").write_text(json.dumps({"detection_probability": measured}))
    of_card = Detection(DetectionSettings(cards={"mine": str(tmp_path / "own.json")}), brief(), "mine")
    assert of_card.person[30] == pytest.approx(0.5, abs=0.01), "a card may have been measured with that lens"


def test_a_model_card_s_measured_curve_replaces_the_settings(
    brief: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = {"person": {"best": 1.0, "half": 30.0, "softness": 5.0}, "clues": None}
    (tmp_path / "own.json").write_text(json.dumps({"name": "own", "detection_probability": {"fit": fit}}))
    monkeypatch.setenv("ESAR_MODELS", str(tmp_path))
    settings = DetectionSettings(cards={"mine": "own", "same": str(tmp_path / "own.json")})
    told, assumed = Detection(settings, brief(), "mine"), Detection(settings, brief(), "another")
    assert told.person[30] == pytest.approx(0.99 / 2, rel=0.01) and told.person.max() < 1.0
    assert assumed.person[60] == pytest.approx(settings.best / 2, rel=0.01)
    assert np.array_equal(told.clue, assumed.clue), "too little was seen to fit a curve of clues"
    assert np.array_equal(Detection(settings, brief(), "same").person, told.person)
    (tmp_path / "bare.json").write_text("{}")
    for card, why in (("none", "no model none.json"), ("bare", "detection_probability")):
        with pytest.raises(UsageError, match=why):
            Detection(DetectionSettings(cards={"mine": card}), brief(), "mine")


EDGES = (0, 20, 40, 60, 80)


def shares(*probability: float | None, objects: int = 50) -> Any:
    return {"probability": probability, "objects": [objects if share is not None else 0 for share in probability]}


def measured(tmp_path: Path, **by_kind: Any) -> Any:
    """Settings whose detector `mine` has a card with these shares by kind, each (day, dark)."""
    kinds = {kind: {"day": day, "dark": dark} for kind, (day, dark) in by_kind.items()}
    card = {"detection_probability": {"fit": {}, "range_edges": EDGES, "by_kind": kinds}}
    (tmp_path / "card.json").write_text(json.dumps(card))
    return DetectionSettings(cards={"mine": str(tmp_path / "card.json")})


NEAR, FAR = shares(0.9, 0.2, 0.0, 0.0), shares(0.9, 0.9, 0.9, 0.2)


def test_shares_measured_at_night_are_reckoned_with_at_night(brief: Any, tmp_path: Path) -> None:
    settings = measured(tmp_path, person=(FAR, NEAR), clues=(FAR, NEAR))
    at = {hour: Detection(settings, brief(local_time=f"2024-05-01T{hour:02}:00:00"), "mine") for hour in (12, 17, 23)}
    assert at[12].person[50] > 0.8 and at[23].person[50] < 0.05
    assert at[17].person == pytest.approx((at[12].person + at[23].person) / 2), "twilight lies between"
    assert at[23].person[10] == pytest.approx(0.9, abs=0.05), "near by it sees as well as by day"
    assert np.all(np.diff(at[23].person) <= 0)


def test_clues_are_looked_for_from_where_their_kind_is_seen(brief: Any, tmp_path: Path) -> None:
    settings = measured(tmp_path, person=(FAR, FAR), clues=(FAR, FAR), rope=(NEAR, NEAR), tent=(FAR, FAR))
    told = {kinds: Detection(settings, brief(), "mine", kinds=kinds) for kinds in ((), ("rope",), ("rope", "tent"))}
    assert told[()].clue[50] > 0.8 and told["rope",].clue[50] < 0.3
    assert told["rope", "tent"].clue == pytest.approx((told["rope",].clue + told[()].clue) / 2, abs=0.05)
    assert np.array_equal(told["rope",].person, told[()].person)
    assert np.array_equal(told[()].of("rope"), told["rope",].of("rope"))


def test_a_class_of_few_objects_is_taken_for_any_clue(brief: Any, tmp_path: Path) -> None:
    few = shares(1.0, None, None, None, objects=1)
    settings = measured(tmp_path, person=(FAR, few), clues=(FAR, FAR), light=(few, few))
    detection = Detection(settings, brief(), "mine")
    assert detection.of("light") == pytest.approx(detection.clue)
    night = Detection(settings, brief(local_time="2024-05-01T23:00:00"), "mine")
    assert night.person[60] < 0.5 * DetectionSettings().best, "too few people at night: the settings' factor on ranges"


@pytest.mark.parametrize(
    "damage",
    [{"range_edges": (0, 20)}, {"by_kind": {"person": {"day": {"probability": [0.5], "objects": []}, "dark": NEAR}}}],
)
def test_a_card_whose_shares_do_not_fit_its_ranges_is_refused(brief: Any, tmp_path: Path, damage: Any) -> None:
    settings = measured(tmp_path, person=(FAR, NEAR))
    path = tmp_path / "card.json"
    card = json.loads(path.read_text())
    card["detection_probability"] |= damage
    path.write_text(json.dumps(card))
    with pytest.raises(UsageError, match="by_kind"):
        Detection(settings, brief(), "mine")


def test_the_shipped_network_sees_less_far_at_night_and_a_bottle_from_near(brief: Any) -> None:
    day, night = (
        Detection(DetectionSettings(), brief(weather="clear", local_time=f"2024-05-01T{hour}:00:00"), "esar_yolo")
        for hour in (12, 23)
    )
    assert day.person[30] > 0.6 and 0.3 < day.person[55] < 0.7 and day.person[110] < 0.2
    assert night.person[15] > 0.6 and night.person[55] < 0.7 * day.person[55]
    assert day.of("water_bottle")[55] < 0.1 < 0.4 < day.of("tent")[55]


def test_a_look_lowers_what_it_sees_relative_to_the_rest(detection: Any) -> None:
    person, looks = belief()
    before = person.posterior.copy()
    looks.look(pose(0.0, 0.0), CAMERAS, FLAT, detection)
    seen = looks.missed < 1.0
    assert 50 < seen.sum() < before.size
    ratio = person.posterior / before
    assert ratio[seen].max() <= ratio[~seen].min() + 1e-12
    assert person.posterior.sum() < before.sum(), "somebody may be nowhere on the map"


def test_the_rear_is_not_seen(detection: Any) -> None:
    _, looks = belief()
    looks.look(pose(0.0, 0.0), CAMERAS, FLAT, detection)
    _, columns = np.nonzero(looks.missed < 0.9)
    assert looks.x[columns].max() > 60.0 and looks.x[columns].min() > -50.0


def test_looks_from_one_side_fail_together(detection: Any) -> None:
    _, looks = belief()
    looks.look(pose(0.0, 0.0), CAMERAS, FLAT, detection)
    once = looks.missed.copy()
    looks.look(pose(0.0, 0.0), CAMERAS, FLAT, detection)
    assert np.array_equal(looks.missed, once)
    looks.look(pose(60.0, 0.0, yaw=math.pi), CAMERAS, FLAT, detection)
    assert looks.missed.min() < once.min()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.floats(-400, 400), st.floats(-400, 400), st.floats(5, 80), st.floats(-3, 3)), max_size=6))
def test_belief_is_a_probability_whatever_was_looked_at(places: Any) -> None:
    person, looks = belief()
    detection = Detection(DetectionSettings(), BRIEF)
    last = float(person.posterior.sum())
    for x, y, z, yaw in places:
        looks.look(pose(x, y, z, yaw), CAMERAS, FLAT, detection)
        posterior = person.posterior
        assert np.isfinite(posterior).all() and (posterior >= 0).all() and posterior.sum() <= 1.0 + 1e-9
        assert posterior.sum() <= last + 1e-9, "an empty look never makes it surer that somebody is there"
        last = float(posterior.sum())


BRIEF: Any = SimpleNamespace(weather="clear", local_time="2024-05-01T12:00:00")  # all of a Brief that is read


def test_a_clue_draws_the_belief(detection: Any) -> None:
    person, looks = belief()
    before = mass_near(person, looks, (250.0, 0.0), 100.0)
    person.update([ReportedClue("backpack", np.array([250.0, 0.0]))], EvidenceSettings(), np.random.default_rng(0))
    assert mass_near(person, looks, (250.0, 0.0), 100.0) > max(0.4, 4.0 * before)
    assert person.posterior.sum() <= 1.0


def test_clues_in_a_row_tell_the_direction_of_travel() -> None:
    person, looks = belief()
    row = [
        ReportedClue(kind, np.array([x, 0.0]))
        for kind, x in (("food_wrapper", 60.0), ("water_bottle", 130.0), ("rope", 200.0))
    ]
    person.update(row, EvidenceSettings(), np.random.default_rng(0))
    assert mass_near(person, looks, (260.0, 0.0), 70.0) > 2.0 * mass_near(person, looks, (0.0, 0.0), 70.0)


def test_a_trail_of_false_alarms_draws_nobody() -> None:
    trail = [ReportedClue("footprints", np.array([x, 300.0]), 0.58) for x in np.linspace(-400.0, 400.0, 60)]
    told, discounted, silent = (belief() for _ in range(3))
    told[0].update(trail, EvidenceSettings(), np.random.default_rng(0))
    discounted[0].update(believed(trail, 6), EvidenceSettings(), np.random.default_rng(0))
    at_end = [mass_near(person, looks, (400.0, 300.0), 120.0) for person, looks in (told, discounted, silent)]
    assert at_end[0] > 1.5 * at_end[2] > at_end[1]


def test_few_clues_are_believed_as_they_were_scored() -> None:
    few = [ReportedClue("tent", np.zeros(2), 0.8), ReportedClue("rope", np.ones(2), 0.6)]
    assert believed(few, 6) == few and believed([], 6) == []
    many = believed([clue for clue in few for _ in range(10)], 6)
    assert sum(clue.real for clue in many) == pytest.approx(6.0)
    assert many[0].real / many[-1].real == pytest.approx(0.8 / 0.6)


def test_an_unlikely_clue_tells_lines_apart_less() -> None:
    lines = Hypotheses(np.array([[[0.0, 0], [200, 0]], [[0.0, 0], [0, 200]]]), (frozenset(), frozenset()))
    apart = []
    for real in (0.9, 0.5, 0.1):
        likely = log_likelihood(lines, [ReportedClue("rope", np.array([100.0, 5.0]), real)], EvidenceSettings())
        apart.append(likely[0] - likely[1])
    assert apart[0] > apart[1] > apart[2] > 0.0


def test_a_narrow_kind_draws_nearer_than_a_wide_one() -> None:
    near = []
    for kind in ("signal_flare", "food_wrapper"):
        person, looks = belief()
        person.update([ReportedClue(kind, np.array([200.0, 100.0]))], EvidenceSettings(), np.random.default_rng(0))
        near.append(mass_near(person, looks, (200.0, 100.0), 40.0))
    assert near[0] > near[1]


def test_a_line_is_likelier_when_the_clue_lies_on_it() -> None:
    lines = Hypotheses(np.array([[[0.0, 0], [200, 0]], [[0.0, 0], [0, 200]]]), (frozenset(), frozenset()))
    likely = log_likelihood(lines, [ReportedClue("rope", np.array([100.0, 5.0]))], EvidenceSettings())
    assert likely[0] > likely[1]
    named = Hypotheses(lines.nodes, (frozenset({"tent"}), frozenset()))
    at_start = [ReportedClue("tent", np.array([0.0, 0.0]))]
    assert (
        log_likelihood(named, at_start, EvidenceSettings())[0] > log_likelihood(lines, at_start, EvidenceSettings())[0]
    )


def test_distance_to_lines() -> None:
    nodes = np.array([[[0.0, 0], [10, 0], [10, 10]], [[0.0, 0], [0, 0], [0, 0]]])
    assert distance_to_lines(nodes, np.array([12.0, 5.0])) == pytest.approx([2.0, 13.0])


def test_somebody_found_is_no_longer_sought_but_his_ways_are() -> None:
    person, looks = belief("We start close to the hut. He went 300 m east of the hut.")
    place = np.array([280.0, 40.0])
    person.settle(place, 1.0)
    assert person.posterior.sum() == 0.0
    ways = person.clue_density
    assert 0.9 < ways.sum() <= 1.0 + 1e-9
    row, column = np.unravel_index(np.argmax(ways), ways.shape)
    assert np.hypot(looks.x[column] - place[0], looks.y[row] - place[1]) < 150.0


def test_a_doubtful_find_leaves_the_rest_of_him_to_be_searched_for() -> None:
    person, _ = belief("We start close to the hut. He went 300 m east of the hut.")
    before, open_ways = person.posterior.copy(), person.clue_density.copy()
    person.settle(np.array([280.0, 40.0]), 0.7)
    assert person.posterior == pytest.approx(0.3 * before)
    led = (person.clue_density - 0.3 * open_ways) / 0.7
    person.be_sure(0.2)
    assert person.posterior == pytest.approx(0.8 * before)
    assert person.clue_density == pytest.approx(0.8 * open_ways + 0.2 * led)


def test_sides() -> None:
    assert side_of(np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])).tolist() == [0, 1, 2, 3]
