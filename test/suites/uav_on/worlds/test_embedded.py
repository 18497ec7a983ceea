"""Steps in the embedded simulator: where the vehicle ends, what counts as touching, and what is drawn when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.object_goal import StepKind, StepPose
from esar_ros.scoring.object_goal import Rules, oracle_succeeded, succeeded
from esar_ros.suites.uav_on.conditions import UavOnConditions
from esar_ros.suites.uav_on.flight import Look, fly
from esar_ros.suites.uav_on.oracle import Oracle
from esar_ros.suites.uav_on.result import make_goal_result
from esar_ros.suites.uav_on.scenes import FlownTask, find_task, task_ids
from esar_ros.suites.uav_on.worlds.embedded import EmbeddedWorld, OpenScene
from esar_ros.suites.uav_on.worlds.images import quantised
from helpers.steps import SETTINGS, Scripted, go

ALOFT = 12.0  # m above the start


@pytest.fixture(scope="module")
def opened() -> Any:
    made = OpenScene(find_task(task_ids("smoke")[0]).scene, SETTINGS)
    yield made
    made.close()


@pytest.fixture
def start(opened: OpenScene) -> StepPose:
    return StepPose.of(opened.scene.episodes[0].episode.start).after(StepKind.UP, ALOFT)


def ready(opened: OpenScene, pose: StepPose) -> EmbeddedWorld:
    world = EmbeddedWorld(opened)
    world.place(pose.pose)
    return world


@pytest.mark.parametrize("kind", [kind for kind in StepKind if kind is not StepKind.STOP], ids=lambda kind: kind.value)
def test_a_step_ends_where_it_was_commanded(opened: OpenScene, start: StepPose, kind: StepKind) -> None:
    world = ready(opened, start)
    target = start
    for size in (SETTINGS.sizes[kind], 0.0, SETTINGS.sizes[kind] / 3.0):
        target = target.after(kind, size)
        world.fly(target, 25.0)
        measured = StepPose.of(world.measured)
        assert np.linalg.norm(measured.position - target.position) < SETTINGS.vehicle.reached
        assert abs((measured.yaw - target.yaw + 180.0) % 360.0 - 180.0) < SETTINGS.vehicle.turned
        assert not world.touched()


def test_a_step_that_takes_too_long_is_cut_and_the_next_one_catches_up(opened: OpenScene, start: StepPose) -> None:
    world = ready(opened, start)
    far = start.after(StepKind.FORWARD, 30.0)
    world.fly(far, 10.0)
    assert 15.0 < np.linalg.norm(far.position - world.measured.position) < 25.0, "it flies at 1 m/s"
    cut = world.measured.position.copy()
    for _ in range(5):
        world.hover()
    assert np.linalg.norm(world.measured.position - cut) < 1.0, "cut, it hovers"
    world.fly(far.after(StepKind.UP, 1.0), 25.0)
    assert np.linalg.norm(far.position - world.measured.position) < 1.3


@pytest.mark.parametrize("below", [0.0, 5.0])
def test_the_ground_is_a_contact_also_when_met_gently(opened: OpenScene, start: StepPose, below: float) -> None:
    """A step that ends at the ground's surface is flown slowly there, and the vehicle comes to rest on it."""
    height = float(start.position[2] - opened.world.ground_height(start.position[:2]))
    world = ready(opened, start)
    world.fly(start.after(StepKind.DOWN, height + below), 40.0)
    assert world.touched() and world.measured.position[2] - opened.world.ground_height(start.position[:2]) < 0.5
    world.hover()
    assert world.touched(), "standing is touching"


def test_settling_is_no_contact_and_a_place_in_the_ground_is_not_free(opened: OpenScene, start: StepPose) -> None:
    world = ready(opened, start)
    assert not world.touched()
    assert world.is_free(start.pose)
    assert not world.is_free(start.after(StepKind.DOWN, 40.0).pose)
    target = opened.scene.episodes[5].episode.targets[0]
    assert not world.is_free(Pose(target)), "in the middle of a hut"


def test_two_flights_are_the_same_and_the_scene_stays(opened: OpenScene, start: StepPose) -> None:
    ends = []
    for _ in range(2):
        world = ready(opened, start)
        world.fly(start.after(StepKind.FORWARD, 5.0), 25.0)
        ends.append((world.measured.position.tolist(), world.seconds))
    assert ends[0] == ends[1]


def task(opened: OpenScene, index: int) -> FlownTask:
    return find_task(f"{opened.scene.name}-{index}")


@pytest.mark.parametrize("index", [0, 3, 5])
def test_the_oracle_succeeds_under_every_rule_and_touches_nothing(opened: OpenScene, index: int) -> None:
    flown_task, oracle, conditions = task(opened, index), Oracle(), UavOnConditions()
    episode = flown_task.entry.episode
    oracle.show(opened.world, episode, 20.0)
    flown = fly(EmbeddedWorld(opened), episode, flown_task.id, oracle, 0, conditions, SETTINGS)
    result = make_goal_result(flown_task, flown, conditions, False, opened.map_digest)
    assert (flown.error, result.end, result.outcome.value) == (None, "stop", "success")
    for poses in ("commanded", "measured"):
        record = result.record(flown_task.entry, poses)  # type: ignore[arg-type]
        assert not record.touched
        assert all(succeeded(record, rules) and oracle_succeeded(record, rules) for rules in Rules)
    gaps = [np.linalg.norm(frame.measured.position - frame.commanded.position) for frame in flown.frames]
    assert max(gaps) < 0.3


