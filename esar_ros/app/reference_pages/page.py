"""Elements shared by the generated pages."""

from __future__ import annotations

MADE = "<!-- Made by `python -m esar_ros.app.reference`; do not edit. -->"


def cell(text: str) -> str:
    """Text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|") or "-"


def table(head: str, rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table; head: titles between bars."""
    titles = head.split("|")
    return [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *(f"| {' | '.join(row)} |" for row in rows), ""]
