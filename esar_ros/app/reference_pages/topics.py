"""Tables of all topics and actions, from `nodes/core/interface.py`."""

from __future__ import annotations

from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.mission import names
from esar_ros.mission.names import CAMERAS
from esar_ros.nodes.core.interface import ACTIONS, AUTOPILOT_ACTIONS, TOPICS
from esar_ros.nodes.core.node_names import (
    AIRSIM_BRIDGE,
    ARDUPILOT_BRIDGE,
    CAMERA_DRIVER,
    MISSION_CONTROL,
    PX4_BRIDGE,
    RANGE_DRIVER,
    REFEREE,
)

_EVERY = f"{{{','.join(CAMERAS)}}}"  # the cameras' topics differ in the camera's name alone
_AUTOPILOTS = (PX4_BRIDGE, ARDUPILOT_BRIDGE)


def topics_page() -> str:
    """Tables of all topics and actions: what each is and who has it, then its type and quality."""
    what: dict[str, tuple[str, ...]] = {}
    how: dict[str, tuple[str, ...]] = {}
    for topic in TOPICS:
        name = f"`{_of_all_cameras(topic.name)}`"
        readers = ", ".join(topic.readers) or "-"
        what[name] = (name, cell(topic.description), topic.writer, readers)
        how[name] = (name, f"`{topic.type}`", str(topic.quality.value), topic.record.name.lower())
    actions: list[tuple[str, ...]] = [
        (f"`{name}`", f"`{kind}`", ", ".join(bridges))
        for bridges, served in (((AIRSIM_BRIDGE, *_AUTOPILOTS), ACTIONS), (_AUTOPILOTS, AUTOPILOT_ACTIONS))
        for name, kind in served.items()
    ]
    autopilots = " or ".join(f"`{bridge}`" for bridge in _AUTOPILOTS)
    lines = [
        "# Topics and actions",
        "",
        MADE,
        "",
        "Relative names live in the vehicle's namespace; braces stand for one topic each. Only `safety_governor`",
        "writes `cmd_vel_safe`, and the bridge obeys nothing else.",
        "",
        f"With an autopilot {autopilots} takes the place of `{AIRSIM_BRIDGE}`, one a vehicle, and there is",
        f"no `{names.TICK}` and no `{names.CLOCK}`. On [a vehicle of your own](../how-to/px4.md#a-vehicle)",
        f"`{MISSION_CONTROL}` takes that of `{REFEREE}`, without score and truth, `{RANGE_DRIVER}` that of",
        f"`{CAMERA_DRIVER}` for `{names.RANGES}`, and your drivers that for images.",
        "",
        *table("topic|what|written by|waits for readers", list(what.values())),
        "## Types and quality of service",
        "",
        "*Recorded* names the lowest `record` level whose bag keeps the topic.",
        "",
        *table("topic|type|quality of service|recorded", list(how.values())),
        "## Actions",
        "",
        *table("action|type|served by", actions),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _of_all_cameras(name: str) -> str:
    """Returns a camera's topic as that of all cameras, others as they are."""
    for camera in CAMERAS:
        name = name.replace(f"camera/{camera}/", f"camera/{_EVERY}/")
    return name
