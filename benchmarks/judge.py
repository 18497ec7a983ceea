"""The agreement of a judge with two labellings of 200 pairs of a report's wording and a clue (test/data/judge_pairs).

    python benchmarks/judge.py            # the offline judge
    python benchmarks/judge.py --judge llm    # the model at ESAR_JUDGE_URL

The spelling threshold is the highest of those with the best F1 on the half `fit`; all figures are of the half
`held_out`. Precision and recall count the pairs on which both labels agree.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from page import Table, add_page, goal_table, write_page

from esar_ros.scoring.judge import Judge, OfflineJudge, Pair
from esar_ros.scoring.judges import NAMES, make_judge

FILE = Path(__file__).parents[1] / "test" / "data" / "judge_pairs" / "pairs.csv"
DRAWS = 1000  # of the bootstrap
CANDIDATES = tuple(round(0.6 + 0.02 * i, 2) for i in range(21))
GOALS = {"precision": 0.9, "recall": 0.8, "kappa_of_the_labels": 0.8}


@dataclass(frozen=True)
class Labelled:
    """A pair with the label of each labelling."""

    part: str
    report: str
    truth: str
    category: str
    labels: tuple[bool, bool]


def load_pairs() -> list[Labelled]:
    """Returns all pairs, in the file's order."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [
            Labelled(
                row["part"],
                row["report"],
                row["ground_truth"],
                row["category"],
                (row["label_1"] == "1", row["label_2"] == "1"),
            )
            for row in csv.DictReader(file)
        ]


def answers(pairs: Sequence[Labelled], judge: Judge) -> list[bool]:
    """Returns the judge's answer on each pair by itself: its wording alone, without the reported kind."""
    said = [judge.decide([Pair(p.report, "", p.truth.replace("_", " "), p.truth)]).answers[0] for p in pairs]
    return [bool(answer) for answer in said]


def kappa(a: Sequence[bool], b: Sequence[bool]) -> float:
    """Returns Cohen's kappa of two labellings of the same things."""
    n = len(a)
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / n
    by_chance = sum((list(a).count(v) / n) * (list(b).count(v) / n) for v in (True, False))
    return 1.0 if by_chance == 1.0 else (observed - by_chance) / (1.0 - by_chance)


def rates(pairs: Sequence[Labelled], said: Sequence[bool]) -> tuple[float, float, float]:
    """Returns precision, recall and F1 over the pairs whose labels agree."""
    agreed = [(p.labels[0], s) for p, s in zip(pairs, said, strict=True) if p.labels[0] == p.labels[1]]
    hits = sum(label and s for label, s in agreed)
    claimed, there = sum(s for _, s in agreed), sum(label for label, _ in agreed)
    return (
        hits / claimed if claimed else 0.0,
        hits / there if there else 0.0,
        2 * hits / (claimed + there) if claimed + there else 0.0,
    )


def best_similarity(pairs: Sequence[Labelled]) -> float:
    """Returns the highest threshold with the best F1 on the half `fit`."""
    fit = [pair for pair in pairs if pair.part == "fit"]
    scored = [(rates(fit, answers(fit, OfflineJudge(similarity=value)))[2], value) for value in CANDIDATES]
    return max(scored)[1]


def figures(pairs: Sequence[Labelled], judge: Judge) -> dict[str, float]:
    """Returns the agreement on the half `held_out`."""
    return agreement(pairs, dict(zip(pairs, answers(pairs, judge), strict=True)))


def agreement(pairs: Sequence[Labelled], answered: Mapping[Labelled, bool]) -> dict[str, float]:
    """Returns the agreement on the half `held_out`, of answers by pair."""
    held = [pair for pair in pairs if pair.part == "held_out"]
    said = [answered[pair] for pair in held]
    first, second = ([pair.labels[i] for pair in held] for i in (0, 1))
    precision, recall, f1 = rates(held, said)
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "kappa_with_label_1": kappa(first, said),
        "kappa_with_label_2": kappa(second, said),
        "kappa_of_the_labels": kappa(*zip(*(pair.labels for pair in pairs), strict=True)),
    }


def intervals(pairs: Sequence[Labelled], judge: Judge) -> dict[str, tuple[float, float]]:
    """Returns the 2.5th and 97.5th percentile of each figure over resampled pairs."""
    said = dict(zip(pairs, answers(pairs, judge), strict=True))
    random = np.random.default_rng(0)
    halves = [[pair for pair in pairs if pair.part == part] for part in ("fit", "held_out")]
    draws = []
    for _ in range(DRAWS):
        drawn = [half[i] for half in halves for i in random.integers(0, len(half), len(half))]
        draws.append(agreement(drawn, said))
    return {name: tuple(np.percentile([draw[name] for draw in draws], (2.5, 97.5)).tolist()) for name in draws[0]}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", choices=NAMES, default="offline")
    add_page(parser)
    arguments = parser.parse_args()
    judge = make_judge(arguments.judge)
    pairs = load_pairs()
    started = time.process_time()
    found = figures(pairs, judge)
    print(f"{judge.name} on the held-out half of {len(pairs)} pairs, {time.process_time() - started:.2f} s CPU")
    if isinstance(judge, OfflineJudge):
        print(f"spelling threshold by the other half: {best_similarity(pairs):g} (shipped: {judge.similarity:g})")
    for name, value in found.items():
        print(f"  {name:<22} {value:.3f}")
    held = [pair for pair in pairs if pair.part == "held_out"]
    wrong = [
        ("matched" if said else "missed", pair.report, pair.truth, pair.category)
        for pair, said in zip(held, answers(held, judge), strict=True)
        if pair.labels == (not said, not said)
    ]
    print("\nwrong on the held-out half, where the labels agree:")
    for how, report, truth, category in wrong:
        print(f"  {how:<8} {report!r} / {truth} ({category})")
    met = {name: found[name] >= goal for name, goal in GOALS.items()}
    print(json.dumps({"benchmark": "judge", "judge": judge.name, "figures": found, "goals": GOALS, "met": met}))
    if arguments.page:
        about = (
            "200 pairs of a report's wording and a clue, labelled twice "
            "([how](../../test/data/judge_pairs/README.md)). The spelling threshold is the highest of those with the "
            "best F1 on the half `fit`; the figures are of the other half, `held_out`, and those of two labellings "
            "alone of all pairs. Precision and recall count the pairs on which both labels agree. Intervals: 95 %, "
            "bootstrap over pairs."
        )
        conditions = {"judge": judge.name, "bootstrap": f"{DRAWS} draws, seed 0"}
        errors = Table(("", "report", "clue", "category"), wrong, "Errors where the labels agree")
        tables = [goal_table(found, GOALS, met, ">=", intervals(pairs, judge)), errors]
        write_page(__file__, "How far the judge can be trusted", about, conditions, tables)


if __name__ == "__main__":
    main()
