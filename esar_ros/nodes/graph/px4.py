"""The graph of a real vehicle: cameras and ranges by drivers, without ground truth and scoring.

Standard library alone, as launch needs it.
"""

from __future__ import annotations

from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.graph.mission import (
    BAD_INPUT,
    TRUTH_DETECTOR,
    MissionOptions,
    NodeSpec,
    autopilot_bridge,
    control_chain,
    cot_bridge,
)

STARTING = 60.0  # s from the start of a launch's processes, in which nothing flies yet
RANGES = ("lidar", "depth", "none")  # what range_driver makes them of; none: it is started by somebody else
_UNHEEDED = ("preset", "odometry", "sensing", "fault", "view", "foxglove", "host", "port")  # by each of its processes


def ends_launch(code: int, since: float) -> bool:
    """Returns whether the end of a process ends the launch. since: s since its processes were started.

    From a vehicle that may fly governor, pilot and bridge are not taken for the sake of another process: what can be
    started again is, the rest is done without.
    """
    return code == BAD_INPUT and since < STARTING


def vehicle_graph(options: MissionOptions, ranges: str = RANGES[0]) -> list[NodeSpec]:
    """Processes of a flight in a world of autopilots whose images come from camera drivers. Raises UsageError.

    ranges: one of RANGES.
    """
    options.check()
    if options.detector == TRUTH_DETECTOR:
        raise UsageError(f"detector {TRUTH_DETECTOR} reads a simulator's object ids", "choose another detector")
    for name in _UNHEEDED:
        if getattr(options, name) != getattr(MissionOptions(), name):
            raise UsageError(f"{name} means nothing to a real vehicle's graph", "leave it out")
    if options.use_sim_time:
        raise UsageError("use_sim_time means nothing to a real vehicle's graph, on system time", "leave it out")
    root = options.root
    vehicles = list(options.vehicles)
    common: dict[str, Any] = {"pace": options.pace, "record": options.record, "use_sim_time": False}
    mission = {**common, "vehicles": vehicles}
    specs = [
        NodeSpec(node_names.MISSION_CONTROL, root, {**mission, "task": options.task, "planner": options.planner}),
        NodeSpec(node_names.RECORDER, root, {**mission, "out": options.out}, restart=False),
    ]
    for index, vehicle in enumerate(vehicles):
        space = f"{root}/{vehicle}"
        if ranges != "none":
            specs.append(NodeSpec(node_names.RANGE_DRIVER, space, {"use_sim_time": False, "source": ranges}))
        specs += [
            autopilot_bridge(options.world, space, index),
            *control_chain(options, space, vehicle, common),
            NodeSpec(node_names.CLUE_DETECTOR, space, {**common, "detector": options.detector}, images=True),
            NodeSpec(node_names.VOXEL_MAPPER, space, common, images=True),
        ]
    return specs + cot_bridge(options, root)
