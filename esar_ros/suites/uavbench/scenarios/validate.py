"""Validation of a scenario: reading, schema, then every rule whose inputs are whole. Nothing is ever changed.

Profiles: `strict`, and `public` for the released files, in which what they lack or hold otherwise is no error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError

from esar_ros.suites.uavbench.scenarios.findings import ERROR, NOTE, WARNING, Finding, pointer_of, shown
from esar_ros.suites.uavbench.scenarios.reading import parse
from esar_ros.suites.uavbench.scenarios.rules import RULES
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.schema import PASSED_THROUGH, Scenario
from esar_ros.suites.uavbench.scenarios.taxonomy import nearest

PROFILES = ("strict", "public")
# What released files lack: told, and no error in profile `public`.
_PUBLIC_LACKS = frozenset({"/seed", "/controls", "/mission", "/mission/type", "/uav/energy_source", "/daa"})
_PUBLIC_MOST = 1e9
_PUBLIC_WAYPOINTS = 100
_CHECKS = tuple((rule.code, rule.check) for rule in RULES if rule.check is not None)
_RANGES: dict[str, tuple[str, str]] = {  # pydantic's error: words, key of its context
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


class Checked(NamedTuple):
    """A document with its findings, sorted by place; scene: None where it could not be read."""

    scene: Scene | None
    findings: list[Finding]

    @property
    def has_error(self) -> bool:
        """Returns whether any finding is an error."""
        return any(finding.severity == ERROR for finding in self.findings)


def validate(content: bytes, profile: str = "strict") -> Checked:
    """Returns a document's findings."""
    found = parse(content)
    return Checked(None, [found]) if isinstance(found, Finding) else check(found, profile)


def check(data: dict[str, Any], profile: str = "strict") -> Checked:
    """Returns the findings of a parsed scenario."""
    public = profile == "public"
    findings = [*_schema_findings(data, public), *_unknown_keys(data, Scenario)]
    scene = Scene(data, [finding.pointer for finding in findings if finding.severity == ERROR])
    for code, rule in _CHECKS:
        try:
            for severity, pointer, text in rule(scene):
                relaxed = WARNING if public and code == "S6" else severity
                findings.append(Finding(pointer, code, relaxed, text))
        except Broken:
            continue
    return Checked(scene, sorted(findings))


def _schema_findings(data: dict[str, Any], public: bool) -> Iterator[Finding]:
    try:
        Scenario.model_validate(data)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            code, text = _told(detail)
            pointer = pointer_of(detail["loc"])
            yield Finding(pointer, code, _relaxed(code, pointer, detail) if public else ERROR, text)


def _relaxed(code: str, pointer: str, detail: Mapping[str, Any]) -> str:
    """Returns the severity of an error of the schema in profile `public`.

    Too much is a warning and the value is used, as long as arithmetic bears it; too little is an error.
    """
    if code == "S4":
        return NOTE
    value = detail["input"]
    too_much = detail["type"] in ("less_than", "less_than_equal") and value <= _PUBLIC_MOST
    count = pointer == "/mission/waypoints" and code == "S3" and 1 <= len(value) <= _PUBLIC_WAYPOINTS
    return WARNING if too_much or count or (code == "S1" and pointer in _PUBLIC_LACKS) else ERROR


def _told(detail: Mapping[str, Any]) -> tuple[str, str]:
    """Returns code and text of pydantic's error."""
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "missing":
        return "S1", "is missing"
    if kind in _RANGES:
        words, key = _RANGES[kind]
        return "S3", f"must be {words} {context[key]:g}, is {shown(value)}"
    if kind in ("too_short", "too_long"):
        words, limit = ("at least", "min_length") if kind == "too_short" else ("at most", "max_length")
        return "S3", f"must have {words} {context[limit]} entries, has {len(value)}"
    if kind in ("string_too_short", "string_too_long"):
        words, limit = ("at least", "min_length") if kind == "string_too_short" else ("at most", "max_length")
        return "S3", f"must have {words} {context[limit]} characters, has {len(value)}"
    if kind == "string_pattern_mismatch":
        return "S3", f"must be of printable characters, is {shown(value)}"
    if kind == "literal_error" and isinstance(value, str):
        near = nearest(value, tuple(re.findall(r"'([^']*)'", str(context["expected"]))))
        return "S4", f"{shown(value)} is not known" + (f", nearest is {near}" if near else "")
    return "S2", f"{_TYPES.get(kind, 'has the wrong type')}, is {shown(value)}"


_TYPES = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "literal_error": "must be a string",
}


# -- unknown keys -----------------------------------------------------------------------------------


def _unknown_keys(data: dict[str, Any], model: type[BaseModel], place: tuple[Any, ...] = ()) -> list[Finding]:
    """Returns a note for each key that the schema does not know; those that begin with _ are its makers' own."""
    known, within = _parts(model)
    found = []
    if not data.keys() <= known:
        for key in data.keys() - known - PASSED_THROUGH:
            if not key.startswith("_"):
                holder, _, last = key.rpartition("/")
                near = nearest(last, tuple(model.model_fields))
                text = "is not known and kept" + (f", did you mean {near}" if near else "")
                if holder:
                    text += f": a slash in a key is a character, no way into {shown(holder)}"
                found.append(Finding(pointer_of((*place, key)), "S7", NOTE, text))
    for key, part in within:
        value = data.get(key)
        if type(value) is dict:
            found += _unknown_keys(value, part, (*place, key))
        elif type(value) is list:
            for index, item in enumerate(value):
                if type(item) is dict:
                    found += _unknown_keys(item, part, (*place, key, index))
    return found


@cache
def _parts(model: type[BaseModel]) -> tuple[frozenset[str], tuple[tuple[str, type[BaseModel]], ...]]:
    """Returns a model's keys, and those below which another model lies."""
    within = {name: _model_within(field.annotation) for name, field in model.model_fields.items()}
    return frozenset(within), tuple((name, part) for name, part in within.items() if part is not None)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is None:
        return None
    return next((found for part in get_args(annotation) if (found := _model_within(part)) is not None), None)
