"""A flight mode of our own in PX4, in place of offboard: registered, and kept alive by answers to arming checks.

PX4 gives a registered mode a number, asks three times a second whether it can run, and takes the failsafe when no
answer comes. There is no heartbeat: the answer is the sign of life, and it is no as soon as safe commands are stale.
The properties of offboard hold here too: the last set-point is flown for as long as the answers go on, and a mode that
can run again may be gone back to, so that the rules of stream.py stay in force. While it is armed PX4 registers no mode
unless COM_MODE_ARM_CHK is set: a bridge that was started again in the air flies on in offboard.

Messages as of PX4 1.17 (RegisterExtComponentRequest and ArmingCheckReply; px4_ros2_api_version 1). Pure: takes messages
and times (s, steady clock), returns what to send.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

NAME: Final = "esar_ros"
API_VERSION: Final = 1  # px4_ros2_api_version of 1.17
_NAME_LENGTH = 25  # bytes of the field
# What a mode that flies velocities needs to be known, and what the autopilot controls in it (px4_ros2's set-points).
REQUIREMENTS: Final = ("angular_velocity", "attitude", "local_alt", "local_position")
CONTROLLED: Final = (
    "position", "velocity", "altitude", "climb_rate", "acceleration", "attitude", "rates", "allocation",
)  # fmt: skip
FIRST, LAST = 23, 30  # VehicleStatus.NAVIGATION_STATE_EXTERNAL1..8


@dataclass(frozen=True)
class Registration:
    """Numbers of a RegisterExtComponentRequest."""

    request_id: int
    name: bytes  # as long as the field


@dataclass(frozen=True)
class CheckAnswer:
    """Numbers of an ArmingCheckReply."""

    request_id: int
    registration_id: int
    can_run: bool


class ExternalMode:
    """Registration of one mode and the checks it answers."""

    def __init__(self, request_id: int, again: float = 1.0, silence: float = 4.0) -> None:
        """request_id: any number that identifies this process. again: s between two attempts to register.

        silence: s without a check after which the registration counts as forgotten: PX4 or its agent started again.
        """
        self.nav_state: int | None = None  # the mode's number, None while it is not registered
        self.complaint = "its external mode is not registered yet"
        self.refused = False  # the last attempt
        self._request_id, self._again, self._silence = request_id, again, silence
        self._check_id = -1
        self._asked = self._checked = -math.inf
        self._registered_at: float | None = None  # s, None until the step after the reply
        self._due: int | None = None  # check to answer
        self._valid = True  # whether PX4 still counts the registration

    def on_message(self, name: str, message: Any) -> None:
        """Handles a message of the autopilot to such modes: RegisterExtComponentReply or ArmingCheckRequest."""
        if name == "RegisterExtComponentReply":
            self.on_reply(message)
        else:
            self.on_check(message)

    def on_reply(self, reply: Any) -> None:
        """A RegisterExtComponentReply; those to others are ignored."""
        if int(reply.request_id) != self._request_id or self.nav_state is not None:
            return
        if int(reply.px4_ros2_api_version) != API_VERSION:
            self.complaint = f"its interface for modes is {int(reply.px4_ros2_api_version)}, this is {API_VERSION}"
        elif not reply.success or not FIRST <= int(reply.mode_id) <= LAST:
            self.complaint, self.refused = "the autopilot refused to register the external mode", True
        else:
            self.nav_state, self._check_id = int(reply.mode_id), int(reply.arming_check_id)
            self.complaint, self._registered_at, self._valid = "", None, True
            self.refused = False

    def on_check(self, check: Any) -> None:
        """An ArmingCheckRequest."""
        if self.nav_state is None:
            return
        self._due = int(check.request_id)
        self._valid = bool(int(check.valid_registrations_mask) >> self._check_id & 1)

    def step(self, now: float, may_ask: bool, able: bool) -> tuple[Registration | None, CheckAnswer | None]:
        """Returns what to send at now (s). may_ask: registration may be requested. able: safe commands are fresh."""
        answer = None
        if self.nav_state is not None:
            self._registered_at = now if self._registered_at is None else self._registered_at
            if self._due is not None:
                # A refused registration is still answered for: it may only have been flagged as unresponsive.
                answer = CheckAnswer(self._due, self._check_id, able)
                self._due = None
                self._checked = now if self._valid else self._checked
            if now - max(self._checked, self._registered_at) > self._silence:
                self.nav_state, self.complaint = None, "the autopilot has forgotten the external mode"
        if self.nav_state is not None or not may_ask or now - self._asked < self._again:
            return None, answer
        self._asked = now
        return Registration(self._request_id, NAME.encode().ljust(_NAME_LENGTH, b"\0")), answer
