"""Puts a task into a simulated world through AirSim's own calls: people, clues, conditions and starts.

The same code serves the embedded simulator and AirSim / Colosseum on Unreal (never run there). Where the server knows
a better call of its own (esarGroundHeight, esarSetWeather), that one is used; without it AirSim's way is taken.
NED appears here only in the values that the calls take.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from esar_ros.benchmark.engine.missions import Deployment
from esar_ros.bridges.airsim.client import AirSimError
from esar_ros.geometry.frames import (
    Pose,
    Vector,
    attitude_enu_flu_to_ned_frd,
    enu_to_ned,
    ned_to_enu,
    quaternion_from_rotation,
    quaternion_from_yaw,
)
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.clues import KINDS_BLOCK, PERSON, ClueKind, VictimPose, segmentation_id
from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import Task, Victim, Wind
from esar_ros.mission.weather import Weather
from esar_ros.scoring.horizon_profile import horizon_profile
from esar_ros.scoring.truth import TrueClue, TrueVictim

# Objects are named so that a name tells a planner nothing, and so that those of an earlier task can be found.
PREFIX = "esar_object_"
VEHICLE_SPACING = 4.0  # m between the starts of several vehicles, side by side
START_TOLERANCE = 3.0  # m a vehicle may stand from where it was put
DISTRACTOR = "distractor"
_SUN_STEP, _SUN_STEP_UNSEEN = 5.0, 60.0  # s between steps of the clock where light follows it, and where it does not
# AirSim's weather parameters 0..8; what they cannot say (clouds) stays clear on a server without esarSetWeather.
_RAIN, _WETNESS, _SNOW, _ROAD_SNOW, _DUST, _FOG = 0, 1, 2, 3, 6, 7
_WEATHER: Mapping[Weather, Mapping[int, float]] = {
    Weather.CLEAR: {},
    Weather.PARTLY_CLOUDY: {},
    Weather.OVERCAST: {},
    Weather.LIGHT_RAIN: {_RAIN: 0.2, _WETNESS: 0.3},
    Weather.HEAVY_RAIN: {_RAIN: 0.6, _WETNESS: 0.8},
    Weather.THUNDERSTORM: {_RAIN: 0.95, _WETNESS: 1.0},
    Weather.LIGHT_SNOW: {_SNOW: 0.2, _ROAD_SNOW: 0.3},
    Weather.HEAVY_SNOW: {_SNOW: 0.6, _ROAD_SNOW: 0.8},
    Weather.BLIZZARD: {_SNOW: 0.95, _ROAD_SNOW: 1.0},
    Weather.FOG: {_FOG: 0.4},
    Weather.DENSE_FOG: {_FOG: 0.7},
    Weather.SANDSTORM: {_DUST: 0.8},
    Weather.DUST: {_DUST: 0.3},
}
# These stand upright on a slope; everything else lies along it.
_UPRIGHT = {VictimPose.STANDING.value, VictimPose.SITTING.value, ClueKind.CAMPFIRE.value, ClueKind.SIGNAL_FLARE.value}
_UPRIGHT_DISTRACTORS = {"goat", "yak", "dog", "sign", "hut", "bush", "cairn"}


class AirSim(Protocol):
    """AirSim client of the deployer: one call, raising AirSimError with the server's text."""

    def call(self, method: str, *arguments: Any) -> Any:
        """Result of a method."""
        ...


class Place(Protocol):
    """Map of the deployer."""

    @property
    def origin(self) -> Origin:
        """Geodetic origin of the map frame."""
        ...

    def ground_height(self, xy: Any) -> Any:
        """z (m) of the ground at points (..., 2) of the map frame."""
        ...

    def contains(self, xy: Any) -> Any:
        """Returns whether points (..., 2) lie on the map."""
        ...


