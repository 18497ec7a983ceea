"""LLM-YOLO: the detector's boxes go into words, a language model answers with a short sequence of moves.

Source: Wu et al., RescueBench, 2026, "LLM-YOLO Planner": a detector of victims, and a model that chooses actions by
what it has found. No code of it is public: prompt, moves and memory are our own. The model gets the text, the objects
in view with box, score, distance and bearing, persons seen before, pooled depth, the way back to the start by its own
poses, what its last moves led to, and the image where it reads images. The suite gives no reference picture, so that
its words are the text's alone. A sequence ends early where a move is blocked or the phase changes. An answer that is no
sequence costs a step on the spot and is counted.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mission.clues import PERSON
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import (
    FASTEST,
    SHARPEST,
    TURN_RATE,
    Animation,
    Head,
    Phase,
    StandingPose,
    WalkAction,
    WalkObservation,
    WalkTask,
)
from esar_ros.mission.run_conditions import digest
from esar_ros.mission.settings_file import StrictModel
from esar_ros.perception.detector import ClueDetector, FrameResult
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.planning.depth_view import BOX_GRID, pooled_words
from esar_ros.planning.exchange import Form, LabelledImage, clean, labelled_image
from esar_ros.planning.model.mind import Mind, Thought
from esar_ros.planning.model.settings import ModelSettings, resolved
from esar_ros.planning.model.thinker import ask
from esar_ros.planning.parameters import check
from esar_ros.planning.walk.frontier import DETECTOR, SURE, backend

SYSTEM = (
    "You guide a rescuer on foot, who sees through one camera at eye height. First find the victim whom the text "
    "describes, go there and pick them up; then carry them back to the ambulance near the start and put them down on "
    "its stretcher. You get what a detector finds in the picture, the nearest depth in a grid of it, and what the last "
    "moves led to. Answer with the next moves, a few at a time: you look again when they are done, and at once when "
    "one is blocked. Turn to look round where nothing is in view; do not repeat what has failed. Close to the victim "
    "and to the stretcher your hands may act by themselves, which holds you for some seconds."
)
_MOST = 25  # steps of one answer
_REMEMBERED = 8  # moves
_BLOCKED = 3  # steps ahead in a row without getting on
_STILL = 0.02  # m of a step that is none
_NO_MATTER = {"base_url", "log", "log_images", "replay", "clock"}  # of a model's settings: they decide no answer
_HANDS = {"pick_up": Animation.CARRY, "put_down": Animation.DROP, "open_door": Animation.OPEN_DOOR}
_HEAD = {"look_up": Head.UP, "look_down": Head.DOWN}
_PHASES = {
    Phase.FIND_INJURED: "find the victim and pick them up",
    Phase.FIND_STRETCHER: "carry the victim to the stretcher and put them down",
}


class Move(Form):
    """One move."""

    action: Literal[
        "forward", "back", "turn_left", "turn_right", "look_up", "look_down", "pick_up", "put_down", "open_door"
    ]
    amount: float = Field(default=0.0, ge=0.0, le=360.0, description="m forward or back, degrees of a turn")


class WalkPlan(Form):
    """The next moves in their order."""

    reason: str = Field(default="", description="one sentence")
    moves: list[Move] = Field(min_length=1, max_length=5)


class LlmYoloSettings(StrictModel):
    """Section `llm_yolo` of config/planners.yaml."""

    model: ModelSettings = Field(default_factory=ModelSettings)


class _Episode(NamedTuple):
    mission_id: str


class _Moment(NamedTuple):
    stamp: float  # s
    vehicle: str = "walker"


class _Step(NamedTuple):
    """One action of a move."""

    action: WalkAction
    move: str  # in words


class LlmYolo:
    """Asks for a few moves at a time."""

    name = "llm_yolo"
    eligible = True

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """parameters: the method's section with the model's. Raises UsageError when no model is configured."""
        settings = check(LlmYoloSettings, parameters, self.name)
        self._mind: Mind[WalkPlan | None] = Mind(settings.model, self.name, (SYSTEM,))
        if self._mind.details["clock"] == "running":
            cure = "leave ESAR_MODEL_CLOCK out: the suite's --clock running counts the time of an answer"
            raise UsageError(f"planner {self.name}: the model's clock is running", cure)
        self._decides = digest(resolved(settings.model, self.name).model_dump(mode="json", exclude=_NO_MATTER))
        self.name = self._mind.method

    @property
    def details(self) -> Mapping[str, str]:
        """The model, its prompt and settings, and the detector's identity (see planning.method.HasDetails)."""
        detector = {f"detector_{key}": value for key, value in about_chosen(DETECTOR).items()}
        return {**self._mind.details, "settings": self._decides, **detector}

    @property
    def account(self) -> Mapping[str, int]:
        """See planning.steps.agent.Accountable; `without_model`: questions without a usable answer."""
        return dict(self._account)

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode. Raises UsageError without the detector's network."""
        self._task = task
        self._mind.reset(_Episode(task.id))
        self._detector = ClueDetector(backend())
        self._account = {"questions": 0, "without_model": 0, "tokens_in": 0, "tokens_out": 0}
        self._home: Vector | None = None  # (2,) m, from the first observation on
        self._queue: deque[_Step] = deque()
        self._memory: deque[str] = deque(maxlen=_REMEMBERED)
        self._doing: tuple[str, StandingPose] | None = None  # move in words, and where it began
        self._last: tuple[WalkAction, StandingPose] | None = None
        self._phase = Phase.FIND_INJURED
        self._still = 0

    def act(self, observation: WalkObservation) -> WalkAction:
        """Go on with the moves that the model gave, or ask for more."""
        if self._home is None:
            self._home = observation.pose.position[:2].copy()
        if observation.phase is not self._phase:
            self._phase = observation.phase
            self._end_move(observation.pose, "cut short by the next phase" if self._queue else "")
        elif self._is_blocked(observation.pose):
            self._end_move(observation.pose, "then blocked")
        if not self._queue:
            self._end_move(observation.pose)
            self._queue.extend(self._asked(observation))
        step = self._queue.popleft()
        if self._doing is None or self._doing[0] != step.move:
            self._end_move(observation.pose, keep=True)
            self._doing = (step.move, observation.pose)
        self._last = (step.action, observation.pose)
        return step.action

    # -- the model --------------------------------------------------------------------------------

    def _asked(self, observation: WalkObservation) -> list[_Step]:
        """Returns the steps of the model's next moves; one on the spot where its answer is none."""
        self._mind.begin(self._deliberate(observation))
        outcome = None
        while outcome is None:
            outcome = self._mind.poll(_Moment(observation.seconds))
        self._account["questions"] += 1
        self._account["tokens_in"] += outcome.tokens_in
        self._account["tokens_out"] += outcome.tokens_out
        if outcome.value is None:
            self._account["without_model"] += 1
            return [_Step(WalkAction(), "no usable answer")]
        return [
            _Step(action, f"{number}. {_words(move)}")
            for number, move in enumerate(outcome.value.moves, 1)
            for action in actions_of(move, self._task.step)
        ][:_MOST]

    def _deliberate(self, observation: WalkObservation) -> Thought[WalkPlan | None]:
        images: tuple[LabelledImage, ...] = ()
        if (how := self._mind.sends_images) is not None:
            images = (labelled_image("the rescuer's camera", observation.view.colour, *how),)
        answer, _ = yield from ask("walk", SYSTEM, self._situation(observation), WalkPlan, images)
        return answer

    def _situation(self, observation: WalkObservation) -> str:
        """Returns all that the model is told in words."""
        view, task = observation.view, self._task
        found = self._detector.process(
            [CameraFrame("eye", view.model, view.pose, view.depth, view.colour, observation.seconds)]
        )
        in_view = _in_view(found, observation)
        return "\n".join(
            [
                f'Text: "{clean(task.description, 4000)}"',
                f"Now: {_PHASES[observation.phase]}. {observation.seconds:.0f} s of {task.time_limit:.0f} s are over.",
                f"Start: {_place(observation.pose, self._home)}.",
                f"In view, with boxes [left, top, right, bottom] of 0 to {BOX_GRID:.0f}: {in_view}.",
                f"Persons seen before: {_before(found, observation.pose)}.",
                f"Depth ahead in m, rows from the top, columns from the left: {pooled_words(view.depth, 3, 1)}",
                f"Last moves, oldest first: {'; '.join(self._memory) or 'none'}.",
                f"Moves: forward, back (m, at most {FASTEST * task.step * _MOST:g}); turn_left, turn_right (degrees); "
                "look_up, look_down (30 degrees); "
                f"pick_up within {task.pick_up:g} m of the victim; put_down within {task.put_down:g} m of the "
                "stretcher, nowhere else; open_door in front of one.",
            ]
        )

    # -- what moves led to ------------------------------------------------------------------------

    def _end_move(self, pose: StandingPose, how: str = "", keep: bool = False) -> None:
        """Notes what the move under way led to, and drops what was to follow unless that is kept."""
        if self._doing is not None:
            self._memory.append(_result(*self._doing, pose, how))
        self._doing = None
        if not keep:
            self._queue.clear()
            self._still = 0

    def _is_blocked(self, pose: StandingPose) -> bool:
        """Returns whether walking has led nowhere for some steps."""
        if self._last is None or self._last[0].speed == 0.0:
            self._still = 0
            return False
        self._still = self._still + 1 if math.dist(self._last[1].position[:2], pose.position[:2]) < _STILL else 0
        return self._still >= _BLOCKED


