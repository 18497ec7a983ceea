"""The rules of UAVBench's scenarios, from their table."""

from __future__ import annotations

from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.suites.uavbench.scenarios.constraints import pairs
from esar_ros.suites.uavbench.scenarios.risk import risk_rules
from esar_ros.suites.uavbench.scenarios.rules import RULES


def scenario_rules_page() -> str:
    """Rules by code, what does not go together, and the thresholds of risk."""
    lines = ["# Rules of scenarios", "", MADE, "", "What `./esar scenarios validate` holds a scenario to: see"]
    lines += ["[suite UAVBench](uavbench.md).", "", "## Rules", ""]
    lines += table("code|stage|what holds", [(rule.code, rule.stage, cell(rule.text)) for rule in RULES])
    lines += ["## What does not go together (S5)", "", "A line holds where every axis that it names matches.", ""]
    rows = []
    for pair in pairs():
        vehicles = [*(family.value for family in pair.families or ()), *(pair.types or ())]
        axes = (vehicles, pair.missions or (), pair.airspaces or (), pair.phenomena or ())
        rows.append((*(cell(", ".join(axis)) for axis in axes), cell(pair.why)))
    lines += table("vehicles|missions|airspaces|phenomena|why", rows)
    lines += ["## Thresholds of risk", "", "Severities 1, 2, 3 from `config/scenarios/risk.yaml`.", ""]
    found = risk_rules().model_dump()
    words = {name: value for name, value in found.items() if isinstance(value, dict)}
    numbers = [(f"`{name}`", cell(str(value).strip("()"))) for name, value in found.items() if name not in words]
    lines += table("factor|severity 1, 2, 3", numbers)
    by_word = [(f"`{name}`", cell(", ".join(f"{k} {v}" for k, v in values.items()))) for name, values in words.items()]
    lines += table("factor|severity by token", by_word)
    return "\n".join(lines).rstrip() + "\n"
