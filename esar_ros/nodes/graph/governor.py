"""The governor alone, as data: its processes for one vehicle, for launch/governor.launch.py and `esar governor`.

Standard library alone, as launch needs it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.nodes.core import node_names
from esar_ros.nodes.graph.launch_arguments import Argument
from esar_ros.nodes.graph.mission import AUTOPILOTS, LOG_LEVELS, PX4, PX4_TAU, NodeSpec, autopilot_bridge

RANGES = ("lidar", "camera", "scan", "depth", "none")  # what range_driver makes them of; none: somebody else starts it
AXES = ("body", "map")
# Topics that the range driver reads, by source, relative to the vehicle: with these it reads what an option names.
TOPICS = {
    "lidar": {"lidar/points": "points"},
    "camera": {"depth": "depth", "camera_info": "camera_info"},
    "scan": {"scan": "scan", "ground": "ground"},
    "depth": {},
    "none": {},
}

_OWN = {names.CMD_VEL: "input", names.CMD_VEL_SAFE: "output"}  # topics in which no planner speaks
# Least and greatest values; the nodes' parameters have the same.
TIMEOUTS, FENCES, CEILINGS, INDICES = (0.05, 5.0), (45.0, 5000.0), (5.0, 500.0), (0, 254)
ELEVATIONS = (-90.0, 90.0)
LOWEST, HIGHEST = -7.0, 15.0  # degrees between which LiDARs see: a Mid-360 no lower, a VLP-16 no higher
PLACES, YAWS, PITCHES, REACHES = (-10.0, 10.0), (-math.pi, math.pi), (-math.pi / 2.0, math.pi / 2.0), (0.0, 1000.0)

MOUNT = ("x", "y", "z", "yaw", "pitch", "elevation_min", "elevation_max", "range_max")  # of a sensor


def _option(default: Any, about: str, choices: tuple[str, ...] = (), within: tuple[float, float] | None = None) -> Any:
    told = "" if within is None else f", {within[0]:.4g} to {within[1]:.4g}"
    return field(default=default, metadata={"about": about + told, "choices": choices, "within": within})


@dataclass(frozen=True)
class GovernorOptions:
    """Options of the governor alone; each is a launch argument, and a flag of `esar governor`."""

    vehicle: str = _option("uav1", "name of the vehicle, and namespace of its nodes")
    autopilot: str = _option(PX4, "of the vehicle; ardupilot: ArduCopter, flown in SITL alone", AUTOPILOTS)
    index: int = _option(0, "of the vehicle from 0: SITL's instance; the autopilot's YAML names others", within=INDICES)
    cmd_vel: str = _option("/cmd_vel", "topic of the planner's commands, Twist or TwistStamped")
    axes: str = _option("body", "of a command that states no frame: forward, left, up, or east, north, up", AXES)
    timeout: float = _option(0.5, "s for which a command counts that nobody repeats; then it holds", within=TIMEOUTS)
    ranges: str = _option(
        "lidar", "a LiDAR's cloud, one depth camera, a level scan, or those of config/vehicle.yaml", RANGES
    )
    points: str = _option("/points", "topic of ranges lidar, PointCloud2")
    depth: str = _option("/camera/depth/image_rect_raw", "topic of ranges camera, Image in m or mm")
    camera_info: str = _option("/camera/depth/camera_info", "topic of ranges camera, CameraInfo")
    scan: str = _option("/scan", "topic of ranges scan, LaserScan")
    ground: str = _option("/range", "topic of ranges scan, Range straight down")
    x: float = _option(0.0, "m, of the sensor, forward of the vehicle's middle", within=PLACES)
    y: float = _option(0.0, "m, of the sensor, to the left of it", within=PLACES)
    z: float = _option(0.0, "m, of the sensor, above it", within=PLACES)
    yaw: float = _option(0.0, "rad, of the sensor, to the left", within=YAWS)
    pitch: float = _option(0.0, "rad, of a depth camera, nose up", within=PITCHES)
    elevation_min: float = _option(LOWEST, "degrees down to which a LiDAR sees; below is unknown", within=ELEVATIONS)
    elevation_max: float = _option(HIGHEST, "degrees up to which a LiDAR sees; above is unknown", within=ELEVATIONS)
    range_max: float = _option(0.0, "m, reach of the sensor; 0: as config/vehicle.yaml says", within=REACHES)
    fence: float = _option(100.0, "m around home within which the vehicle stays", within=FENCES)
    ceiling: float = _option(50.0, "m above the ground below", within=CEILINGS)
    keep_out: str = _option("", "YAML file of zones not to be entered; empty: none")
    params_file: str = _option("", "ROS parameter file that overrides parameters, e.g. limits.*; empty: none")
    log_level: str = _option("info", "of the nodes' logs", LOG_LEVELS)

    def check(self) -> None:
        """Raises UsageError on a choice that does not exist, a file that is not there or a name that is none."""
        for each in fields(self):
            value, choices = getattr(self, each.name), each.metadata["choices"]
            if choices and value not in choices:
                raise UsageError(f"{each.name} '{value}' does not exist", f"choose one of {', '.join(choices)}")
            within = each.metadata["within"]
            if within is not None and not within[0] <= value <= within[1]:
                raise UsageError(f"{each.name} {value:g}", f"{within[0]:.4g} to {within[1]:.4g}")
        if not (self.vehicle.isascii() and self.vehicle.isidentifier()):
            raise UsageError(f"vehicle '{self.vehicle}' is no ROS name", "use letters, digits and underscores")
        for name in ("keep_out", "params_file"):
            if getattr(self, name) and not Path(getattr(self, name)).is_file():
                raise UsageError(f"{name} {getattr(self, name)} is no file", "check the path")
        own = {f"/{self.vehicle}/{name}": whose for name, whose in _OWN.items()}
        topic = self.cmd_vel if self.cmd_vel.startswith("/") else f"/{self.vehicle}/{self.cmd_vel}"
        if topic in own:
            words = f"cmd_vel {self.cmd_vel} is the governor's own {own[topic]}"
            raise UsageError(words, "let the planner use another topic")


ARGUMENTS = {
    each.name: Argument(str(each.default), each.metadata["about"], each.metadata["choices"])
    for each in fields(GovernorOptions)
}


def options_from(values: Mapping[str, str]) -> GovernorOptions:
    """The options that strings describe; values must have every key of ARGUMENTS. Raises UsageError."""
    typed: dict[str, Any] = {}
    for each in fields(GovernorOptions):
        kind: Any = type(each.default)
        try:
            typed[each.name] = kind(values[each.name])
        except ValueError:
            raise UsageError(f"{each.name} '{values[each.name]}' is no number", "give one") from None
    for name in ("keep_out", "params_file"):
        typed[name] = str(Path(typed[name]).resolve()) if typed[name] else ""
    options = GovernorOptions(**typed)
    options.check()
    return options


def governor_graph(options: GovernorOptions) -> list[NodeSpec]:
    """The processes: the governor with what feeds it, the bridge, and the range driver. Raises UsageError."""
    options.check()
    space = f"/{options.vehicle}"
    governor = {
        "pace": "realtime", "use_sim_time": False, "limits.tau": PX4_TAU, "keep_out": options.keep_out,
        "timeout": options.timeout, "axes": options.axes, "fence": options.fence, "ceiling": options.ceiling,
        "index": options.index, "site": options.autopilot == PX4,
    }  # fmt: skip
    more = {} if options.autopilot == PX4 else {"site": True, "fence": options.fence, "ceiling": options.ceiling}
    remap = {"/cmd_vel": options.cmd_vel}
    specs = [
        NodeSpec("governor", space, governor, remap=remap, module="esar_ros.nodes.alone.governor"),
        autopilot_bridge(options.autopilot, space, options.index, **more),
    ]
    if options.ranges != "none":
        mount = {name: getattr(options, name) for name in MOUNT}
        seen = {topic: getattr(options, name) for topic, name in TOPICS[options.ranges].items()}
        driver = {"use_sim_time": False, "source": options.ranges, **mount}
        specs.append(NodeSpec(node_names.RANGE_DRIVER, space, driver, remap=seen))
    return specs
