"""An episode of a suite as a gymnasium environment (extra gym), for whoever trains or flies by `step`.

    import gymnasium
    env = gymnasium.make("esar_ros.suites.gym:esar/uav-on-v0", task="standin_park_mini-0")

The agent of the episode is the caller: the episode runs in a thread of its own, where the suite's own engine asks an
agent as it asks any other, and waits for the next `step`. So rules, contacts and scores are the benchmark's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from queue import SimpleQueue
from typing import Any, Protocol

import gymnasium

from esar_ros.mission.errors import UsageError, suggest

_GAMES = {  # by suite: module and class, imported when asked for
    "esarbench": ("esar_ros.suites.esarbench.game", "MissionGame"),
    "uav-on": ("esar_ros.suites.uav_on.game", "StepGame"),
}
NAMESPACE = "esar"


class Ending(Protocol):
    """The end of an episode."""

    @property
    def observation(self) -> Any:
        """After the last action."""

    @property
    def reward(self) -> float:
        """The episode's score, 0 to 1."""

    @property
    def truncated(self) -> bool:
        """Returns whether it ended at its limit of actions or time."""

    @property
    def info(self) -> dict[str, Any]:
        """Words on it."""


class Game(Protocol):
    """A task of a suite as spaces and a flight."""

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    @property
    def info(self) -> dict[str, Any]:
        """The task's words, for the caller when an episode has begun."""

    def fly(self, seed: int, ask: Callable[[Any], Any]) -> Ending:
        """Flies an episode whose actions are the answers to observations; in one thread always."""

    def close(self) -> None:
        """Gives back what it holds, in that thread."""


class _CalledOff(BaseException):
    """Passes through an engine whose episode nobody goes on with."""


class _Thread:
    """Flies episodes one after another in a thread of its own: graphics contexts belong to theirs."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._orders: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._actions: SimpleQueue[Any] = SimpleQueue()
        self._told: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True, name="episode")
        self._thread.start()
        self.is_flying = False

    def begin(self, seed: int) -> Any:
        """The first observation. Raises what the flight raises."""
        self.call_off()
        self.is_flying = True
        self._orders.put(lambda: self._fly(seed))
        ending, told = self._wait()
        return told.observation if ending else told

    def answer(self, action: Any) -> tuple[bool, Any]:
        """Returns whether the episode has ended, and its Ending or the next observation. Raises as begin."""
        self._actions.put(action)
        return self._wait()

    def call_off(self) -> None:
        """End the episode that is flown, if one is."""
        if self.is_flying:
            self._actions.put(_CalledOff())
            while self._told.get()[0] == "asked":
                pass
            self.is_flying = False

    def close(self) -> None:
        """End the thread."""
        self.call_off()
        self._orders.put(None)
        self._thread.join()

    def _wait(self) -> tuple[bool, Any]:
        kind, told = self._told.get()
        self.is_flying = kind == "asked"
        if kind == "raised":
            raise told
        return kind == "ended", told

    def _run(self) -> None:
        while (order := self._orders.get()) is not None:
            order()
        self._game.close()

    def _fly(self, seed: int) -> None:
        try:
            self._told.put(("ended", self._game.fly(seed, self._ask)))
        except BaseException as failure:
            self._told.put(("raised", failure))

    def _ask(self, observation: Any) -> Any:
        self._told.put(("asked", observation))
        action = self._actions.get()
        if isinstance(action, _CalledOff):
            raise action
        return action


class EpisodeEnv(gymnasium.Env[Any, Any]):
    """A task's episode. The reward is the episode's score, at its end; 0 before."""

    def __init__(self, suite: str, task: str, **options: Any) -> None:
        """options: the game's own. Raises UsageError for what there is not."""
        if suite not in _GAMES:
            raise UsageError(f"suite '{suite}' has no environment", suggest(suite, _GAMES))
        module, name = _GAMES[suite]
        self._game: Game = getattr(import_module(module), name)(task, **options)
        self.observation_space, self.action_space = self._game.observation_space, self._game.action_space
        self._thread: _Thread | None = None
        self._over = True

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed the next of the environment's own. Raises what cannot be flown."""
        super().reset(seed=seed)
        if self._thread is None:
            self._thread = _Thread(self._game)
        self._over = True  # until it has begun
        told = self._thread.begin(int(self.np_random.integers(1 << 31)))
        self._over = not self._thread.is_flying
        return told, self._game.info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action. Raises RuntimeError when no episode is under way, ValueError for what is no action."""
        if self._over or self._thread is None:
            raise RuntimeError("the episode is over: call reset")
        if not self.action_space.contains(action):
            raise ValueError(f"not in the action space: {action!r:.200}")
        self._over = True  # unless it goes on
        ended, told = self._thread.answer(action)
        if not ended:
            self._over = False
            return told, 0.0, False, False, {}
        return told.observation, told.reward, not told.truncated, told.truncated, told.info

    def close(self) -> None:
        """End the episode and its thread."""
        if self._thread is not None:
            self._thread.close()
        self._thread = None


for _suite in _GAMES:
    gymnasium.register(f"{NAMESPACE}/{_suite}-v0", entry_point=f"{__name__}:EpisodeEnv", kwargs={"suite": _suite})
