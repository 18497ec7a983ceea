"""AOA: captions, pooled depth and the last poses go into one prompt; the model answers with an action.

Source: Xiao et al., UAV-ON, 2025, section 6.1: `aoa_f` takes steps of fixed size, `aoa_v` steps as long as the model
says. The prompts are our own. Options follow the authors' public code: depth is the least of each part of a 3 x 3 grid
in whole metres, and a move out of the box around the start becomes a left turn. Where the model gives no answer, the
drone goes straight on if depth shows room for it, else turns left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepAction, StepKind, StepObservation, StepTask
from esar_ros.mission.settings_file import StrictModel
from esar_ros.planning.depth_view import min_pooled, pooled_words
from esar_ros.planning.exchange import Question, clean, labelled_image
from esar_ros.planning.methods.models.aoa import POSES, FixedStep, VariableStep
from esar_ros.planning.model.mind import Mind, Thought
from esar_ros.planning.model.settings import ModelSettings
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.parameters import check
from esar_ros.planning.sectors import ORDER, Caption
from esar_ros.planning.steps.search_box import kept_inside

STEP_SECONDS = 5.0  # that an action stands for where the model's settings count time
SYSTEM = (  # near: m, that of the task
    "You fly a drone step by step in search of one object. You get captions of its four cameras, the nearest depth in "
    "a grid of each picture in metres, and its last poses [x, y, z, yaw in degrees]; x is east, y north, z up, yaw 0 "
    "east and positive to the left. Whatever you touch ends the search, the ground too: move only where depth shows "
    "room. Do not fly in circles, and stay in the search area. Stop as soon as the object has been seen and is nearer "
    "than {near:g} m."
)
CAPTIONS = (
    "You see one camera of a drone that searches for an object outdoors. Describe for its pilot the objects in sight, "
    "their colours and materials, and obstacles near the drone."
)


class AoaSettings(StrictModel):
    """Sections `aoa_f` and `aoa_v` of the suite's file."""

    pooled: int = Field(default=3, ge=1, le=16, description="parts of a depth image along each side")
    whole_metres: bool = Field(default=True, description="round depths to whole metres")
    kept_inside: bool = Field(default=True, description="a move out of the box around the start becomes a left turn")
    model: ModelSettings = Field(default_factory=ModelSettings)


class _Episode(NamedTuple):
    mission_id: str


class _Moment(NamedTuple):
    stamp: float  # s
    vehicle: str = "uav1"


