"""The agents that can fly the suite: those of `planning/steps`, and the oracle, which must know the world."""

from __future__ import annotations

from typing import Any

from esar_ros.planning.steps import registry
from esar_ros.planning.steps.agent import StepAgent
from esar_ros.suites.uav_on.oracle import Oracle
from esar_ros.suites.uav_on.settings import SuiteSettings


def names() -> tuple[str, ...]:
    """Names of all agents."""
    return (Oracle.name, *registry.names())


def create(name: str, settings: SuiteSettings) -> StepAgent:
    """An agent by name. Raises UsageError."""
    return Oracle() if name == Oracle.name else registry.create(name, settings.agents)


def parameters_of(name: str, settings: SuiteSettings) -> dict[str, Any]:
    """Returns the parameters that an agent is made with. Raises UsageError."""
    return {} if name == Oracle.name else registry.parameters_of(name, settings.agents)
