"""The registry of agents that fly step by step: the package's own, every method of missions, and other packages'.

`method:NAME` is a method of `planning/registry.py` through the adaptor; `NAME@scripted` is an agent that asks a
language model, with the offline stand-in. Another package adds an agent by naming a factory in the entry-point group
`esar_ros.step_agents`: a callable that takes the agent's section of the suite's file (a mapping) and returns a
`StepAgent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.plugins import load_plugin, plugins, refuse_taken
from esar_ros.planning import registry as methods
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.planning.parameters import MODEL, configured
from esar_ros.planning.steps.agent import StepAgent
from esar_ros.planning.steps.aoa import AoaFixed, AoaVariable
from esar_ros.planning.steps.clip_h import ClipH, ClipHLabels, ClipHText
from esar_ros.planning.steps.method_agent import METHOD, MethodAgent
from esar_ros.planning.steps.random_steps import RandomSteps

GROUP = "esar_ros.step_agents"
Factory = Callable[[Mapping[str, Any]], StepAgent]

_OWN: dict[str, Factory] = {
    made.name: made for made in (RandomSteps, ClipH, ClipHText, ClipHLabels, AoaFixed, AoaVariable)
}


def names() -> tuple[str, ...]:
    """Names of all agents, sorted; those of methods last."""
    return (*sorted({*_OWN, *plugins(GROUP)}), *(f"{METHOD}{name}" for name in methods.names()))


def create(name: str, sections: Mapping[str, Mapping[str, Any]]) -> StepAgent:
    """An agent by name; sections: parameters by name. Raises UsageError."""
    if name.startswith(METHOD):
        return MethodAgent(name, methods.create(name.removeprefix(METHOD)))
    return _factory(name)(parameters_of(name, sections))


def parameters_of(name: str, sections: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the parameters with which `create` calls a factory, or a method's own. Raises UsageError."""
    if name.startswith(METHOD):
        return methods.parameters_of(name.removeprefix(METHOD))
    own, _, variant = name.partition("@")
    asks = getattr(_factory(name), "asks_model", False)
    parameters = dict(sections.get(own, {}))
    if asks:
        scripted = {"preset": SCRIPTED} if variant else {}
        given = {MODEL: parameters[MODEL]} if MODEL in parameters else {}
        parameters[MODEL] = {**configured(own, given, None, (MODEL,))[MODEL], **scripted}
    return parameters


def _factory(name: str) -> Factory:
    own, _, variant = name.partition("@")
    refuse_taken(own, GROUP, _OWN, "planner")
    foreign = plugins(GROUP)
    if own not in _OWN and own not in foreign:
        known = (*sorted({*_OWN, *foreign}), f"{METHOD}NAME of a method")
        raise UsageError(f"unknown planner '{name}'", suggest(own, known))
    factory: Factory = _OWN.get(own) or load_plugin(foreign[own], "planner")
    if name != own and not (variant == SCRIPTED and getattr(factory, "asks_model", False)):
        raise UsageError(f"unknown variant '{name}'", f"name {own} alone")
    return factory
