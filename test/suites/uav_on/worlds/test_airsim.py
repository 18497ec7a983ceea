"""Steps over AirSim's calls, against the same steps in the embedded simulator: the same ends and the same contacts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.benchmark.engine.simulator import LocalClient
from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.mission.errors import UsageError
from esar_ros.mission.object_goal import StepKind, StepPose
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.sim.airsim_api.api import Api
from esar_ros.sim.airsim_api.calls.motion import MotionApi
from esar_ros.sim.airsim_api.calls.session import SessionApi
from esar_ros.sim.airsim_api.calls.state import StateApi
from esar_ros.sim.airsim_api.calls.world import WorldApi
from esar_ros.sim.server import make_context
from esar_ros.sim.terrain.maps import load_map
from esar_ros.suites.uav_on.flight import Look
from esar_ros.suites.uav_on.protocol_server.scene_simulator import VEHICLE, endless, furnish, scene_settings
from esar_ros.suites.uav_on.scenes import find_scene
from esar_ros.suites.uav_on.worlds.airsim import AirSimScenes, AirSimWorld
from esar_ros.suites.uav_on.worlds.embedded import EmbeddedWorld, OpenScene
from helpers.steps import SETTINGS

SCENE = "standin_park_mini"


class Recorded:
    """A client that keeps what it was asked, and paints images."""

    def __init__(self, inner: LocalClient, side: int | None = None) -> None:
        self.inner, self.side = inner, side
        self.calls: list[tuple[Any, ...]] = []

    def call(self, method: str, *arguments: Any) -> Any:
        self.calls.append((method, *arguments))
        return self._painted(arguments[0]) if method == "simGetImages" else self.inner.call(method, *arguments)

    def notify(self, method: str, *arguments: Any) -> None:
        self.calls.append((method, *arguments))
        self.inner.notify(method, *arguments)

    def close(self) -> None:
        pass

    def _painted(self, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answers = []
        for request in requests:
            side = self.side or (SETTINGS.colour if request["image_type"] == 0 else SETTINGS.depth)
            zero = {"x_val": 0.0, "y_val": 0.0, "z_val": 0.0}
            answer = request | {
                "camera_position": zero, "camera_orientation": zero | {"w_val": 1.0}, "time_stamp": 1,
                "width": side, "height": side,
                "image_data_uint8": bytes([1, 2, 3]) * side * side,
                "image_data_float": np.full(side * side, 65504.0 if request["camera_name"] == "0" else 30.0, "f4"),
            }  # fmt: skip
            answers.append(answer)
        return answers


@pytest.fixture(scope="module")
def opened() -> Any:
    made = OpenScene(find_scene(SCENE), SETTINGS)
    yield made
    made.close()


@pytest.fixture
def start(opened: OpenScene) -> StepPose:
    return StepPose.of(opened.scene.episodes[0].episode.start)


def served(test: Callable[[Recorded], None], side: int | None = None) -> None:
    """Runs a test with a client of the scene's simulator, in this process."""

    async def run() -> None:  # a loop must be running for the simulator's motions
        scene = find_scene(SCENE)
        context = make_context(load_map(scene.map), 0, scene_settings(SETTINGS), endless(load_vehicle()), None)
        furnish(context.simulation, scene)
        context.simulation.clock.paused = True
        groups = [group(context) for group in (SessionApi, MotionApi, StateApi, WorldApi)]
        test(Recorded(LocalClient(Api(context, groups)), side))

    asyncio.run(run())


STEPS = (("forward", 5.0), ("turn_left", 15.0), ("left", 2.0), ("up", 2.0), ("turn_right", 90.0), ("right", 3.3))


def test_steps_end_where_they_end_embedded(opened: OpenScene, start: StepPose) -> None:
    def check(client: Recorded) -> None:
        worlds = (EmbeddedWorld(opened), AirSimWorld(client, SETTINGS))
        for world in worlds:
            world.place(start.pose)
        assert worlds[1].is_free(start.pose)
        target = start
        for kind, size in STEPS:
            target = target.after(StepKind(kind), size)
            for world in worlds:
                world.fly(target, 25.0)
            embedded, other = (StepPose.of(world.measured) for world in worlds)
            assert np.linalg.norm(embedded.position - target.position) < SETTINGS.vehicle.reached
            assert np.linalg.norm(other.position - target.position) < SETTINGS.vehicle.reached, kind
            assert abs(math.remainder(other.yaw - target.yaw, 360.0)) < SETTINGS.vehicle.turned, kind
            assert not (worlds[0].touched() or worlds[1].touched())
        assert worlds[1].seconds == pytest.approx(worlds[0].seconds, abs=2.0 * len(STEPS))
        assert ("simSetObjectScale", VEHICLE, {"x_val": 0.5, "y_val": 0.5, "z_val": 0.5}) in client.calls

    served(check)


@pytest.mark.parametrize("below", [0.0, 5.0])
def test_a_contact_with_the_ground_counts_also_when_gentle_and_once(
    opened: OpenScene, start: StepPose, below: float
) -> None:
    height = float(start.position[2] - opened.world.ground_height(start.position[:2]))

    def check(client: Recorded) -> None:
        world = AirSimWorld(client, SETTINGS)
        world.place(start.pose)
        assert not world.touched(), "settling is no contact"
        world.fly(start.after(StepKind.DOWN, height + below), 40.0)
        assert world.touched()
        world.place(start.pose)
        assert not world.touched()

    served(check)


