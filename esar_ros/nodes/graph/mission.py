"""The mission graph as data: which processes, in which namespace, with which parameters.

launch/mission.launch.py turns it into launch_ros actions and supervisor.py into processes, so both
start the same thing. Processes follow docs/explanation/architecture.md: killing any one leaves the others flying
or holding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.core import interface, node_names
from esar_ros.nodes.core.node_names import REFEREE_RECORDER, SENSING, SIMULATOR

PX4, ARDUPILOT, AUTOPILOTS = names.PX4, names.ARDUPILOT, names.AUTOPILOTS
WORLDS = ("embedded", "airsim", *AUTOPILOTS)
PACES = ("lockstep", "realtime")
RECORDS = interface.RECORD_LEVELS
ENDS = ("hold", "return_land")
NOISY = "noisy"
ODOMETRIES = (NOISY, "true")  # off as an estimator's, or the simulator's own
COMPOSED, SEPARATE = "composed", "separate"
SENSINGS = (COMPOSED, SEPARATE)  # camera driver, detector and mapper in one process, or one process each
LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")

TRUTH_DETECTOR = "segmentation_oracle"  # reads the simulator's object ids

PX4_TAU = (
    1.4  # s: an autopilot that was not calibrated is taken to answer as slowly as PX4 1.17 in SITL was measured to
)

BAD_INPUT = 2  # exit code of a process that refuses its parameters, and would again
NO_PORT = -1  # -1: none is served, 0: a free port
MAX_VEHICLES = 16


def vehicle_names(text: str) -> tuple[str, ...]:
    """Vehicles as a person gives them: names separated by commas, or how many. Raises UsageError."""
    text = text.strip()
    if not text.isdecimal():
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if not 1 <= int(text) <= MAX_VEHICLES:
        raise UsageError(f"{text} vehicles", f"give 1 to {MAX_VEHICLES}, or their names separated by commas")
    return tuple(f"uav{number}" for number in range(1, int(text) + 1))


@dataclass(frozen=True)
class MissionOptions:
    """Options of a mission. Every launch argument and every flag of `esar mission` ends here."""

    task: str = "aotai-first"
    planner: str = names.DEFAULT_PLANNER
    map: str = ""  # empty: the task's
    brief: str = ""  # path of a text file, or words: a search of one's own in place of a task
    start: str = ""  # of that search: LAT,LON
    t_max: float = 900.0  # of that search, s
    incident: str = ""  # folder of an incident whose sortie is flown; its segments and finds are on the live page
    seed: int = -1  # -1: the task's
    out: str = "out"
    world: str = "embedded"
    pace: str = "lockstep"
    preset: str = "paper"
    quality: str = names.DEFAULT_QUALITY
    vehicles: tuple[str, ...] = ("uav1",)
    namespace: str = ""
    params_file: str = ""
    use_sim_time: bool = True
    record: str = "view"
    detector: str = names.DEFAULT_DETECTOR
    governor: bool = True
    odometry: str = NOISY
    sensing: str = COMPOSED
    keep_out: str = ""  # path of a file of zones
    fault: str = ""  # path of a schedule of faults to inject
    end: str = "hold"
    rviz: bool = False
    log_level: str = "info"
    host: str = "127.0.0.1"
    port: int = 41451
    view: int = NO_PORT  # of the live page
    foxglove: int = NO_PORT  # of the server for Foxglove
    cot: str = ""  # HOST:PORT that is told, as CoT, where the vehicles are and what they report; empty: nobody
    progress: bool = False  # machine-readable progress lines on the referee's standard output

    @property
    def root(self) -> str:
        """The absolute namespace of the mission; empty where it has none."""
        space = self.namespace.strip("/")
        return f"/{space}" if space else ""

    def check(self) -> None:
        """Raise UsageError on the first choice that does not exist."""
        for name, value, known in (
            ("world", self.world, WORLDS),
            ("pace", self.pace, PACES),
            ("preset", self.preset, tuple(names.PRESETS)),
            ("quality", self.quality, names.QUALITIES),
            ("record", self.record, RECORDS),
            ("end", self.end, ENDS),
            ("odometry", self.odometry, ODOMETRIES),
            ("sensing", self.sensing, SENSINGS),
            ("log_level", self.log_level, LOG_LEVELS),
        ):
            if value not in known:
                raise UsageError(f"{name} '{value}' does not exist", f"choose one of {', '.join(known)}")
        if self.world in AUTOPILOTS and self.pace == "lockstep":
            raise UsageError(f"world {self.world} flies in real time only", "use pace realtime")
        if self.world != "embedded" and self.quality != names.DEFAULT_QUALITY:
            raise UsageError(f"quality {self.quality} in world {self.world}", "leave it to the embedded simulator")
        if self.sensing == SEPARATE and self.detector == TRUTH_DETECTOR:
            raise UsageError(f"{TRUTH_DETECTOR} reads object ids, which no topic carries", f"use sensing {COMPOSED}")
        if self.sensing == SEPARATE and len(self.vehicles) > 1 and self.world not in AUTOPILOTS:
            raise UsageError("the vehicles of a team share a map within one process", f"use sensing {COMPOSED}")
        if not self.vehicles or len(set(self.vehicles)) != len(self.vehicles):
            raise UsageError(f"vehicles {list(self.vehicles)}", "give one or more different names")
        for vehicle in self.vehicles:
            if not (vehicle.isascii() and vehicle.isidentifier()):
                raise UsageError(f"vehicle '{vehicle}' is no ROS name", "use letters, digits and underscores")
        if not 0 < self.port < 65536:
            raise UsageError(f"port {self.port} is no TCP port", "choose 1..65535")
        for name, port in (("view", self.view), ("foxglove", self.foxglove)):
            if not NO_PORT <= port < 65536:
                raise UsageError(f"{name} {port} is no TCP port", "choose 1..65535, or 0 for a free one")
        host, _, port_text = self.cot.rpartition(":")
        if self.cot and not (host and port_text.isdecimal() and 0 < int(port_text) < 65536):
            raise UsageError(f"cot {self.cot}", "HOST:PORT, e.g. 239.2.3.1:6969")


@dataclass(frozen=True)
class NodeSpec:
    """One process. `parameters` hold for every node in it."""

    executable: str  # lib/esar_ros/<executable>
    namespace: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    remap: dict[str, str] = field(default_factory=dict)  # topics, to what a person calls them
    arguments: tuple[str, ...] = ()  # for processes without ROS
    ros: bool = True
    restart: bool = True  # started again when it dies; otherwise its death ends the mission
    ends_mission: bool = False  # its orderly end is the mission's
    optional: bool = False  # the mission goes on without it
    module: str = ""  # with its main(); by default the executable's under esar_ros.nodes
    images: bool = False  # publishes images: needs the large shared-memory segment
    truth: bool = False  # may know ground truth, and so gets the token that opens it

    def truth_environment(self, token: str) -> dict[str, str]:
        """The token for who may know the truth; an empty one for the others, whatever they inherit."""
        return {VARIABLE: token if self.truth else ""}

    @property
    def main_module(self) -> str:
        """The module that runs as the process."""
        return self.module or f"esar_ros.nodes.{self.executable}"

    @property
    def label(self) -> str:
        """Name of the process for people and log files."""
        return "-".join(part for part in (self.namespace.strip("/").replace("/", "-"), self.executable) if part)


def autopilot_bridge(autopilot: str, space: str, index: int, **parameters: Any) -> NodeSpec:
    """The bridge of one vehicle's autopilot, one of AUTOPILOTS. Raises UsageError.

    index: of the vehicle, by which the instances of an autopilot's simulator are counted.
    """
    bridges = {PX4: node_names.PX4_BRIDGE, ARDUPILOT: node_names.ARDUPILOT_BRIDGE}
    if autopilot not in bridges:
        raise UsageError(f"{autopilot} is no autopilot", f"choose one of {', '.join(bridges)}")
    return NodeSpec(bridges[autopilot], space, {"index": index, "use_sim_time": False, **parameters})


def control_chain(options: MissionOptions, space: str, vehicle: str, common: dict[str, Any]) -> list[NodeSpec]:
    """Governor, pilot and planner of one vehicle in its namespace; common: parameters of all nodes."""
    safety = {"enabled": options.governor, "keep_out": options.keep_out}
    search = {"method": options.planner, "seed": options.seed}
    team = {"others": [other for other in options.vehicles if other != vehicle] or [""]}
    limits = {"limits.tau": PX4_TAU} if options.world in AUTOPILOTS else {}
    return [
        NodeSpec(node_names.SAFETY_GOVERNOR, space, {**common, **safety, **team, **limits}),
        NodeSpec(node_names.PILOT, space, {**common, "end": options.end, **team, **limits}),
        NodeSpec(node_names.PLANNER, space, {**common, **search, **team}),
    ]


def mission_graph(options: MissionOptions) -> list[NodeSpec]:
    """Processes of a mission, in the order they are best started."""
    options.check()
    width, height = names.PRESETS[options.preset]
    vehicles = list(options.vehicles)
    root = options.root
    common: dict[str, Any] = {
        "pace": options.pace,
        "record": options.record,
        "use_sim_time": options.use_sim_time and options.world not in AUTOPILOTS,  # an autopilot's time is the system's
        "faults": options.fault,
    }
    # Whoever starts the embedded simulator watches it, and an autopilot's images may be drawn later than it flies.
    patience = {} if options.world == "airsim" else {"connect_timeout": 0.0}
    server: dict[str, Any] = {"host": options.host, "port": options.port, **patience}
    image: dict[str, Any] = {"image_width": width, "image_height": height}
    specs: list[NodeSpec] = []
    if options.world == "embedded":
        specs.append(
            NodeSpec(
                SIMULATOR,
                arguments=(
                    "--host", options.host, "--port", str(options.port), "--map", options.map,
                    "--seed", str(max(options.seed, 0)), "--vehicles", ",".join(vehicles),
                    "--image", f"{width}x{height}", "--quality", options.quality,
                    *(("--paused",) if options.pace == "lockstep" else ()),
                ),
                ros=False,
                restart=False,
                truth=True,
            )
        )  # fmt: skip
    specs.append(
        NodeSpec(
            REFEREE_RECORDER,
            root,
            {
                **common, **server, "vehicles": vehicles, "task": options.task,
                "planner": options.planner, "seed": options.seed, "out": options.out, "world": options.world,
                "preset": options.preset, "quality": options.quality, "governor": options.governor,
                "detector": options.detector,
                "end": options.end, "odometry": options.odometry, "progress": options.progress,
                "keep_out": options.keep_out,
            },
            restart=False,
            ends_mission=True,
            truth=True,
        )
    )  # fmt: skip
    estimator = {"odometry": options.odometry, "seed": max(options.seed, 0)}
    if options.world not in AUTOPILOTS:
        bridged = {**common, **server, **estimator, "vehicles": vehicles, "progress": options.progress}
        specs.append(NodeSpec(node_names.AIRSIM_BRIDGE, root, bridged))
    # Images of a server that only draws: its clock is not the vehicle's.
    stamps = "arrival" if options.world in AUTOPILOTS else "source"
    sensing = {**common, **server, **image, "detector": options.detector, "stamps": stamps}
    knows = options.detector == TRUTH_DETECTOR
    together = len(vehicles) > 1 and options.world not in AUTOPILOTS  # autopilots may each be on a computer of its own
    if together:
        spaces = [f"{root}/{vehicle}" for vehicle in vehicles]
        specs.append(NodeSpec(SENSING, "", {**sensing, "team": spaces}, images=True, truth=knows))
    for vehicle in vehicles:
        space = f"{root}/{vehicle}"
        if options.world in AUTOPILOTS:
            specs.append(autopilot_bridge(options.world, space, vehicles.index(vehicle)))
        specs += control_chain(options, space, vehicle, common)
        if options.sensing == SEPARATE:
            read = {"readers": [node_names.CLUE_DETECTOR, node_names.VOXEL_MAPPER]}
            camera = {**common, **server, **image, "stamps": stamps, **read}
            look = {**common, "detector": options.detector}
            specs += [
                NodeSpec(node_names.CAMERA_DRIVER, space, camera, images=True),
                NodeSpec(node_names.CLUE_DETECTOR, space, look, images=True),
                NodeSpec(node_names.VOXEL_MAPPER, space, common, images=True),
            ]
        elif not together:
            specs.append(NodeSpec(SENSING, space, sensing, images=True, truth=knows))
    return specs + _watchers(options, root)


def _watchers(options: MissionOptions, root: str) -> list[NodeSpec]:
    """Processes that only show the mission. They keep wall time: nothing of theirs waits for the simulator's."""
    vehicles = list(options.vehicles)
    specs = []
    if options.view != NO_PORT:
        page: dict[str, Any] = {"pace": options.pace, "vehicles": vehicles, "port": options.view}
        if options.incident:
            page["incident"] = options.incident
        specs.append(NodeSpec(node_names.VIEWER, root, page, optional=True, module="esar_ros.app.view.viewer"))
    if options.foxglove != NO_PORT:
        server: dict[str, Any] = {"vehicles": vehicles, "port": options.foxglove}
        specs.append(
            NodeSpec(
                node_names.FOXGLOVE_BRIDGE, root, server, optional=True, module="esar_ros.nodes.tools.foxglove_bridge"
            )
        )
    return specs + cot_bridge(options, root)


def cot_bridge(options: MissionOptions, root: str) -> list[NodeSpec]:
    """The process that tells clients of TAK, where somebody has named a host."""
    if not options.cot:
        return []
    told: dict[str, Any] = {"vehicles": list(options.vehicles), "to": options.cot}
    return [
        NodeSpec(node_names.COT_BRIDGE, root, told, optional=True, module="esar_ros.nodes.tools.cot_bridge"),
    ]
