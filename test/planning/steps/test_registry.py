"""Agents by name: the package's own, methods of missions, other packages', and what is refused."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.planning.steps import registry
from esar_ros.planning.steps.agent import StepAgent
from helpers.steps import SETTINGS, Scripted, go, seen, step_task


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESET", "URL", "NAME", "CLOCK"):
        monkeypatch.delenv(f"ESAR_MODEL_{name}", raising=False)


def mine(parameters: Any) -> Scripted:
    return Scripted([go("up", parameters["size"])])


@pytest.mark.parametrize("name", ["random", "clip_h_labels", "aoa_f@scripted", "aoa_v@scripted", "method:zigzag"])
def test_what_needs_nothing_is_made(name: str) -> None:
    agent = registry.create(name, SETTINGS.agents)
    assert isinstance(agent, StepAgent) and agent.name == name
    assert agent.eligible is (name != "clip_h_labels")


def test_names_are_those_that_can_be_asked_for() -> None:
    assert {"random", "clip_h", "clip_h_text", "aoa_f", "aoa_v", "method:fbe"} <= set(registry.names())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pigeon", "unknown planner 'pigeon': known: aoa_f, .*method:NAME"),
        ("random@scripted", "unknown variant 'random@scripted'"),
        ("aoa_f@other", "unknown variant 'aoa_f@other'"),
        ("method:pigeon", "unknown planner 'pigeon'"),
        ("aoa_f", "asks a language model and none is configured"),
    ],
)
def test_what_there_is_not_is_one_line(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        registry.create(name, SETTINGS.agents)


def test_a_bad_parameter_is_one_line() -> None:
    with pytest.raises(UsageError, match="planner random, parameter stop_from_step"):
        registry.create("random", {"random": {"stop_from_step": -1}})


def test_another_package_s_agent_gets_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{__name__}:mine", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: mine)
    monkeypatch.setattr(registry, "plugins", lambda group: {"mine": point})
    agent = registry.create("mine", {"mine": {"size": 3.0}})
    agent.reset(step_task(), 0)
    assert agent.act(seen()) == go("up", 3.0)
    assert "mine" in registry.names()