def actions_of(move: Move, step: float) -> list[WalkAction]:
    """Returns the actions, each in force for a step (s), that make a move; one where no amount is given."""
    if move.action in _HANDS:
        return [WalkAction(animation=_HANDS[move.action])]
    if move.action in _HEAD:
        return [WalkAction(head=_HEAD[move.action])]
    turns = move.action.startswith("turn")
    sign = 1.0 if move.action in ("forward", "turn_left") else -1.0
    most = SHARPEST * TURN_RATE * step if turns else FASTEST * step  # of a step: degrees, m
    count = max(1, math.ceil(move.amount / most - 1e-9))
    each = sign * (move.amount / count if move.amount else most) / step
    return [WalkAction(angle=each / TURN_RATE) if turns else WalkAction(each)] * count


def _words(move: Move) -> str:
    unit = " degrees" if move.action.startswith("turn") else " m" if move.action in ("forward", "back") else ""
    return f"{move.action} {move.amount:g}{unit}" if unit and move.amount else move.action


def _result(move: str, begun: StandingPose, now: StandingPose, how: str) -> str:
    """Returns a move with what it led to."""
    gone = math.dist(begun.position[:2], now.position[:2])
    turned = math.degrees(wrap_angle(now.yaw - begun.yaw))
    told = [f"went {gone:.1f} m"] if gone >= 0.05 else []
    if abs(turned) >= 1.0:
        told.append(f"turned {abs(turned):.0f} degrees to the {_side(turned)}")
    return f"{move.partition('. ')[2] or move}: {', '.join([*told, *([how] if how else [])]) or 'stood still'}"


