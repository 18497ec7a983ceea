"""Computed questions: a second solver that reads their words alone agrees, and their options give nothing away."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from esar_ros.app.cli import main
from esar_ros.suites.uavbench.mcq.check import gate
from esar_ros.suites.uavbench.mcq.item import Item, digest
from esar_ros.suites.uavbench.mcq.make.drafts import three_digits
from esar_ros.suites.uavbench.mcq.make.making import TEMPLATES, make_items
from esar_ros.suites.uavbench.mcq.reading import read_items
from esar_ros.suites.uavbench.scenarios.reading import digest as scenario_digest
from esar_ros.suites.uavbench.scenarios.scene import Scene
from helpers.questions import numbers, points
from helpers.scenarios import example, patched, varied


def made(scenes: int, count: int, seed: int = 0) -> list[Item]:
    return make_items([(scenario_digest(scene.data), scene) for scene in map(varied, range(scenes))], count, seed)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return made(70, 400)


# --- The second solver: by words alone, step by step or by trial in place of formulas -------------------------------


def bisected(low: float, high: float, is_above: Callable[[float], bool]) -> float:
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return (low + high) / 2.0


def hover(d: str, q: str) -> float:
    [mass] = numbers("It weighs # kg", d)
    power, more = numbers(r"hovers on # W .* payload of # kg", q)

    def ideal(kilograms: float, disk: float = 1.7) -> float:
        thrust = kilograms * 9.80665
        return thrust * math.sqrt(thrust / (2 * 1.225 * disk))  # thrust times induced velocity

    return ideal(mass + more) * power / ideal(mass)


def against_wind(d: str, q: str) -> float:
    [top] = numbers("flies up to # m/s", d)
    wind, gust = numbers(r"The wind is # m/s .* gusts of # m/s", d)
    [way] = numbers(r"take for # m over", q)
    return bisected(0.0, 1e6, lambda t: top * t - wind * t - gust * t > way)


def hold(d: str, q: str) -> float:
    battery, reserve = numbers(r"# Wh of battery, of which the share # is", d)
    power, more = numbers(r"hovers on # W, .* another one of # W", q)
    return bisected(0.0, 1e6, lambda minutes: battery - (power + more) * minutes / 60 < battery * reserve)


def left(d: str, q: str) -> float:
    [battery] = numbers("# Wh of battery", d)
    power, drag, speed, last = numbers(r"takes # W \+ # v\^3 .* at # m/s\. .* waypoint #\?", q)
    route, joules, steps = points(d), battery * 3600.0, 1000
    for a, b in pairwise(route[: int(last) + 1]):
        seconds = math.dist(a, b) / speed
        joules -= sum((power + drag * speed * speed * speed) * seconds / steps for _ in range(steps))
    return joules / 3600.0


def out_and_back(d: str, q: str) -> float:
    battery, reserve = numbers(r"# Wh of battery, of which the share # is", d)
    power, drag, speed = numbers(r"takes # W \+ # v\^3 .* air at # m/s", q)

    def used(km: float) -> float:
        return 2 * km * 1000.0 / speed * (power + drag * speed**3) / 3600.0

    return bisected(0.0, 1e6, lambda km: used(km) > battery * (1 - reserve))


def along_route(d: str, q: str) -> float:
    speed, last = numbers(r"to waypoint at # m/s\. .* waypoint #\?", q)
    route = points(d)
    legs = pairwise(route[: int(last) + 1])
    return sum(math.hypot(*(p - r for p, r in zip(a, b, strict=True))) / speed for a, b in legs)


def crabbing(d: str, q: str) -> float:
    wind, come_from = numbers(r"The wind is # m/s from # degrees", d)
    speed, end = (numbers(pattern, q)[0] for pattern in (r"at # m/s through", r"to waypoint # at"))
    a, b = points(d)[int(end) - 1 : int(end) + 1]
    course = math.atan2(b[0] - a[0], b[1] - a[1])  # clockwise from north
    blown = complex(-wind * math.sin(math.radians(come_from)), -wind * math.cos(math.radians(come_from)))
    track = complex(math.sin(course), math.cos(course))

    def ground(heading: float) -> complex:
        return complex(speed * math.sin(heading), speed * math.cos(heading)) + blown

    def side(heading: float) -> float:
        """Metres to the right of the course in a second."""
        return -(ground(heading) * track.conjugate()).imag

    heading = bisected(course - math.pi / 2, course + math.pi / 2, lambda angle: side(angle) > 0.0)
    return abs(complex(b[0] - a[0], b[1] - a[1])) / (ground(heading) * track.conjugate()).real


def nearest(d: str, q: str) -> tuple[float, float]:
    x, y, z, theirs, heading = numbers(r"a vehicle from \(#, #, #\) at # m/s towards # degrees", d)
    speed, target = numbers(r"start at # m/s straight towards waypoint # and", q)
    start, first = points(d)[0], points(d)[int(target)]
    whole = math.dist(start, first)

    def apart(t: float) -> float:
        own = [p + (r - p) * speed * t / whole for p, r in zip(start, first, strict=True)]
        turn = heading / 180 * math.pi
        return math.dist(own, (x + theirs * t * math.sin(turn), y + theirs * t * math.cos(turn), z))

    low, high = 0.0, 1e4
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if apart(a) < apart(b) else (a, high)
    return apart(low), low


SOLVERS: dict[str, Callable[[str, str], float]] = {
    "By momentum theory": hover,
    "straight against the mean wind": against_wind,
    "another one of": hold,
    "how many Wh are left": left,
    "how far out": out_and_back,
    "In still air the vehicle flies from": along_route,
    "heads so that it stays": crabbing,
    "least distance": lambda d, q: nearest(d, q)[0],
    "After how many seconds are the two": lambda d, q: nearest(d, q)[1],
}


def solve(item: Item) -> int:
    """The place of the option that the words lead to; the others must be off by 8 % or more."""
    [solver] = [solver for words, solver in SOLVERS.items() if words in item.question]
    value = solver(item.description, item.question)
    off = [abs(float(option.split()[0]) / value - 1.0) for option in item.options]
    ranked = sorted(range(7), key=lambda place: off[place])
    assert off[ranked[0]] < 0.006, (item.id, value, item.options)
    assert off[ranked[1]] > 0.08, (item.id, value, item.options)
    return ranked[0]


def test_a_second_solver_agrees_on_every_question(items: list[Item]) -> None:
    assert len(items) == 400
    assert [solve(item) for item in items] == [item.key for item in items]
    asked = Counter(words for item in items for words in SOLVERS if words in item.question)
    assert set(asked) == set(SOLVERS) and min(asked.values()) > 5


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_second_solver_agrees_on_two_thousand_questions() -> None:
    many = made(400, 2000, seed=1)
    assert len(many) == 2000
    assert [solve(item) for item in many] == [item.key for item in many]
    assert not gate(many)[0]


# --- What the options give away -----------------------------------------------------------------------------------


def test_the_gate_passes(items: list[Item]) -> None:
    findings, rows = gate(items)
    assert not findings
    assert {"longest", "blind-words", "constant"} <= set(rows)


def test_places_and_ranks_of_the_right_options_are_even(items: list[Item]) -> None:
    for style in TEMPLATES:
        own = [item for item in items if item.style == style]
        places = Counter(item.key for item in own)
        ranks = Counter(sorted(map(value, item.options)).index(value(item.options[item.key])) for item in own)
        for counts in (places, ranks):
            assert max(counts.values()) - min(counts[i] for i in range(7)) <= 1


def value(option: str) -> float:
    return float(option.split()[0])


def test_the_spacing_of_the_options_does_not_point_to_the_right_one(items: list[Item]) -> None:
    """Picking the option that is most, or least, like a rung of an even ladder is right as often as chance."""
    right = {"most": 0, "least": 0}
    inner = 0
    for item in items:
        logs = sorted((math.log(value(option)), place) for place, option in enumerate(item.options))
        off = {logs[i][1]: abs(logs[i - 1][0] + logs[i + 1][0] - 2 * logs[i][0]) for i in range(1, 6)}
        if item.key in off:
            inner += 1
            right["most"] += min(off, key=lambda place: off[place]) == item.key
            right["least"] += max(off, key=lambda place: off[place]) == item.key
    for count in right.values():
        assert abs(count / inner - 0.2) < 4.0 * math.sqrt(0.2 * 0.8 / inner)


def test_wrong_options_come_from_named_mistakes(items: list[Item]) -> None:
    reasons = Counter(why for item in items for why in (item.solution or {})["why_not"].values())
    assert len(reasons) > 30
    chance = reasons["no step of the calculation gives this number"]
    assert 0.1 < 1.0 - chance / sum(reasons.values())
    for item in items:
        assert len((item.solution or {})["why_not"]) == 6


def test_all_options_have_one_form(items: list[Item]) -> None:
    for item in items:
        assert len({option.split()[1] for option in item.options}) == 1
        assert all(len(option.split()[0].replace(".", "").lstrip("0").rstrip("0")) <= 3 for option in item.options)


@pytest.mark.parametrize(
    ("number", "text"),
    [(9.996, "10.0"), (1234.5, "1230"), (0.012345, "0.0123"), (99.96, "100"), (1.0, "1.00"), (123.4, "123")],
)
def test_three_digits(number: float, text: str) -> None:
    assert three_digits(number) == text


# --- The verb -----------------------------------------------------------------------------------------------------


def test_the_same_seed_makes_the_same_questions() -> None:
    assert digest(made(30, 80)) == digest(made(30, 80))
    assert digest(made(30, 80, seed=1)) != digest(made(30, 80))


@pytest.mark.parametrize("points", [1, 2])
def test_a_route_that_leads_nowhere_makes_no_question(points: int) -> None:
    """The released files have such routes."""
    start = [10.0, 10.0, 30.0]
    scene = Scene(patched(varied(1).data, {"/spawn/xyz": start, "/mission/waypoints": [start] * points}))
    items = make_items([("nowhere", scene)], 40, 0)
    assert not any("waypoint" in item.question for item in items)


def test_the_verb_writes_what_it_reads_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    for wind in range(1, 13):
        changed = {"/name": f"mission_{wind}", "/environment/weather/wind_mps": wind / 4}
        changed |= {"/spawn/xyz": [60 + wind, 200, 20]}
        changed |= {"/traffic/0/spawn": [400, 20, 60], "/traffic/0/heading_deg": 270 + wind}
        scenario = patched(example("bridge_inspection_rain"), changed)
        (folder / f"{wind}.json").write_text(json.dumps(scenario))
    (folder / "broken.json").write_text("{}")
    out = tmp_path / "q.jsonl"
    assert main(["mcq", "make", str(folder), "--out", str(out), "--count", "80"]) == 0
    printed = capsys.readouterr().out
    assert "1 scenarios with errors left out" in printed and "80 questions of 12 scenarios" in printed
    reading = read_items([out])
    assert len(reading.items) == 80 and not reading.findings
    assert main(["mcq", "check", str(out)]) == 0


def test_scenarios_without_traffic_give_fewer_questions_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = example("bridge_inspection_rain")
    del data["traffic"]
    (tmp_path / "a.json").write_text(json.dumps(data))
    assert main(["mcq", "make", str(tmp_path / "a.json"), "--out", str(tmp_path / "q.jsonl"), "--count", "40"]) == 0
    assert "only 0 of style Multi-Agent Coordination Reasoning" in capsys.readouterr().out
    (tmp_path / "a.json").write_text("{}")
    assert main(["mcq", "make", str(tmp_path / "a.json"), "--out", str(tmp_path / "q.jsonl")]) == 2
    told = capsys.readouterr().err
    assert "a.json, /" in told and "[S1]" in told and told.count("\n") == 1, "the first error, not a shortage"
