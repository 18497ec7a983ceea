"""Episodes as environments: gymnasium's own checker, and the same score as the agent would have had."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from esar_ros.geometry.frames import Pose
from esar_ros.mission.clues import PERSON
from esar_ros.mission.decision import ReportType
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepKind
from esar_ros.mission.observation import Observation, SeenClue
from esar_ros.scoring.truth import End
from esar_ros.suites import gym

TASK = "standin_park_mini-0"
FORWARD, UP, STOP = (list(StepKind).index(StepKind(kind)) for kind in ("forward", "up", "stop"))
ID, MISSION = "esar_ros.suites.gym:esar/uav-on-v0", "esar_ros.suites.gym:esar/esarbench-v0"


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    made = gymnasium.make(ID, task=TASK, images=())
    yield made
    made.close()


def test_gymnasiums_checker_finds_nothing() -> None:
    made = gymnasium.make(ID, task=TASK, images=())
    check_env(made.unwrapped)
    made.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "episode"]


@pytest.mark.full
def test_gymnasiums_checker_finds_nothing_with_images() -> None:
    made = gymnasium.make(ID, task=TASK)
    check_env(made.unwrapped)
    made.close()


@pytest.mark.full
@pytest.mark.parametrize("images", [False, True])
def test_gymnasiums_checker_finds_nothing_in_a_mission(images: bool) -> None:
    made = gymnasium.make(MISSION, task="aotai-first", images=images, detector="segmentation_oracle")
    check_env(made.unwrapped)
    made.close()


def test_a_stop_ends_the_episode_with_its_score(env: Any) -> None:
    first, info = env.reset(seed=1)
    assert info["task"] == TASK and set(info) == {"task", "name", "size", "description"}, "no position is told"
    seen, reward, terminated, truncated, _ = env.step(UP)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert seen["pose"][2] == pytest.approx(first["pose"][2] + 2.0)
    last, reward, terminated, truncated, info = env.step(STOP)
    assert (reward, terminated, truncated) == (0.0, True, False) and info["end"] == "stop"
    assert np.array_equal(last["pose"], seen["pose"])
    with pytest.raises(RuntimeError, match="call reset"):
        env.unwrapped.step(UP)


def test_an_episode_can_be_left_and_begun_again(env: Any) -> None:
    first, _ = env.reset()
    env.step(UP)
    again, _ = env.reset()
    assert np.array_equal(first["pose"], again["pose"])
    with pytest.raises(ValueError, match="not in the action space"):
        env.unwrapped.step(99)


class Counted:
    """A game of three questions whose score is the sum of the answers."""

    observation_space = gymnasium.spaces.Discrete(100)
    action_space = gymnasium.spaces.Discrete(2)
    threads: ClassVar[set[int]] = set()
    closed = 0

    def __init__(self, task: str) -> None:
        self.task, self.info = task, {"of": "three"}

    def fly(self, seed: int, ask: Any) -> Any:
        Counted.threads.add(threading.get_ident())
        if self.task == "broken":
            raise UsageError("no such scene", "name another")
        reward = float(sum(ask(number) for number in range(3)))
        return type("End", (), {"observation": 3, "reward": reward, "truncated": self.task == "long", "info": {}})

    def close(self) -> None:
        Counted.closed += 1
        Counted.threads.add(threading.get_ident())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    monkeypatch.setitem(gym._GAMES, "counted", (__name__, "Counted"))
    monkeypatch.setattr(gym, "import_module", lambda name: SimpleNamespace(Counted=Counted))
    Counted.threads.clear()
    Counted.closed = 0
    return Counted


@pytest.mark.parametrize("task", ["short", "long"])
def test_observations_and_actions_take_turns_in_one_thread(counted: type[Counted], task: str) -> None:
    made = gym.EpisodeEnv("counted", task)
    for _ in range(2):
        assert made.reset(seed=3) == (0, {"of": "three"})
        assert made.step(1) == (1, 0.0, False, False, {})
        assert made.step(0) == (2, 0.0, False, False, {})
        assert made.step(1) == (3, 2.0, task == "short", task == "long", {})
    made.reset()
    made.close()
    made.close()
    assert counted.closed == 1 and len(counted.threads) == 1 and threading.get_ident() not in counted.threads


def test_what_the_flight_raises_reaches_the_caller(counted: type[Counted]) -> None:
    made = gym.EpisodeEnv("counted", "broken")
    for _ in range(2):
        with pytest.raises(UsageError, match="no such scene"):
            made.reset()
    made.close()
    with pytest.raises(UsageError, match="no environment"):
        gym.EpisodeEnv("elsewhere", "x")


def test_a_mission_is_told_and_asked_as_a_method_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is a stand-in that asks once: its observation and the decision that the action became."""
    from esar_ros.suites.esarbench import game

    decisions: list[Any] = []
    people = [
        SeenClue(7, "tent", "", 0.3, np.array([1.0, 2.0, 3.0]), np.eye(3), 1, 9.0, 0.0, 1.0),
        SeenClue(8, PERSON, "", 0.9, np.array([4.0, 5.0, 6.0]), np.eye(3), 2, 9.0, 0.0, 1.0),
    ]

    def fly_episode(suite: Any, task: Any, planner: str, seed: int, conditions: Any, method: Any) -> Any:
        method.reset(SimpleNamespace(prompt="find them", t_max=60.0, area=np.zeros((3, 2)), home=np.zeros(3)), seed)
        seen = Observation(1.0, 1.0, "uav1", Pose(np.array([10.0, 20.0, 30.0])), np.zeros(3), None, 0.5, tuple(people))
        decisions.append(method.act(seen))
        scores = SimpleNamespace(rs=0.25, model_dump=lambda: {"rs": 0.25})
        return SimpleNamespace(result=SimpleNamespace(end=End.TIMEOUT, error=None, metrics=scores))

    monkeypatch.setattr(game, "fly_episode", fly_episode)
    made = gym.EpisodeEnv("esarbench", "aotai-first", detector="segmentation_oracle")
    seen, info = made.reset(seed=1)
    assert info["prompt"] == "find them" and made.observation_space.contains(seen)
    assert seen["height"] == -1.0 and seen["objects"][0, :4].tolist() == [4.0, 5.0, 6.0, 0.9], "the surest first"
    action = {"goal": np.array([3.0, -4.0, 25.0, 0.5]), "report": 1, "stop": 0}
    last, reward, terminated, truncated, _ = made.step(action)
    assert (reward, terminated, truncated) == (0.25, False, True)
    assert not any(last[name] is seen[name] for name in seen), "what was given is not given again"
    (decision,) = decisions
    assert decision.goal.position.tolist() == [13.0, 16.0, 25.0] and decision.goal.yaw == 0.5
    (report,) = decision.reports
    assert report.type is ReportType.VICTIM and report.position.tolist() == [4.0, 5.0, 6.0]
    made.close()
    with pytest.raises(UsageError, match="unknown detector"):
        gym.EpisodeEnv("esarbench", "aotai-first", detector="crystal_ball")
