"""Every number that decides a score, from the settings files and the code."""

from __future__ import annotations

from esar_ros.app.reference_pages.page import MADE
from esar_ros.mission.resources import resource
from esar_ros.scoring import metrics, object_goal, rescue, similarity, statistics
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.scoring.judge import OfflineJudge


def thresholds_page() -> str:
    """Every number that decides a score, and the rates and limits equal for all methods."""
    lines = [
        "# Thresholds",
        "",
        MADE,
        "",
        "Every number that decides a score, and the rates and limits that are the same for all methods. The first",
        "table is written into every result, under `thresholds`.",
        "",
    ]
    for title, name in (("Scoring", "thresholds"), ("Vehicle", "vehicle"), ("Safety governor", "safety")):
        path = resource(f"config/{name}.yaml")
        lines += [
            f"## {title} (`config/{name}.yaml`)",
            "",
            "```yaml",
            path.read_text(encoding="utf-8").rstrip(),
            "```",
            "",
        ]
    lines += ["## In code", "", "| number | value | what |", "|---|---|---|"]
    lines += [f"| {name} | {value} | {about} |" for name, value, about in _in_code()]
    return "\n".join(lines) + "\n"


def _in_code() -> list[tuple[str, str, str]]:
    """Numbers that the paper fixes, and those of tables made from results."""
    quartiles = " / ".join(f"{value:g} m" for value in DISTANCE_QUARTILES)
    return [
        ("distance quartiles", quartiles, "difficulty, appendix A; its other points are the paper's too"),
        (
            "tie",
            f"{metrics.TIE_TOLERANCE:g} m",
            "assignments this near in length are equally short; the one that finds most counts",
        ),
        ("bootstrap draws", f"{statistics.DRAWS}", "intervals of `esar report`"),
        ("bootstrap level", f"{statistics.LEVEL:g}", "percentile interval"),
        ("bootstrap seed", f"{statistics.SEED}", "same results, same intervals"),
        ("spelling similarity", f"{OfflineJudge().similarity:g}", "offline judge, `config/synonyms.yaml`"),
        (
            "UAV-ON: success distance",
            f"{object_goal.UAV_ON.near:g} m ({object_goal.APEX.near:g} on APEX's terms)",
            "tau of the [suite's](uav-on.md) equations",
        ),
        (
            "UAV-ON: actions",
            f"{object_goal.UAV_ON.actions} ({object_goal.APEX.actions})",
            "of an episode, the stop included",
        ),
        ("RescueBench: near", f"{rescue.NEAR:g} m", "R of the [suite's](rescuebench.md) stages"),
        ("RescueBench: hand-over", f"{rescue.HAND_OVER:g} m", f"level, and {rescue.HEIGHT:g} m of height"),
        ("RescueBench: similarity 0", f"{similarity.FARTHEST_MEAN:g} m", "mean gap to a person's track, public code"),
    ]
