"""The simulator's RPC interface: every method by its AirSim name, found, checked and called."""

from __future__ import annotations

import asyncio
import hmac
import inspect
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from esar_ros.geometry.geodesy import Origin
from esar_ros.sim.airsim_api.values import ApiError
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.settings import Settings, VehicleSettings

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Session:
    """State of one connection to the server."""

    authorised: bool = False
    collisions_read: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Marking:
    name: str
    truth: bool
    heavy: bool


def method(name: str, *, truth: bool = False, heavy: bool = False) -> Callable[[F], F]:
    """Serve a group's function under a name. truth: only for authorised connections."""

    def mark(function: F) -> F:
        function.rpc = _Marking(name, truth, heavy)  # type: ignore[attr-defined]
        return function

    return mark


class Context:
    """State shared by the groups of methods."""

    def __init__(self, simulation: Simulation, settings: Settings, seed: int, token: str | None) -> None:
        self.simulation = simulation
        self.settings = settings
        self.seed = seed
        self._token = token
        self.world = simulation.world
        self.vehicles: dict[str, VehicleSettings] = {vehicle.name: vehicle for vehicle in settings.vehicles}
        self.segmentation = np.arange(256, dtype=np.uint8)  # value in segmentation images of each object id
        self.segmentation_version = 0
        self.origin = self.world.place.origin if settings.origin is None else Origin(*settings.origin)

    def set_segmentation(self, object_id: int, value: int) -> None:
        """Show an object as another number in segmentation images."""
        self.segmentation[object_id] = value
        self.segmentation_version += 1

    def add(self, vehicle: VehicleSettings, drone: Drone) -> None:
        """Take in another vehicle."""
        self.vehicles[vehicle.name] = vehicle
        self.settings = replace(self.settings, vehicles=(*self.settings.vehicles, vehicle))
        self.simulation.drones[vehicle.name] = drone

    def drone(self, name: Any) -> Drone:
        """A vehicle; the empty name means the first. Raises ApiError."""
        drones = self.simulation.drones
        if name == "":
            return next(iter(drones.values()))
        found = drones.get(name) if isinstance(name, str) else None
        if found is None:
            raise ApiError(
                f"Vehicle API for '{name!s:.40}' is not available. This could either because this is "
                "simulation-only API or this vehicle does not exist"
            )
        return found

    def may_see_truth(self, session: Session) -> bool:
        """Returns whether a connection may read ground truth."""
        return session.authorised or self._token is None

    def authorise(self, session: Session, token: str) -> bool:
        """Open ground truth to a connection that knows the token."""
        if self._token is not None and not hmac.compare_digest(token.encode(), self._token.encode()):
            raise ApiError("wrong token")
        session.authorised = True
        return True


def _arguments(function: Callable[..., Any]) -> tuple[int, int]:
    """Returns the minimum and maximum number of arguments beside the session."""
    own = list(inspect.signature(function).parameters.values())[1:]
    minimum = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in own)
    return minimum, sys.maxsize if any(p.kind is p.VAR_POSITIONAL for p in own) else len(own)


class Api:
    """Looks methods up and words errors as AirSim's server (rpclib) does."""

    def __init__(self, context: Context, groups: list[Any]) -> None:
        self._context = context
        self._methods: dict[str, tuple[Callable[..., Any], _Marking, tuple[int, int]]] = {}
        for group in groups:
            for _, function in inspect.getmembers(group, callable):
                marking = getattr(function, "rpc", None)
                if isinstance(marking, _Marking):
                    self._methods[marking.name] = (function, marking, _arguments(function))

    @property
    def names(self) -> list[str]:
        """Every method served."""
        return sorted(self._methods)

    def open(self) -> Session:
        """State of a new connection."""
        return Session()

    def is_heavy(self, name: str) -> bool:
        """Returns whether answers are so large that one at a time is enough for a connection."""
        return name in self._methods and self._methods[name][1].heavy

    def call(self, session: Session, name: str, arguments: list[Any]) -> Any:
        """Result, or an awaitable of it. Raises ApiError."""
        count = len(arguments)
        if name not in self._methods:
            raise ApiError(f"rpclib: server could not find function '{name:.60}' with argument count {count}.")
        function, marking, (minimum, maximum) = self._methods[name]
        if marking.truth and not self._context.may_see_truth(session):
            raise ApiError(f"'{name}' tells ground truth: this connection must call esarAuthorize(token) first")
        if not minimum <= count <= maximum:
            raise ApiError(
                f"rpclib: function '{name}' (called with {count} arg(s)) was called with an invalid number of "
                f"arguments. Expected: {maximum}"
            )
        try:
            result = function(session, *arguments)
        except Exception as error:
            raise _threw(name, count, error) from error
        return self._guarded(name, count, result) if inspect.isawaitable(result) else result

    async def _guarded(self, name: str, count: int, result: Awaitable[Any]) -> Any:
        try:
            return await result
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise _threw(name, count, error) from error


def _threw(name: str, count: int, error: Exception) -> ApiError:
    return ApiError(
        f"rpclib: function '{name}' (called with {count} arg(s)) threw an exception. The exception contained "
        f"this information: {str(error) or type(error).__name__}."
    )
