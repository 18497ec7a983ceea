"""An episode of a suite: a method flown through a mission, and what happens where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from esar_ros.benchmark.engine.mission import EpisodeResult, Mission
from esar_ros.benchmark.engine.missions import MissionSuite
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task
from esar_ros.planning.agent_call import AgentError, call_agent, make_agent, stack_trace
from esar_ros.planning.method import Method
from esar_ros.planning.method_check import WrongAnswer, check_method
from esar_ros.planning.registry import create
from esar_ros.sim.terrain.maps import PlaceMap


def fly_episode(
    suite: MissionSuite,
    task: Task,
    planner: str,
    seed: int,
    conditions: RunConditions,
    place: PlaceMap | None = None,
    in_agent: Callable[[bool], None] = lambda inside: None,
    method: Method | None = None,
) -> EpisodeResult:
    """Flies a task to its end and returns the result. Raises UsageError where that is not possible.

    place: the task's map, if loaded already; in_agent: called with True before and False after each call of the method;
    method: what is flown under the planner's name, None: the registry's. Raises AgentError where it cannot be made.
    """
    if method is not None:
        check_method(method, f"planner '{planner}'")
    flown = make_agent(lambda: create(planner), in_agent) if method is None else method
    with Mission(suite, conditions, flown, planner) as mission:
        seen = mission.reset(task, seed, place)
        try:
            call_agent(lambda: flown.reset(mission.brief, seed), in_agent)
            while not mission.ended:
                seen = mission.step(call_agent(lambda: flown.act(seen), in_agent))  # noqa: B023
        except (AgentError, WrongAnswer) as failure:
            mission.fail(str(failure))
            flown_so_far = mission.result()
            if flown_so_far.result.error is None:  # it had ended between the last two frames, before it failed
                return flown_so_far
            return replace(flown_so_far, error=str(failure), trace=stack_trace(failure))
        return mission.result()
