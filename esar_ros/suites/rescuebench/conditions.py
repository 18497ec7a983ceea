"""Conditions of a run of RescueBench: what is chosen, and by content what decides a result besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import esar_ros
from esar_ros.mission.run_conditions import Conditions, digest
from esar_ros.planning.method import details_of
from esar_ros.planning.walk.agent import WalkAgent
from esar_ros.scoring.rescue import Rules
from esar_ros.suites.rescuebench.machine import Interaction
from esar_ros.suites.rescuebench.settings import load_suite_settings

Truth = Literal["none", "target_pose"]
Clock = Literal["paused", "running"]
Population = Literal["none", "busy"]
STAND_INS = "stand-ins"


@dataclass(frozen=True)
class RescueConditions(Conditions):
    """Conditions under which an agent's episodes are walked."""

    OF_METHOD: ClassVar[tuple[str, ...]] = ("tasks", "agent", "model")
    NEVER_TOGETHER: ClassVar[tuple[str, ...]] = ("clock",)

    rules: Rules = Rules.CODE  # of the gates; scores are by both
    interaction: Interaction = Interaction.ACTIVE
    truth: Truth = "none"  # told to agents
    clock: Clock = "paused"  # the world waits for the agent, or goes on while it thinks
    population: Population = "none"  # busy: bystanders and vehicles pass by
    step: float = 0.2  # s that an action is in force with the clock paused
    world: str = "embedded"  # STAND_INS: some of its places are stand-ins of public maps
    version: str = ""  # of esar_ros
    settings: str = ""
    tasks: str = ""  # all that the run walks: how many, and their content
    agent: str = ""  # the content of what it rests on, its file or its detector; empty: nothing
    model: str = ""  # whom the agent asks, with which prompts; empty: nobody

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> RescueConditions:
        """Returns conditions as `asdict` wrote them. Raises TypeError or ValueError on what they cannot be."""
        own = cls(**document)
        return replace(own, rules=Rules(own.rules), interaction=Interaction(own.interaction))

    @property
    def as_text(self) -> dict[str, str]:
        """Each field in words."""
        words = {"rules": self.rules.value, "interaction": self.interaction.value, "step": f"{self.step:g} s"}
        return super().as_text | words | {"model": self.model or "none"}


def chosen(options: Mapping[str, str]) -> RescueConditions:
    """Returns the conditions that the command line chooses."""
    return RescueConditions(
        rules=Rules(options.get("rules", Rules.CODE.value)),
        interaction=Interaction(options.get("interaction", Interaction.ACTIVE.value)),
        truth=cast(Truth, options.get("truth", "none")),
        clock=cast(Clock, options.get("clock", "paused")),
        population=cast(Population, options.get("population", "none")),
    )


def with_content(own: RescueConditions, digests: Sequence[str], agent: WalkAgent) -> RescueConditions:
    """Returns the conditions chosen, with what this machine adds; digests: of the tasks. Raises UsageError."""
    details = details_of(agent)
    details.pop("date", None)  # a run that goes on tomorrow is the same run
    return replace(
        with_files(own),
        tasks=f"{len(digests)}, {digest(sorted(digests))}",
        agent=digest(details) if details else "",
        model=f"{details['model']}, prompts {details['prompt_sha256'][:12]}" if "prompt_sha256" in details else "",
    )


def with_files(own: RescueConditions) -> RescueConditions:
    """Returns the conditions with what files say now; tasks, agent and model stay. Raises UsageError."""
    settings = load_suite_settings()
    return replace(
        own, step=settings.step, version=esar_ros.__version__, settings=digest(settings.model_dump(mode="json"))
    )
