"""Scenes are drawn from their seed alone, and splits keep looks and ground apart."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS, PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.names import HIGH, LOW
from esar_ros.mission.task_files import benchmark_event, benchmark_index
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import WeatherFamily
from esar_ros.sim.catalogue import variants
from esar_ros.suites.esarbench.tasks.ground import site
from esar_ros.training.scenes import (
    BANDS,
    FAIR_SHARE,
    PLAIN,
    SPLITS,
    _conditions,
    _event_points,
    draw_scene,
    farthest,
    weathers_of,
)

MAP = "k2"


@pytest.fixture(scope="module")
def scenes() -> Any:
    rig = load_vehicle()
    return {
        name: [draw_scene(split, site(MAP), rig, number, 6) for number in range(4)] for name, split in SPLITS.items()
    }


def test_a_scene_is_a_function_of_its_seed(scenes: Any) -> None:
    again = draw_scene(SPLITS["train"], site(MAP), load_vehicle(), 2, 6)
    first = scenes["train"][2]
    assert again.things == first.things
    assert (again.weather, again.local_time, again.wind) == (first.weather, first.local_time, first.wind)
    for one, other in zip(again.shots, first.shots, strict=True):
        assert np.array_equal(one.body.matrix, other.body.matrix)
        assert (one.camera, one.time, one.target) == (other.camera, other.time, other.target)
    other = draw_scene(SPLITS["train"], site(MAP), load_vehicle(), 2, 6, seed=7)
    assert other.things != first.things


def test_a_scene_does_not_depend_on_imported_maps(scenes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "alps.yaml").touch()
    monkeypatch.setenv("ESAR_MAPS", str(tmp_path))
    assert draw_scene(SPLITS["train"], site(MAP), load_vehicle(), 2, 6).things == scenes["train"][2].things
    here: Any = SimpleNamespace(place=SimpleNamespace(id="alps"))
    with pytest.raises(UsageError, match="map alps: the benchmark has no dev event there"):
        draw_scene(SPLITS["train"], here, load_vehicle(), 0, 1)


def test_training_never_shows_a_look_that_is_kept_back(scenes: Any) -> None:
    for name, split in SPLITS.items():
        shown = [thing.entry.held_out for scene in scenes[name] for thing in scene.things]
        assert any(shown) is (split.events == "test")


def test_empty_ground_holds_distractors_alone(scenes: Any) -> None:
    for name in ("empty", "empty-val", "empty-test"):
        assert {thing.entry.kind for scene in scenes[name] for thing in scene.things} == {"distractor"}


FLIGHTS = ("flights", "flights-val", "small-flights", "small-flights-val")


def test_flights_show_bare_ground_near_the_events_from_search_heights_with_all_cameras(scenes: Any) -> None:
    assert {name for name, split in SPLITS.items() if split.flight} == set(FLIGHTS)
    rig, eyes = load_vehicle(), []
    for scene in (scene for name in FLIGHTS for scene in scenes[name]):
        assert scene.things == ()
        assert [shot.camera for shot in scene.shots] == [*rig.cameras, *rig.cameras][:6]
        assert all(shot.target is None for shot in scene.shots)
        eyes += [shot.body.position for shot in scene.shots]
    above = np.array([eye[2] - site(MAP).stand(eye[:2])[2] for eye in eyes])
    assert above.min() >= 10.0 and above.max() <= 45.0
    assert np.median(above) < 27.5, "low ones more often"
    near = [np.linalg.norm(np.array(_event_points(MAP, "dev")) - eye[:2], axis=1).min() for eye in eyes]
    assert max(near) <= 200.0
    assert len({tuple(eye) for eye in eyes}) == len(eyes), "no two splits share a place"


def test_flights_are_told_in_foul_weather_and_dusk_more_often() -> None:
    rng = np.random.default_rng(0)
    flown, other = ([_conditions(MAP, flight, rng) for _ in range(300)] for flight in (True, False))
    for of in (lambda drawn: drawn[0].family is WeatherFamily.FAIR, lambda drawn: drawn[1] == "day"):
        assert np.mean([of(one) for one in flown]) < np.mean([of(one) for one in other]) - 0.05
    assert np.mean([weather.family is WeatherFamily.FAIR for weather, _ in other]) == pytest.approx(FAIR_SHARE, abs=0.1)


def test_splits_share_no_scene(scenes: Any) -> None:
    places = {name: {thing.xy for scene in drawn for thing in scene.things} for name, drawn in scenes.items()}
    for one, other in itertools.combinations(places, 2):
        assert not places[one] & places[other]


def test_training_stands_on_dev_events_and_the_test_set_on_the_others(scenes: Any) -> None:
    def points(split: Any) -> Any:
        ids = [id for id, e in benchmark_index()["events"].items() if e["map"] == MAP and e["split"] == split]
        events = [benchmark_event(id) for id in ids]
        return np.array([xy for e in events for xys in (e["places"].values(), *e["lines"].values()) for xy in xys])

    for name, split in SPLITS.items():
        for scene in (scene for scene in scenes[name] if scene.things):
            middle = np.mean([thing.xy for thing in scene.things], axis=0)
            assert np.linalg.norm(points(split.events) - middle, axis=1).min() < 320.0


def test_things_stand_apart_and_weathers_are_the_maps_own(scenes: Any) -> None:
    for scene in (scene for name, drawn in scenes.items() for scene in drawn if not SPLITS[name].flight):
        xy = np.array([thing.xy for thing in scene.things])
        gaps = np.linalg.norm(xy[:, None] - xy[None], axis=2)[np.triu_indices(len(xy), 1)]
        assert gaps.min() >= 2.4
        assert scene.weather in weathers_of(MAP)


def test_targets_are_clues_or_people_in_the_camera_that_looks(scenes: Any) -> None:
    rig = load_vehicle()
    for scene in (scene for drawn in scenes.values() for scene in drawn):
        for shot in scene.shots:
            if shot.target is None:
                continue
            thing = scene.things[shot.target]
            assert thing.entry.kind in KINDS
            camera = shot.body.compose(rig.cameras[shot.camera].pose)
            point = site(MAP).stand(thing.xy) + (0.0, 0.0, 0.3)
            assert rig.image.model.project((point - camera.position) @ camera.rotation)[1]
            assert 2.0 < np.linalg.norm(point - camera.position) <= BANDS[-1][1] + 1e-6


def test_large_things_are_looked_at_from_farther_away() -> None:
    tent, bottle = variants("tent")[0], variants("water_bottle")[0]
    assert farthest(tent, "day") > 60.0 > 25.0 > farthest(bottle, "day")
    assert farthest(variants(f"{PERSON}_standing")[0], "day") > 40.0


def test_networks_learn_from_both_qualities_and_are_judged_by_high_alone() -> None:
    rig = load_vehicle()
    for name in ("flights", "flights-val"):
        drawn = [draw_scene(SPLITS[name], site(MAP), rig, number, 1).quality for number in range(PLAIN)]
        assert drawn == [HIGH] * (PLAIN - 1) + [LOW if SPLITS[name].learnt else HIGH]