def deploy(
    client: AirSim,
    task: Task,
    place: Place,
    vehicles: Sequence[str] = ("uav1",),
    pause: bool = True,
    assets: Mapping[str, str] | None = None,
) -> Deployment:
    """Clear what an earlier task left, then place everything a task names; distractors get segmentation id 0.

    pause: leave the world standing still, for a bridge that steps it. assets: names a level uses for ours, e.g.
    {"tent": "BP_Tent_C"}. Raises UsageError where assets or vehicles are missing or something lies off the map,
    AirSimError where a call fails.
    """
    _check_on_map(task, place)
    client.call("simPause", pause)
    _check_vehicles(client, vehicles)
    wanted = _wanted(task, client.call("simListAssets"), assets or {})
    for name in client.call("simListSceneObjects", f"{PREFIX}.*"):
        client.call("simDestroyObject", name)
    _set_conditions(client, task)
    placed = _place_objects(client, task, place, wanted)
    starts, offsets = {}, {}
    for index, vehicle in enumerate(vehicles):
        starts[vehicle], offsets[vehicle] = _place_vehicle(client, task, place, vehicle, index, len(vehicles))
    return Deployment(
        victims=tuple(_true_victim(victim, placed[victim.id][1], place) for victim in task.victims),
        clues=tuple(
            TrueClue(
                id=c.id,
                kind=c.kind.value,
                description=c.description,
                position=placed[c.id][1],
                skyline=horizon_profile(placed[c.id][1][:2], place.ground_height),
            )
            for c in task.clues
        ),
        starts=starts,
        odom_in_map=offsets,
        objects={id: name for id, (name, _) in placed.items()},
    )


def _true_victim(victim: Victim, position: tuple[float, float, float], place: Place) -> TrueVictim:
    profile = horizon_profile(position[:2], place.ground_height)
    return TrueVictim(id=victim.id, name=victim.name, pose=victim.pose.value, position=position, skyline=profile)


@dataclass(frozen=True)
class _Thing:
    """One object to place."""

    id: str
    kind: str
    asset: str
    xy: tuple[float, float]
    yaw: float
    upright: bool


def _check_on_map(task: Task, place: Place) -> None:
    spots = {"start": task.start.position} | {v.id: v.position for v in task.victims}
    spots |= {c.id: c.position for c in task.clues}
    spots |= {f"distractor {n}": thing.position for n, thing in enumerate(task.distractors)}
    for id, xy in spots.items():
        if not bool(place.contains(np.array(xy))):
            raise UsageError(f"task {task.id}: {id} at {xy[0]:.0f}, {xy[1]:.0f} m lies off map {task.map}", "move it")


def _wanted(task: Task, available: Sequence[str], level_names: Mapping[str, str]) -> list[_Thing]:
    """Objects of a task with the assets the server has for them. Raises UsageError naming those it lacks."""
    have, missing = set(available), []

    def asset(kind: str, variant: str) -> str:
        for name in (f"{kind}/{variant}" if variant else kind, kind):
            if (chosen := level_names.get(name, name)) in have:
                return chosen
        missing.append(f"{kind}/{variant}" if variant else kind)
        return ""

    things = [
        _Thing(v.id, PERSON, asset(f"{PERSON}_{v.pose.value}", v.variant), v.position, v.yaw, v.pose.value in _UPRIGHT)
        for v in task.victims
    ]
    things += [
        _Thing(c.id, c.kind.value, asset(c.kind.value, c.variant), c.position, c.yaw, c.kind.value in _UPRIGHT)
        for c in task.clues
    ]
    things += [
        _Thing(f"{DISTRACTOR}-{n}", DISTRACTOR, asset(*_kind_and_variant(d.asset)), d.position, d.yaw, _stands(d.asset))
        for n, d in enumerate(task.distractors)
    ]
    if missing:
        raise UsageError(
            f"task {task.id}: the simulator has no asset for {', '.join(sorted(set(missing)))}",
            "add them to the level, or map their names",
        )
    return things


def _kind_and_variant(asset: str) -> tuple[str, str]:
    kind, _, variant = asset.partition("/")
    return kind, variant


def stands_upright(asset: str) -> bool:
    """Returns whether an asset stands upright on a slope; everything else lies along it."""
    return asset.partition("/")[0].removeprefix(f"{PERSON}_") in _UPRIGHT or _stands(asset)


def _stands(asset: str) -> bool:
    return asset.partition("/")[0].removeprefix(f"{DISTRACTOR}_") in _UPRIGHT_DISTRACTORS


