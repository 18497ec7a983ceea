"""Agents in files of other people, as they are: an `AlgSolution`, or a subclass of RescueBench's `BaseAgent`.

Interfaces: Wu et al., RescueBench, 2026, public code. `AlgSolution` has `predicts(observation, picked[, info])` and may
have `reset(reference_text, reference_image[, info])`; its images are PNGs in base64. A `BaseAgent` has
`act(observation, info)`, which returns the action and whatever else, and may have `reset()`; its images are BGR arrays.
An action is `(move, head[, animation])`, move an angle in degrees to the right and a speed in cm/s, or a dictionary
with `angular`, `velocity`, `interaction` and `head`. There is no reference image: it is None. A file is run in the
process of its episode, in the folder that it lies in.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2

from esar_ros.geometry.unreal import CM, map_heading_to_unreal, map_to_unreal
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction, WalkObservation, WalkTask

FILE = "file:"
"""Beginning of the name of an agent in a file; the file's path follows."""
SOLUTION, BASE = "AlgSolution", "BaseAgent"
_HANDS = (Animation.CARRY, Animation.DROP)  # what a dictionary's `interaction` may name


class FileAgent:
    """An agent in a file."""

    eligible = True

    def __init__(self, name: str) -> None:
        """name: FILE with the path. Raises UsageError where the file holds no agent that can be made."""
        self.name = name
        path = Path(name.removeprefix(FILE)).expanduser()
        if not path.is_file():
            raise UsageError(f"planner {name}: no file of that name", f"give {FILE}PATH of a Python file")
        self._path = path.resolve()
        with self._own("does not load"):
            module = _loaded(self._path)
        made = _class_of(module, name)
        self._is_solution = made.__name__ == SOLUTION
        with self._own(f"{made.__name__}() fails"):
            self._agent: Any = made()
        step = "predicts" if self._is_solution else "act"
        if not callable(getattr(self._agent, step, None)):
            raise UsageError(f"planner {name}: {made.__name__} has no {step}()", "see docs/reference/rescuebench.md")

    @property
    def details(self) -> Mapping[str, str]:
        """The file's content (see planning.method.HasDetails)."""
        return {"file": self._path.name, "sha256": hashlib.sha256(self._path.read_bytes()).hexdigest()}

    def reset(self, task: WalkTask, seed: int) -> None:
        """Begin an episode; a solution is reset with its first observation."""
        self._task = task
        self._begins = self._is_solution and callable(getattr(self._agent, "reset", None))
        if not self._is_solution and callable(getattr(self._agent, "reset", None)):
            with _inside(self._path.parent):
                self._agent.reset()

    def act(self, observation: WalkObservation) -> WalkAction:
        """Asks the agent. Raises ValueError for an answer that is no action."""
        image = cv2.cvtColor(observation.view.colour, cv2.COLOR_RGB2BGR)
        info = self._info(observation)
        with _inside(self._path.parent):
            if self._begins:
                self._begins = False
                _reset(self._agent.reset, info)
            if self._is_solution:
                png = base64.b64encode(cv2.imencode(".png", image)[1].tobytes()).decode("ascii")
                answer = _predicted(self._agent.predicts, png, observation.carrying, info)
            else:
                answer = self._agent.act(image, info)[0]
        return _action(answer)

    def _info(self, observation: WalkObservation) -> dict[str, Any]:
        """Facts beside the image, under the public code's keys: cm, degrees, Unreal's frame."""
        x, y, z = map_to_unreal(observation.pose.position).tolist()
        info: dict[str, Any] = {
            "Pose": [x, y, z, 0.0, map_heading_to_unreal(observation.pose.yaw), 0.0],
            "picked": observation.carrying,
            "task_phase": observation.phase.value,
            "reference_text": self._task.description,
            "reference_image": None,
            "reference_image_path": None,
            "level": self._task.level,
            "rescue_distance": self._task.pick_up * CM,
            "place_distance": self._task.put_down * CM,
        }
        if observation.target is not None:
            info["target_pose"] = [*map_to_unreal(observation.target).tolist(), 0.0, 0.0, 0.0]
        return info

    @contextmanager
    def _own(self, what: str) -> Iterator[None]:
        """Turns whatever the file's own code raises meanwhile into a UsageError."""
        try:
            with _inside(self._path.parent):
                yield
        except (Exception, SystemExit) as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise UsageError(
                f"planner {self.name} {what}: {words}", "mend that file, or install what it needs"
            ) from error


def _loaded(path: Path) -> ModuleType:
    """Returns a file as a module; it may import what lies beside it and, from `agents`, what lies beside that."""
    for folder in (path.parent, path.parent.parent) if path.parent.name == "agents" else (path.parent,):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    name = f"walk_agent_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("not the name of a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _class_of(module: ModuleType, name: str) -> type:
    """Returns the class of a file's agent. Raises UsageError unless there is one."""
    solution = getattr(module, SOLUTION, None)
    if inspect.isclass(solution):
        return solution
    found = [
        each
        for each in vars(module).values()
        if inspect.isclass(each)
        and each.__module__ == module.__name__
        and any(base.__name__ == BASE for base in each.__mro__[1:])
    ]
    if len(found) != 1:
        there = ", ".join(each.__name__ for each in found) or f"neither {SOLUTION} nor a subclass of {BASE}"
        raise UsageError(f"planner {name} holds {there}", "one class in a file is its agent")
    return found[0]


def _reset(method: Callable[..., Any], info: dict[str, Any]) -> None:
    """Resets a solution, which takes what it is told by name, by position, or not at all."""
    told = {name: info[name] for name in ("reference_text", "reference_image")}
    by_name, places = _takes_info(method)
    if by_name:
        method(**told, info=info)
    elif places > 2:
        method(*told.values(), info)
    elif places == 0:
        method()
    else:
        method(**told)


def _predicted(method: Callable[..., Any], image: str, picked: bool, info: dict[str, Any]) -> Any:
    """Returns a solution's answer; it is told `info` if it takes that."""
    by_name, places = _takes_info(method)
    if by_name:
        return method(image, picked, info=info)
    return method(image, picked, info) if places > 2 else method(image, picked)


def _takes_info(method: Callable[..., Any]) -> tuple[bool, int]:
    """Returns whether a method takes an argument `info` by name, and how many it takes by position."""
    parameters = inspect.signature(method).parameters.values()
    kinds = [each.kind for each in parameters]
    by_name = any(each.name == "info" for each in parameters) or inspect.Parameter.VAR_KEYWORD in kinds
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return by_name, sum(kind in by_place for kind in kinds)


def _action(answer: Any) -> WalkAction:
    """Returns an answer as an action. Raises ValueError for one that is none."""
    try:
        if isinstance(answer, Mapping):
            angle, speed, head = (answer.get(key, 0) for key in ("angular", "velocity", "head"))
            hands = int(answer.get("interaction", 0))
            animation = Animation(hands) if hands in _HANDS else Animation.STAND
        else:
            (angle, speed), head, *rest = answer
            animation = Animation(int(rest[0]) if rest else 0)
        return WalkAction(float(speed) / CM, -float(angle), Head(int(head)), animation)
    except (TypeError, ValueError) as error:
        raise ValueError(f"its answer is no action: {repr(answer)[:100]}: {error}") from None


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Makes a folder the working one meanwhile: files of other people name theirs from where they lie."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