class AoaFixed:
    """Fixed steps."""

    name = "aoa_f"
    eligible = True
    asks_model = True
    form: type[FixedStep] = FixedStep

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._settings = check(AoaSettings, parameters, self.name)
        self._mind: Mind[StepAction] = Mind(self._settings.model, self.name, (SYSTEM, CAPTIONS))
        self.name = self._mind.method
        if self._mind.details["clock"] == "running":
            raise UsageError(f"planner {self.name}: the model's clock is running", "between steps it can only pause")

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return self._mind.details

    @property
    def account(self) -> Mapping[str, int]:
        """See planning.steps.agent.Accountable."""
        return {"tokens_in": self._tokens[0], "tokens_out": self._tokens[1], "without_model": self._without}

    def reset(self, task: StepTask, seed: int) -> None:
        """Begin an episode."""
        self._task = task
        self._mind.reset(_Episode(task.id))
        self._poses: deque[str] = deque(maxlen=POSES)
        self._tokens, self._without = [0, 0], 0

    def act(self, observation: StepObservation) -> StepAction:
        """Ask the model."""
        self._mind.begin(self._deliberate(observation))
        outcome = None
        while outcome is None:
            outcome = self._mind.poll(_Moment(observation.number * STEP_SECONDS))
        self._tokens[0] += outcome.tokens_in
        self._tokens[1] += outcome.tokens_out
        action = outcome.value
        return kept_inside(action, observation.pose, self._task) if self._settings.kept_inside else action

    def sizes(self) -> str:
        """Returns the description of the actions in the prompt."""
        size = self._task.sizes
        return (
            f"Actions: forward {size[StepKind.FORWARD]:g} m, left {size[StepKind.LEFT]:g} m, right "
            f"{size[StepKind.RIGHT]:g} m; up {size[StepKind.UP]:g} m, down {size[StepKind.DOWN]:g} m; turn_left "
            f"{size[StepKind.TURN_LEFT]:g} degrees, turn_right {size[StepKind.TURN_RIGHT]:g} degrees; stop."
        )

    def action(self, answer: FixedStep) -> StepAction:
        """The action as the model gave it."""
        return StepAction(StepKind(answer.action))

    def _deliberate(self, observation: StepObservation) -> Thought[StepAction]:
        """Captions, then one action."""
        position, yaw = observation.pose.position, observation.pose.yaw
        self._poses.append(f"[{position[0]:.0f}, {position[1]:.0f}, {position[2]:.0f}, {yaw:.0f}]")
        captions = ["no caption"] * len(ORDER)
        questions = self._questions(observation)
        if questions:
            replies = yield questions
            said = [reply.value.caption if isinstance(reply.value, Caption) else "" for reply in replies]
            captions = [clean(words, 400) or "no caption" for words in said]
        lines = [*self._task_lines(observation.number), self.sizes()]
        for camera, caption in zip(ORDER, captions, strict=True):
            lines.append(f"{camera}: {caption} Depth: {self._depth(observation, camera)}")
        lines.append(f"Poses, oldest first: {' '.join(self._poses)}")
        answer, _ = yield from ask("step", SYSTEM.format(near=self._task.near), "\n".join(lines), self.form)
        if answer is not None:
            return self.action(answer)
        self._without += 1
        return self._fallback(observation)

    def _questions(self, observation: StepObservation) -> Sequence[Question]:
        """One question a camera; none to a model that reads text only."""
        how = self._mind.sends_images
        if how is None:
            return ()
        colour = observation.views.colour
        return [
            Question(
                "caption",
                CAPTIONS,
                f"This is the {camera} camera. Describe it.",
                Caption,
                (labelled_image(f"{camera} camera", colour[camera], *how),),
            )
            for camera in ORDER
        ]

    def _task_lines(self, number: int) -> list[str]:
        goal, (x, y, _), half = self._task.goal, self._task.start.position, self._task.half_side
        return [
            f'Object: "{clean(goal.name, 200)}". Size: "{clean(goal.size, 200)}". Description: '
            f'"{clean(goal.description, 4000)}"',
            f"Search area: x from {x - half:.0f} to {x + half:.0f}, y from {y - half:.0f} to {y + half:.0f}. "
            f"Action {number + 1} of at most {self._task.max_actions}.",
        ]

    def _depth(self, observation: StepObservation, camera: str) -> str:
        decimals = 0 if self._settings.whole_metres else 1
        return pooled_words(observation.views.depth[camera], self._settings.pooled, decimals)

    def _fallback(self, observation: StepObservation) -> StepAction:
        room = float(min_pooled(observation.views.depth["front"])[:, 1].min())
        free = room > self._task.sizes[StepKind.FORWARD] + 1.0
        return StepAction(StepKind.FORWARD if free else StepKind.TURN_LEFT)


class AoaVariable(AoaFixed):
    """Steps as long as the model says."""

    name = "aoa_v"
    form = VariableStep

    def sizes(self) -> str:
        """See AoaFixed."""
        return (
            "Actions with their magnitude: forward, left, right, up, down in m; turn_left, turn_right in degrees; stop."
        )

    def action(self, answer: FixedStep) -> StepAction:
        """The action with its magnitude."""
        assert isinstance(answer, VariableStep)
        return StepAction(StepKind(answer.action), answer.magnitude)
