"""Objects, weather, time of day, wind and sight lines; positions are NED of the map's origin."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

from esar_ros.geometry.frames import Vector, ned_to_enu
from esar_ros.mission.errors import UsageError
from esar_ros.mission.weather import Weather
from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.name_patterns import matching
from esar_ros.sim.airsim_api.time_of_day import Sun
from esar_ros.sim.airsim_api.values import (
    ApiError,
    fields,
    geo_point_dict,
    nan_pose_dict,
    number,
    pose_dict,
    pose_from,
    text,
    vector3,
)
from esar_ros.sim.airsim_api.weather_parameters import WeatherParameters
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.settings import TimeOfDay
from esar_ros.sim.weather.changes import Change
from esar_ros.sim.world.world import MAX_SCALE, MIN_SCALE

HEADROOM = 1000.0  # m, of the world's extents above its highest ground


class WorldApi:
    """Calls that read or change the world; truth only when authorised."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._weather = WeatherParameters()
        self._sun = Sun(context.world, context.simulation.clock)
        context.simulation.watchers.append(self._sun.move)
        if context.settings.time_of_day is not None:
            self._sun.start(context.settings.time_of_day)

    @method("simListAssets")
    def assets(self, session: Session) -> list[str]:
        return sorted(assets())

    @method("simListSceneObjects", truth=True)
    def objects(self, session: Session, pattern: Any = ".*") -> list[str]:
        return self._matching(pattern)

    @method("simGetObjectPose", truth=True)
    def object_pose(self, session: Session, name: Any) -> dict[str, Any]:
        """NaN for an object that is not there, as AirSim."""
        thing = self._context.world.objects.get(text(name, "object_name"))
        return nan_pose_dict() if thing is None else pose_dict(thing.pose)

    @method("simGetObjectScale", truth=True)
    def object_scale(self, session: Session, name: Any) -> dict[str, float]:
        """Of an object, or of a vehicle's collision sphere; NaN for what is not there."""
        name = text(name, "object_name")
        thing = self._context.simulation.drones.get(name) or self._context.world.objects.get(name)
        scale = float("nan") if thing is None else float(thing.scale)
        return {"x_val": scale, "y_val": scale, "z_val": scale}

    @method("simSetObjectPose", truth=True)
    def move(self, session: Session, name: Any, pose: Any, teleport: Any = True) -> bool:
        name = text(name, "object_name")
        if name not in self._context.world.objects:
            return False
        self._context.world.move(name, pose_from(pose, "pose"))
        return True

    @method("simSpawnObject", truth=True)
    def spawn(
        self,
        session: Session,
        name: Any,
        asset: Any,
        pose: Any,
        scale: Any,
        physics: Any = False,
        blueprint: Any = False,
    ) -> str:
        """Answers the name given; a name in use gets a number, as in AirSim."""
        factor = _uniform(scale, "scale")
        return self._spawn(text(name, "object_name"), text(asset, "asset_name"), pose_from(pose, "pose"), factor)

    @method("simSetObjectScale", truth=True)
    def rescale(self, session: Session, name: Any, scale: Any) -> bool:
        """The same along all axes; an object keeps its name and its segmentation number.

        A vehicle's scale is that of the sphere with which it meets the world; nothing else of it changes.
        """
        name = text(name, "object_name")
        factor = _uniform(scale, "scale")
        if name in self._context.simulation.drones:
            if not MIN_SCALE <= factor <= MAX_SCALE:
                raise ApiError(f"scale of a vehicle must be in [{MIN_SCALE:g}, {MAX_SCALE:g}]")
            self._context.simulation.drones[name].resize(factor)
            return True
        world, thing = self._context.world, self._context.world.objects.get(name)
        if thing is None:
            return False
        value = int(self._context.segmentation[thing.id])
        world.destroy(name)
        try:
            again = world.spawn(name, thing.asset.name, thing.pose, factor)
        except UsageError as error:
            again = world.spawn(name, thing.asset.name, thing.pose, thing.scale)
            raise ApiError(str(error)) from None
        finally:
            self._context.set_segmentation(again.id, value)
        return True

    @method("simDestroyObject", truth=True)
    def destroy(self, session: Session, name: Any) -> bool:
        name = text(name, "object_name")
        if name not in self._context.world.objects:
            return False
        self._context.world.destroy(name)
        return True

    @method("esarPlaceOnGround", truth=True)
    def place(self, session: Session, name: Any, asset: Any, x: Any, y: Any, yaw: Any) -> list[float]:
        """Stand an asset on the ground at map-frame x, y (m), heading yaw (rad); answers its position."""
        at = np.array([number(x, "x_east"), number(y, "y_north")])
        self._on_map(at)
        pose = self._context.world.resting_pose(at, number(yaw, "yaw"))
        self._spawn(text(name, "name"), text(asset, "asset"), pose, 1.0)
        return [float(v) for v in pose.position]

    @method("esarGroundHeight")
    def ground(self, session: Session, x: Any, y: Any) -> float:
        """Map-frame z (m) of the ground at map-frame x, y (m)."""
        at = np.array([number(x, "x_east"), number(y, "y_north")])
        self._on_map(at)
        return float(self._context.world.ground_height(at))

    @method("simSetSegmentationObjectID", truth=True)
    def set_segmentation(self, session: Session, name: Any, number_: Any, is_regex: Any = False) -> bool:
        value = int(number(number_, "object_id"))
        if not 0 <= value <= 255:
            raise ApiError("object_id must be in [0, 255]")
        name = text(name, "mesh_name")
        names = self._matching(name) if is_regex else [name] if name in self._context.world.objects else []
        for found in names:
            self._context.set_segmentation(self._context.world.objects[found].id, value)
        return bool(names)

    @method("simGetSegmentationObjectID", truth=True)
    def segmentation(self, session: Session, name: Any) -> int:
        """-1 for an object that is not there."""
        thing = self._context.world.objects.get(text(name, "mesh_name"))
        return -1 if thing is None else int(self._context.segmentation[thing.id])

    @method("simEnableWeather")
    def enable_weather(self, session: Session, enabled: Any) -> None:
        self._weather.enabled = bool(enabled)
        self._apply_weather()

    @method("simSetWeatherParameter")
    def weather_parameter(self, session: Session, parameter: Any, value: Any) -> None:
        self._weather.set(int(number(parameter, "param")), number(value, "val"))
        self._apply_weather()

    @method("esarSetWeather")
    def weather(self, session: Session, name: Any, visibility: Any = None) -> None:
        """One of the thirteen weathers by name, and if given a visibility in m."""
        kind = _weather(name, "weather")
        sight = None if visibility is None else number(visibility, "visibility")
        self._set_environment(weather=kind, visibility=sight)

    @method("esarChangeWeather")
    def weather_changes(self, session: Session, changes: Any) -> None:
        """Changes to come, of {"at": s from now, "over": s, "weather": name or null, "wind": Vector3r or null}.

        In order, without overlap; they take the place of those before, and an empty list ends them. Setting weather or
        wind ends them, too.
        """
        if not isinstance(changes, list):
            raise ApiError("changes must be a list")
        now = self._context.simulation.clock.now
        found = tuple(_change(one, f"changes[{k}]", now) for k, one in enumerate(changes))
        for k, (one, other) in enumerate(pairwise(found), 1):
            if other.begin < one.begin + one.duration:
                raise ApiError(f"changes[{k}] begins before the one before it has ended")
        self._set_environment(changes=found)

    @method("simSetTimeOfDay")
    def time_of_day(
        self,
        session: Session,
        enabled: Any,
        start: Any = "",
        is_dst: Any = False,
        speed: Any = 1.0,
        interval: Any = 60.0,
        move_sun: Any = True,
    ) -> None:
        """Local time as "%Y-%m-%d %H:%M:%S"; move_sun lets it go on, `speed` celestial seconds a second.

        Not enabled: the sun stands where it stood before the first call, as in AirSim.
        """
        if not enabled:
            self._sun.stop()
            return
        try:
            self._sun.start(
                TimeOfDay(
                    text(start, "start_datetime"),
                    bool(is_dst),
                    number(speed, "celestial_clock_speed"),
                    number(interval, "update_interval_secs"),
                    bool(move_sun),
                )
            )
        except ValueError:
            raise ApiError('start_datetime must look like "2024-07-01 11:00:00"') from None
        except OverflowError:
            raise ApiError("start_datetime is beyond the calendar") from None

    @method("simSetWind")
    def wind(self, session: Session, wind: Any) -> None:
        self._set_environment(wind=_wind(wind, "wind"))

    @method("simTestLineOfSightToPoint")
    def sight_to(self, session: Session, point: Any, vehicle: Any = "") -> bool:
        """From a vehicle to latitude, longitude, altitude."""
        latitude, longitude, altitude = fields(point, ("latitude", "longitude", "altitude"), "point")
        goal = self._context.origin.to_enu(latitude, longitude, altitude)
        return bool(self._context.world.line_of_sight(self._context.drone(vehicle).position, goal))

    @method("simTestLineOfSightBetweenPoints")
    def sight_between(self, session: Session, one: Any, other: Any) -> bool:
        keys = ("latitude", "longitude", "altitude")
        ends = [self._context.origin.to_enu(*fields(p, keys, "point")) for p in (one, other)]
        return bool(self._context.world.line_of_sight(*ends))

    @method("simGetWorldExtents")
    def extents(self, session: Session) -> list[dict[str, float]]:
        """South-west corner at the lowest ground, and north-east corner 1 km above the highest, as GeoPoints."""
        place = self._context.world.place
        half = place.size / 2.0
        low, high = float(place.heights.min()), float(place.heights.max()) + HEADROOM
        corners = (np.array([-half, -half, low]), np.array([half, half, high]))
        return [geo_point_dict(self._context.origin.to_geodetic(corner)) for corner in corners]

    @method("simLoadLevel")
    def load(self, session: Session, level: Any) -> bool:
        """Returns whether that is the map in force; another one needs a restart."""
        return text(level, "level_name") == self._context.world.place.id

    def _spawn(self, name: str, asset: str, pose: Any, scale: float) -> str:
        world = self._context.world
        if not name:
            raise ApiError("object_name must not be empty")
        chosen, count = name, 1
        while chosen in world.objects:
            chosen, count = f"{name}_{count}", count + 1
        try:
            thing = world.spawn(chosen, asset, pose, scale)
        except UsageError as error:
            raise ApiError(str(error)) from None
        self._context.set_segmentation(thing.id, thing.id)
        return chosen

    def _matching(self, pattern: Any) -> list[str]:
        words = text(pattern, "name_regex")
        try:
            return matching(words, self._context.world.objects)
        except (re.error, RecursionError, OverflowError) as error:
            raise ApiError(f"name_regex: {error}") from None
        except TimeoutError:
            raise ApiError("name_regex takes too long to match") from None

    def _on_map(self, at: Any) -> None:
        half = self._context.world.place.size / 2.0
        if float(np.abs(at).max()) > half:
            raise ApiError(f"({at[0]:g}, {at[1]:g}) is off the map: x and y span [{-half:g}, {half:g}] m")

    def _apply_weather(self) -> None:
        weather, visibility = self._weather.meaning()
        ground = self._weather.ground()
        if ground is None:
            self._set_environment(weather=weather, visibility=visibility)
        else:
            now = self._context.simulation.clock.now
            self._set_environment(weather=weather, visibility=visibility, ground_start=ground, since=now)

    def _set_environment(self, **changes: Any) -> None:
        world = self._context.world
        world.environment = world.environment.changed(self._context.simulation.clock.now, **changes)


def _weather(name: Any, key: str) -> Weather:
    try:
        return Weather(text(name, key))
    except ValueError:
        raise ApiError(f"{key} must be one of {', '.join(w.value for w in Weather)}") from None


def _wind(wind: Any, key: str) -> Vector:
    """Velocity in m/s, ENU."""
    velocity = ned_to_enu(vector3(wind, key))
    if float(np.linalg.norm(velocity)) > 60.0:
        raise ApiError(f"{key} must not exceed 60 m/s")
    return velocity


def _change(value: Any, key: str, now: float) -> Change:
    at, over = fields(value, ("at", "over"), key)
    if at < 0.0 or over <= 0.0:
        raise ApiError(f"{key} must not begin in the past, and must take time")
    weather, wind = value.get("weather"), value.get("wind")
    kind = None if weather is None else _weather(weather, f"{key}.weather")
    return Change(now + at, over, kind, None if wind is None else _wind(wind, f"{key}.wind"))


def _uniform(scale: Any, name: str) -> float:
    x, y, z = vector3(scale, name)
    if max(x, y, z) - min(x, y, z) > 1e-6:
        raise ApiError(f"{name} must be the same along x, y and z")
    return float(x)
