"""Questions for tests: small sets made by a seed, in the public form, and files of them."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from esar_ros.suites.uavbench.mcq.item import LETTERS, OPTIONS, STYLES, Item, as_lines

_WORDS = (
    *("hold", "climb", "descend", "divert", "land", "loiter", "return", "slow"),
    *("turn", "wait", "survey", "scan", "relay", "split", "abort", "cross"),
)


def make_item(number: int = 0, style: int = 1, key: int | None = None, **changed: Any) -> Item:
    """A question whose options are drawn from one list of words, so that none stands out."""
    rng = random.Random(number)
    options: list[str] = []
    while len(options) < OPTIONS:
        text = " ".join(rng.sample(_WORDS, 3)).capitalize()
        if text not in options:
            options.append(text)
    content: dict[str, Any] = {
        "id": f"q{number:05d}",
        "scenario": f"mission_{number // 3:04d}",
        "description": f"Mission {number} flies {rng.randint(100, 900)} m over {rng.choice(_WORDS)} country.",
        "question": f"What should vehicle {number} do next?",
        "options": tuple(options),
        "key": number % OPTIONS if key is None else key,
        "reason": "It is the only lawful one.",
        "style": style,
    }
    return Item(**{**content, **changed})


def make_items(count: int) -> list[Item]:
    """Questions with the styles in turn and even right letters."""
    keys = [place % OPTIONS for place in range(count)]
    random.Random(1).shuffle(keys)
    return [make_item(i, style=i % len(STYLES) + 1, key=keys[i]) for i in range(count)]


def public(**changed: Any) -> dict[str, Any]:
    """A question as the public files hold it, with labels; changed: None takes a key away."""
    value = make_item().as_json
    del value["id"]
    value["choices"] = [f"{letter}- {text}" for letter, text in zip(LETTERS, value["choices"], strict=True)]
    return {key: content for key, content in {**value, **changed}.items() if content is not None}


def write_items(path: Path, items: list[Item]) -> Path:
    """The set as JSON lines."""
    path.write_text(as_lines(items), encoding="utf-8")
    return path


def write_json(path: Path, value: Any) -> Path:
    """One JSON file."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def numbers(pattern: str, text: str) -> tuple[float, ...]:
    """The numbers that stand for the # of a pattern."""
    match = re.search(pattern.replace("#", r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"), text)
    assert match, f"{pattern} in {text}"
    return tuple(float(group) for group in match.groups())


def points(text: str) -> list[tuple[float, ...]]:
    """Start and waypoints of a description."""
    route = re.search(r"From (\(.*?\)) the route leads as an? \w+ over (.*?) within", text)
    assert route
    found = re.findall(r"\(([^)]*)\)", f"{route[1]} {route[2]}")
    return [tuple(float(part) for part in point.split(",")) for point in found]
