"""UAV-ON's tables: 2 and 3 have the paper's columns, under the rules of its public code; the other rules beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from esar_ros.benchmark.report.comparison import OVERALL, Better, Layout, Method, Report
from esar_ros.benchmark.report.comparison_figures import gallery, group_figure, svg
from esar_ros.benchmark.report.table import Drawing, Section
from esar_ros.benchmark.report.tables import by_group, comparison, endings, overall, paper_table
from esar_ros.mission.object_goal import SizeClass
from esar_ros.scoring.object_goal import TOTAL, Rules
from esar_ros.suites.uav_on.paper import PAPER
from esar_ros.suites.uav_on.records import SCORES

RATES = ("sr", "osr", "spl")
ENDINGS = ("stop", "step_limit", "collision")
FLIGHT = (*ENDINGS, "steps", "path", "touched", "end_gap", "measured_path")
OTHERS = tuple(f"{score}@{rules.value}" for rules in (Rules.PAPER, Rules.STRICT) for score in SCORES)
_HEADS = {"sr": "SR", "osr": "OSR", "spl": "SPL", "dts": "DTS (m)"}
NAMES = {
    "dts": "DTS (m)", "sr": "SR", "osr": "OSR", "spl": "SPL", "stop": "stop", "step_limit": "max step",
    "collision": "collision", "steps": "steps", "path": "safe dist. (m)", "touched": "any contact",
    "end_gap": "measured end off (m)", "measured_path": "path measured (m)",
    **{name: f"{_HEADS[name.partition('@')[0]]} {name.partition('@')[2]}" for name in OTHERS},
}  # fmt: skip
SHARES = frozenset({*ENDINGS, "touched"})
_BY_OVERALL = {
    method: {(OVERALL if size == TOTAL else size, score): value for (size, score), value in row.items()}
    for method, row in PAPER.methods.items()
}


def _caveats(method: Method) -> Sequence[str]:
    """Returns what is to be said of a row: episodes without a size class stand in no column of table 2 but the last."""
    unclassed = sum(not episode.group for episode in method.episodes)
    return [f"{unclassed} episodes are of no size class and count overall alone."] if unclassed else []


def sections(report: Report) -> Sequence[Section]:
    """Returns tables and figures in the order of reading; the paper's numbers last."""
    poses = report.bench.condition("poses") or "commanded or measured"
    seen = {
        "relative": "relative to the start",
        "simulator": "in the simulator frame",
        "": "as each row says",
    }[report.bench.condition("pose")]
    told = f"Rules of the public code; {poses} poses. Agents are told their poses {seen}."
    table2 = by_group(report, "table2", "Table 2: navigation by size of the object", ("dts", *RATES))
    return (
        replace(table2, notes=(*table2.notes, told)),
        overall(report, "table3", "Table 3: terminations and flight, overall", FLIGHT,
                ("Shares in per cent. A contact in the stop, and an agent that failed, count as a stop, as logs show "
                 "them; any contact counts the former too. Measured end off: from the last commanded position to where "
                 "the vehicle was.",)),
        overall(report, "rules", "The same episodes under the paper's equations and under its words", OTHERS,
                ("Rates and SPL in per cent. paper: equations 1 to 4 to the letter, however an episode ended; strict: "
                 "a stop without any contact.",)),
        comparison(report),
        endings(report),
        Drawing("sizes.svg", "Scores by size of the object", lambda: svg(group_figure(report)),
                "Means over episodes with 95 % intervals; hollow: what stands outside the comparison."),
        gallery(report),
        paper_table(replace(PAPER, methods=_BY_OVERALL), report.layout),
    )  # fmt: skip


LAYOUT = Layout(
    eyebrow="OBJECT-GOAL NAVIGATION",
    groups=tuple(size.value for size in SizeClass),
    levels=("scenes", "targets", "episodes"),
    scores=RATES,
    ranked_by="sr",
    names=NAMES,
    shares=SHARES,
    better=dict.fromkeys(("dts", "collision", "touched", "end_gap"), Better.LOWER),
    terminal={"dts": "DTS (m)", "collision": "contact", "steps": "steps"},
    references=frozenset(),
    reference_note="",
    endings={
        "stop": "ended by the agent",
        "collision": "ended by a contact",
        "step_limit": "step limit",
        "error": "failed",
    },
    headline="test",
    caveats=_caveats,
    sections=sections,
    by_group=("dts",),
    decimals=2,
    sought="target",
    has_clues=False,
)
