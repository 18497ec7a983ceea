"""An ArduPilot vehicle as the rules of bridges/px4 know it, and its reasons against arming in ArduPilot's words."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from esar_ros.bridges.ardupilot.modes import copter_name
from esar_ros.bridges.ardupilot.translation import Translation
from esar_ros.bridges.px4.state import HOLD, OFFBOARD, Px4State

# What is meant where the rules name one of PX4's messages.
SOURCES: Final = {
    "VehicleStatus": "HEARTBEAT",
    "VehicleLocalPosition": "LOCAL_POSITION_NED",
    "VehicleOdometry": "ATTITUDE_QUATERNION",
    "VehicleLandDetected": "EXTENDED_SYS_STATE",
    "BatteryStatus": "BATTERY_STATUS",
    "FailsafeFlags": "EKF_STATUS_REPORT",
}
PREARM: Final = "PreArm: "
PREARM_FOR: Final = 35.0  # s; ArduPilot repeats the checks that fail every 30 s (PREARM_DISPLAY_PERIOD)
SAID_FOR: Final = 5.0  # s in which a text may explain what did not happen
_WARNING: Final = 4  # MAV_SEVERITY
_TEXTS: Final = 32


class ArdupilotState(Px4State):
    """The newest messages, translated, and what the vehicle says in plain text (STATUSTEXT)."""

    def __init__(self, system_id: int) -> None:
        super().__init__(system_id)
        self.translation = Translation(system_id)
        self._texts: deque[tuple[float, int, str]] = deque(maxlen=_TEXTS)  # s, severity, text
        self._chunk = 0  # id of a text that goes on
        self._failed: dict[str, float] = {}  # pre-arm checks and when they were named last, s
        self._is_known_failsafe = False

    def hear(self, kind: str, message: Any, now: float) -> Any:
        """Takes in a message; kind: its name in MAVLink. Returns the answer to a command where it is one."""
        if kind == "STATUSTEXT":
            self._read(message, now)
            return None
        answer = None
        for heard in self.translation.take(kind, message, now):
            if heard.name == "VehicleCommandAck":
                answer = heard.message
            else:
                self.receive(heard.name, heard.message, heard.at)
        if kind == "HEARTBEAT":
            # A person's hold ends what a failsafe does, though its cause may last; the next one is a new one.
            stays = self.translation.fails(now) and self.nav_state in (HOLD, OFFBOARD)
            self._is_known_failsafe = self._is_known_failsafe and stays
        return answer

    def acknowledge_failsafe(self) -> None:
        """A person has asked for hold, and it holds: the failsafe is over until the next one."""
        self._is_known_failsafe = True

    @property
    def nav_state(self) -> int:
        """The mode by its number in the rules, -1 before the first; others print as ArduPilot names them."""
        status = self.newest("VehicleStatus")
        return -1 if status is None else status.nav_state  # type: ignore[no-any-return]

    @property
    def intention(self) -> int:
        """The same: ArduPilot reports no other mode than the one that it is in."""
        return self.nav_state

    @property
    def failsafe(self) -> bool:
        """True from the beginning of a failsafe until its cause has ended, or a person has asked for hold."""
        return super().failsafe and not self._is_known_failsafe

    @property
    def taking_off(self) -> bool:
        """True in a take-off of its own, from lifting off until its height is reached."""
        return self.translation.taking_off

    @property
    def above_home(self) -> float:
        """m above home, of which ArduPilot counts the height of a take-off; NaN while either is not known."""
        local, home = self.newest("VehicleLocalPosition"), self.translation.home
        return math.nan if local is None or home is None else float(home[2]) - float(local.z)

    @property
    def copter_mode(self) -> str:
        """ArduPilot's name of the mode."""
        return copter_name(self.translation.custom_mode)

    def said(self, now: float) -> str:
        """Returns its newest warning or error of the last seconds, empty where it said none."""
        recent = [text for at, severity, text in self._texts if severity <= _WARNING and now - at <= SAID_FOR]
        return recent[-1] if recent else ""

    def reasons_against_arming(self, now: float) -> list[str]:
        """Returns the reasons, the most severe first; empty when it may be armed."""
        reasons = []
        for reason in super().reasons_against_arming(now):
            name, _, rest = reason.partition(" is ")
            reasons.append(f"{SOURCES[name]} is {rest}" if name in SOURCES else reason)
        failed = [text for text, at in self._failed.items() if now - at <= PREARM_FOR]
        status = self.newest("VehicleStatus")
        return reasons + (failed if status is not None and not status.pre_flight_checks_pass else [])

    def _against(self, name: str) -> Iterator[str]:
        yield from super()._against(name)
        if name == "FailsafeFlags":
            for what, ratio in self.translation.ratios.items():
                if not ratio < 1.0:
                    yield f"its estimator refuses what measures {what}: {ratio:.1f} of the gate"
        if name == "VehicleLandDetected" and not math.isfinite(self.above_home):
            yield "its home is not known"

    def _against_status(self, status: Any) -> Iterator[str]:
        for reason in super()._against_status(status):
            yield f"it is {self.failsafe_words}" if reason.startswith("it is in failsafe") else reason

    def _read(self, message: Any, now: float) -> None:
        text, chunk = str(message.text), int(getattr(message, "id", 0))
        if chunk and chunk == self._chunk and self._texts:
            at, severity, before = self._texts.pop()
            text = before + text
            self._failed.pop(before, None)
            self._texts.append((at, severity, text))
        else:
            self._texts.append((now, int(message.severity), text))
        self._chunk = chunk
        if text.startswith(PREARM):
            self._failed[text] = now
