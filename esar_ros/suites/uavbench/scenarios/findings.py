"""Findings about a scenario: code, severity, JSON pointer (RFC 6901) and one line of text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)
_LONGEST = 80  # characters of a value that a line shows


@dataclass(frozen=True, order=True)
class Finding:
    """One finding; sorted by place, then code."""

    pointer: str  # "" is the whole document
    code: str
    severity: str
    text: str

    def line(self, source: str) -> str:
        """Returns the finding as one line; source: the name of the document."""
        place = f"{source}, {self.pointer}" if self.pointer else source
        mark = self.code if self.severity == ERROR else f"{self.code} {self.severity}"
        return printable(f"{place}: {self.text} [{mark}]")

    def document(self) -> dict[str, str]:
        """Returns the finding for JSON."""
        return {"code": self.code, "severity": self.severity, "pointer": self.pointer, "text": self.text}


def pointer_of(parts: Iterable[Any]) -> str:
    """Returns the JSON pointer of keys and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def shown(value: Any) -> str:
    """Returns a value as JSON, cut to what a line holds."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def printable(text: str) -> str:
    """Returns text in one line that every terminal can write: control characters and half surrogates are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
