"""Episodes as environments: gymnasium's own checker, and the same score as the agent would have had."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

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


def test_a_vector_of_environments_is_stepped_together() -> None:
    vector = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", task=TASK, images=())
    seen, _ = vector.reset(seed=1)
    later, rewards, terminated, truncated, _ = vector.step(np.array([UP, FORWARD]))
    moved = later["pose"] - seen["pose"]
    assert moved[0, 2] == pytest.approx(2.0) and moved[1, 2] == 0.0 and np.hypot(*moved[1, :2]) > 1.0
    assert not rewards.any() and not terminated.any() and not truncated.any()
    vector.close()


def test_a_moment_is_rendered_as_four_pictures_and_the_map() -> None:
    made = gymnasium.make(ID, task=TASK, images=(), render_mode="rgb_array")
    with pytest.raises(RuntimeError, match="call reset"):
        made.unwrapped.render()
    made.reset(seed=1)
    first: Any = made.render()
    assert first.dtype == np.uint8 and first.shape == (692, 692 - 2 + 4 + 640, 3)
    made.step(UP)
    assert (made.render() != first).any(axis=2)[:, :690].mean() > 0.2, "the cameras have risen"
    made.close()
    with pytest.raises(UsageError, match="no render_mode 'ansi'"):
        gymnasium.make(ID, task=TASK, render_mode="ansi")


class Counted:
    """A game of three questions whose score is the sum of the answers."""

    observation_space = gymnasium.spaces.Discrete(100)
    action_space = gymnasium.spaces.Discrete(2)
    closed = 0

    def __init__(self, task: str) -> None:
        self.task = task

    def reset(self, seed: int) -> Any:
        if self.task == "broken":
            raise UsageError("no such scene", "name another")
        self.answers: list[int] = []
        return 0, {"of": "three"}

    def step(self, action: int) -> Any:
        self.answers.append(action)
        number = len(self.answers)
        over = gym.Ending(float(sum(self.answers)), self.task == "long", {}) if number == 3 else None
        return number, over

    def close(self) -> None:
        Counted.closed += 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    monkeypatch.setitem(gym._GAMES, "counted", (__name__, "Counted"))
    monkeypatch.setattr(gym, "import_module", lambda name: SimpleNamespace(Counted=Counted))
    Counted.closed = 0
    return Counted


@pytest.mark.parametrize("task", ["short", "long"])
def test_the_score_comes_with_the_end(counted: type[Counted], task: str) -> None:
    made = gym.EpisodeEnv("counted", task)
    for _ in range(2):
        assert made.reset(seed=3) == (0, {"of": "three"})
        assert made.step(1) == (1, 0.0, False, False, {})
        assert made.step(0) == (2, 0.0, False, False, {})
        assert made.step(1) == (3, 2.0, task == "short", task == "long", {})
        with pytest.raises(RuntimeError, match="call reset"):
            made.step(1)
    made.close()
    assert counted.closed == 1


def test_what_the_flight_raises_reaches_the_caller(counted: type[Counted]) -> None:
    made = gym.EpisodeEnv("counted", "broken")
    for _ in range(2):
        with pytest.raises(UsageError, match="no such scene"):
            made.reset()
        with pytest.raises(RuntimeError, match="call reset"):
            made.step(1)
    made.close()
    with pytest.raises(UsageError, match="no environment"):
        gym.EpisodeEnv("elsewhere", "x")


def test_a_mission_is_stepped_as_a_method_flies_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An action becomes a decision on an observation of two objects, and the end is the result's."""
    from esar_ros.suites.esarbench import game

    decisions: list[Any] = []
    people = [
        SeenClue(7, "tent", "", 0.3, np.array([1.0, 2.0, 3.0]), np.eye(3), 1, 9.0, 0.0, 1.0),
        SeenClue(8, PERSON, "", 0.9, np.array([4.0, 5.0, 6.0]), np.eye(3), 2, 9.0, 0.0, 1.0),
    ]
    told = Observation(1.0, 1.0, "uav1", Pose(np.array([10.0, 20.0, 30.0])), np.zeros(3), None, 0.5, tuple(people))

    class Flown:
        ended = False
        brief = SimpleNamespace(prompt="find them", t_max=60.0, area=np.zeros((3, 2)), home=np.zeros(3))

        def __init__(self, *_: Any) -> None:
            pass

        def reset(self, task: Any, seed: int) -> Observation:
            return told

        def step(self, decision: Any) -> Observation:
            decisions.append(decision)
            self.ended = True
            return told

        def result(self) -> Any:
            scores = SimpleNamespace(rs=0.25, model_dump=lambda: {"rs": 0.25})
            return SimpleNamespace(result=SimpleNamespace(end=End.TIMEOUT, error=None, metrics=scores))

        def close(self) -> None:
            pass

    monkeypatch.setattr(game, "Mission", Flown)
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
