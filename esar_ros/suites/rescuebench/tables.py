"""RescueBench's tables: 3 to 5 have the paper's columns, under the rules of its public code; the other rules beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from esar_ros.benchmark.report.comparison import Better, Layout, Method, Report
from esar_ros.benchmark.report.comparison_figures import gallery, group_figure, svg
from esar_ros.benchmark.report.table import Drawing, Section
from esar_ros.benchmark.report.tables import by_group, comparison, endings, overall, paper_table
from esar_ros.mission.rescue import level_name
from esar_ros.suites.rescuebench.conditions import STAND_INS
from esar_ros.suites.rescuebench.files.points import LEVELS
from esar_ros.suites.rescuebench.machine import Failure, State
from esar_ros.suites.rescuebench.paper import PAPER
from esar_ros.suites.rescuebench.records import REPLAYS

STAGES = ("s1", "s2", "s3", "s4")
WALK = ("steps", "path", "nearer", "picked")
EQUATION_2 = ("ts@paper", "hs@paper", *(f"{stage}@paper" for stage in STAGES))
NAMES = {
    "tcr": "TCR", "ts": "TS", "seconds": "time (s)", "collisions": "collisions", "steps": "steps", "path": "path (m)",
    "nearer": "steps nearer", "hs": "HS", "picked": "picked up", **{stage: stage.upper() for stage in STAGES},
    **{name: f"{name.partition('@')[0].upper()} paper" for name in EQUATION_2},
}  # fmt: skip
_ENDINGS = {
    State.COMPLETED.value: "handed over",
    Failure.TIMEOUT_SEARCH.value: "time-out before the pick",
    Failure.TIMEOUT_RETURN.value: "time-out after the pick",
    Failure.CARRY.value: "could not pick up",
    Failure.DROP.value: "could not put down",
    Failure.OUT_OF_RANGE.value: "put down elsewhere",
    Failure.ENDED_BY_WORLD.value: "ended by the world",
    "error": "failed",
}

_STAND_INS = ("Some places are stand-ins of public maps, made from people's tracks: never beside the paper's figures.",)


def _caveats(method: Method) -> Sequence[str]:
    """Returns what is to be said of a row: the public code does not complete an agent's own hand-overs."""
    ended = sum(episode.end == Failure.ENDED_BY_WORLD.value for episode in method.episodes)
    return (
        [f"{ended} episodes were ended by the world before the drop was noticed: no TCR under code."] if ended else []
    )


def _replays(report: Report) -> Drawing:
    """Returns links to the pages of episodes that were walked again."""
    pages = [page for folder in report.bench.settings for page in sorted((Path(folder) / REPLAYS).glob("*.html"))]
    links = [Markup('<li><a href="{}">{}</a></li>').format(page.resolve().as_uri(), page.stem) for page in pages]
    text = f"<ul>{''.join(links)}</ul>" if links else None
    return Drawing("replays.html", "Walked again", lambda: text, "Pages of the machine that made this report.")


def sections(report: Report) -> Sequence[Section]:
    """Returns tables and figures in the order of reading; the paper's numbers last."""
    rules, interaction, clock, step, world = map(
        report.bench.condition, ("rules", "interaction", "clock", "step", "world")
    )
    paused = f"Time is simulated: the clock is paused while an agent thinks{step and f', a step is {step}'}."
    running = "The clock runs while an agent thinks: time and score depend on this machine and on what else it did."
    time = {
        "paused": f"{paused} The paper's is wall time: never in one table.",
        "running": running,
        "": f"In rows of a paused clock: {paused} In the others: {running}",
    }[clock]
    gates = " ".join(("Gates by rules", rules or "of each row,", interaction or "each row's", "interaction."))
    told = f"{gates} {time}"
    table3 = by_group(
        report, "table3", "Table 3: task completion by level", ("tcr", "ts", "hs", "seconds", "collisions")
    )
    return (
        table3,
        overall(report, "table4", "Tables 4 and 5: points of the stages, and the walk", (*STAGES, *WALK),
                ("S1 explore, S2 rescue, S3 return, S4 hand over, 25 points each; shares in per cent.", told,
                 "HS is likeness to the shortest walk.",
                 *(_STAND_INS if world == STAND_INS else ()))),
        overall(report, "rules", "The same episodes under equation 2 of the paper", EQUATION_2, ()),
        comparison(report),
        endings(report),
        Drawing("levels.svg", "Scores by level", lambda: svg(group_figure(report)),
                "Means over episodes with 95 % intervals; hollow: what stands outside the comparison."),
        gallery(report),
        _replays(report),
        paper_table(PAPER, report.layout),
    )  # fmt: skip


LAYOUT = Layout(
    eyebrow="SEARCH AND RESCUE ON FOOT",
    groups=tuple(map(level_name, LEVELS)),
    levels=("places", "levels", "points"),
    scores=("tcr", "ts"),
    ranked_by="tcr",
    names=NAMES,
    shares=frozenset({"nearer", "picked", "hs", "hs@paper"}),
    better={
        **dict.fromkeys(("hs", *STAGES, "nearer", "picked"), Better.HIGHER),
        **dict.fromkeys(("seconds", "collisions"), Better.LOWER),
    },
    terminal={"hs": "HS", "seconds": "time (s)", "collisions": "collisions"},
    references=frozenset(),
    reference_note="",
    endings=_ENDINGS,
    headline="test",
    caveats=_caveats,
    sections=sections,
    by_group=("hs", "seconds", "collisions"),
    decimals=1,
    sought="victim",
    has_clues=False,
)
