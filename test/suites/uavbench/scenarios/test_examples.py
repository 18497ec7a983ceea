"""The shipped examples beside their golden findings and labels. To write them anew: python THIS_FILE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from esar_ros.suites.uavbench.scenarios.describe import describe
from esar_ros.suites.uavbench.scenarios.risk import label
from esar_ros.suites.uavbench.scenarios.taxonomy import FAMILIES, Family
from esar_ros.suites.uavbench.scenarios.validate import validate
from helpers.scenarios import example, example_files

GOLDEN = Path(__file__).with_name("golden_examples.json")


def found() -> dict[str, Any]:
    """Returns findings, label and description of every example."""
    results = {}
    for path in example_files():
        checked = validate(path.read_bytes())
        assert checked.scene is not None
        results[path.stem] = {
            "findings": [finding.line(path.stem) for finding in checked.findings],
            "label": label(checked.scene),
            "description": describe(checked.scene),
        }
    return results


def test_examples_are_judged_as_they_were() -> None:
    assert json.loads(json.dumps(found())) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_there_are_twelve_of_every_family_and_level() -> None:
    made = [example(path.stem) for path in example_files()]
    assert len(made) == 12
    assert {FAMILIES[data["uav"]["type"]] for data in made} == set(Family)
    assert {data["label"]["risk_level"] for data in made} == {1, 2, 3}


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(found(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
