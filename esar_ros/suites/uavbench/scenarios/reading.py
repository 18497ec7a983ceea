"""Parsing of one document: strict JSON in UTF-8, an object at the top, every fault told by a finding J1 to J4."""

from __future__ import annotations

import hashlib
import json
from math import isfinite
from typing import Any

from esar_ros.suites.uavbench.scenarios.findings import ERROR, Finding, shown

LARGEST = 1 << 20  # bytes of a document
DEEPEST = 32  # objects and lists within each other
_LARGEST_INT = 2**63


class _DuplicateKey(ValueError):
    """An object that has a key twice."""


class _NotFinite(ValueError):
    """A number that is none."""


def parse(content: bytes) -> dict[str, Any] | Finding:
    """Returns the object that a document holds, or the finding that says why it holds none."""
    if len(content) > LARGEST:
        return _finding("J1", "is larger than 1 MiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _finding("J1", f"is not UTF-8 (byte {error.start})")
    if text.startswith("\ufeff"):
        return _finding("J1", "begins with a byte order mark: save it as plain UTF-8")
    if text.startswith("version https://git-lfs"):
        return _finding("J1", "is a Git LFS pointer, not the file: run `git lfs pull` where it comes from")
    if not text.strip():
        return _finding("J2", "is empty")
    try:
        value = _DECODER.decode(text)
        _check(value)
    except json.JSONDecodeError as error:
        return _finding("J2", f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})")
    except _DuplicateKey as error:
        return _finding("J3", f"has the key {shown(str(error))} twice in one object")
    except _NotFinite as error:
        return _finding("J2", f"is not JSON: {error}")
    except (RecursionError, _TooDeep):
        return _finding("J4", f"is nested deeper than {DEEPEST} levels")
    except ValueError:
        return _finding("J2", "is not JSON that can be read: a number of thousands of digits")
    if not isinstance(value, dict):
        return _finding("J4", f"holds {_kind(value)} at the top, not an object")
    return value


def canonical(scenario: dict[str, Any]) -> bytes:
    """Returns the bytes of a scenario that do not depend on the order of keys."""
    return json.dumps(scenario, sort_keys=True, separators=(",", ":")).encode()


def digest(scenario: dict[str, Any]) -> str:
    """Returns the first twelve hex digits of the hash of a scenario's canonical bytes."""
    return hashlib.sha256(canonical(scenario)).hexdigest()[:12]


class _TooDeep(Exception):
    """A document that is nested too deeply."""


def _finding(code: str, text: str) -> Finding:
    return Finding("", code, ERROR, text)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKey(key)
            seen.add(key)
    return made


def _constant(word: str) -> None:
    raise _NotFinite(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def _check(value: Any) -> None:
    """Raises _TooDeep, or _NotFinite for numbers past the range of a double (1e400); of two faults the outer's."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        below: list[Any] = []
        for holder in level:
            for item in holder.values() if type(holder) is dict else holder:
                kind = type(item)
                if kind is float:
                    if not isfinite(item):
                        raise _NotFinite("a number is too large for a double")
                elif kind is int:
                    if not -_LARGEST_INT <= item < _LARGEST_INT:
                        raise _NotFinite("a whole number has more than 63 bits")
                elif kind is dict or kind is list:
                    below.append(item)
        if not below:
            return
        level = below
    raise _TooDeep


def _kind(value: Any) -> str:
    """Returns a JSON value's type in words."""
    names = {list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
