"""A result's clue score under another judge, from the result alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from esar_ros.scoring.judge import LabelJudge, OfflineJudge
from esar_ros.scoring.judges import clue_score_under
from esar_ros.scoring.record.episode import EpisodeRecord
from esar_ros.scoring.score import score
from esar_ros.scoring.truth import End, Truth

CLUES = [("tent", (40.0, 0.0, 0.0)), ("backpack", (80.0, 0.0, 0.0))]


@pytest.fixture
def reported(flown: EpisodeRecord, fakes: Any) -> EpisodeRecord:
    """A tent called a shelter by its label, and a backpack labelled so but described as a boulder."""
    flown.add("uav1", "reports", fakes.report(10.0, 1, "clothing", (41.0, 0.0, 0.0), "camping shelter"))
    flown.add("uav1", "reports", fakes.report(20.0, 2, "backpack", (81.0, 0.0, 0.0), "a boulder"))
    flown.add("uav1", "reports", fakes.report(30.0, 3, "person", (81.0, 0.0, 0.0), "backpack"))
    flown.add("uav1", "reports", fakes.report(40.0, 4, "tent", (140.0, 0.0, 0.0), "tent"))
    return flown


def test_label_and_words_may_say_different_things(reported: EpisodeRecord, make_truth: Callable[..., Truth]) -> None:
    result = score(reported, make_truth(clues=CLUES), OfflineJudge())
    assert result.judge == "offline/2" and result.judge_details == {}
    by_words, said = clue_score_under(result, OfflineJudge())
    assert by_words == result.metrics.cds == 0.5 * 2 / 2 + 0.5 * 1 / 2
    assert said.judge == "offline/2" and said.answers == (True, False)
    by_label, said = clue_score_under(result, LabelJudge())
    assert by_label == 0.5 * 2 / 2 + 0.5 * 1 / 2
    assert said.answers == (False, True)
    assert score(reported, make_truth(clues=CLUES), LabelJudge()).metrics.cds == by_label


def test_a_failed_run_scores_nothing_under_any_judge(reported: EpisodeRecord, make_truth: Callable[..., Truth]) -> None:
    result = score(reported, make_truth(clues=CLUES, end_reason=End.ERROR), OfflineJudge())
    assert clue_score_under(result, LabelJudge())[0] == result.metrics.cds == 0.0


def test_reports_over_the_cap_do_not_count(reported: EpisodeRecord, make_truth: Callable[..., Truth]) -> None:
    truth = make_truth(clues=CLUES)
    capped = truth.model_copy(update={"thresholds": truth.thresholds.model_copy(update={"report_cap": 1})})
    result = score(reported, capped, OfflineJudge())
    assert clue_score_under(result, OfflineJudge())[0] == result.metrics.cds == 0.5 * 1 / 2 + 0.5 * 1 / 2
