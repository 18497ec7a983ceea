"""Handshake, control, time and reset."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from esar_ros.sim.airsim_api.api import Context, Session, method
from esar_ros.sim.airsim_api.values import ApiError, duration, geo_point_dict, number, text
from esar_ros.sim.clock import CONTROL_STEPS, frame_time

TURN = 0.02  # s of wall time a long advance computes before others get theirs
SHORT = 100  # steps: an advance so short is done at once
LONGEST = 3600.0  # s of simulation that one call may ask for


class SessionApi:
    """Calls for handshake, control of a vehicle, time and reset."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._advancing = asyncio.Lock()

    @method("ping")
    def ping(self, session: Session) -> bool:
        return True

    @method("getServerVersion")
    def server_version(self, session: Session) -> int:
        """AirSim's client requires at least 1, Cosys-AirSim's at least 4."""
        return 4

    @method("getMinRequiredClientVersion")
    def client_version(self, session: Session) -> int:
        """AirSim's client has 1."""
        return 1

    @method("esarAuthorize")
    def authorise(self, session: Session, token: Any) -> bool:
        """Open ground truth to this connection."""
        return self._context.authorise(session, text(token, "token"))

    @method("listVehicles")
    def vehicles(self, session: Session) -> list[str]:
        return list(self._context.simulation.drones)

    @method("getSettingsString")
    def settings(self, session: Session) -> str:
        return self._context.settings.to_json()

    @method("reset")
    def reset(self, session: Session) -> None:
        self._context.simulation.reset()

    @method("enableApiControl")
    def enable_control(self, session: Session, enabled: Any, vehicle: Any = "") -> None:
        drone = self._context.drone(vehicle)
        drone.api_control = bool(enabled)
        if not drone.api_control:
            drone.autopilot.cancel()

    @method("isApiControlEnabled")
    def control_enabled(self, session: Session, vehicle: Any = "") -> bool:
        return self._context.drone(vehicle).api_control

    @method("armDisarm")
    def arm(self, session: Session, armed: Any, vehicle: Any = "") -> bool:
        drone = self._context.drone(vehicle)
        drone.arm(bool(armed))
        return drone.armed == bool(armed)

    @method("getHomeGeoPoint")
    def home(self, session: Session, vehicle: Any = "") -> dict[str, float]:
        drone = self._context.drone(vehicle)
        return geo_point_dict(self._context.origin.to_geodetic(drone.home))

    @method("simPause")
    def pause(self, session: Session, paused: Any) -> None:
        self._context.simulation.clock.paused = bool(paused)

    @method("simIsPaused")
    def is_paused(self, session: Session) -> bool:
        return self._context.simulation.clock.paused

    @method("simContinueForTime")
    def continue_for_time(self, session: Session, seconds: Any) -> Any:
        """Advance as fast as the machine can, then stand still; answered when done."""
        seconds = duration(seconds, "seconds")
        if seconds > LONGEST:
            raise ApiError(f"seconds must not exceed {LONGEST:g}")
        return self._continue(self._context.simulation.clock.steps_for(seconds))

    @method("simContinueForFrames")
    def continue_for_frames(self, session: Session, frames: Any) -> Any:
        """The same, in frames; how long one is follows from the setting ClockSpeed."""
        count, frame = int(number(frames, "frames")), frame_time(self._context.settings.clock_speed)
        if not 0 <= count <= round(LONGEST / frame):
            raise ApiError(f"frames must be in [0, {round(LONGEST / frame)}]: each is {frame:.3g} s")
        return self._continue(self._context.simulation.clock.steps_for(count * frame))

    def _continue(self, steps: int) -> Any:
        simulation = self._context.simulation
        simulation.clock.paused = True  # wall time does not move it meanwhile
        if steps <= SHORT and not self._advancing.locked():
            simulation.advance(steps)
            return None
        return self._advance(steps)

    async def _advance(self, steps: int) -> None:
        async with self._advancing:
            while steps > 0:
                until = time.monotonic() + TURN
                while steps > 0 and time.monotonic() < until:
                    run = min(steps, CONTROL_STEPS)
                    self._context.simulation.advance(run)
                    steps -= run
                await asyncio.sleep(0)