def test_a_step_that_takes_too_long_is_cut_and_hovers(start: StepPose) -> None:
    def check(client: Recorded) -> None:
        world = AirSimWorld(client, SETTINGS)
        world.place(start.after(StepKind.UP, 60.0).pose)
        began = world.measured.position.copy()
        far = start.after(StepKind.UP, 60.0).after(StepKind.FORWARD, 30.0)
        world.fly(far, 10.0)
        cut = world.measured.position.copy()
        assert 5.0 < np.linalg.norm(cut - began) < 12.0, "it flies at 1 m/s"
        world.hover()
        assert np.linalg.norm(world.measured.position - cut) < 1.0

    served(check)


def test_images_are_as_the_embedded_world_gives_them(start: StepPose) -> None:
    def check(client: Recorded) -> None:
        world = AirSimWorld(client, SETTINGS)
        world.place(start.pose)
        before = len(client.calls)
        images = world.images(start.pose, Look("metres", False), lambda draw: draw())
        assert len(client.calls) == before, "nothing is fetched before it is looked at"
        assert images.colour["left"].shape == (512, 512, 3) and images.colour["left"][0, 0].tolist() == [3, 2, 1]
        assert np.isinf(images.depth["front"]).all() and (images.depth["down"] == 30.0).all()
        assert len(client.calls) == before + 2
        code = world.images(start.pose, Look("code", False), lambda draw: draw())
        assert (code.depth["front"] == 100.0).all()
        with pytest.raises(PermissionError):
            _ = images.labels

    served(check)


def test_images_of_another_size_are_refused(start: StepPose) -> None:
    def check(client: Recorded) -> None:
        images = AirSimWorld(client, SETTINGS).images(start.pose, Look("code", False), lambda draw: draw())
        with pytest.raises(UsageError, match="100x100 px: the suite's are 512x512"):
            _ = images.colour

    served(check, side=100)


@pytest.mark.parametrize("address", ["", "host", "host:", ":30000", "host:0", "host:99999", "host:x"])
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        AirSimScenes(address)


class Answering:
    """A client of a scene server or of a simulator."""

    def __init__(self, knows: dict[str, Any]) -> None:
        self.knows, self.closed, self.timeout = knows, False, 0.0
        self.calls: list[tuple[Any, ...]] = []

    def call(self, method: str, *arguments: Any, timeout: float = 0.0) -> Any:
        self.calls.append((method, *arguments))
        if method not in self.knows:
            raise AirSimError(f"no {method}")
        return self.knows[method]

    def close(self) -> None:
        self.closed = True


def test_scenes_are_opened_by_a_scene_server_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "esar_ros.suites.uav_on.worlds.airsim"
    connected: list[tuple[str, int]] = []
    made: list[Answering] = []

    def connect(host: str, port: int) -> Answering:
        connected.append((host, port))
        made.append(Answering({"reopen_scenes": [True, [b"10.0.0.1", [30100]]]} if port == 30000 else {"ping": True}))
        return made[-1]

    monkeypatch.setattr(f"{module}.connect", connect)
    monkeypatch.setattr(f"{module}.AirSimWorld", lambda client, settings: client)
    scenes = AirSimScenes("10.0.0.1:30000")
    first = scenes.open("CityPark_test", SETTINGS)
    assert scenes.open("CityPark_test", SETTINGS) is first
    assert connected == [("10.0.0.1", 30000), ("10.0.0.1", 30100)]
    assert ("reopen_scenes", "10.0.0.1", [["CityPark_test", 0]]) in made[0].calls and made[0].closed
    assert scenes.open("NYC_test", SETTINGS) is not first and made[1].closed


def test_a_simulator_that_is_open_is_one_scene_and_taken_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "esar_ros.suites.uav_on.worlds.airsim"
    made: list[Answering] = []

    def connect(host: str, port: int) -> Answering:
        made.append(Answering({"listVehicles": ["Drone_1"]}))
        return made[-1]

    monkeypatch.setattr(f"{module}.connect", connect)
    monkeypatch.setattr(f"{module}.AirSimWorld", lambda client, settings: client)
    scenes = AirSimScenes("host:41451")
    assert scenes.open("one", SETTINGS) is scenes.open("one", SETTINGS)
    assert len(made) == 1
    with pytest.raises(UsageError, match="host:41451 is a simulator with one scene open, flown as 'one'"):
        scenes.open("another", SETTINGS)


@pytest.mark.parametrize("answer", [[False, None], None, [True, None], [True, ["h", []]], 7])
def test_a_server_that_cannot_open_a_scene_is_named(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    client = Answering({"reopen_scenes": answer})
    monkeypatch.setattr("esar_ros.suites.uav_on.worlds.airsim.connect", lambda host, port: client)
    with pytest.raises((UsageError, AirSimError), match="host:30000"):
        AirSimScenes("host:30000").open("one", SETTINGS)
    assert client.closed
