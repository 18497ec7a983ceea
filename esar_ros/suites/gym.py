"""An episode of a suite as a gymnasium environment (extra gym), for whoever trains or flies by `step`.

    import gymnasium
    env = gymnasium.make("esar_ros.suites.gym:esar/uav-on-v0", task="standin_park_mini-0")

The suite's own flight is stepped, as it is by an agent's loop: rules, contacts and scores are the benchmark's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import gymnasium
import numpy as np
from numpy.typing import NDArray

from esar_ros.mission.errors import UsageError, suggest

_GAMES = {  # by suite: module and class, imported when asked for
    "esarbench": ("esar_ros.suites.esarbench.game", "MissionGame"),
    "uav-on": ("esar_ros.suites.uav_on.game", "StepGame"),
}
NAMESPACE = "esar"


@dataclass(frozen=True)
class Ending:
    """The end of an episode."""

    reward: float  # the episode's score, 0 to 1
    truncated: bool  # it ended at its limit of actions or time
    info: Mapping[str, Any]  # words on it


class Game(Protocol):
    """A task of a suite as spaces and a flight."""

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: the first observation, and the task's words."""

    def step(self, action: Any) -> tuple[Any, Ending | None]:
        """Takes an action: the next observation, and the ending where the episode has ended."""

    def picture(self) -> NDArray[np.uint8]:
        """Returns the moment as an RGB image (height, width, 3)."""

    def close(self) -> None:
        """Gives back what it holds."""


class EpisodeEnv(gymnasium.Env[Any, Any]):
    """A task's episode. The reward is the episode's score, at its end; 0 before."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # ways to render  # noqa: RUF012

    def __init__(self, suite: str, task: str, render_mode: str | None = None, **options: Any) -> None:
        """options: the game's own. Raises UsageError for what there is not."""
        if suite not in _GAMES:
            raise UsageError(f"suite '{suite}' has no environment", suggest(suite, _GAMES))
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise UsageError(f"no render_mode '{render_mode}'", suggest(render_mode, modes))
        self.render_mode = render_mode
        module, name = _GAMES[suite]
        self._game: Game = getattr(import_module(module), name)(task, **options)
        self.observation_space, self.action_space = self._game.observation_space, self._game.action_space
        self._begun, self._over = False, True

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed the next of the environment's own. Raises what cannot be flown."""
        super().reset(seed=seed)
        self._begun, self._over = False, True  # until it has begun
        seen, info = self._game.reset(int(self.np_random.integers(1 << 31)))
        self._begun, self._over = True, False
        return seen, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action. Raises RuntimeError when no episode is under way, ValueError for what is no action."""
        if self._over:
            raise RuntimeError("the episode is over: call reset")
        if not self.action_space.contains(action):
            raise ValueError(f"not in the action space: {action!r:.200}")
        self._over = True  # unless it goes on
        seen, ending = self._game.step(action)
        if ending is None:
            self._over = False
            return seen, 0.0, False, False, {}
        return seen, ending.reward, not ending.truncated, ending.truncated, dict(ending.info)

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """Returns the four cameras' pictures beside the map, RGB, for render_mode "rgb_array".

        Raises RuntimeError before the first reset.
        """
        if self.render_mode is None:
            return None
        if not self._begun:
            raise RuntimeError("nothing to render: call reset")
        return self._game.picture()

    def close(self) -> None:
        """Give the graphics contexts back."""
        self._begun, self._over = False, True
        self._game.close()


for _suite in _GAMES:
    gymnasium.register(f"{NAMESPACE}/{_suite}-v0", entry_point=f"{__name__}:EpisodeEnv", kwargs={"suite": _suite})
