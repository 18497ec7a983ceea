"""The governor's page names its modes, reasons and promises as the code has them."""

from __future__ import annotations

import re

from esar_ros.mission.modes import SEVERITY, Mode
from helpers.blocks import ROOT

PAGE = (ROOT / "docs" / "reference" / "safety.md").read_text(encoding="utf-8")
PROMISED = (ROOT / "docs" / "reference" / "safety-promises.md").read_text(encoding="utf-8")
PROMISES = re.compile(r"^\| (I\d+) \|[^|]+\|([^|]+)\|([^|]+)\|$", re.M)
FILES = re.compile(r"`([\w/]+\.py)`")


def rows(title: str) -> list[str]:
    """First cells of the table under a heading."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| (`[^|]+) \|", section, re.M)


def test_modes_stand_in_their_order() -> None:
    assert [cell.strip("`") for cell in rows("Modes")] == [mode.name.lower() for mode in Mode if mode]


def test_every_reason_is_explained_gravest_first() -> None:
    named = [name for cell in rows("Reasons") for name in re.findall(r"`(\w+)`", cell)]
    assert named == [reason.name.lower() for reason in SEVERITY]


def test_every_promise_names_code_and_tests_that_exist() -> None:
    found = PROMISES.findall(PROMISED)
    assert [number for number, _, _ in found] == [f"I{n}" for n in range(1, 17)]
    for number, code, tests in found:
        assert FILES.search(code), f"{number} names no code"
        assert FILES.search(tests) or "promises" in tests, f"{number} names no test"
        for file in FILES.findall(code):
            assert (ROOT / "esar_ros" / file).is_file(), f"{number} names {file}"
        for file in FILES.findall(tests):
            folder = ROOT if file.startswith("benchmarks/") else ROOT / "test"
            assert (folder / file).is_file(), f"{number} names {file}"


def test_the_evidence_of_every_hazard_exists() -> None:
    page = (ROOT / "docs" / "explanation" / "hazards.md").read_text(encoding="utf-8")
    named = {file for line in page.splitlines() if line.startswith("| ") for file in FILES.findall(line)}
    assert named
    for file in named:
        assert (ROOT / file if file.startswith("benchmarks/") else ROOT / "test" / file).is_file(), file
