"""Messages, services and actions as they travel, from their definition files."""

from __future__ import annotations

import re
from pathlib import Path

from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.mission.resources import resource

_PARTS = {"msg": ("",), "srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}


def messages_page() -> str:
    """Every interface of the package, field by field."""
    lines = ["# Messages, services and actions", "", MADE, ""]
    lines += ["Units and frames stand beside the fields; frames are those of REP-103 and REP-105.", ""]
    for kind, parts in _PARTS.items():
        for path in sorted(resource(kind).glob(f"*.{kind}")):
            lines += _interface(path, kind, parts)
    return "\n".join(lines).rstrip() + "\n"


def _interface(path: Path, kind: str, parts: tuple[str, ...]) -> list[str]:
    """Title, what it is, and a table for each of its parts."""
    text = path.read_text(encoding="utf-8").splitlines()
    about = []
    while text and text[0].startswith("#"):
        about.append(text.pop(0).lstrip("# ").rstrip())
    lines = [f"## {path.stem} (`esar_ros/{kind}/{path.stem}`)", "", " ".join(about), ""]
    for part, chunk in zip(parts, re.split("^---$", "\n".join(text), flags=re.MULTILINE), strict=True):
        rows = _fields(chunk)
        lines += [f"*{part}*", ""] if part else []
        lines += table("field|type|what", rows) if rows else ["Nothing.", ""]
    return lines


def _fields(chunk: str) -> list[tuple[str, ...]]:
    """Name, type and comment of each field and constant; a comment alone on its line goes on with the line before."""
    rows: list[tuple[str, ...]] = []
    for line in chunk.splitlines():
        declaration, _, comment = line.partition("#")
        words = declaration.split(maxsplit=1)
        if not words and comment and rows:
            rows[-1] = (*rows[-1][:2], cell(f"{rows[-1][2]} {comment}"))
        elif len(words) == 2:
            rows.append((f"`{words[1].strip()}`", f"`{words[0]}`", cell(comment)))
    return rows