class NoDrawing(OpenScene):
    """A scene that must not be looked at."""

    def renderer(self, side: int) -> Any:
        raise AssertionError("something was drawn")


def test_nothing_is_drawn_for_an_agent_that_does_not_look(opened: OpenScene) -> None:
    blind = object.__new__(NoDrawing)
    blind.__dict__.update(opened.__dict__)
    flown_task = task(opened, 0)
    agent = Scripted([go("up"), go("turn_left"), go("stop")])
    flown = fly(EmbeddedWorld(blind), flown_task.entry.episode, "x", agent, 0, UavOnConditions(), SETTINGS)
    assert flown.error is None and flown.stopped


class Painted:
    """A renderer's images, of one colour and one planar depth; counts what is drawn."""

    def __init__(self, side: int, drawn: list[str]) -> None:
        self.side, self.drawn = side, drawn

    def render(self, poses: Any, time: float) -> Any:
        self.drawn.append(f"colour {self.side}")
        return type("Frame", (), {"rgb": np.zeros((len(poses), self.side, self.side, 3), np.uint8)})

    def shapes(self, poses: Any) -> Any:
        self.drawn.append(f"shapes {self.side}")
        self.poses = poses
        depth = np.full((len(poses), self.side, self.side), 30.0, np.float32)
        depth[0] = np.inf
        ids = np.zeros(depth.shape, np.uint8)
        ids[1, :3, :4] = 1
        return type("Shapes", (), {"depth": depth, "ids": ids})


@pytest.fixture
def painted(opened: OpenScene, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    drawn: list[str] = []
    made: dict[int, Painted] = {}
    monkeypatch.setattr(opened, "renderer", lambda side: made.setdefault(side, Painted(side, drawn)))
    return drawn


def at_once(draw: Callable[[], Any]) -> Any:
    return draw()


def test_each_kind_of_image_is_drawn_once_and_when_looked_at(
    opened: OpenScene, start: StepPose, painted: list[str]
) -> None:
    world = ready(opened, start)
    images = world.images(start.pose, Look("metres", True), at_once)
    assert painted == []
    assert images.colour["front"].shape == (512, 512, 3) and images.colour["down"].shape == (512, 512, 3)
    assert painted == ["colour 512"]
    assert images.depth["left"].shape == (256, 256) and images.labels["left"] == {"orange tunnel tent": 12}
    assert images.labels["front"] == {}
    assert painted == ["colour 512", "shapes 256"]


def test_depth_is_along_the_ray_or_as_the_public_code_quantises_it(
    opened: OpenScene, start: StepPose, painted: list[str]
) -> None:
    world = ready(opened, start)
    metres = world.images(start.pose, Look("metres", False), at_once).depth
    assert np.isinf(metres["front"]).all()
    assert metres["left"][128, 128] == pytest.approx(30.0, rel=1e-3)
    assert metres["left"][0, 0] == pytest.approx(30.0 * 3**0.5, rel=0.01)
    code = world.images(start.pose, Look("code", False), at_once).depth
    assert (code["front"] == 100.0).all()
    grey = code["left"] * 255.0 / 100.0
    assert grey == pytest.approx(np.round(grey), abs=1e-3)
    assert ((metres["left"] - code["left"] >= -1e-4) & (metres["left"] - code["left"] < 100.0 / 255.0 + 1e-4)).all()


def test_quantised_depth_is_rounded_down() -> None:
    depth = np.array([0.0, 0.39, 0.4, 99.99, 100.0, 250.0, np.inf], dtype=np.float32)
    steps = quantised(depth, 100.0) * 255.0 / 100.0
    assert steps == pytest.approx([0, 0, 1, 254, 255, 255, 255], abs=1e-3)


def test_the_cameras_are_mounted_as_the_public_code_has_them(opened: OpenScene, start: StepPose) -> None:
    """FRD: 0 at (1, 0, 0); 1 at (0, -1, 0), yaw -90; 2 at (0, 1, 0), yaw 90; 3 at the centre, pitch -90."""
    poses = ready(opened, start).images(Pose(), Look("code", False), at_once).poses
    looks = {name: pose.rotation[:, 2].round(9).tolist() for name, pose in poses.items()}
    assert looks == {"front": [1, 0, 0], "left": [0, 1, 0], "right": [0, -1, 0], "down": [0, 0, -1]}
    places = {name: pose.position.tolist() for name, pose in poses.items()}
    assert places == {"front": [1, 0, 0], "left": [0, 1, 0], "right": [0, -1, 0], "down": [0, 0, 0]}


def test_labels_are_refused_to_an_eligible_agent(opened: OpenScene, start: StepPose, painted: list[str]) -> None:
    images = ready(opened, start).images(start.pose, Look("code", False), at_once)
    with pytest.raises(PermissionError, match="ground truth"):
        _ = images.labels
    assert painted == []
