"""Names of the nodes and processes of the graph, and which of them take part in a mission's steps."""

from __future__ import annotations

AIRSIM_BRIDGE = "airsim_bridge"
PX4_BRIDGE = "px4_bridge"  # in place of it, one a vehicle
ARDUPILOT_BRIDGE = "ardupilot_bridge"  # likewise
PX4_MIRROR = "px4_mirror"  # beside it, where a server draws what an autopilot flies
CAMERA_DRIVER = "camera_driver"
RANGE_DRIVER = "range_driver"  # of a vehicle whose own drivers take the images, for its ranges
CLUE_DETECTOR = "clue_detector"
VOXEL_MAPPER = "voxel_mapper"
PLANNER = "planner"
PILOT = "pilot"
SAFETY_GOVERNOR = "safety_governor"
REFEREE = "referee"
RECORDER = "recorder"
VIEWER = "viewer"  # only watches, as Foxglove's bridge does
FOXGLOVE_BRIDGE = "foxglove_bridge"
COT_BRIDGE = "cot_bridge"
MISSION_CONTROL = "mission_control"  # a real vehicle's, in place of the referee: briefs, starts, ends, scores nothing

# Nodes of one vehicle and of the whole mission that take part in steps.
VEHICLE_PARTICIPANTS = (CAMERA_DRIVER, CLUE_DETECTOR, VOXEL_MAPPER, PLANNER, PILOT, SAFETY_GOVERNOR)
MISSION_PARTICIPANTS = (REFEREE, RECORDER)
ANY_NODE = "any"

# Processes that are no node, or more than one.
SIMULATOR = "simulator"
SENSING = "sensing"
REFEREE_RECORDER = "referee_recorder"
