"""Every topic and action of the graph: type, quality of service, who writes, who must read it.

The one home of this knowledge: nodes make their publishers and subscriptions from it, the
recorder selects from it, docs/reference/topics.md is generated from it and a test holds the live graph to it.
"""

from __future__ import annotations

from esar_ros.mission import names
from esar_ros.nodes.topic import RECORD_LEVELS as RECORD_LEVELS
from esar_ros.nodes.topic import Quality, Record, Topic

AIRSIM_BRIDGE = "airsim_bridge"
PX4_BRIDGE = "px4_bridge"  # in place of it, one a vehicle
CAMERA_DRIVER = "camera_driver"
CLUE_DETECTOR = "clue_detector"
VOXEL_MAPPER = "voxel_mapper"
PLANNER = "planner"
PILOT = "pilot"
SAFETY_GOVERNOR = "safety_governor"
REFEREE = "referee"
RECORDER = "recorder"
VIEWER = "viewer"  # only watches, as Foxglove's bridge does
FOXGLOVE_BRIDGE = "foxglove_bridge"
OPERATOR = "operator"  # a person, through whatever tool: nobody, as long as no one watches
BRIEFER = "briefer"  # in place of the referee on a real vehicle: briefs, starts and ends, scores nothing

# Nodes of one vehicle and of the whole mission that take part in steps.
VEHICLE_PARTICIPANTS = (CAMERA_DRIVER, CLUE_DETECTOR, VOXEL_MAPPER, PLANNER, PILOT, SAFETY_GOVERNOR)
MISSION_PARTICIPANTS = (REFEREE, RECORDER)
ANY_NODE = "any"

_STEP, _LATCHED, _SENSOR = Quality.STEP, Quality.LATCHED, Quality.SENSOR


