"""A task placed in the embedded simulator, and in one that only knows AirSim's own calls."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.mission.clues import KINDS, segmentation_kinds
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import PlacedClue, Task, Victim, WeatherChange, Wind, load_task
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.mission.weather import Weather
from esar_ros.scoring.truth import TrueClue, TrueVictim
from esar_ros.sim.airsim_api.api import Api, Context
from esar_ros.sim.airsim_api.calls.session import SessionApi
from esar_ros.sim.airsim_api.calls.state import StateApi
from esar_ros.sim.airsim_api.calls.world import WorldApi
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.server import place_vehicles
from esar_ros.sim.settings import default_settings
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.esarbench.deployer import PREFIX, deploy

PLACE = load_map("aotai")


class Client:
    """The embedded simulator's API without a network; may refuse what AirSim does not have."""

    def __init__(self, plain: bool = False, vehicles: tuple[str, ...] = ("uav1", "uav2")) -> None:
        self.plain = plain
        self.world = World(PLACE, seed=1)
        airframe = load_vehicle()
        settings, drones = place_vehicles(default_settings(airframe, vehicles), self.world, airframe)
        context = Context(Simulation(self.world, drones), settings, 1, None)
        self._api = Api(context, [SessionApi(context), StateApi(context), WorldApi(context)])
        self._session = self._api.open()
        self.calls: list[str] = []

    def call(self, method: str, *arguments: Any) -> Any:
        self.calls.append(method)
        try:
            if self.plain and method.startswith("esar"):
                raise ValueError("server could not find function")
            return self._api.call(self._session, method, list(arguments))
        except Exception as error:
            raise AirSimError(str(error)) from None


@pytest.fixture(scope="module")
def deployed() -> tuple[Client, Any]:
    client = Client()
    return client, deploy(client, load_task("aotai-first"), PLACE, ("uav1", "uav2"))


def test_everything_stands_on_the_ground_where_the_task_says(deployed: Any) -> None:
    _, deployment = deployed
    task = load_task("aotai-first")
    placed: list[Victim | PlacedClue] = [*task.victims, *task.clues]
    places = {thing.id: thing.position for thing in placed}
    for thing in (*deployment.victims, *deployment.clues):
        assert thing.position[:2] == pytest.approx(places[thing.id], abs=1e-6)
        assert thing.position[2] == pytest.approx(float(PLACE.ground_height(np.array(places[thing.id]))), abs=1e-3)
    assert [clue.kind for clue in deployment.clues] == [clue.kind.value for clue in task.clues]


def test_the_simulator_holds_what_was_placed_under_opaque_names(deployed: Any) -> None:
    client, deployment = deployed
    objects = client.world.objects
    assert set(objects) == set(deployment.objects.values())
    for id, name in deployment.objects.items():
        assert name.startswith(PREFIX)
        assert not any(word in name for word in (id, *KINDS))
    kinds = [objects[deployment.objects[clue.id]].asset.kind for clue in deployment.clues]
    assert kinds == [clue.kind for clue in deployment.clues]
    assert objects[deployment.objects["wu"]].asset.name == "person_lying/red"


def test_segmentation_ids_tell_kinds(deployed: Any) -> None:
    client, deployment = deployed
    table = segmentation_kinds()
    assert max(table) < 255
    kinds = {thing.id: getattr(thing, "kind", "person") for thing in (*deployment.victims, *deployment.clues)}
    ids = {id: client.call("simGetSegmentationObjectID", name) for id, name in deployment.objects.items()}
    assert {id: table[number][0] for id, number in ids.items()} == kinds
    assert len(set(ids.values())) == len(ids)


def test_vehicles_stand_side_by_side_at_the_start(deployed: Any) -> None:
    client, deployment = deployed
    task = load_task("aotai-first")
    starts = [deployment.starts[name][:2] for name in ("uav1", "uav2")]
    assert np.mean(starts, axis=0) == pytest.approx(task.start.position, abs=0.01)
    assert np.linalg.norm(starts[0] - starts[1]) == pytest.approx(4.0, abs=0.01)
    for name, drone in client._api._context.simulation.drones.items():
        assert drone.yaw == pytest.approx(task.start.yaw, abs=1e-6)
        assert deployment.odom_in_map[name] == pytest.approx(drone.offset, abs=2e-3)
        assert deployment.starts[name] == pytest.approx(drone.position, abs=2e-3)
        assert drone.grounded


def test_conditions_are_the_tasks(deployed: Any) -> None:
    client, _ = deployed
    task = load_task("aotai-first")
    environment = client.world.environment
    assert environment.weather is Weather.CLEAR
    assert environment.local_time == task.local_time
    assert np.linalg.norm(environment.wind) == pytest.approx(task.wind.speed)
    assert math.atan2(environment.wind[1], environment.wind[0]) == pytest.approx(task.wind.direction)


