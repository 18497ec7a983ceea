"""Tables of all topics and actions, from `nodes/core/interface.py`."""

from __future__ import annotations

from esar_ros.app.reference_pages.page import MADE, cell, table
from esar_ros.mission.names import CAMERAS
from esar_ros.nodes.core.interface import ACTIONS, TOPICS

_EVERY = f"{{{','.join(CAMERAS)}}}"  # the cameras' topics differ in the camera's name alone


def topics_page() -> str:
    """Tables of all topics and actions: what each is and who has it, then its type and quality."""
    what: dict[str, tuple[str, ...]] = {}
    how: dict[str, tuple[str, ...]] = {}
    for topic in TOPICS:
        name = f"`{_of_all_cameras(topic.name)}`"
        readers = ", ".join(topic.readers) or "-"
        what[name] = (name, cell(topic.description), topic.writer, readers)
        how[name] = (name, f"`{topic.type}`", str(topic.quality.value), topic.record.name.lower())
    actions: list[tuple[str, ...]] = [(f"`{name}`", f"`{kind}`", "airsim_bridge") for name, kind in ACTIONS.items()]
    lines = [
        "# Topics and actions",
        "",
        MADE,
        "",
        "Relative names live in the vehicle's namespace; braces stand for one topic each. Only `safety_governor`",
        "writes `cmd_vel_safe`, and the bridge obeys nothing else.",
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
