"""Elements shared by the generated pages."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(r"(`[^`]*`)|[\w./-]*<[a-z_]+>[\w./<>-]*")

MADE = "<!-- Made by `python -m esar_ros.app.reference`; do not edit. -->"


def cell(text: str) -> str:
    """Text as it may stand in a table; a placeholder in angle brackets is set as code, else it would be a tag."""
    plain = _PLACEHOLDER.sub(lambda found: found[1] or f"`{found[0]}`", " ".join(text.split()))
    return plain.replace("|", "\\|") or "-"


def table(head: str, rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table; head: titles between bars."""
    titles = head.split("|")
    return [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *(f"| {' | '.join(row)} |" for row in rows), ""]
