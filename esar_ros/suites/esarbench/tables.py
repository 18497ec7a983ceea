"""ESARBench's tables and figures: tables 2 and 3 and figure 5 have the paper's layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from esar_ros.benchmark.report.comparison import OVERALL, Better, Layout, Method, Report
from esar_ros.benchmark.report.comparison_figures import gallery, group_figure, safety_figure, svg
from esar_ros.benchmark.report.formatting import CAUSES, ENDINGS
from esar_ros.benchmark.report.table import Cell, Drawing, Section, Table
from esar_ros.benchmark.report.tables import (
    by_group,
    comparison,
    endings,
    estimate_cell,
    label,
    overall,
    paper_table,
    rules_between,
)
from esar_ros.mission.task import TIERS
from esar_ros.planning.registry import references
from esar_ros.scoring.losses import LOOK_RANGE, REPORTED_OFF_FACTOR
from esar_ros.suites.esarbench.paper import PAPER

SCORES = ("sr", "tsr", "cds", "rs")
# Beside the scores; m, s, shares or counts.
FLIGHT = (
    "crashed", "safe", "elapsed", "safe_flight_distance", "path_length", "coverage", "min_clearance", "interventions",
)  # fmt: skip
COSTS = ("cpu", "flown_per_cpu", "thinking", "asked", "tokens_in", "tokens_out")
REPORTS = ("sr_gated_first", "rs_without_safety", "reports", "precision", "false_reports", "reports_over_cap")
_TIERS_NOTE = "Means over tasks with 95 % intervals; hollow: references and what else stands outside the comparison."
JUDGES = ("cds_label", "cds_offline", "cds_llm")
SHARES = frozenset({*JUDGES, "sr_gated_first", "rs_without_safety", "crashed", "safe", "coverage", "precision"})
NAMES = {
    "sr": "SR", "tsr": "TSR", "cds": "CDS", "rs": "RS", "sr_gated_first": "SR gated first",
    "rs_without_safety": "RS without safety", "crashed": "crash rate", "safe": "safe", "elapsed": "task time (s)",
    "safe_flight_distance": "safe distance (m)", "path_length": "path (m)", "coverage": "coverage",
    "min_clearance": "clearance (m)", "interventions": "interventions", "reports": "reports", "precision": "precision",
    "false_reports": "false reports", "reports_over_cap": "over the cap", "cds_label": "exact label",
    "cds_offline": "offline judge", "cds_llm": "model as judge", "cpu": "CPU time (s)",
    "flown_per_cpu": "flown a CPU second (s)", "thinking": "thinking a decision (ms)",
    "asked": "decisions asked of a model", "tokens_in": "tokens read", "tokens_out": "tokens written",
}  # fmt: skip


def _sensitivity(report: Report) -> Table:
    gates = sorted({float(f.partition("@")[2]) for f in report.figures if "@" in f})
    columns = [(score, f"{gate:g}") for score in SCORES for gate in gates]
    rows = tuple(
        (
            label(method),
            *(estimate_cell(report, method, OVERALL, f"{score}@{gate}") for score, gate in columns),
        )
        for method in report.methods
    )
    return Table(
        "sensitivity",
        "Scores at other error thresholds E, overall",
        (("", 1), *((report.layout.head(score), len(gates)) for score in SCORES)),
        ("method", *(f"{gate} m" for _, gate in columns)),
        rows,
        rules_between(report.methods),
        (f"The benchmark's E is {report.bench.thresholds['error_threshold']:g} m.",),
    )


def _losses(report: Report) -> Table:
    """Returns the table of victims by cause: numbers of victims over all episodes."""
    counts = [Counter(cause for e in method.episodes for cause in e.causes) for method in report.methods]
    recorded = not any(count[None] for count in counts)
    causes = [*CAUSES, *([] if recorded else [None])]
    rows = tuple(
        (label(method), Cell(str(count.total())), *(Cell(str(count[cause])) for cause in causes))
        for method, count in zip(report.methods, counts, strict=True)
    )
    gate = report.bench.thresholds["error_threshold"]
    notes = (
        f"Numbers of victims, each under one cause: the latest stage reached. Looked and missed: in a picture within "
        f"{LOOK_RANGE:g} m, past the ground, and no track of a person within {gate:g} m. Seen, not reported: such a "
        f"track. Reported off: a report meant for him, up to {REPORTED_OFF_FACTOR * gate:g} m away or of another kind.",
        "Of those never looked at: too late where time or a landing ended the flight, crashed where a collision or a "
        "breach did, never looked where the method stopped; run failed: all of an episode that ended with an error.",
    )
    heads = ("method", "victims", *(CAUSES[cause] if cause else "not recorded" for cause in causes))
    return Table("losses", "Where victims were lost", (), heads, rows, rules_between(report.methods), notes)


def _judges(report: Report) -> Table:
    columns = tuple(f for f in JUDGES if f in report.figures)
    asked = sorted({judge for e in report.bench.episodes for judge in e.judges.values()})
    notes = [f"Asked: {', '.join(asked)}." if asked else "No judge was asked."]
    if "cds_llm" not in columns:
        notes.append("No model was asked (--judge llm asks one).")
    return overall(report, "judges", "CDS under each judge, overall", columns, tuple(notes))


def _caveats(method: Method) -> Sequence[str]:
    """Returns what is to be said of the model that a row's method asked, and of its judges."""
    troubled = [e for e in method.episodes if e.trouble]
    fallen = sum(not e.judges.get("cds_llm", "llm/").startswith("llm/") for e in method.episodes)
    said = [f"in {fallen} episodes the model did not answer and the offline judge spoke."] if fallen else []
    if not troubled:
        return said
    first = troubled[0]
    where = f"{first.unit.task}, seed {first.seed}"
    return [f"the model's answers failed in {len(troubled)} episodes, e.g. {where}: {first.trouble}.", *said]