def test_the_next_task_replaces_the_last() -> None:
    client = Client()
    deploy(client, load_task("aotai-first"), PLACE)
    foreign = {"x_val": 0.0, "y_val": 0.0, "z_val": -5.0}
    pose = {"position": foreign, "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0}}
    client.call("simSpawnObject", "hut", "tent", pose, {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}, False, False)
    second = deploy(client, load_task("aotai-second"), PLACE)
    assert set(client.world.objects) == {"hut", *second.objects.values()}
    assert client.world.environment.weather is Weather.FOG


def test_deploying_twice_gives_the_same_truth() -> None:
    client = Client()
    one, other = (deploy(client, load_task("aotai-pair"), PLACE, ("uav1",)) for _ in range(2))
    assert (one.victims, one.clues, one.objects) == (other.victims, other.clues, other.objects)


def test_a_server_without_our_extensions_gets_the_same_task() -> None:
    client = Client(plain=True)
    deployment = deploy(client, load_task("aotai-second"), PLACE)
    assert "simTestLineOfSightBetweenPoints" in client.calls
    things: list[TrueVictim | TrueClue] = [*deployment.victims, *deployment.clues]
    for thing in things:
        assert thing.position[2] == pytest.approx(float(PLACE.ground_height(np.array(thing.position[:2]))), abs=0.1)
    assert client.world.environment.weather is Weather.FOG


@pytest.mark.parametrize("weather", list(Weather))
def test_each_weather_reaches_a_plain_server_as_its_own_family(weather: Weather) -> None:
    client = Client(plain=True)
    task = load_task("aotai-first").model_copy(update={"weather": weather})
    deploy(client, task, PLACE)
    assert client.world.environment.weather.family is weather.family


def front() -> Task:
    rain = WeatherChange(at=30.0, over=60.0, weather=Weather.HEAVY_RAIN, wind=Wind(speed=9.0, direction=-0.7))
    return load_task("aotai-first").model_copy(update={"changes": (rain,)})


def test_weather_that_changes_runs_by_the_simulators_clock_and_ends_with_the_next_task() -> None:
    client = Client()
    deploy(client, front(), PLACE)
    environment = client.world.environment
    assert environment.air(30.0).weather is Weather.CLEAR and environment.air(90.0).weather is Weather.HEAVY_RAIN
    east, north, _ = environment.air(90.0).wind
    assert (math.hypot(east, north), math.atan2(north, east)) == pytest.approx((9.0, -0.7))
    deploy(client, load_task("aotai-first"), PLACE)
    assert client.world.environment.changes == ()
    assert client.world.environment.air(90.0).weather is Weather.CLEAR


def test_a_server_whose_weather_stays_refuses_a_task_whose_weather_changes() -> None:
    with pytest.raises(UsageError, match="task aotai-first, key changes: the simulator cannot"):
        deploy(Client(plain=True), front(), PLACE)


def test_missing_assets_are_named_and_nothing_is_touched() -> None:
    client = Client()
    few = ["person_lying", "tent", "backpack"]
    original = client.call

    def call(method: str, *arguments: Any) -> Any:
        return few if method == "simListAssets" else original(method, *arguments)

    client.call = call  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="no asset for campfire/ashes, clothing/yellow, sleeping_bag/blue"):
        deploy(client, load_task("aotai-first"), PLACE)
    assert not client.world.objects


def test_a_levels_own_asset_names_are_mapped() -> None:
    client = Client()
    deployment = deploy(client, load_task("aotai-first"), PLACE, assets={"tent/orange": "tent/dome_red"})
    assert client.world.objects[deployment.objects["camp-tent"]].asset.name == "tent/dome_red"


def test_an_unknown_vehicle_is_named() -> None:
    with pytest.raises(UsageError, match=r"no vehicle uav9: it has uav1, uav2"):
        deploy(Client(), load_task("aotai-first"), PLACE, ("uav1", "uav9"))


def test_things_lie_along_the_slope_and_people_stand_upright() -> None:
    client = Client()
    pair = deploy(client, load_task("aotai-pair"), PLACE)
    for id, lying in (("down-clothes", True), ("zhao", False)):
        thing = client.world.objects[pair.objects[id]]
        up = thing.pose.rotation[:, 2]
        normal = PLACE.normal(thing.pose.position[:2])
        assert up == pytest.approx(normal if lying else [0.0, 0.0, 1.0], abs=0.05)
    yaws = [client.world.objects[pair.objects[id]].pose.yaw for id in ("lin", "edge-pack")]
    assert yaws == pytest.approx([0.4, 1.1], abs=0.05)
    assert all(a != b for a, b in itertools.combinations(pair.objects.values(), 2))


def test_distractors_stand_under_opaque_names_as_everything_else() -> None:
    task = load_task("aotai-wu-2-04")
    assert task.distractors
    client = Client()
    deployment = deploy(client, task, PLACE)
    for number, distractor in enumerate(task.distractors):
        name = deployment.objects[f"distractor-{number}"]
        assert name.startswith(PREFIX) and "distractor" not in name
        assert client.world.objects[name].asset.name == distractor.asset
        assert client.call("simGetSegmentationObjectID", name) == 0
        assert client.world.objects[name].pose.position[:2] == pytest.approx(distractor.position, abs=1e-6)
    assert len(client.world.objects) == len(task.victims) + len(task.clues) + len(task.distractors)


def test_what_lies_off_the_map_is_refused_before_anything_is_touched() -> None:
    task = load_task("aotai-first")
    far = task.start.model_copy(update={"position": (5000.0, 0.0)})
    client = Client()
    with pytest.raises(UsageError, match="start at 5000, 0 m lies off map aotai"):
        deploy(client, task.model_copy(update={"start": far}), PLACE)
    assert client.calls == []
