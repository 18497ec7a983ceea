"""Judges by name, and a result's clue score under another judge."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.scoring import metrics
from esar_ros.scoring.judge import Judge, Judgement, LabelJudge, OfflineJudge, Pair
from esar_ros.scoring.judge_llm import LlmJudge
from esar_ros.scoring.result import Result
from esar_ros.scoring.truth import End

NAMES = ("offline", "label", "llm")


def make_judge(name: str) -> Judge:
    """A judge by name; llm takes its endpoint from the environment. Raises UsageError."""
    if name == "offline":
        return OfflineJudge()
    if name == "label":
        return LabelJudge()
    if name == "llm":
        return LlmJudge.from_environment()
    raise UsageError(f"unknown judge '{name}'", suggest(name, NAMES))


def clue_score_under(result: Result, judge: Judge) -> tuple[float, Judgement]:
    """Returns a flown mission's CDS had this judge read its reports, and its judgement; computed from the result
    alone."""
    gate = result.thresholds.error_threshold
    reports = [
        report
        for report in result.reports
        if report.type == "clue" and report.position is not None and report.verdict != "over_cap"
    ]
    places = np.array([report.position for report in reports], dtype=np.float64).reshape(-1, 3)
    clues = np.array([clue.position for clue in result.clues], dtype=np.float64).reshape(-1, 3)
    near = np.argwhere(metrics.distances(places, clues) < gate)
    judgement = judge.decide(
        [
            Pair(reports[i].text, reports[i].kind, result.clues[j].description, result.clues[j].kind)
            for i, j in near.tolist()
        ]
    )
    if result.end is End.ERROR:
        return 0.0, judgement
    allowed = np.zeros((len(reports), len(result.clues)), dtype=bool)
    for (i, j), meant in zip(near.tolist(), judgement.answers, strict=True):
        allowed[i, j] = meant
    located = len(metrics.assign_gated(places, clues, gate))
    exact = len(metrics.assign_gated(places, clues, gate, allowed=allowed))
    return metrics.clue_score(located, exact, len(result.clues), result.thresholds), judgement
