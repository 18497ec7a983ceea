"""The registry of agents on foot: the package's own, other packages', and those in files (`file:PATH`).

Another package adds an agent by naming a factory, a callable without arguments that returns a `WalkAgent`, in the
entry-point group `esar_ros.walk_agents`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from esar_ros.mission.errors import UsageError
from esar_ros.planning.walk.agent import WalkAgent
from esar_ros.planning.walk.air_ground import AirGround
from esar_ros.planning.walk.file_agent import FILE, FileAgent
from esar_ros.planning.walk.frontier import FrontierWalk
from esar_ros.planning.walk.random_walk import RandomWalk

GROUP = "esar_ros.walk_agents"
_OWN: dict[str, Callable[[], WalkAgent]] = {agent.name: agent for agent in (RandomWalk, FrontierWalk, AirGround)}


def names() -> tuple[str, ...]:
    """Returns the names of all agents, sorted."""
    return tuple(sorted({*_OWN, *_foreign()}))


def create(name: str) -> WalkAgent:
    """Returns an agent by name. Raises UsageError."""
    if name in _OWN:
        return _OWN[name]()
    if name.startswith(FILE):
        return FileAgent(name)
    foreign = _foreign()
    if name not in foreign:
        raise UsageError(f"unknown planner '{name}'", f"known: {', '.join(names())}, {FILE}PATH")
    try:
        agent: WalkAgent = foreign[name].load()()
    except Exception as error:  # whatever another package raises
        what = f"planner '{name}' ({foreign[name].value}) does not load: {error}"
        raise UsageError(what, "mend that package") from error
    return agent


def _foreign() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
