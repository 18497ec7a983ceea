"""Table of all topics and actions, from `nodes/core/interface.py`."""

from __future__ import annotations

from esar_ros.app.reference_pages.page import MADE
from esar_ros.nodes.core.interface import ACTIONS, TOPICS


def topics_page() -> str:
    """Table of all topics and actions."""
    lines = [
        "# Topics and actions",
        "",
        MADE,
        "",
        "Relative names live in the vehicle's namespace. *Recorded* names the lowest `record` level whose bag keeps",
        "the topic. Only `safety_governor` writes `cmd_vel_safe`, and the bridge obeys nothing else.",
        "",
        "| topic | type | quality of service | written by | waits for readers | recorded | what |",
        "|---|---|---|---|---|---|---|",
    ]
    for topic in TOPICS:
        readers = ", ".join(topic.readers) or "-"
        lines.append(
            f"| `{topic.name}` | `{topic.type}` | {topic.quality.value} | {topic.writer} | {readers} |"
            f" {topic.record.name.lower()} | {topic.description} |"
        )
    lines += ["", "| action | type | served by |", "|---|---|---|"]
    lines += [f"| `{name}` | `{kind}` | airsim_bridge |" for name, kind in ACTIONS.items()]
    return "\n".join(lines) + "\n"
