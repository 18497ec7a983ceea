"""Command blocks of the pages, those after a marker: `<!-- run -->`, or `<!-- run: full -->` for long ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"<!-- run(?P<full>: full)? -->\n```sh\n(?P<commands>.*?)\n```", re.S)


@dataclass(frozen=True)
class Block:
    """Commands a reader would type one after the other."""

    page: str
    line: int
    commands: str
    full: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Every page a person reads; the tutorial first, whose results other pages go on with."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "models").glob("*.md")]
    return sorted(found, key=lambda page: (page.stem != "tutorial", str(page)))


def blocks() -> list[Block]:
    """The marked ones of all pages, in reading order."""
    found = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            line = text.count("\n", 0, match.start("commands")) + 1
            name = str(page.relative_to(ROOT))
            found.append(Block(name, line, match["commands"], match["full"] is not None))
    return found
