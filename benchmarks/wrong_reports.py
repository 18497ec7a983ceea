"""The effect of one wrong victim report on the success rate, which assigns reports before it gates them (appendix B).

    python benchmarks/wrong_reports.py [--scenes 4000]

Random scenes: one to three victims within 300 m, reported with an error per axis, all or each with probability 0.5, and
one report more anywhere within 300 m, 30 m up or down.
"""

from __future__ import annotations

import argparse
import json
from itertools import product

import numpy as np
from page import Table, add_page, markdown, write_page
from scipy.stats import binomtest  # type: ignore[import-untyped]

from esar_ros.mission.thresholds import load_thresholds
from esar_ros.scoring.metrics import success_rate

REACH = np.array([300.0, 300.0, 30.0])  # m from the start
ERRORS = (0.6, 3.0)  # m a axis, standard deviation
SHARES = (0.5, 1.0)  # of the victims that are reported


def changes(scenes: int, error: float, share: float, gate: float) -> tuple[int, int]:
    """Returns the number of scenes in which the wrong report raises and in which it lowers the success rate."""
    random = np.random.default_rng([round(10 * error), round(10 * share)])
    raised = lowered = 0
    for _ in range(scenes):
        victims = random.uniform(-REACH, REACH, (random.integers(1, 4), 3))
        right = victims[random.random(len(victims)) < share]
        reports = right + random.normal(0.0, error, right.shape)
        wrong = random.uniform(-REACH, REACH, (1, 3))
        change = success_rate(np.concatenate([reports, wrong]), victims, gate) - success_rate(reports, victims, gate)
        raised += change > 0.0
        lowered += change < 0.0
    return raised, lowered


def main() -> None:
    """Prints the table and one line of JSON."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=4000, help="a row (default %(default)s)")
    add_page(parser)
    arguments = parser.parse_args()
    gate = load_thresholds().error_threshold
    rows, figures = [], {}
    for error, share in product(ERRORS, SHARES):
        counts = changes(arguments.scenes, error, share, gate)
        cells = []
        for count in counts:
            low, high = binomtest(count, arguments.scenes).proportion_ci(method="wilson")
            cells.append(f"{count / arguments.scenes:.2%} [{low:.2%}, {high:.2%}]")
        rows.append((f"{error:g} m", "all" if share == 1.0 else "half", *cells))
        figures[f"{error:g} m, {rows[-1][1]}"] = counts
    table = Table(("error per axis", "victims reported", "SR raised [95 %]", "SR lowered [95 %]"), rows)
    print(markdown(table))
    print(json.dumps({"benchmark": "wrong_reports", "figures": figures, "goals": {}, "met": {}}))
    if arguments.page:
        about = (
            "Random scenes with one to three victims within 300 m, reported with the error named, and one wrong report "
            "anywhere among them; share of the scenes in which it raises or lowers the success rate. Intervals: Wilson."
        )
        conditions = {"scenes a row": arguments.scenes, "seed": "by row", "gate": f"{gate:g} m"}
        write_page(__file__, "What a wrong report does to SR", about, conditions, [table])


if __name__ == "__main__":
    main()
