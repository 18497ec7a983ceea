"""The registry of agents on foot: the package's own, other packages', and those in files (`file:PATH`).

Another package adds an agent by naming a factory, a callable without arguments that returns a `WalkAgent`, in the
entry-point group `esar_ros.walk_agents`. `NAME@scripted` is an agent that asks a language model, with the offline
stand-in.
"""

from __future__ import annotations

from collections.abc import Callable

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.system.plugins import load_plugin, plugins, refuse_taken
from esar_ros.planning.model.settings import SCRIPTED
from esar_ros.planning.parameters import MODEL, configured
from esar_ros.planning.walk.agent import WalkAgent
from esar_ros.planning.walk.air_ground import AirGround
from esar_ros.planning.walk.file_agent import FILE, FileAgent
from esar_ros.planning.walk.frontier import FrontierWalk
from esar_ros.planning.walk.llm_yolo import LlmYolo
from esar_ros.planning.walk.random_walk import RandomWalk

GROUP = "esar_ros.walk_agents"
_OWN: dict[str, Callable[[], WalkAgent]] = {agent.name: agent for agent in (RandomWalk, FrontierWalk, AirGround)}


def names() -> tuple[str, ...]:
    """Returns the names of all agents, sorted."""
    return tuple(sorted({*_OWN, LlmYolo.name, *plugins(GROUP)}))


def create(name: str) -> WalkAgent:
    """Returns an agent by name. Raises UsageError."""
    refuse_taken(name.partition("@")[0], GROUP, (*_OWN, LlmYolo.name), "planner")
    if name in _OWN:
        return _OWN[name]()
    if name.startswith(FILE):
        return FileAgent(name)
    if name.partition("@")[0] == LlmYolo.name:
        return _asking(name)
    foreign = plugins(GROUP)
    if name not in foreign:
        raise UsageError(f"unknown planner '{name}'", suggest(name, (*names(), f"{FILE}PATH")))
    factory = load_plugin(foreign[name], "planner")
    try:
        agent: WalkAgent = factory()
    except Exception as error:  # whatever another package raises
        what = f"planner '{name}' ({foreign[name].value}) does not load: {error}"
        raise UsageError(what, "mend that package") from error
    return agent


def _asking(name: str) -> WalkAgent:
    """Returns the agent that asks a model, or its variant with the stand-in. Raises UsageError."""
    own, _, variant = name.partition("@")
    if name != own and variant != SCRIPTED:
        raise UsageError(f"unknown variant '{name}'", f"known: {own}@{SCRIPTED}")
    parameters = configured(own, {MODEL: {"preset": SCRIPTED}} if variant else {}, None, (MODEL,))
    agent = LlmYolo(parameters)
    if agent.name != name:
        raise UsageError(f"planner {name} is {agent.name} with these settings", f"name {agent.name}, or take them back")
    return agent
