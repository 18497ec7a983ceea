"""Reference pages made from the code: `python -m esar_ros.app.reference` writes them, a test compares them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from esar_ros.app.reference_pages.commands import commands_page
from esar_ros.app.reference_pages.messages import messages_page
from esar_ros.app.reference_pages.parameters import parameters_page
from esar_ros.app.reference_pages.python_interface import python_interface_page
from esar_ros.app.reference_pages.scenario_rules import scenario_rules_page
from esar_ros.app.reference_pages.thresholds import thresholds_page
from esar_ros.app.reference_pages.topics import topics_page

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "messages.md": messages_page,
    "parameters.md": parameters_page,
    "python.md": python_interface_page,
    "scenario-rules.md": scenario_rules_page,
    "thresholds.md": thresholds_page,
    "topics.md": topics_page,
}


def main() -> int:
    """Write every page."""
    DOCS.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
        print(DOCS / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
