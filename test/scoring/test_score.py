"""A whole mission scored: who is found, what counts, what does not, and that arrival order never matters."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from esar_ros.mission.decision import DecisionStatus
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring.judge import OfflineJudge
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.result import Result, canonical_json, parse_result, write_atomically
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Truth

JUDGE = OfflineJudge()
RESERVE = load_thresholds().reserve_battery
Make = Callable[..., Truth]


def scored(record: EpisodeRecord, truth: Truth) -> Result:
    return score(record, truth, JUDGE)


def test_a_mission_by_hand(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(40.0, 1, "tent", (43.0, 4.0, 0.0), "orange tent"))
    flown.add("uav1", "reports", fakes.report(90.0, 2, "person", (100.0, 6.0, 0.0), "person lying"))
    flown.add("uav1", "reports", fakes.report(95.0, 3, "person", (200.0, 0.0, 0.0), "person"))
    result = scored(flown, make_truth(clues=[("tent", (40.0, 0.0, 0.0)), ("rope", (60.0, 0.0, 0.0))], end=150.0))
    m = result.metrics
    assert (m.sr, m.victims_found, m.clues_located, m.clues_exact) == (1.0, 1, 1, 1)
    assert m.cds == pytest.approx(0.5)
    assert m.tsr == pytest.approx(0.5)
    assert m.rs == pytest.approx(0.1 + 1.0 * (0.3 + 0.3 * 0.5) + 0.3 * 0.5)
    assert m.rs_without_safety == pytest.approx(m.rs - 0.1)
    assert (m.reports, m.false_reports, m.precision) == (3, 1, pytest.approx(2 / 3))
    assert m.path_length == pytest.approx(150.0)
    assert m.min_clearance == 15.0
    assert [r.verdict for r in result.reports] == ["exact", "found", "false"]
    assert result.victims[0].distance == pytest.approx(6.0)
    assert result.victims[0].closest_approach == pytest.approx(20.0)
    assert result.clues[0].report == 0
    assert not result.clues[1].located
    assert set(m.sensitivity) == {"5", "20"}
    assert m.sensitivity["5"].sr == 0.0


def test_a_method_that_never_stops_pays_for_it_in_tsr(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(90.0, 1, "person", (100.0, 6.0, 0.0), "person"))
    stopped = scored(flown, make_truth(end=150.0, end_reason=End.STOP)).metrics
    left = scored(flown, make_truth()).metrics  # Tmax ends it at 300 s
    assert (stopped.sr, stopped.tsr) == (1.0, pytest.approx(0.5))
    assert (left.sr, left.tsr) == (1.0, 0.0) and left.rs < stopped.rs


def test_why_the_model_was_done_without_is_counted_up_to_the_end(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    for seq, trouble in enumerate(("", "HTTP 500", "the model refused", "HTTP 500", "HTTP 500"), 1):
        flown.add("uav1", "planner/decision", fakes.decision(35.0 * seq, seq, trouble=trouble))
    result = scored(flown, make_truth(end=150.0))
    assert result.planner_troubles == {"HTTP 500": 2, "the model refused": 1}
    assert (result.trouble, result.eligible) == ("0 of 3 answers of the model could be used: HTTP 500 (2 times)", False)
    assert result.ineligible_reasons == ("no answer of the model could be used",)


def test_an_answer_that_was_used_lets_a_flight_compete_and_what_was_not_is_told(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    for seq, (trouble, tokens) in enumerate((("", 40), ("HTTP 500", 0), ("partly: cut", 9), ("", 0)), 1):
        said = fakes.decision(30.0 * seq, seq, trouble=trouble)
        said.tokens_out = tokens
        flown.add("uav1", "planner/decision", said)
    result = scored(flown, make_truth(end=150.0))
    assert result.trouble == "2 of 3 answers of the model could be used: HTTP 500 (1 times)"
    assert (result.timing.asked, result.timing.decisions) == (3, 4)
    assert "no answer of the model could be used" not in result.ineligible_reasons


def test_the_error_of_a_method_is_no_trouble_with_a_model(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    failed = fakes.decision(35.0, 1, trouble="KeyError: 'x' (mine.py, line 3)")
    failed.status = DecisionStatus.FAILED
    flown.add("uav1", "planner/decision", failed)
    result = scored(flown, make_truth(end=150.0))
    assert (result.planner_troubles, result.trouble) == ({}, "")


def test_a_bag_whose_decisions_hold_no_troubles_is_read(flown: Any, fakes: Any, make_truth: Make) -> None:
    decision = fakes.decision(35.0, 1)
    del decision.trouble
    flown.add("uav1", "planner/decision", decision)
    assert scored(flown, make_truth(end=150.0)).planner_troubles == {}


def test_arrival_order_and_repetition_do_not_change_a_byte(fakes: Any, make_truth: Make) -> None:
    messages = [("odometry", fakes.odometry(t / 10, t / 10, math.sin(t))) for t in range(500)]
    messages += [("safety/status", fakes.safety(t / 10, 1 + t % 3, t % 9, clearance=t * 0.1)) for t in range(500)]
    messages += [("reports", fakes.report(t, t + 1, "tent", (38.0 + t, 0.0, 0.0))) for t in range(5)]
    # One step answered twice with different content, one report sent twice with different words.
    messages += [("safety/status", fakes.safety(7.0, 3, 8, clearance=0.5))]
    messages += [("reports", fakes.report(3.5, 2, "tent", (39.0, 0.0, 0.0), "a tent again"))]
    truth = make_truth(end=45.0)
    texts = set()
    for seed in range(4):
        order = messages + random.Random(seed).sample(messages, 200)
        random.Random(seed).shuffle(order)
        record = EpisodeRecord()
        for topic, message in order:
            record.add("uav1", topic, message)
        texts.add(scored(record, truth).dump())
    assert len(texts) == 1


def test_a_repeated_report_number_is_one_report(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(41.0, 1, "person", (300.0, 0.0, 0.0)))
    flown.add("uav1", "reports", fakes.report(40.0, 1, "person", (100.0, 0.0, 0.0)))
    result = scored(flown, make_truth())
    assert [r.verdict for r in result.reports] == ["found"]


def test_reports_of_a_crash_stamp_and_later_do_not_count(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "collision", fakes.collision(50.0))
    flown.add("uav1", "reports", fakes.report(49.0, 1, "tent", (40.0, 0.0, 0.0)))
    flown.add("uav1", "reports", fakes.report(50.0, 2, "person", (100.0, 0.0, 0.0)))
    result = scored(flown, make_truth(end=50.0, end_reason=End.COLLISION))
    assert len(result.reports) == 1
    assert (result.metrics.sr, result.metrics.clues_located) == (0.0, 1)
    assert result.metrics.crashed
    assert not result.metrics.safe
    assert result.metrics.safe_flight_distance == pytest.approx(50.0)


def test_reports_before_the_start_do_not_count(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(-1.0, 1, "person", (100.0, 0.0, 0.0)))
    flown.add("uav1", "reports", fakes.report(0.0, 2, "tent", (40.0, 0.0, 0.0)))
    metrics = scored(flown, make_truth()).metrics
    assert (metrics.reports, metrics.sr, metrics.clues_located) == (1, 0.0, 1)


def test_an_end_after_the_time_allowed_counts_as_its_end(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    metrics = scored(flown, make_truth(end=330.0)).metrics
    assert (metrics.elapsed, metrics.efficiency) == (300.0, 0.0)


def test_reports_with_the_stop_itself_count(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(50.0, 1, "person", (100.0, 0.0, 0.0)))
    assert scored(flown, make_truth(end=50.0, end_reason=End.STOP)).metrics.sr == 1.0


def test_a_report_takes_effect_with_its_decision(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "decision", fakes.decision(48.0, 1))  # not a topic: ignored
    flown.add("uav1", "planner/decision", fakes.decision(48.0, 1, effective=55.0))
    flown.add("uav1", "reports", fakes.report(48.0, 1, "person", (100.0, 0.0, 0.0)))
    assert scored(flown, make_truth(end=50.0)).metrics.reports == 0
    assert scored(flown, make_truth(end=60.0)).metrics.sr == 1.0


def test_the_cap_ignores_later_reports_and_counts_them(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    truth = make_truth()
    truth = truth.model_copy(update={"thresholds": truth.thresholds.model_copy(update={"report_cap": 3})})
    for i in range(5):
        flown.add("uav1", "reports", fakes.report(10.0 + i, i + 1, "person", (100.0 * (i == 4), 50.0, 0.0)))
    flown.add("uav1", "reports", fakes.report(100.0, 6, "person", (100.0, 0.0, 0.0)))
    result = scored(flown, truth)
    assert (result.metrics.reports_over_cap, result.metrics.reports_scored) == (3, 3)
    assert result.metrics.sr == 0.0
    assert result.reports[-1].verdict == "over_cap"


@pytest.mark.parametrize("bad", [(math.nan, 0.0, 0.0), (math.inf, 0.0, 0.0), (1e300, 0.0, 0.0), (0.0, -1e300, 0.0)])
def test_a_report_of_no_place_is_false_and_harms_nothing(
    flown: EpisodeRecord, fakes: Any, make_truth: Make, bad: Any
) -> None:
    flown.add("uav1", "reports", fakes.report(10.0, 1, "person", bad))
    flown.add("uav1", "reports", fakes.report(20.0, 2, "person", (100.0, 0.0, 0.0)))
    result = scored(flown, make_truth())
    assert result.metrics.sr == 1.0
    assert result.reports[0].verdict == "false"
    assert result.reports[0].position is None
    parse_result(result.dump(), "here")


def test_reports_in_the_vehicles_own_frame_are_moved_and_unknown_frames_match_nothing(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    truth = make_truth()
    truth = truth.model_copy(
        update={"vehicles": {"uav1": truth.vehicles["uav1"].model_copy(update={"odom_in_map": (30.0, 0.0, 0.0)})}}
    )
    flown.add("uav1", "reports", fakes.report(10.0, 1, "person", (70.0, 0.0, 0.0), frame="uav1/odom"))
    flown.add("uav1", "reports", fakes.report(11.0, 2, "tent", (40.0, 0.0, 0.0), frame="world"))
    result = scored(flown, truth)
    assert result.reports[0].position == (100.0, 0.0, 0.0)
    assert result.metrics.sr == 1.0
    assert result.metrics.clues_located == 0
    assert result.victims[0].closest_approach == pytest.approx(20.0)


def test_swapped_wordings_score_the_place_and_not_the_word(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(10.0, 1, "rope", (40.0, 0.0, 0.0)))
    result = scored(flown, make_truth())
    assert (result.metrics.clues_located, result.metrics.clues_exact) == (1, 0)
    assert result.reports[0].verdict == "located"


def test_a_good_report_that_the_assignment_gave_away_is_told_as_lost(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    victims = [(0.0, 0.0, 0.0), (100.0, 0.0, 0.0)]
    flown.add("uav1", "reports", fakes.report(10.0, 1, "person", (5.0, 0.0, 0.0)))
    flown.add("uav1", "reports", fakes.report(11.0, 2, "person", (-20.0, 0.0, 0.0)))
    result = scored(flown, make_truth(victims=victims))
    assert (result.metrics.sr, result.metrics.sr_gated_first) == (0.0, 0.5)
    assert [r.verdict for r in result.reports] == ["lost", "false"]
    assert not result.victims[0].found
    assert result.victims[0].nearest_report == pytest.approx(5.0)


def test_a_second_report_of_a_found_victim_is_a_duplicate(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    for i, x in enumerate((100.0, 101.0)):
        flown.add("uav1", "reports", fakes.report(10.0 + i, i + 1, "person", (x, 0.0, 0.0)))
    result = scored(flown, make_truth())
    assert [r.verdict for r in result.reports] == ["found", "duplicate"]
    assert (result.metrics.duplicate_reports, result.metrics.false_reports) == (1, 0)


def test_an_exact_clue_is_always_a_located_one(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    # Report 1 is nearer to the rope, but only means the tent; one more report is near the tent alone.
    clues = [("tent", (40.0, 0.0, 0.0)), ("rope", (46.0, 0.0, 0.0))]
    flown.add("uav1", "reports", fakes.report(10.0, 1, "tent", (45.0, 0.0, 0.0)))
    result = scored(flown, make_truth(clues=clues))
    assert result.clues[0].exact
    assert result.clues[0].located
    assert not result.clues[1].located
    flown.add("uav1", "reports", fakes.report(11.0, 2, "footprints", (34.0, 0.0, 0.0)))
    result = scored(flown, make_truth(clues=clues))
    assert (result.metrics.clues_located, result.metrics.clues_exact) == (2, 1)


def test_a_failed_run_scores_nothing_and_keeps_its_reason(flown: EpisodeRecord, fakes: Any, make_truth: Make) -> None:
    flown.add("uav1", "reports", fakes.report(40.0, 1, "person", (100.0, 0.0, 0.0)))
    result = scored(flown, make_truth(end=100.0, end_reason=End.ERROR, end_text="planner raised ValueError"))
    assert (result.metrics.sr, result.metrics.rs, result.metrics.safe) == (0.0, 0.0, False)
    assert result.error == "planner raised ValueError"


@pytest.mark.parametrize(
    ("landed", "charge", "safe"),
    [(2, 0.6, True), (2, RESERVE, True), (2, RESERVE - 0.01, False), (2, None, False), (1, None, True)],
)
def test_the_end_is_safe_on_the_ground_or_with_reserve(
    fakes: Any, make_truth: Make, landed: int, charge: float | None, safe: bool
) -> None:
    record = EpisodeRecord()
    record.add("uav1", "vehicle_state", fakes.state(299.0, landed))
    if charge is not None:
        record.add("uav1", "battery", fakes.battery(299.0, charge))
    assert scored(record, make_truth()).metrics.safe is safe


def test_a_breach_is_unsafe_and_touching_the_ground_when_landed_is_not(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    flown.add("uav1", "vehicle_state", fakes.state(-1.0, 1))
    flown.add("uav1", "vehicle_state", fakes.state(0.0, 1))
    flown.add("uav1", "collision", fakes.collision(0.05))
    assert scored(flown, make_truth()).metrics.safe
    flown.add("uav1", "safety/status", fakes.safety(20.5, 5, 19, breach=True))
    result = scored(flown, make_truth())
    assert not result.metrics.safe
    assert result.metrics.safe_flight_distance == pytest.approx(20.0)


@pytest.mark.parametrize(("landed", "nearest", "lowest"), [(1, 6.0, 8.0), (2, 0.4, 0.5)])
def test_clearance_leaves_out_take_off_and_landing_but_no_low_flight(
    fakes: Any, make_truth: Make, landed: int, nearest: float, lowest: float
) -> None:
    record = EpisodeRecord()
    # Up, along, and down to the ground: the end of a landing, or of a flight that went too low.
    flight = [(0.0, 0.3, 0.2), (1.0, 2.0, 1.0), (2.0, 12.0, 9.0), (3.0, 8.0, 6.0), (4.0, 0.5, 0.4)]
    for t, height, clearance in flight:
        record.add("uav1", "safety/status", fakes.safety(t, clearance=clearance, height=height))
    record.add("uav1", "vehicle_state", fakes.state(0.5, landed=2))
    record.add("uav1", "vehicle_state", fakes.state(4.5, landed=landed))
    safety = scored(record, make_truth()).safety
    assert (safety.min_clearance, safety.min_height) == (nearest, lowest)


def test_interventions_are_counted_by_reason_and_not_on_the_ground(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    for t, reason in ((20.1, 8), (20.2, 8), (20.3, 5), (20.4, 18)):
        flown.add("uav1", "safety/status", fakes.safety(t, 3, reason))
    result = scored(flown, make_truth())
    assert result.safety.interventions == {"fence": 1, "obstacle": 2}
    assert result.metrics.interventions == 3
    assert sum(result.safety.modes.values()) == pytest.approx(1.0)


def test_a_detector_that_used_ground_truth_makes_the_run_ineligible(
    flown: EpisodeRecord, fakes: Any, make_truth: Make
) -> None:
    flown.add("uav1", "clues", fakes.clues(5.0, eligible=False))
    result = scored(flown, make_truth())
    assert not result.eligible
    assert result.ineligible_reasons == ("detector segmentation_oracle uses ground truth",)


def limits_told(**limits: float) -> SimpleNamespace:
    """safety/limits, as far as it is read."""
    told = [SimpleNamespace(name=f"limits.{k}", value=SimpleNamespace(double_value=v)) for k, v in limits.items()]
    return SimpleNamespace(new_parameters=told)


def test_other_safety_limits_than_the_benchmarks_make_the_run_ineligible(
    flown: EpisodeRecord, make_truth: Make
) -> None:
    for _ in range(2):  # a governor that is started again says it again
        flown.add("uav1", "safety/limits", limits_told(speed_horizontal=3.5))
    result = scored(flown, make_truth())
    assert result.ineligible_reasons == ('safety limits differ: {"speed_horizontal": 3.5}',)
    assert not result.eligible


def test_an_empty_record_scores_without_nan(make_truth: Make) -> None:
    document = json.loads(scored(EpisodeRecord(), make_truth()).dump())
    assert document["metrics"]["rs"] == 0.0
    assert document["metrics"]["min_clearance"] is None


def test_canonical_json_sorts_rounds_and_refuses_nan() -> None:
    assert canonical_json({"b": 0.1 + 0.2, "a": [-0.0000000001]}) == '{\n  "a": [\n    0.0\n  ],\n  "b": 0.3\n}\n'
    with pytest.raises(ValueError):
        canonical_json({"a": math.nan})


def test_a_written_file_replaces_the_old_one_at_once(tmp_path: Path) -> None:
    target = tmp_path / "out" / "result.json"
    write_atomically(target, "one")
    write_atomically(target, "two")
    assert target.read_text() == "two"
    assert [p.name for p in target.parent.iterdir()] == ["result.json"]


def test_no_permission_is_one_clear_line(tmp_path: Path) -> None:
    from esar_ros.mission.errors import UsageError

    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*result\.json"):
        write_atomically(blocker / "result.json", "x")
