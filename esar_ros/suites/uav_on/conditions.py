"""Conditions of a run of UAV-ON: what is chosen, and by content what decides a result besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast

import esar_ros
from esar_ros.benchmark.runner.job import Job
from esar_ros.mission.errors import UsageError
from esar_ros.mission.run_conditions import Conditions, digest
from esar_ros.planning.method import details_of
from esar_ros.planning.model.settings import ModelSettings, resolved
from esar_ros.planning.parameters import MODEL, check
from esar_ros.planning.steps.agent import StepAgent
from esar_ros.scoring.object_goal import Poses
from esar_ros.suites.uav_on.agents import parameters_of
from esar_ros.suites.uav_on.scenes import FlownTask
from esar_ros.suites.uav_on.settings import SuiteSettings, load_suite_settings

AIRSIM = "airsim"
LONGEST_STEP = 600.0  # s
NOT_UNREAL = "not run on Unreal"  # said of AirSim's interface, which was tried on this project's simulator alone
# Of a model's settings: where it is reached and what is kept of it decides no answer; the rest stands in `model`.
_NO_MATTER = {"base_url", "log", "log_images", "replay", "preset", "name", "clock"}


@dataclass(frozen=True)
class UavOnConditions(Conditions):
    """Conditions under which an agent's episodes are flown and scored."""

    OF_METHOD: ClassVar[tuple[str, ...]] = ("tasks", "scenes", "model", "agent")

    poses: Poses = "commanded"  # which are told and scored; both are recorded
    depth: Literal["code", "metres"] = "code"  # clipped and quantised as the public code gives it, or as measured
    pose: Literal["simulator", "relative"] = "simulator"  # poses told count from the map's origin, or from the start
    terms: Literal["uav-on", "apex"] = "uav-on"  # the distance of success and the number of actions
    step_time: float = 25.0  # s that a step may take
    world: Literal["embedded", "airsim"] = "embedded"
    server: str = ""  # HOST:PORT where scenes of "airsim" are opened; decides no result
    shortest: str = "dataset"  # whose l SPL is of
    version: str = ""  # of esar_ros
    settings: str = ""  # vehicle, cameras and sizes of steps
    tasks: str = ""  # all that the run flies: how many, and their content
    scenes: str = ""  # the same
    model: str = ""  # whom the agent asks, with which prompts; empty: nobody
    agent: str = ""  # its parameters

    @property
    def as_text(self) -> dict[str, str]:
        """Each field in words, but where a server is."""
        fields = super().as_text
        del fields["server"]
        world = self.world if self.world == "embedded" else f"{self.world} ({NOT_UNREAL})"
        return fields | {"model": self.model or "none", "step_time": f"{self.step_time:g} s", "world": world}


def chosen(options: Mapping[str, str]) -> UavOnConditions:
    """The conditions that the command line chooses. Raises UsageError."""
    text = options.get("step-time", f"{UavOnConditions.step_time:g}")
    try:
        step_time = float(text)
    except ValueError:
        step_time = 0.0
    if not 0.0 < step_time <= LONGEST_STEP:
        raise UsageError(f"--step-time {text}", f"seconds above 0, at most {LONGEST_STEP:g}")
    world, server = options.get("world", UavOnConditions.world), options.get("scenes", "")
    if (world == AIRSIM) != bool(server):
        cure = f"--world {AIRSIM} needs --scenes HOST:PORT, and no other has it"
        raise UsageError(f"--world {world} --scenes '{server}'", cure)
    return UavOnConditions(
        world=cast(Literal["embedded", "airsim"], world),
        server=server,
        poses=cast(Poses, options.get("poses", UavOnConditions.poses)),
        depth=cast(Literal["code", "metres"], options.get("depth", UavOnConditions.depth)),
        pose=cast(Literal["simulator", "relative"], options.get("pose", UavOnConditions.pose)),
        terms=cast(Literal["uav-on", "apex"], options.get("terms", UavOnConditions.terms)),
        step_time=step_time,
    )


def conditions_of(job: Job) -> UavOnConditions:
    """A job's conditions."""
    assert isinstance(job.conditions, UavOnConditions)
    return job.conditions


def with_content(own: UavOnConditions, planner: str, agent: StepAgent, tasks: Sequence[FlownTask]) -> UavOnConditions:
    """The conditions chosen, with all that this machine adds. Raises UsageError."""
    details = details_of(agent)
    details.pop("date", None)
    scenes = {task.scene.name: task.scene.digest for task in tasks}
    return replace(
        with_files(own, planner),
        tasks=f"{len(tasks)}, {digest(sorted(task.digest for task in tasks))}",
        scenes=f"{len(scenes)}, {digest(scenes)}",
        model=", ".join(f"{key} {value[:12] if key.endswith('sha256') else value}" for key, value in details.items()),
    )


def with_files(own: UavOnConditions, planner: str) -> UavOnConditions:
    """The conditions with what files and environment say now; tasks, scenes and model stay. Raises UsageError."""
    settings = load_suite_settings()
    return replace(
        own,
        version=esar_ros.__version__,
        settings=digest(settings.model_dump(mode="json", exclude={"agents", "stand_ins"})),
        agent=digest(_parameters(settings, planner)),
    )


def _parameters(settings: SuiteSettings, planner: str) -> Mapping[str, object]:
    parameters = parameters_of(planner, settings)
    if MODEL in parameters:
        model = resolved(check(ModelSettings, parameters[MODEL], planner), planner)
        parameters[MODEL] = model.model_dump(mode="json", exclude=_NO_MATTER)
    return parameters