def _camera_topics() -> list[Topic]:
    topics = []
    for camera in names.CAMERAS:
        topics += [
            Topic(
                names.camera_image(camera),
                "sensor_msgs/msg/Image",
                _SENSOR,
                CAMERA_DRIVER,
                record=Record.FULL,
                about="colour picture, rgb8; made only while someone subscribes",
            ),
            Topic(
                names.camera_depth(camera),
                "sensor_msgs/msg/Image",
                _SENSOR,
                CAMERA_DRIVER,
                record=Record.FULL,
                about="planar depth, 32FC1 metres (REP-117); made only while someone subscribes",
            ),
            Topic(
                names.camera_info(camera),
                "sensor_msgs/msg/CameraInfo",
                _SENSOR,
                CAMERA_DRIVER,
                record=Record.FULL,
                about="intrinsics; made only while someone subscribes",
            ),
            Topic(
                names.camera_compressed(camera),
                "sensor_msgs/msg/CompressedImage",
                _SENSOR,
                CAMERA_DRIVER,
                record=Record.VIEW,
                about="colour picture, JPEG quality 80; made only while someone subscribes",
            ),
            Topic(
                names.camera_annotated(camera),
                "sensor_msgs/msg/Image",
                _SENSOR,
                CLUE_DETECTOR,
                record=Record.NEVER,
                about="colour picture with its detections, rgb8; made only while someone subscribes",
            ),
        ]
    return topics


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
        about="charge, voltage, current",
    ),
    Topic(
        names.IMU,
        "sensor_msgs/msg/Imu",
        _SENSOR,
        AIRSIM_BRIDGE,
        record=Record.FULL,
        about="made only while someone subscribes",
    ),
    Topic(
        names.FIX,
        "sensor_msgs/msg/NavSatFix",
        _SENSOR,
        AIRSIM_BRIDGE,
        record=Record.FULL,
        about="GPS; made only while someone subscribes",
    ),
    Topic(
        names.PRESSURE,
        "sensor_msgs/msg/FluidPressure",
        _SENSOR,
        AIRSIM_BRIDGE,
        record=Record.FULL,
        about="barometer; made only while someone subscribes",
    ),
    Topic(
        names.COLLISION, "esar_ros/msg/Collision", _STEP, AIRSIM_BRIDGE, (REFEREE,), about="contacts, simulators only"
    ),
    *_camera_topics(),
    Topic(
        names.RANGES,
        "esar_ros/msg/RangeImage",
        _STEP,
        CAMERA_DRIVER,
        (SAFETY_GOVERNOR,),
        Record.FULL,
        "nearest obstacle per direction, from LiDAR",
    ),
    Topic(
        names.LIDAR_POINTS,
        "sensor_msgs/msg/PointCloud2",
        _SENSOR,
        CAMERA_DRIVER,
        record=Record.FULL,
        about="made only while someone subscribes",
    ),
    Topic(
        names.DETECTIONS,
        "esar_ros/msg/Detections",
        _STEP,
        CLUE_DETECTOR,
        (VOXEL_MAPPER,),
        Record.VIEW,
        "objects per picture",
    ),
    Topic(
        names.CLUES,
        "esar_ros/msg/Clues",
        _STEP,
        CLUE_DETECTOR,
        (PLANNER,),
        Record.SCORE,
        "objects fused over views, with covariance",
    ),
    Topic(
        names.CLUE_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        CLUE_DETECTOR,
        record=Record.NEVER,
        about="clues with covariance and label for RViz; made only while someone subscribes",
    ),
    Topic(
        names.CLUE_CROPS,
        "sensor_msgs/msg/Image",
        _SENSOR,
        CLUE_DETECTOR,
        record=Record.NEVER,
        about="the best picture of each thing found, side by side; made only while someone subscribes",
    ),
    Topic(
        names.MAP_POINTS,
        "sensor_msgs/msg/PointCloud2",
        _LATCHED,
        VOXEL_MAPPER,
        record=Record.NEVER,
        about="occupied voxels; made only while someone subscribes",
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
    Topic(
        names.MAP_FRONTIERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        VOXEL_MAPPER,
        record=Record.NEVER,
        about="frontier clusters; made only while someone subscribes",
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
    Topic(
        names.MAP_CLASSES,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        VOXEL_MAPPER,
        record=Record.NEVER,
        about="what was detected on the ground, 1 + place in mission.clues.KINDS; made only while someone subscribes",
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
        (PILOT, PLANNER),
        about="preparing, running, ended",
    ),
    Topic(
        names.GOAL_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        PLANNER,
        record=Record.NEVER,
        about="the waypoint and why, for RViz; made only while someone subscribes",
    ),
    Topic(
        names.SAFETY_MARKERS,
        "visualization_msgs/msg/MarkerArray",
        _LATCHED,
        SAFETY_GOVERNOR,
        record=Record.NEVER,
        about="mode and reason, stopping distance, velocity given, for RViz; made only while someone subscribes",
    ),
    Topic(
        names.SAFETY_LIMITS,
        "std_msgs/msg/String",
        _LATCHED,
        SAFETY_GOVERNOR,
        (REFEREE,),
        about="limits that differ from config/safety.yaml, as a JSON object",
    ),
    Topic(names.GOAL, "esar_ros/msg/Goal", _STEP, PLANNER, (PILOT,), Record.VIEW, "where the planner wants to go"),
    Topic(
        names.DECISION, "esar_ros/msg/Decision", _STEP, PLANNER, (PILOT, REFEREE), about="one per frame: what and why"
    ),
    Topic(
        names.BELIEF,
        "nav_msgs/msg/OccupancyGrid",
        _LATCHED,
        PLANNER,
        record=Record.FULL,
        about="where the planner expects to find somebody, per cent of the greatest cell, -1 where it says nothing; at "
        "most once a second, when it has changed, and only while someone subscribes",
    ),
    Topic(names.REPORTS, "esar_ros/msg/Report", _STEP, PLANNER, (REFEREE,), about="claims that are scored"),
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
        "std_msgs/msg/String",
        _STEP,
        OPERATOR,
        record=Record.VIEW,
        about="`search`, `hold` or `return`: what the pilot does instead of the planner's goal",
    ),
    Topic(
        names.OPERATOR_REPORT,
        "esar_ros/msg/Report",
        _STEP,
        OPERATOR,
        record=Record.VIEW,
        about="what a person saw: the planner reports it with its next decision, under its own number",
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
    Topic(names.TRUTH, "std_msgs/msg/String", _LATCHED, REFEREE, about="task and ground truth, only after the end"),
    Topic(
        names.PATH,
        "nav_msgs/msg/Path",
        _LATCHED,
        PILOT,
        record=Record.NEVER,
        about="planned path; made only while someone subscribes",
    ),
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
        about="1 Hz from every node (REP-107)",
    ),
)

BY_NAME: dict[str, Topic] = {topic.name: topic for topic in TOPICS}

# Topics of the referee that exist once per vehicle, like all relative ones; scored ones that mission nodes
# write are repeated in every vehicle's namespace so that a vehicle's bag or display needs only its own.
ACTIONS: dict[str, str] = {names.ARM: "esar_ros/action/Arm", names.TOUCH_DOWN: "esar_ros/action/TouchDown"}

# Lockstep's clock is moved by parameters of the bridge, `paused` and `speed`, and by this service of it.
SERVICES: dict[str, str] = {names.SIM_STEP: "std_srvs/srv/Trigger"}
