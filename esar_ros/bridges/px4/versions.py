"""Releases of PX4 as this bridge knows them: which version each message has, and what its topic is called.

PX4 1.16 began to version messages: a topic's name ends in _v<N> where MESSAGE_VERSION N is not zero. Firmware,
px4_msgs and agent go together, and a message of another version is never matched, so that a mismatch shows as
a missing topic. It is named at the start, not found out in flight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

# Versions that are not zero, by release of the firmware (its msg/versioned folder).
_OF_1_17: Final = {
    "VehicleStatus": 1,
    "VehicleLocalPosition": 1,
    "BatteryStatus": 1,
    "HomePosition": 1,
    "AirspeedValidated": 1,
    "ArmingCheckRequest": 1,
    "ArmingCheckReply": 1,
    "Event": 1,
}
_SINCE_1_18: Final = {
    "VehicleStatus": 4,
    "VehicleCommandAck": 1,
    "RegisterExtComponentRequest": 2,
    "RegisterExtComponentReply": 1,
}
RELEASES: Final[dict[str, dict[str, int]]] = {
    "1.16": {"VehicleStatus": 1},
    "1.17": _OF_1_17,
    "1.18": {**_OF_1_17, **_SINCE_1_18},
}
DEFAULT: Final = "1.17"

# What the autopilot tells and what it is told. HomePosition comes only with arming and is not waited for.
OUT: Final = (
    "VehicleStatus", "VehicleLocalPosition", "VehicleOdometry", "VehicleLandDetected", "BatteryStatus",
    "FailsafeFlags", "VehicleCommandAck",
)  # fmt: skip
IN: Final = ("OffboardControlMode", "TrajectorySetpoint", "VehicleCommand")
OPTIONAL_OUT: Final = ("TimesyncStatus",)  # read where it is there
# And with an external mode in place of offboard.
EXTERNAL_OUT: Final = ("RegisterExtComponentReply", "ArmingCheckRequest")
EXTERNAL_IN: Final = ("RegisterExtComponentRequest", "ArmingCheckReply", "VehicleControlMode")
_TOPICS: Final = {"VehicleControlMode": "config_control_setpoints"}  # not named by its message


def snake_case(name: str) -> str:
    """VehicleStatus as vehicle_status."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def version_of(message: Any) -> int:
    """MESSAGE_VERSION of a message class; 0 for one that has none."""
    return int(getattr(message, "MESSAGE_VERSION", 0))


def release_of(versions: dict[str, int]) -> str | None:
    """The release whose messages have these versions (those named must agree); None when there is no such."""
    for release, known in RELEASES.items():
        if all(known.get(name, 0) == version for name, version in versions.items()):
            return release
    return None


def topic(name: str, version: int, namespace: str, outgoing: bool) -> str:
    """Absolute topic of a message; outgoing: from the autopilot. namespace: of the autopilot's agent, may be empty."""
    parts = [namespace.strip("/"), "fmu", "out" if outgoing else "in"]
    ending = f"_v{version}" if version else ""
    return "/" + "/".join(part for part in parts if part) + f"/{_TOPICS.get(name) or snake_case(name)}{ending}"


@dataclass(frozen=True)
class Missing:
    """A topic that the bridge needs and that the autopilot does not have."""

    topic: str
    instead: str  # the same topic in another version, or empty

    def __str__(self) -> str:
        return f"{self.topic} (there is {self.instead})" if self.instead else self.topic


def missing(needed: Iterable[tuple[str, int, bool]], namespace: str, alive: Iterable[str]) -> list[Missing]:
    """Returns the missing topics in order. needed: (message, version, outgoing); alive: the autopilot's topics."""
    there = set(alive)
    lacks = []
    for name, version, outgoing in needed:
        wanted = topic(name, version, namespace, outgoing)
        if wanted in there:
            continue
        bare = topic(name, 0, namespace, outgoing)
        others = sorted(other for other in there if re.fullmatch(re.escape(bare) + r"(_v\d+)?", other))
        lacks.append(Missing(wanted, others[0] if others else ""))
    return lacks


def explain(lacks: list[Missing], versions: dict[str, int]) -> str:
    """Returns one line that explains a mismatch; versions: of the message classes in use."""
    ours = release_of(versions) or "an unknown release"
    found = {}
    for name in OUT:
        for lack in lacks:
            match = re.search(rf"/{snake_case(name)}(?:_v(\d+))?$", lack.instead)
            if match:
                found[name] = int(match.group(1) or 0)
    text = f"the autopilot lacks {', '.join(map(str, lacks))}"
    if not found:
        return text
    theirs = release_of({**versions, **found}) or "another release"
    return f"{text}: its firmware is {theirs}, px4_msgs is {ours}"
