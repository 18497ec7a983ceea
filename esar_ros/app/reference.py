"""Reference pages made from the code: `python -m esar_ros.app.reference` writes them, a test compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from esar_ros.mission.resources import resource
from esar_ros.nodes.interface import ACTIONS, TOPICS

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
    lines = ["# Thresholds", "", _MADE, "", "Each is written into every result, under `thresholds`.", ""]
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
    return "\n".join(lines)


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
