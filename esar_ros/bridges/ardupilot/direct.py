"""ArduPilot without a graph: where its vehicles are, and a landing that a person asks for where no mission runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from esar_ros.bridges.ardupilot.guided import Guided, GuidedStream
from esar_ros.bridges.ardupilot.link import MavlinkLink
from esar_ros.bridges.ardupilot.settings import ArdupilotSettings, load_ardupilot_settings
from esar_ros.bridges.ardupilot.state import ArdupilotState
from esar_ros.bridges.px4.direct import DirectRequest, land_code, where_code
from esar_ros.bridges.px4.standing import Standing, standing_of
from esar_ros.bridges.px4.state import AGES

PATIENCE: Final = 8.0  # s until a vehicle that says nothing counts as silent; its messages must be asked for first
AFTER: Final = 3.0  # s after a landing, in which it is waited for to speak again
PERIOD: Final = 0.02  # s
_AUTOPILOT: Final = "ArduPilot"


class DirectVehicle:
    """One vehicle. It is done once it has told where it is, or has landed."""

    def __init__(
        self, vehicle: str, index: int, settings: ArdupilotSettings, land: bool, tell: Callable[[str], None]
    ) -> None:
        """Raises UsageError where its link cannot be opened."""
        address = settings.address(vehicle, index)
        self._vehicle = vehicle
        self._state = ArdupilotState(address.system_id)
        self._guided = Guided(GuidedStream(self._state, settings.timing))
        self.request = DirectRequest(self._guided, Standing(vehicle, False, autopilot=_AUTOPILOT), land, tell)
        self._link = MavlinkLink(address.link, settings.baud, address.system_id, self._on_message)
        self._began, self._over = time.monotonic(), 0.0

    def _on_message(self, kind: str, message: Any, now: float) -> None:
        answer = self._state.hear(kind, message, now)
        if answer is not None:
            self._guided.on_ack(answer)

    def step(self, now: float) -> None:
        """Hears and says what is due at now (s, steady clock)."""
        self._link.poll(now)
        output = self._guided.step(now)
        self._link.send(output, now)
        request = self.request
        request.standing = standing_of(self._vehicle, self._state, now, _AUTOPILOT)
        if request.asked is not None:
            ended = self._guided.outcome(request.asked)
            if ended is not None:
                request.outcome, self._over = ended, now
            # With the motors it closes its log, and may be silent meanwhile.
            over = request.standing.linked or now - self._over > AFTER
            request.done = request.outcome is not None and over
        elif self._is_known(now) or now - self._began > PATIENCE:
            request.begin(now)

    def _is_known(self, now: float) -> bool:
        fresh = all(self._state.is_fresh(name, now) for name in AGES)
        return fresh and self._state.translation.origin is not None

    def close(self) -> None:
        """Closes its link."""
        self._link.close()


def where(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Tells where vehicles are. Returns 1 where one is armed in the air, or silent. Raises UsageError."""
    return where_code(_ran(vehicles, False, tell))


def land(vehicles: Sequence[str], tell: Callable[[str], None]) -> int:
    """Lands vehicles where they are and disarms them, one beside the other. Returns 1 where one is not down."""
    return land_code(_ran(vehicles, True, tell), tell)


def _ran(vehicles: Sequence[str], land: bool, tell: Callable[[str], None]) -> list[DirectRequest]:
    settings, made = load_ardupilot_settings(), []
    try:
        for index, vehicle in enumerate(vehicles):
            made.append(DirectVehicle(vehicle, index, settings, land, tell))
        while not all(one.request.done for one in made):
            for one in made:
                if not one.request.done:
                    one.step(time.monotonic())
            time.sleep(PERIOD)
    finally:
        for one in made:
            one.close()
    return [one.request for one in made]