def sections(report: Report) -> Sequence[Section]:
    """Returns tables and figures in the order of reading; the paper's numbers last."""
    cap = report.bench.thresholds["report_cap"]
    return (
        by_group(report, "table2", "Table 2: finding victims", ("sr", "tsr")),
        by_group(report, "table3", "Table 3: clues and the rescue score", ("cds", "rs")),
        Drawing("tiers.svg", "Scores by difficulty", lambda: svg(group_figure(report)), _TIERS_NOTE),
        comparison(report),
        _losses(report),
        Drawing("figure5.svg", "Figure 5: crash rate, task time and safe flight distance",
                lambda: svg(safety_figure(report))),
        overall(report, "flight", "Safety and flight, overall", FLIGHT,
                ("Shares in per cent. Clearance is over the flights that took off.",)),
        overall(report, "reports", "Reports, and scores that they cannot buy, overall", REPORTS,
                ("Shares in per cent, the rest per task. Precision is 0 where nothing was reported. Reports beyond "
                 f"{cap} a task are not scored.",)),
        overall(report, "costs", "What an episode cost, overall",
                tuple(figure for figure in COSTS if figure in report.figures),
                ("Means of an episode, on the machines that flew it: simulator, detector, map, governor and method "
                 "together, without a model's own time. Where a server counts no tokens, an answer that could be used "
                 "counts as one written.",)),
        _judges(report),
        endings(report),
        _sensitivity(report),
        gallery(report),
        paper_table(PAPER, report.layout),
    )  # fmt: skip


LAYOUT = Layout(
    eyebrow="SEARCH AND RESCUE BENCHMARK",
    groups=TIERS,
    levels=("events", "snapshots", "tasks"),
    scores=SCORES,
    ranked_by="rs",
    names=NAMES,
    shares=SHARES,
    better={
        **dict.fromkeys((*JUDGES, "sr_gated_first", "rs_without_safety", "safe", "precision"), Better.HIGHER),
        **dict.fromkeys(("safe_flight_distance", "min_clearance"), Better.HIGHER),
        **dict.fromkeys(("crashed", "interventions", "false_reports", "reports_over_cap"), Better.LOWER),
    },
    terminal={"crashed": "crashed", "elapsed": "time (s)"},
    references=references(),
    reference_note="stay does nothing, flooder reports a grid without looking.",
    endings={end.value: words for end, words in ENDINGS.items()},
    headline="test",
    caveats=_caveats,
    sections=sections,
)