def _side(degrees: float) -> str:
    return "left" if degrees >= 0.0 else "right"


def _bearing(pose: StandingPose, offset: Vector) -> str:
    """Returns the direction of an offset (2,) m from the heading, in words."""
    off = math.degrees(wrap_angle(math.atan2(offset[1], offset[0]) - pose.yaw))
    return f"{abs(off):.0f} degrees to the {_side(off)}"


def _place(pose: StandingPose, place: Vector | None) -> str:
    """Returns level distance and bearing of a place (2,) or (3,) m."""
    assert place is not None
    offset = place[:2] - pose.position[:2]
    return f"{math.hypot(*offset):.1f} m, {_bearing(pose, offset)}"


def _in_view(found: FrameResult, observation: WalkObservation) -> str:
    """Returns what the detector has found in the image: name, score, box, level distance, bearing."""
    model, out = observation.view.model, []
    for sighting in sorted(found.sightings, key=lambda one: -one.detection.score)[:12]:
        seen = sighting.detection
        x, y, width, height = seen.box
        corners = (x / model.width, y / model.height, (x + width) / model.width, (y + height) / model.height)
        box = [round(BOX_GRID * min(max(corner, 0.0), 1.0)) for corner in corners]
        pose, place = observation.pose, sighting.position  # hands reach by level distance, which is what is told
        where = f"distance unknown, {_bearing(pose, sighting.bearing[:2])}" if place is None else _place(pose, place)
        out.append(f"{clean(seen.text or seen.kind.replace('_', ' '), 60)} (score {seen.score:.2f}) {box} {where}")
    return "; ".join(out) or "nothing"


def _before(found: FrameResult, pose: StandingPose) -> str:
    """Returns the persons that were seen and are still probable, but are not in view now."""
    now = set(found.owners.values())
    persons = [clue for clue in found.clues if clue.kind == PERSON and clue.probability >= SURE and clue.id not in now]
    best = sorted(persons, key=lambda clue: (-clue.probability, clue.id))[:5]
    return "; ".join(f"person (score {clue.probability:.2f}) {_place(pose, clue.position)}" for clue in best) or "none"
