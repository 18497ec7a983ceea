"""The hostile flights: what is promised, seeds, scenarios, what fails, tables, and a run that goes on."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pytest
from hostile_cases import BEAMS, DANGERS, FIRST_SEED, SCENARIOS, WIND, WINDS, Case
from hostile_flight import Flown, fly_case
from hostile_things import BAR, along, bar, nearest_gap, nearest_point, plate, put, set_stage

from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.weather import Weather
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World


@pytest.fixture(scope="module")
def world() -> World:
    return World(load_map("dapeng"), 1)


def case(danger: str = "plate", size: Any = 1.0, name: str = "0", **conditions: Any) -> Case:
    values = {"kind": "straight up", "map": "dapeng", "weather": Weather.CLEAR, "sensing": "sound", "wind": 0.0,
              "beams": 1.0, **conditions}  # fmt: skip
    return Case(name, FIRST_SEED, danger, size, **values)


def test_two_of_three_random_cases_are_promised_unless_a_danger_never_is() -> None:
    cases = [Case.of(number) for number in range(300)]
    for number, one in enumerate(cases):
        if number % 3 != 2 and DANGERS[one.danger].promised:
            assert one.promised or (one.size, one.sensing) in DANGERS[one.danger].excused
        assert one.size in DANGERS[one.danger].sizes and one.kind in DANGERS[one.danger].kinds
    assert {one.danger for one in cases} == set(DANGERS)
    assert any(not one.promised for one in cases if one.danger == "poles")
    assert not any(one.promised for one in cases if not DANGERS[one.danger].promised)


@pytest.mark.parametrize(
    ("one", "promised"),
    [
        (case("plate", 0.3), True),
        (case("bar", 0.15), True),
        (case("bar", 0.05), False),
        (case("wire", 0.05), False),
        (case("poles", 0.15), True),
        (case("poles", 0.10), False),
        (case("slope", 45.0), True),
        (case("slope", 60.0), False),
        (case("person", "lying"), True),
        (case("person", "lying", sensing="detector blind"), False),
        (case("person", "sitting", sensing="detector blind"), True),
        (case("teammate", "falls silent"), True),
        (case("teammate", "never heard"), False),
        (case("heading", 90.0), True),
        (case("heading", 60.0), False),
        (case("sector", 24.0), True),
        (case("sector", 12.0), False),
        (case("creep", 0.3), False),
        (case("plate", 0.3, wind=12.0, beams=0.7), True),
        (case("plate", 0.3, wind=15.0), False),
        (case("plate", 0.3, beams=0.5), False),
    ],
    ids=str,
)
def test_the_promise(one: Case, promised: bool) -> None:
    assert one.promised is promised


def test_a_case_depends_on_its_number_alone_and_no_seed_is_used_twice() -> None:
    cases = [Case.of(number) for number in range(1000)]
    cases += [scenario.case(name, number) for name, scenario in SCENARIOS.items() for number in range(1000)]
    assert len({one.seed for one in cases}) == len({one.name for one in cases}) == len(cases)
    assert min(one.seed for one in cases) >= FIRST_SEED
    assert Case.of(17) == Case.of(17) and SCENARIOS["bar"].case("bar", 3) == SCENARIOS["bar"].case("bar", 3)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_takes_each_of_its_sizes_and_ways_in_turn(name: str) -> None:
    scenario = SCENARIOS[name]
    danger = DANGERS[scenario.danger]
    sizes = scenario.conditions.get("size", danger.sizes)
    kinds = scenario.conditions.get("kind", danger.kinds)
    cases = [scenario.case(name, number) for number in range(len(sizes) * len(kinds))]
    assert {(one.size, one.kind) for one in cases} == {(size, kind) for size in sizes for kind in kinds}
    for one in cases:
        assert one.danger == scenario.danger and one.map in danger.maps and one.wind in WINDS and one.beams in BEAMS
        assert one.kind in danger.kinds and one.size in danger.sizes and one.wind <= WIND


@pytest.mark.parametrize(
    ("one", "flown", "words"),
    [
        (case(), Flown(hit="plate", speed=2.0), "touched plate at 2.0 m/s"),
        (case(), Flown(over=3.0, outside=3.0, nearest=0.6), ""),
        (case("slope", 45.0), Flown(over=3.0), "3.0 m above ceiling and margin"),
        (case("slope", 45.0), Flown(over=-3.0), ""),
        (case("slope", 45.0), Flown(hit="ground", over=3.0), "touched ground at 0.0 m/s"),
        (case("creep", 0.3), Flown(outside=1.5), "1.5 m outside the fence"),
        (case("creep", 0.3), Flown(outside=-1.5), ""),
    ],
)
def test_a_danger_has_its_own_failure(one: Case, flown: Flown, words: str) -> None:
    assert flown.failure(one) == words


def test_a_flight_is_the_same_from_its_line() -> None:
    flown = Flown("pole", 5.1, 5.2, 6.0, 20.0, math.inf, -math.inf, 12.5, -3.0, math.inf, 0.25, False)
    assert Flown.of(json.loads(json.dumps(flown.line()))) == flown


def test_the_table_counts_failures_within_the_promise_and_beyond() -> None:
    flown = [
        (case("plate", 0.3), Flown(hit="plate")),
        (case("plate", 0.3), Flown()),
        (case("plate", 0.3, wind=15.0), Flown(hit="plate")),
        (case("slope", 45.0), Flown(over=1.0)),
    ]
    rows = {tuple(row.split()[:2]): row.split("   ")[-1] for row in hostile.table(flown)[1:]}
    whole = "\n".join(" ".join(row.split()) for row in hostile.table(flown))
    assert "danger plate 1 of 2 1 of 1" in whole and "danger slope 1 of 1" in whole
    assert "size plate 0.3 1 of 2 1 of 1" in whole and "wind 15.0 1 of 1" in whole
    assert ("danger", "plate") in rows


def test_a_scenarios_row_tells_how_badly_and_how_near() -> None:
    flown = [
        (case("plate", 0.3, "plate 0"), Flown(hit="plate", speed=2.0, closing=2.0)),
        (case("plate", 0.3, "plate 1"), Flown(hit="plate", speed=1.5, closing=1.5)),
        (case("plate", 4.0, "plate 2"), Flown(nearest=0.6)),
        (case("slope", 45.0, "ceiling, blind 0"), Flown(over=1.0, seen_height=51.0)),
        (case("teammate", "never heard", "mate 0"), Flown(hit="uav2", speed=5.0, closing=10.0)),
    ]
    assert hostile.scenario_rows(flown) == [
        ("plate", "promised", "2 of 3", "contacts at 1.5 to 2.0 m/s, the others within 0.6 m"),
        ("ceiling, blind", "promised", "1 of 1", "1.0 m above ceiling and margin, told 51.0 m"),
        ("mate", "beyond", "1 of 1", "contacts at 5.0 m/s, closing at 10.0 m/s"),
    ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Factory: the command with arguments, flights replaced by ones that end well; returns the names of those flown."""

    def command(*arguments: str, hit: str = "") -> list[str]:
        flown: list[str] = []

        def fly(without: bool, one: Case) -> dict[str, Any]:
            flown.append(one.name)
            return Flown(hit=hit, nearest=1.0).line()

        monkeypatch.setattr(hostile, "fly", fly)
        monkeypatch.setattr(sys, "argv", ["hostile.py", *arguments])
        assert hostile.main() == (1 if hit else 0)
        return flown

    return command


