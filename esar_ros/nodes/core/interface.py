"""Every topic and action of the graph: type, quality of service, who writes, who must read it.

The one home of this knowledge: nodes make their publishers and subscriptions from it, the
recorder selects from it, docs/reference/topics.md is generated from it and a test holds the live graph to it.
"""

from __future__ import annotations

from esar_ros.mission import names
from esar_ros.nodes.core.camera_topics import CAMERA_TOPICS
from esar_ros.nodes.core.node_names import (
    AIRSIM_BRIDGE,
    ANY_NODE,
    CAMERA_DRIVER,
    CLUE_DETECTOR,
    PILOT,
    PLANNER,
    RECORDER,
    REFEREE,
    SAFETY_GOVERNOR,
    VEHICLE_PARTICIPANTS,
    VOXEL_MAPPER,
)
from esar_ros.nodes.core.topic import RECORD_LEVELS as RECORD_LEVELS
from esar_ros.nodes.core.topic import Quality, Record, Topic, made_on_demand

_STEP, _LATCHED, _SENSOR = Quality.STEP, Quality.LATCHED, Quality.SENSOR


# The referee's relative topics too exist once per vehicle, with the same content: a vehicle's bag or display needs
# only its own.
TOPICS: tuple[Topic, ...] = (
    Topic(
        names.TICK,
        "esar_ros/msg/Tick",
        _STEP,
        AIRSIM_BRIDGE,
        (*VEHICLE_PARTICIPANTS, REFEREE, RECORDER),
        Record.FULL,
        "lockstep: compute your answer for this stamp",
    ),
    Topic(
        names.HEARTBEAT,
        "esar_ros/msg/Heartbeat",
        _STEP,
        ANY_NODE,
        (AIRSIM_BRIDGE,),
        Record.FULL,
        "10 Hz wall time from every participant: alive, ready, last step answered",
    ),
    Topic(
        names.ODOMETRY,
        "nav_msgs/msg/Odometry",
        _STEP,
        AIRSIM_BRIDGE,
        (CAMERA_DRIVER, VOXEL_MAPPER, PLANNER, PILOT, SAFETY_GOVERNOR, REFEREE),
        about="pose in <vehicle>/odom, twist in <vehicle>/base_link (REP-105, REP-103)",
    ),
    Topic(
        names.VEHICLE_STATE,
        "esar_ros/msg/VehicleState",
        _STEP,
        AIRSIM_BRIDGE,
        (PILOT, SAFETY_GOVERNOR, REFEREE),
        about="armed, landed, offboard, contacts",
    ),
    Topic(
        names.BATTERY,
        "sensor_msgs/msg/BatteryState",
        _STEP,
        AIRSIM_BRIDGE,
        (PLANNER, SAFETY_GOVERNOR, REFEREE),
        about="charge, voltage, current; what is not measured is NaN",
    ),
    made_on_demand(
        names.IMU,
        "sensor_msgs/msg/Imu",
        _SENSOR,
        AIRSIM_BRIDGE,
        Record.FULL,
        "acceleration and turn rate in <vehicle>/base_link",
    ),
    made_on_demand(
        names.FIX,
        "sensor_msgs/msg/NavSatFix",
        _SENSOR,
        AIRSIM_BRIDGE,
        Record.FULL,
        "GPS; altitude above the WGS 84 ellipsoid: above the sea plus the bridge's `geoid_undulation`, by default 0",
    ),
    made_on_demand(names.PRESSURE, "sensor_msgs/msg/FluidPressure", _SENSOR, AIRSIM_BRIDGE, Record.FULL, "barometer"),
    Topic(
        names.COLLISION, "esar_ros/msg/Collision", _STEP, AIRSIM_BRIDGE, (REFEREE,), about="contacts, simulators only"
    ),
    *CAMERA_TOPICS,
    Topic(
        names.RANGES,
        "esar_ros/msg/RangeImage",
        _STEP,
        CAMERA_DRIVER,
        (SAFETY_GOVERNOR,),
        Record.FULL,
        "nearest obstacle per direction, from LiDAR",
    ),
    made_on_demand(
        names.LIDAR_POINTS,
        "sensor_msgs/msg/PointCloud2",
        _SENSOR,
        CAMERA_DRIVER,
        Record.FULL,
        "the LiDAR's newest scan, in <vehicle>/lidar",
    ),
    Topic(
        names.DETECTIONS,
        "esar_ros/msg/Detections",
        _STEP,
        CLUE_DETECTOR,
        (VOXEL_MAPPER,),
        Record.VIEW,
        "objects per image",
    ),
    Topic(
        names.CLUES,
        "esar_ros/msg/Clues",
        _STEP,
        CLUE_DETECTOR,
        (PLANNER, SAFETY_GOVERNOR),
        Record.SCORE,
        "objects fused over views, with covariance",
    ),
    made_on_demand(
        names.CLUE_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        CLUE_DETECTOR,
        Record.NEVER,
        "clues with covariance and label for RViz",
    ),
    made_on_demand(
        names.CLUE_CROPS,
        "sensor_msgs/msg/Image",
        _SENSOR,
        CLUE_DETECTOR,
        Record.NEVER,
        "the best image of each thing found, side by side",
    ),
    made_on_demand(
        names.CLUE_DETECTIONS,
        "vision_msgs/msg/Detection3DArray",
        _SENSOR,
        CLUE_DETECTOR,
        Record.FULL,
        "clues as objects in space, pose with covariance; sizes are not measured",
    ),
    made_on_demand(
        names.MAP_POINTS, "sensor_msgs/msg/PointCloud2", _LATCHED, VOXEL_MAPPER, Record.NEVER, "occupied voxels"
    ),
    Topic(
        names.MAP_GRID,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        VOXEL_MAPPER,
        (PLANNER,),
        Record.NEVER,
        "bird's-eye view at flight level",
    ),
    made_on_demand(
        names.MAP_FRONTIERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        VOXEL_MAPPER,
        Record.NEVER,
        "frontier clusters",
    ),
    Topic(
        names.MAP_LOCAL,
        "esar_ros/msg/LocalMap",
        _STEP,
        VOXEL_MAPPER,
        (PILOT, SAFETY_GOVERNOR),
        Record.FULL,
        "occupancy around the vehicle, packed",
    ),
    Topic(
        names.MAP_STATUS,
        "esar_ros/msg/MapStatus",
        _STEP,
        VOXEL_MAPPER,
        (REFEREE,),
        Record.SCORE,
        "coverage and size of the map",
    ),
    made_on_demand(
        names.MAP_CLASSES,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        VOXEL_MAPPER,
        Record.NEVER,
        "what was detected on the ground, 1 + place in mission.clues.KINDS",
    ),
    Topic(
        names.MAP_COVERAGE,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        VOXEL_MAPPER,
        record=Record.VIEW,
        about="ground looked at, cell value 100 - distance in per cent of the look range; every 30 s",
    ),
    Topic(
        names.BRIEF,
        "esar_ros/msg/Brief",
        _LATCHED,
        REFEREE,
        (PLANNER, SAFETY_GOVERNOR, VOXEL_MAPPER),
        about="what the rescue team tells the planner",
    ),
    Topic(
        names.MISSION_STATE,
        "esar_ros/msg/MissionState",
        _LATCHED,
        REFEREE,
        (PILOT, PLANNER, SAFETY_GOVERNOR),
        about="preparing, running, ended",
    ),
    made_on_demand(
        names.GOAL_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        PLANNER,
        Record.NEVER,
        "the waypoint and why, for RViz",
    ),
    made_on_demand(
        names.SAFETY_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        SAFETY_GOVERNOR,
        Record.NEVER,
        "mode and reason, stopping distance, velocity given, for RViz",
    ),
    Topic(
        names.SAFETY_LIMITS,
        "rcl_interfaces/msg/ParameterEvent",
        _LATCHED,
        SAFETY_GOVERNOR,
        (REFEREE,),
        about="the governor's parameters `limits.*` that differ from config/safety.yaml; never sent where none does",
    ),
    Topic(names.GOAL, "esar_ros/msg/Goal", _STEP, PLANNER, (PILOT,), Record.VIEW, "where the planner wants to go"),
    Topic(
        names.DECISION, "esar_ros/msg/Decision", _STEP, PLANNER, (PILOT, REFEREE), about="one per frame: what and why"
    ),
    made_on_demand(
        names.BELIEF,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        PLANNER,
        Record.FULL,
        "where the planner expects to find somebody, per cent of the highest cell, -1 where it says nothing; at "
        "most once a second and when it has changed",
    ),
    Topic(
        names.REPORTS,
        "esar_ros/msg/Report",
        Quality.LATCHED_ALL,
        PLANNER,
        (REFEREE,),
        about="claims that are scored, numbered from 1",
    ),
    Topic(
        names.REPORT_FIXES,
        "sensor_msgs/msg/NavSatFix",
        Quality.LATCHED_ALL,
        PLANNER,
        record=Record.FULL,
        about="each report's place on Earth (WGS 84), in the order of `reports` and with their stamps, for maps of "
        "other people's; east-north-up covariance, of type unknown where nobody has estimated it. Altitude NaN: the "
        "map's is above the sea, the message's above the ellipsoid",
    ),
    Topic(
        names.PERSONS,
        "geometry_msgs/msg/PoseWithCovarianceStamped",
        Quality.LATCHED_ALL,
        PLANNER,
        record=Record.FULL,
        about="each person reported, for who goes there: position with covariance in map; a first element of -1: "
        "nobody has estimated it. Twice the same stamp and place is the same report",
    ),
    Topic(
        names.PILOT_STATE,
        "esar_ros/msg/PilotState",
        _STEP,
        PILOT,
        (PLANNER,),
        Record.VIEW,
        "phase of the flight, goal reached or blocked",
    ),
    Topic(
        names.OPERATOR_ORDER,
        "esar_ros/msg/StandingOrder",
        _LATCHED,
        PILOT,
        about="order in force of a person, given by the service `pilot/order`",
    ),
    Topic(
        names.OPERATOR_REPORT,
        "esar_ros/msg/Report",
        _STEP,
        PLANNER,
        about="what a person saw, given by the service `planner/sighting`: it is reported with the next decision",
    ),
    Topic(
        names.OPERATOR_ACT,
        "rcl_interfaces/msg/Log",
        Quality.LATCHED_ALL,
        ANY_NODE,
        about="what a person did by a service, an action or a parameter of a node; the flight is then nobody's merit",
    ),
    Topic(
        names.CMD_VEL,
        "geometry_msgs/msg/TwistStamped",
        _STEP,
        PILOT,
        (SAFETY_GOVERNOR,),
        Record.VIEW,
        "wanted velocity, map frame; angular.z is the yaw rate",
    ),
    Topic(
        names.CMD_VEL_SAFE,
        "geometry_msgs/msg/TwistStamped",
        _STEP,
        SAFETY_GOVERNOR,
        (AIRSIM_BRIDGE,),
        Record.VIEW,
        "what the bridge obeys; only the governor writes it",
    ),
    Topic(
        names.SAFETY_STATUS,
        "esar_ros/msg/SafetyStatus",
        _STEP,
        SAFETY_GOVERNOR,
        (PILOT, PLANNER, REFEREE, AIRSIM_BRIDGE),
        about="mode, reasons, clearance",
    ),
    Topic(names.SCORE, "esar_ros/msg/Score", _LATCHED, REFEREE, about="once, at the end"),
    Topic(names.TRUTH, "esar_ros/msg/Truth", _LATCHED, REFEREE, about="task and ground truth, only after the end"),
    made_on_demand(names.PATH, "nav_msgs/msg/Path", _LATCHED, PILOT, Record.NEVER, "planned path"),
    Topic(
        names.CLOCK,
        "rosgraph_msgs/msg/Clock",
        Quality.CLOCK,
        AIRSIM_BRIDGE,
        record=Record.FULL,
        about="simulation time, once a step",
    ),
    Topic(
        names.TF,
        "tf2_msgs/msg/TFMessage",
        Quality.STEP,
        AIRSIM_BRIDGE,
        record=Record.VIEW,
        about="<vehicle>/odom to <vehicle>/base_link",
    ),
    Topic(
        names.TF_STATIC,
        "tf2_msgs/msg/TFMessage",
        Quality.TF_STATIC,
        AIRSIM_BRIDGE,
        record=Record.VIEW,
        about="map to <vehicle>/odom, base_link to cameras and LiDAR",
    ),
    Topic(
        names.DIAGNOSTICS,
        "diagnostic_msgs/msg/DiagnosticArray",
        _STEP,
        ANY_NODE,
        record=Record.VIEW,
        about="1 Hz from every node that takes part (REP-107)",
    ),
)

BY_NAME: dict[str, Topic] = {topic.name: topic for topic in TOPICS}

ACTIONS: dict[str, str] = {names.ARM: "esar_ros/action/Arm", names.TOUCH_DOWN: "esar_ros/action/TouchDown"}
AUTOPILOT_ACTIONS: dict[str, str] = {names.MANOEUVRE: "esar_ros/action/Manoeuvre"}  # beside these, of its bridge alone
