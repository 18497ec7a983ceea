"""The offline judge against pairs that were labelled twice; the figures that the docs state."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from esar_ros.mission.clues import ClueKind
from esar_ros.scoring.judge import OfflineJudge

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judge_benchmark", ROOT / "benchmarks" / "judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_there_are_two_hundred_pairs_in_two_halves_over_all_kinds(benchmark: ModuleType) -> None:
    pairs = benchmark.load_pairs()
    assert len(pairs) == 200 and len({(pair.report, pair.truth) for pair in pairs}) == 200
    assert sum(pair.part == "fit" for pair in pairs) == 100
    assert {pair.truth for pair in pairs} == {kind.value for kind in ClueKind}
    assert {"exact", "synonym", "near_miss", "trap", "injection"} <= {pair.category for pair in pairs}
    assert {label for pair in pairs for label in pair.labels} == {True, False}


def test_the_shipped_threshold_is_the_one_that_the_fit_half_gives(benchmark: ModuleType) -> None:
    assert benchmark.best_similarity(benchmark.load_pairs()) == OfflineJudge().similarity


def test_agreement_on_the_other_half_is_as_documented(benchmark: ModuleType) -> None:
    figures = benchmark.figures(benchmark.load_pairs(), OfflineJudge())
    page = (ROOT / "docs" / "results" / "judge.md").read_text(encoding="utf-8")
    for name in ("kappa_of_the_labels", "precision", "recall", "kappa_with_label_1", "kappa_with_label_2"):
        assert f"| {name.replace('_', ' ')} | {figures[name]:.4g} [" in page, name
    assert figures["precision"] >= 0.8 and figures["recall"] >= 0.75


def test_kappa_by_hand(benchmark: ModuleType) -> None:
    assert benchmark.kappa([True, True, False, False], [True, True, False, False]) == 1.0
    assert benchmark.kappa([True, True, False, False], [True, False, True, False]) == 0.0
    assert benchmark.kappa([True] * 3, [True] * 3) == 1.0
