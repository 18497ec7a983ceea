"""The scoring against the metrics written a second time from the paper's text (paper_metrics.py): equal, not nearly."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import ClueKind
from esar_ros.mission.decision import ReportType
from esar_ros.scoring import metrics
from esar_ros.scoring.findings import Claim, Claims
from esar_ros.scoring.judge import LabelJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.record.rows import ReportRow
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import TrueClue, TrueVictim, Truth
from helpers.full import mostly_full

KINDS = [kind.value for kind in ClueKind]
Place = tuple[float, float, float]


def _load_paper() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper_metrics", Path(__file__).with_name("paper_metrics.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


paper = _load_paper()


def places(points: list[list[float]]) -> list[Place]:
    return [(float(x), float(y), float(z)) for x, y, z in points]


def scene(base: Truth, victims: list[Place], clues: list[Place]) -> Truth:
    return base.model_copy(
        update={
            "victims": tuple(
                TrueVictim.model_construct(id=f"v{i}", name="Wu", pose="lying", position=p)
                for i, p in enumerate(victims)
            ),
            "clues": tuple(
                TrueClue.model_construct(id=f"c{i}", kind=KINDS[i], description=KINDS[i], position=p)
                for i, p in enumerate(clues)
            ),
        }
    )


def claims(persons: list[Place], things: list[Place], means: list[list[bool]], clues: int) -> Claims:
    """Claims as a mission makes them, clue reports first; means: what the judge says of each clue report."""
    reports = [(ReportType.CLUE, p) for p in things] + [(ReportType.VICTIM, p) for p in persons]
    rows = tuple(
        Claim("uav1", ReportRow(i, i, kind, "tent", "tent", 0.5, *place, "map"), np.array(place), False)
        for i, (kind, place) in enumerate(reports)
    )
    meanings = np.zeros((len(rows), clues), dtype=bool)
    meanings[: len(things)] = np.array(means, dtype=bool).reshape(len(things), clues)
    return Claims(rows, meanings)


def ours(
    truth: Truth, made: Claims, gate: float, safe: bool, time: float, t_max: float
) -> tuple[float, float, float, float]:
    found = made.matched(truth, gate)
    sr = metrics.share(len(found.victims_found), len(truth.victims))
    cds = metrics.clue_score(len(found.clues_located), len(found.clues_exact), len(truth.clues), truth.thresholds)
    tsr = metrics.time_weighted_success(sr, time, t_max)
    return sr, tsr, cds, metrics.rescue_score(safe, sr, cds, time, t_max, truth.thresholds)


def theirs(
    victims: list[Place],
    clues: list[Place],
    persons: list[Place],
    things: list[Place],
    means: list[list[bool]],
    gate: float,
    safe: bool,
    time: float,
    t_max: float,
) -> tuple[float, ...]:
    sr = paper.success_rate(persons, victims, gate)
    cds = paper.clue_discovery([("", p) for p in things], [("", p) for p in clues], gate, means)
    return sr, paper.time_weighted(sr, time, t_max), cds, paper.rescue_score(safe, sr, cds, time, t_max)


@pytest.mark.parametrize("cases", mostly_full([1_000, 10_000]))
def test_random_cases_are_equal_to_the_last_bit(make_truth: Callable[..., Truth], cases: int) -> None:
    """Half of the cases lie on a grid of whole metres or on a line, where distances of exactly E and ties occur."""
    rng = np.random.default_rng(20)
    base = make_truth()
    seen: dict[float, int] = {}

    def places(most: int, least: int, kind: int) -> list[Place]:
        size = (int(rng.integers(least, most + 1)), 3)
        scale = (None, [2, 2, 1], None, [4, 0, 0])[kind]
        drawn = rng.uniform(0.0, 30.0, size) if scale is None else rng.integers(0, 13, size) * scale
        return [(float(x), float(y), float(z)) for x, y, z in drawn]

    for case in range(cases):
        kind = case % 4
        victims, clues = places(3, 1, kind), places(4, 1, kind)
        persons, things = places(5, 0, kind), places(4, 0, kind)
        means = [[bool(rng.random() < 0.5) for _ in clues] for _ in things]
        gate = float(rng.choice([5.0, 10.0, 20.0]))
        t_max = float(rng.choice([900.0, 1800.0]))
        time, safe = float(rng.uniform(0.0, 1.1 * t_max)), bool(rng.random() < 0.5)
        mine = ours(scene(base, victims, clues), claims(persons, things, means, len(clues)), gate, safe, time, t_max)
        other = theirs(victims, clues, persons, things, means, gate, safe, time, t_max)
        assert mine == other, (case, victims, clues, persons, things, means, gate)
        seen[mine[0]] = seen.get(mine[0], 0) + 1
    assert len(seen) >= 4 and min(seen[0.0], seen[1.0]) > cases // 20  # the cases do not all say the same


def test_whole_missions_score_as_the_paper_says(
    make_truth: Callable[..., Truth], flown: EpisodeRecord, fakes: Any
) -> None:
    """From messages to the result, at every threshold: what a person reads is what the paper computes."""
    rng = np.random.default_rng(4)
    for _ in range(40):

        def places(most: int, least: int = 0) -> list[Place]:
            size = (int(rng.integers(least, most + 1)), 3)
            return [(float(x), float(y), float(z)) for x, y, z in rng.uniform(0.0, 30.0, size)]

        victims, clues, persons, things = places(3, 1), places(4, 1), places(5), places(4)
        kinds, said = rng.permutation(KINDS)[: len(clues)].tolist(), rng.choice(KINDS, len(things)).tolist()
        end = float(np.round(rng.uniform(20.0, 300.0), 3))
        record = EpisodeRecord()
        for topic in ("odometry", "safety/status", "vehicle_state", "battery"):
            for row in flown.rows("uav1", topic):
                record.take("uav1", topic, row)
        for i, (kind, at) in enumerate([*zip(said, things, strict=True), *(("person", at) for at in persons)]):
            record.add("uav1", "reports", fakes.report(1.0 + i, i + 1, kind, at))
        truth = make_truth(victims, list(zip(kinds, clues, strict=True)), end=end)
        result = score(record, truth, LabelJudge())
        means = [[report == clue for clue in kinds] for report in said]
        assert result.metrics.safe
        for gate, scores in ((10.0, result.metrics), *((float(g), s) for g, s in result.metrics.sensitivity.items())):
            mine = (scores.sr, scores.tsr, scores.cds, scores.rs)
            assert mine == theirs(victims, clues, persons, things, means, gate, True, end, truth.task.t_max)


# --- Golden cases ---------------------------------------------------------------------------------------------------

GOLDEN = json.loads(Path(__file__).with_name("golden_metrics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_golden_cases(case: dict[str, Any], make_truth: Callable[..., Truth]) -> None:
    clues = places(case["clues"])
    truth = scene(make_truth(), places(case["victims"]), clues)
    made = claims(places(case["victim_reports"]), places(case["clue_reports"]), case["means"], len(clues))
    time, t_max, safe = case["time"], case["t_max"], case["safe"]
    for gate, expected in case["expected"].items():
        sr, tsr, cds, rs = ours(truth, made, float(gate), safe, time, t_max)
        found = made.matched(truth, float(gate))
        assert {
            "sr": sr,
            "sr_gated_first": metrics.share(found.victims_gated_first, len(truth.victims)),
            "tsr": pytest.approx(tsr, abs=1e-12),
            "cds": cds,
            "rs": pytest.approx(rs, abs=1e-12),
        } == expected, gate


def test_the_golden_file_holds_an_added_wrong_report_that_raises_and_one_that_lowers() -> None:
    cases = {case["name"]: case for case in GOLDEN["cases"]}
    for added, before, sign in (
        ("wrong report raises", "raise: before", 1),
        ("wrong report lowers", "lower: before", -1),
    ):
        assert cases[added]["victim_reports"][:-1] == cases[before]["victim_reports"]
        assert cases[added]["victims"] == cases[before]["victims"]
        wrong = cases[added]["victim_reports"][-1]
        assert all(paper.distance(wrong, victim) >= 10.0 for victim in cases[added]["victims"])
        change = cases[added]["expected"]["10"]["sr"] - cases[before]["expected"]["10"]["sr"]
        assert change * sign > 0
        same = cases[added]["expected"]["10"]["sr_gated_first"] - cases[before]["expected"]["10"]["sr_gated_first"]
        assert same == 0


def test_one_report_for_a_camp_is_where_the_benchmark_is_stricter_than_appendix_d() -> None:
    """To the letter, one report locates every clue around it; here each report serves one clue."""
    camp = [(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 3.0, 0.0)]
    report = (1.0, 1.0, 0.0)
    assert paper.clues_located_literally([report], camp, 10.0) == 3
    assert paper.clue_discovery([("tent", report)], [("", p) for p in camp], 10.0, [[True] * 3]) == pytest.approx(1 / 3)
    assert len(metrics.assign_gated([report], camp, 10.0)) == 1


# --- Properties of the whole score ----------------------------------------------------------------------------------

coordinate = st.one_of(st.integers(-15, 15).map(float), st.floats(-40.0, 40.0))
place = st.tuples(coordinate, coordinate, coordinate)


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    clues = draw(st.lists(place, min_size=1, max_size=4))
    things = draw(st.lists(place, max_size=5))
    row = st.lists(st.booleans(), min_size=len(clues), max_size=len(clues))
    return {
        "victims": draw(st.lists(place, min_size=1, max_size=4)),
        "clues": clues,
        "persons": draw(st.lists(place, max_size=6)),
        "things": things,
        "means": [draw(row) for _ in things],
    }


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), situations(), st.sampled_from([5.0, 10.0, 20.0]))
def test_no_order_of_reports_or_truths_changes_a_score(
    make_truth: Callable[..., Truth], data: st.DataObject, s: dict[str, Any], gate: float
) -> None:
    base = make_truth()
    before = ours(
        scene(base, s["victims"], s["clues"]),
        claims(s["persons"], s["things"], s["means"], len(s["clues"])),
        gate,
        True,
        100.0,
        900.0,
    )
    columns = data.draw(st.permutations(range(len(s["clues"]))))
    rows = data.draw(st.permutations(range(len(s["things"]))))
    after = ours(
        scene(base, data.draw(st.permutations(s["victims"])), [s["clues"][c] for c in columns]),
        claims(
            data.draw(st.permutations(s["persons"])),
            [s["things"][r] for r in rows],
            [[s["means"][r][c] for c in columns] for r in rows],
            len(columns),
        ),
        gate,
        True,
        100.0,
        900.0,
    )
    assert before == after


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(situations(), st.floats(0.0, 2000.0), st.booleans())
def test_scores_stay_in_their_bounds_and_grow_with_the_threshold(
    make_truth: Callable[..., Truth], s: dict[str, Any], time: float, safe: bool
) -> None:
    truth = scene(make_truth(), s["victims"], s["clues"])
    made = claims(s["persons"], s["things"], s["means"], len(s["clues"]))
    last = (0.0, 0.0, 0.0, 0.0)
    for gate in (5.0, 10.0, 20.0):
        scores = ours(truth, made, gate, safe, time, 900.0)
        sr, tsr, cds, rs = scores
        assert 0.0 <= tsr <= sr <= 1.0
        assert 0.0 <= cds <= 1.0
        assert 0.1 * safe <= rs <= 1.0 + 1e-12
        found = made.matched(truth, gate)
        assert len(found.clues_exact) <= len(found.clues_located)
        assert len(found.victims_found) <= found.victims_gated_first
        # Clues can only be gained by a wider gate. Victims too: the assignment does not depend on it, ties apart.
        assert cds >= last[2] and sr >= last[0]
        last = scores
