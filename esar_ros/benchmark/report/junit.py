"""JUnit reports, as services of continuous integration read them, and the exit code that goes with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from esar_ros.scoring.result import write_atomically

_NOT_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


@dataclass(frozen=True)
class Case:
    """One test case: the group it is listed under, its name, and why it failed; empty: it passed."""

    group: str
    name: str
    fault: str = ""
    seconds: float = 0.0


def write_junit(path: Path, suite: str, cases: Sequence[Case]) -> None:
    """Writes one test suite. Raises UsageError where the file cannot be written."""
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(cases)),
        failures=str(sum(bool(case.fault) for case in cases)),
        errors="0",
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(
            root, "testcase", classname=case.group, name=case.name, time=f"{case.seconds:.3f}"
        )
        if case.fault:
            fault = _NOT_XML.sub("?", case.fault)
            ElementTree.SubElement(element, "failure", message=fault.partition("\n")[0]).text = fault
    write_atomically(path, '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n")


def exit_code(cases: Sequence[Case]) -> int:
    """Returns 1 where a case failed, else 0."""
    return int(any(case.fault for case in cases))
