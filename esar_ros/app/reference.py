"""Reference pages made from the code: `python -m esar_ros.app.reference` writes them, a test compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from esar_ros.mission.resources import resource
from esar_ros.nodes.interface import ACTIONS, TOPICS
from esar_ros.scoring import metrics, statistics
from esar_ros.scoring.difficulty import DISTANCE_QUARTILES
from esar_ros.scoring.judge import OfflineJudge

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
_MADE = "<!-- Made by `python -m esar_ros.app.reference`; do not edit. -->"


def topics_page() -> str:
    """Table of all topics and actions."""
    lines = [
        "# Topics and actions",
        "",
        _MADE,
        "",
        "Relative names live in the vehicle's namespace. *Recorded* names the least `record` level whose bag keeps",
        "the topic. Only `safety_governor` writes `cmd_vel_safe`, and the bridge obeys nothing else.",
        "",
        "| topic | type | quality of service | written by | waits for readers | recorded | what |",
        "|---|---|---|---|---|---|---|",
    ]
    for topic in TOPICS:
        readers = ", ".join(topic.readers) or "-"
        lines.append(
            f"| `{topic.name}` | `{topic.type}` | {topic.quality.value} | {topic.writer} | {readers} |"
            f" {topic.record.name.lower()} | {topic.about} |"
        )
    lines += ["", "| action | type | served by |", "|---|---|---|"]
    lines += [f"| `{name}` | `{kind}` | airsim_bridge |" for name, kind in ACTIONS.items()]
    return "\n".join(lines) + "\n"


def thresholds_page() -> str:
    """Every number that decides a score, and the rates and limits equal for all methods."""
    lines = [
        "# Thresholds",
        "",
        _MADE,
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
            f"{metrics.TIE:g} m",
            "assignments this near in length are equally short; the one that finds most counts",
        ),
        ("bootstrap draws", f"{statistics.DRAWS}", "intervals of `esar report`"),
        ("bootstrap level", f"{statistics.LEVEL:g}", "percentile interval"),
        ("bootstrap seed", f"{statistics.SEED}", "same results, same intervals"),
        ("spelling similarity", f"{OfflineJudge().similarity:g}", "offline judge, `config/synonyms.yaml`"),
    ]


PAGES = {"topics.md": topics_page, "thresholds.md": thresholds_page}


def main() -> int:
    """Write every page."""
    DOCS.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
        print(DOCS / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
