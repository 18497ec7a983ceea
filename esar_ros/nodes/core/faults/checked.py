"""Schedules of faults that a mission's graph can act on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from esar_ros.faults import schedule as core
from esar_ros.faults.schedule import ProcessFault, Schedule, load_schedule
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import TOPICS
from esar_ros.nodes.core.node_names import REFEREE_RECORDER, SENSING, SIMULATOR, VEHICLE_PARTICIPANTS

# Latched ones come once and without a stamp of the mission; ticks and heartbeats say who takes part.
_UNTOUCHED = (names.TICK, names.HEARTBEAT, names.BRIEF, names.MISSION_STATE)
_LOOKING = (node_names.CLUE_DETECTOR, node_names.VOXEL_MAPPER)
PROCESSES = (
    SIMULATOR, REFEREE_RECORDER, node_names.AIRSIM_BRIDGE, node_names.SAFETY_GOVERNOR, node_names.PILOT, SENSING,
    node_names.PLANNER,
)  # fmt: skip


def inputs_of(node: str) -> tuple[str, ...]:
    """Returns the inputs of a node that faults can affect."""
    topics = [t.name for t in TOPICS if node in t.readers and t.name not in _UNTOUCHED and not t.name.startswith("/")]
    return tuple(sorted(topics)) + ((core.FRAMES,) if node in _LOOKING else ())


def checked_schedule(path: Path, vehicles: Sequence[str], pace: str) -> Schedule:
    """Schedule of a file that this mission's graph can act on. Raises UsageError with the key that is wrong.

    vehicles: the mission's; empty where they are not known, and any name is taken.
    """
    schedule = load_schedule(path)
    for number, fault in enumerate(schedule.faults):
        try:
            _check(fault, vehicles, pace)
        except UsageError as error:
            raise UsageError(f"{path}, key faults.{number}: {error}") from None
    return schedule


def _check(fault: Any, vehicles: Sequence[str], pace: str) -> None:
    if vehicles and fault.vehicle and fault.vehicle not in vehicles:
        raise UsageError(f"no vehicle '{fault.vehicle}'", f"this mission has {', '.join(vehicles)}")
    if isinstance(fault, ProcessFault):
        if fault.process not in PROCESSES:
            raise UsageError(f"no process '{fault.process}'", f"choose one of {', '.join(PROCESSES)}")
        return
    if fault.node not in VEHICLE_PARTICIPANTS:
        raise UsageError(f"no node '{fault.node}' takes faults", f"choose one of {', '.join(VEHICLE_PARTICIPANTS)}")
    if pace == "lockstep" and isinstance(fault, core.ClockReset):
        raise UsageError("clock_reset in lockstep, where the tick is the clock", "use pace realtime")
    if pace == "lockstep" and fault.node == node_names.CAMERA_DRIVER:
        raise UsageError("a fault at camera_driver in lockstep, where all wait for its answer", "use pace realtime")
    topic = getattr(fault, "topic", None)
    if topic is None:
        return
    if topic not in inputs_of(fault.node):
        raise UsageError(
            f"{fault.node} does not take '{topic}' that faults can touch",
            f"choose one of {', '.join(inputs_of(fault.node))}",
        )
    if topic == core.FRAMES and fault.kind not in core.IMAGE_KINDS:
        raise UsageError(f"{fault.kind} of frames", f"frames take {', '.join(core.IMAGE_KINDS)}")
