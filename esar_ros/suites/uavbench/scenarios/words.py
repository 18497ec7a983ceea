"""Checks D: whether description and label say what the scenario holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from esar_ros.suites.uavbench.scenarios.constraints import Told
from esar_ros.suites.uavbench.scenarios.findings import NOTE, WARNING, shown
from esar_ros.suites.uavbench.scenarios.risk import CATEGORIES, label
from esar_ros.suites.uavbench.scenarios.scene import Scene, numbers
from esar_ros.suites.uavbench.scenarios.taxonomy import canonical

_UNITS: dict[str, float] = {  # what one is in the scenario's own unit
    "m/s": 1.0, "meters": 1.0, "metres": 1.0, "meter": 1.0, "metre": 1.0, "m": 1.0, "km": 1000.0, "seconds": 1.0,
    "second": 1.0, "s": 1.0, "minutes": 60.0, "minute": 60.0, "min": 60.0, "degrees": 1.0, "°": 1.0, "kWh": 1000.0,
    "Wh": 1.0, "kg": 1.0, "W": 1.0, "kW": 1000.0, "%": 0.01, "percent": 0.01, "dBm": 1.0, "Hz": 1.0,
}  # fmt: skip
_STATED = re.compile(
    r"(?<![\w.,])(-?\d+(?:\.\d+)?)\s*-?(" + "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True)) + r")(?!\w)"
)
_WORD = re.compile(r"\w+")
_DEGENERATE = (50, 0.2)  # words of a text, and the share that one of them may have
# Hazards in words, and the faults or fields that would be them.
_TOLD: tuple[tuple[str, re.Pattern[str], frozenset[str]], ...] = (
    (
        "a failing battery",
        re.compile(r"battery[_ ](?:emergency|failure|degradation|fault)|(?:failing|degraded|degrading) battery"),
        frozenset({"battery_failure", "battery_degradation"}),
    ),
    (
        "a motor failure",
        re.compile(r"(?:motor|rotor|engine)[_ ](?:failure|loss|fault)"),
        frozenset({"motor_failure"}),
    ),
    ("spoofing", re.compile(r"(?:gnss|gps)[_ ]spoof|spoofed"), frozenset({"gnss_spoofing"})),
)
_LEAVE_OUT = frozenset({"description", "label", "_hints", "_autofix"})


def _plain(factor: str) -> str:
    return factor.lower().replace("_", "").replace(" ", "")


_LEVEL_TAGS = tuple(map(_plain, CATEGORIES))


def numbers_told(scene: Scene) -> Told:
    """D1: a number with a unit in the description is one that the scenario holds."""
    text = scene.get("/description/text", "")
    stated = _STATED.findall(text)
    if not stated:
        return
    held = numbers(scene.data, _LEAVE_OUT) | {scene.duration}
    for number, unit in dict.fromkeys(stated):
        value = float(number) * _UNITS[unit]
        half = 0.5001 * 10.0 ** -len(number.partition(".")[2]) * _UNITS[unit]  # of the last digit
        if value not in held and not any(abs(abs(other) - abs(value)) <= half for other in held):
            yield NOTE, "/description/text", f"says {number} {unit}, which the scenario does not hold"


def degenerate(scene: Scene) -> Told:
    """D1: the description is a text, not one word over and over."""
    words = _WORD.findall(scene.get("/description/text", "").lower())
    least, share = _DEGENERATE
    if len(words) >= least:
        word, count = Counter(words).most_common(1)[0]
        if count > share * len(words):
            yield WARNING, "/description/text", f"is {shown(word)} in {count} of {len(words)} words"


def hazards_told(scene: Scene) -> Told:
    """D1: a hazard that name or description tell of is one that a fault holds."""
    kinds = {canonical(fault["type"]) for fault in scene.get("/faults", ())}
    for pointer in ("/name", "/description/text"):
        text = scene.get(pointer, "").lower()
        for what, pattern, faults in _TOLD:
            if pattern.search(text) and not kinds & faults:
                yield NOTE, pointer, f"tells of {what}, which no fault holds"


def labelled(scene: Scene) -> Told:
    """D2: the label in the file is that of our rules."""
    stated = scene.get("/label")
    if stated is None:
        return
    ours = label(scene)
    if stated["risk_level"] != ours["risk_level"]:
        yield NOTE, "/label/risk_level", f"is {stated['risk_level']}, by our rules {ours['risk_level']}"
    named = {_plain(factor) for factor in stated["factors"]}
    missing = [r for r in ours["reasons"] if r["severity"] >= 2 and _plain(r["factor"]) not in named]
    if missing:
        told = ", ".join(dict.fromkeys(f"{r['factor']} ({r['pointer']})" for r in missing))
        yield NOTE, "/label/factors", f"leave out {told}"


def tagged(scene: Scene) -> Told:
    """D2: benchmark_tags do not contradict swarm and risk."""
    swarm = scene.get("/swarm/enabled", False) and scene.get("/swarm/size", 1) > 1
    for index, tag in _strings(scene.get("/benchmark_tags", ())):
        plain = _plain(tag)
        if plain == "singleuav" and swarm:
            yield NOTE, f"/benchmark_tags/{index}", f"is {shown(tag)}, the swarm has {scene['/swarm/size']} vehicles"
        elif plain in _LEVEL_TAGS and plain != (ours := _plain(label(scene)["risk_category"])):
            yield (
                NOTE,
                f"/benchmark_tags/{index}",
                f"is {shown(tag)}, by our rules {CATEGORIES[_LEVEL_TAGS.index(ours)]}",
            )


def _strings(value: object) -> Iterator[tuple[int, str]]:
    if isinstance(value, list):
        yield from ((index, item) for index, item in enumerate(value) if isinstance(item, str))
