"""The hour of the day as AirSim's simSetTimeOfDay sets it: where the sun starts, and how it goes on."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from esar_ros.sim.clock import SimClock
from esar_ros.sim.settings import TIME_FORMAT, TimeOfDay
from esar_ros.sim.world.world import World

MIN_INTERVAL = 0.05  # s between the sun's steps


class Sun:
    """Moves the world's local time along with simulation time."""

    def __init__(self, world: World, clock: SimClock) -> None:
        self._world, self._clock = world, clock
        self._before: datetime | None = None  # local time to return to
        self._plan: TimeOfDay | None = None
        self._start = datetime.min
        self._began, self._due = 0.0, 0.0

    def start(self, plan: TimeOfDay) -> None:
        """Set the hour, and let it go on if the plan says so. Raises ValueError, OverflowError."""
        local = self._world.environment.local_time
        start = datetime.strptime(plan.start, TIME_FORMAT) if plan.start else local
        start -= timedelta(hours=1) if plan.start and plan.is_dst else timedelta()
        if self._before is None:
            self._before = local
        self._start, self._began = start, self._clock.now
        self._due = self._began + max(plan.interval, MIN_INTERVAL)
        self._plan = plan if plan.move_sun and plan.speed != 0.0 else None
        self._set(start)

    def stop(self) -> None:
        """Back to the hour before the first start."""
        if self._before is not None:
            self._set(self._before)
        self._before = self._plan = None

    def move(self) -> None:
        """Step the sun when it is time; called at every control step."""
        if self._plan is None or self._clock.now < self._due:
            return
        self._due = self._clock.now + max(self._plan.interval, MIN_INTERVAL)
        try:
            self._set(self._start + timedelta(seconds=(self._clock.now - self._began) * self._plan.speed))
        except OverflowError:
            self._plan = None  # the calendar ends

    def _set(self, local: datetime) -> None:
        self._world.environment = replace(self._world.environment, local_time=local)