def _place_objects(
    client: AirSim, task: Task, place: Place, things: list[_Thing]
) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Spawns the objects in an order that reveals nothing; returns (name, position) by id."""
    # Neither the order of names nor that of spawning may say what is a victim.
    order = list(things)
    random.Random(f"{task.id}/{task.seed}").shuffle(order)
    count: dict[str, int] = {}
    placed = {}
    for thing in order:
        pose = _pose_on_ground(client, place, thing)
        opaque = hashlib.sha256(f"{task.id}/{task.seed}/{thing.id}".encode()).hexdigest()[:12]
        scale = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}
        name = client.call(
            "simSpawnObject", PREFIX + opaque, thing.asset, _pose_message(pose.position, pose), scale, False, False
        )
        if not name:
            raise AirSimError(f"simSpawnObject did not place asset '{thing.asset}'")
        number = count.get(thing.kind, 0)
        count[thing.kind] = number + 1
        client.call("simSetSegmentationObjectID", name, _segmentation_id(task, thing.kind, number), False)
        actual = ned_to_enu(_numbers(client.call("simGetObjectPose", name)["position"]))
        position = actual if np.isfinite(actual).all() else pose.position
        placed[thing.id] = (str(name), _point(position))
    return placed


def _segmentation_id(task: Task, kind: str, number: int) -> int:
    """Id of a kind's n-th object; a distractor is part of "everything else"."""
    if kind == DISTRACTOR:
        return 0
    if number >= KINDS_BLOCK:
        raise UsageError(f"task {task.id}: more than {KINDS_BLOCK} of kind {kind}", "place fewer")
    return segmentation_id(kind, number)


def _pose_on_ground(client: AirSim, place: Place, thing: _Thing) -> Pose:
    x, y = thing.xy
    z = ground_height(client, place, thing.xy)
    attitude = quaternion_from_yaw(thing.yaw)
    position = np.array([x, y, z])
    if thing.upright:
        return Pose(position, attitude)
    step = 0.5
    east = (ground_height(client, place, (x + step, y)) - ground_height(client, place, (x - step, y))) / (2 * step)
    north = (ground_height(client, place, (x, y + step)) - ground_height(client, place, (x, y - step))) / (2 * step)
    up = np.array([-east, -north, 1.0]) / math.sqrt(east * east + north * north + 1.0)
    ahead = np.array([math.cos(thing.yaw), math.sin(thing.yaw), 0.0])
    left = np.cross(up, ahead)
    left /= np.linalg.norm(left)
    return Pose(position, quaternion_from_rotation(np.column_stack([np.cross(left, up), left, up])))


def ground_height(client: AirSim, place: Place, xy: tuple[float, float]) -> float:
    """z (m) of the ground at a map-frame point: the server's own word, else by sight lines, else the map's."""
    expected = float(place.ground_height(np.array(xy)))
    try:
        return float(client.call("esarGroundHeight", float(xy[0]), float(xy[1])))
    except AirSimError:
        pass
    try:
        return _height_by_sight(client, place, xy, expected)
    except AirSimError:
        return expected


def _height_by_sight(client: AirSim, place: Place, xy: tuple[float, float], expected: float) -> float:
    """Lowest point that is seen from above, found by halving; that is the ground where nothing covers it."""

    def geo(z: float) -> dict[str, float]:
        latitude, longitude, altitude = place.origin.to_geodetic(np.array([xy[0], xy[1], z]))
        return {"latitude": latitude, "longitude": longitude, "altitude": altitude}

    top = expected + 100.0
    low, high = expected - 100.0, top - 1.0
    for _ in range(16):
        middle = 0.5 * (low + high)
        if client.call("simTestLineOfSightBetweenPoints", geo(top), geo(middle)):
            high = middle
        else:
            low = middle
    return high


