"""The agents that can walk the suite: those of `planning/walk`, and the oracle, which must know the world."""

from __future__ import annotations

from esar_ros.planning.walk import registry
from esar_ros.planning.walk.agent import WalkAgent
from esar_ros.suites.rescuebench.oracle import Oracle


def names() -> tuple[str, ...]:
    """Returns the names of all agents."""
    return (Oracle.name, *registry.names())


def create(name: str) -> WalkAgent:
    """Returns an agent by name. Raises UsageError."""
    return Oracle() if name == Oracle.name else registry.create(name)