def test_flights_go_on_behind_those_that_are_there(
    run: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = ("--records", str(tmp_path / "flights.jsonl"))
    assert run("--episodes", "2", *records) == ["0", "1"]
    assert run("--episodes", "3", *records) == ["2"]
    assert run("--scenario", "plate", "--episodes", "2", *records) == ["plate 0", "plate 1"]
    assert run("--scenario", "all", "--episodes", "1", *records) == [f"{name} 0" for name in SCENARIOS][1:]
    monkeypatch.setattr(hostile, "FLOWN", {**hostile.FLOWN, "governor": ("esar_ros/safety/site.py",)})
    with pytest.raises(UsageError, match="another governor; name another file"):
        run("--episodes", "2", *records)


def test_a_scenario_stands_beside_records_of_another_governor(
    run: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "before.jsonl"
    run("--scenario", "plate", "--episodes", "2", "--records", str(before), hit="plate")
    header, *lines = before.read_text().splitlines()
    before.write_text("\n".join([json.dumps({**json.loads(header), "governor": "other"}), *lines]) + "\n")
    capsys.readouterr()
    run("--scenario", "plate", "--episodes", "2", "--before", str(before))
    now, then = capsys.readouterr().out.splitlines()[:2]
    assert now.split()[:5] == ["plate", "promised", "0", "of", "2"]
    assert then.split()[:4] == ["before", "2", "of", "2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--before", "x.jsonl"], "name some with --scenario"),
        (["--episodes", "0"], "at least 1"),
        (["--workers", "0"], "at least 1"),
        (["--scenario", "plate", "--before", "nowhere.jsonl"], "name a file made by --records"),
    ],
)
def test_bad_arguments_are_told_in_a_line(run: Callable[..., list[str]], arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(*arguments)


def test_the_gap_to_a_thing_is_that_to_its_surface(world: World) -> None:
    place = np.array([3.0, 4.0, 200.0])
    thing = put(world, "bar", bar(0.3), along(np.array([0.0, 1.0, 1.0]), place))
    try:
        middle = place + thing.pose.rotation @ [0.0, 0.0, 0.15]
        away = thing.pose.rotation @ [0.0, 0.0, 1.0]
        assert nearest_gap([thing], middle + 2.0 * away) == pytest.approx(1.85)
        end = middle + (0.5 * BAR + 3.0) * np.array([0.0, 1.0, 1.0]) / math.sqrt(2.0)
        assert nearest_gap([thing], end) == pytest.approx(3.0)
        assert np.linalg.norm(nearest_point(thing, end) - end) == pytest.approx(3.0)
        assert world.contact(middle + 0.5 * away, 0.4) is not None
        assert world.contact(middle + 0.6 * away, 0.4) is None
    finally:
        world.destroy("bar")
    assert nearest_gap([], place) == math.inf


def test_a_plate_hangs_over_the_start(world: World) -> None:
    thing = put(world, "plate", plate(0.6), Pose(np.array([0.0, 0.0, 300.0])))
    try:
        ranges, ids = world.raycast([0.0, 0.0, 290.0], [[0.0, 0.0, 1.0], [0.05, 0.0, 0.99875]], 60.0)
        assert ranges[0] == pytest.approx(10.0) and ids[0] == thing.id and not np.isfinite(ranges[1])
    finally:
        world.destroy("plate")


@pytest.mark.parametrize("danger", DANGERS)
def test_a_stage_begins_in_free_air_with_its_danger_at_hand(danger: str, world: World) -> None:
    for kind in DANGERS[danger].kinds[:3]:
        one = case(danger, DANGERS[danger].promised[0] if DANGERS[danger].promised else DANGERS[danger].sizes[0],
                   kind=kind)  # fmt: skip
        try:
            stage = set_stage(one, world, np.random.default_rng(7))
            assert one.kind == "take-off" or world.contact(stage.start, 1.0) is None
            assert np.linalg.norm(stage.way) == pytest.approx(1.0) and stage.way[2] == 0.0
            assert bool(stage.things) is (danger not in ("slope", "teammate", "creep"))
            if stage.things:
                assert 2.0 < nearest_gap(stage.things, stage.start) < 32.0
            if danger == "plate":
                assert nearest_gap(stage.things, stage.start) == pytest.approx(one.height, abs=0.1)
            if danger == "slope":
                ground = world.ground_height(stage.start[:2] + np.array([[0.0], [100.0]]) * stage.way[:2])
                assert ground[0] - ground[1] > 10.0
            assert (stage.mate is not None) is (danger == "teammate")
        finally:
            for name in list(world.objects):
                world.destroy(name)


def test_a_plate_overhead_ends_a_flight_without_a_governor() -> None:
    one = case("plate", 1.0)
    flown = fly_case(one, load_map(one.map), governed=False)
    assert flown.hit == "plate" and flown.failure(one).startswith("touched plate") and flown.speed > 2.0
    assert flown.at < one.seconds - 1.0 and flown.nearest == pytest.approx(0.5, abs=0.1)