def _set_conditions(client: AirSim, task: Task) -> None:
    client.call("simEnableWeather", True)
    strengths = _WEATHER[task.weather]
    for parameter in (_RAIN, _WETNESS, _SNOW, _ROAD_SNOW, 4, 5, _DUST, _FOG):
        client.call("simSetWeatherParameter", parameter, strengths.get(parameter, 0.0))
    # AirSim knows no weathers by name: there the parameters above stand.
    with suppress(AirSimError):
        client.call("esarSetWeather", task.weather.value)
    local = task.local_time.strftime("%Y-%m-%d %H:%M:%S")
    interval = _SUN_STEP if task.changes else _SUN_STEP_UNSEEN
    client.call("simSetTimeOfDay", True, local, False, 1.0, interval, True)
    client.call("simSetWind", _wind_message(task.wind))
    if not task.changes:
        return
    changes = [
        {
            "at": change.at,
            "over": change.over,
            "weather": None if change.weather is None else change.weather.value,
            "wind": None if change.wind is None else _wind_message(change.wind),
        }
        for change in task.changes
    ]
    try:
        client.call("esarChangeWeather", changes)
    except AirSimError:
        raise UsageError(
            f"task {task.id}, key changes: the simulator cannot change its weather by itself", "use world embedded"
        ) from None


def _wind_message(wind: Wind) -> dict[str, float]:
    return _vector_message(wind.speed * np.array([math.cos(wind.direction), math.sin(wind.direction), 0.0]))


def start_of(task: Task, index: int = 0, count: int = 1) -> tuple[float, float]:
    """Returns where a vehicle of a mission starts, m, x and y in the map: side by side, the first on the right."""
    aside, yaw = (index - (count - 1) / 2) * VEHICLE_SPACING, task.start.yaw
    x, y = task.start.position
    return x - aside * math.sin(yaw), y + aside * math.cos(yaw)


def _check_vehicles(client: AirSim, vehicles: Sequence[str]) -> None:
    known = client.call("listVehicles")
    if absent := [vehicle for vehicle in vehicles if vehicle not in known]:
        raise UsageError(
            f"the simulator has no vehicle {', '.join(absent)}", f"it has {', '.join(known)}: name them in settings"
        )


def _place_vehicle(
    client: AirSim, task: Task, place: Place, vehicle: str, index: int, count: int
) -> tuple[Vector, tuple[float, float, float]]:
    """Stand one vehicle at its start; answers where it is and where its coordinates count from, in the map."""
    x, y = start_of(task, index, count)
    at = np.array([x, y, ground_height(client, place, (float(x), float(y)))])
    offset = _offset(client, place, vehicle)
    pose = Pose(at, quaternion_from_yaw(task.start.yaw))
    client.call("simSetVehiclePose", _pose_message(at - offset, pose), True, vehicle)
    now = offset + ned_to_enu(_numbers(client.call("simGetVehiclePose", vehicle)["position"]))
    if float(np.linalg.norm(now[:2] - at[:2])) > START_TOLERANCE:
        raise AirSimError(f"simSetVehiclePose left {vehicle} {np.linalg.norm(now[:2] - at[:2]):.0f} m from its start")
    return now, _point(offset)


def _offset(client: AirSim, place: Place, vehicle: str) -> Vector:
    """Map-frame point that a vehicle's AirSim coordinates count from: where it is on Earth less where it says it is."""
    geo = client.call("getMultirotorState", vehicle)["gps_location"]
    on_map = place.origin.to_enu(geo["latitude"], geo["longitude"], geo["altitude"])
    own = ned_to_enu(_numbers(client.call("simGetVehiclePose", vehicle)["position"]))
    # Through latitude and longitude a millimetre gets lost.
    return np.array([round(float(value), 3) for value in on_map - own])


def _numbers(message: Mapping[str, float]) -> Vector:
    return np.array([message["x_val"], message["y_val"], message["z_val"]], dtype=np.float64)


def _vector_message(enu: Vector) -> dict[str, float]:
    north, east, down = (float(value) for value in enu_to_ned(enu))
    return {"x_val": north, "y_val": east, "z_val": down}


def _pose_message(position: Vector, pose: Pose) -> dict[str, Any]:
    """AirSim Pose of a position (map frame or relative to a vehicle's offset) with a pose's attitude."""
    w, x, y, z = (float(value) for value in attitude_enu_flu_to_ned_frd(pose.quaternion))
    return {
        "position": _vector_message(position),
        "orientation": {"w_val": w, "x_val": x, "y_val": y, "z_val": z},
    }


def _point(position: Vector) -> tuple[float, float, float]:
    return float(position[0]), float(position[1]), float(position[2])
