"""A question with seven options, one of them right, of one of the paper's ten styles of reasoning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SCHEMA = "uavbench-mcq-v1"
LETTERS = "ABCDEFG"
OPTIONS = len(LETTERS)

STYLES = {
    1: "Aerodynamics & Physics Reasoning",
    2: "Navigation & Path Planning Reasoning",
    3: "Mission Policy & Compliance Reasoning",
    4: "Environmental & Sensor Fusion Reasoning",
    5: "Multi-Agent Coordination Reasoning",
    6: "Cyber-Physical Security Reasoning",
    7: "Energy & Resource Management Reasoning",
    8: "Ethical & Safety-Critical Decision Reasoning",
    9: "Comparative System Reasoning",
    10: "Hybrid Integrated Reasoning",
}
# The paper's tables VI to IX, each of some styles.
CLUSTERS = {"perception": (1, 4), "planning": (2, 5, 7), "governance": (3, 8, 6), "systems": (9, 10)}


@dataclass(frozen=True)
class Item:
    """One question. id: unique in its set; scenario: name of the mission that it asks about.

    options: texts without label, in the order of their letters; key: place of the right one. solution: how a computed
    answer came about, None where a person or a model wrote it.
    """

    id: str
    scenario: str
    description: str
    question: str
    options: tuple[str, ...]
    key: int
    reason: str
    style: int
    solution: dict[str, Any] | None = None

    @property
    def as_json(self) -> dict[str, Any]:
        """The item in the public form, with its id."""
        content: dict[str, Any] = {
            "schema_version": SCHEMA,
            "id": self.id,
            "scenario_name": self.scenario,
            "description": self.description,
            "question": self.question,
            "choices": list(self.options),
            "num_choices": OPTIONS,
            "correct_choice": LETTERS[self.key],
            "reason": self.reason,
            "style_id": self.style,
            "style": STYLES[self.style],
        }
        return content | ({"solution": self.solution} if self.solution is not None else {})


def as_lines(items: Sequence[Item]) -> str:
    """Items as JSON lines in canonical form."""
    return "".join(json.dumps(item.as_json, sort_keys=True, ensure_ascii=False) + "\n" for item in items)


def digest(items: Sequence[Item]) -> str:
    """Hexadecimal SHA-256 of a set, whatever the order of its items."""
    return hashlib.sha256(as_lines(sorted(items, key=lambda item: item.id)).encode()).hexdigest()


def in_turns(items: Sequence[Item]) -> list[Item]:
    """Returns the items with the styles in turn, so that any first part is balanced; by id within a style."""
    by_style: dict[int, list[Item]] = {}
    for item in sorted(items, key=lambda item: item.id):
        by_style.setdefault(item.style, []).append(item)
    ranked = [(rank, item.style, item) for own in by_style.values() for rank, item in enumerate(own)]
    return [item for *_, item in sorted(ranked, key=lambda entry: entry[:2])]
