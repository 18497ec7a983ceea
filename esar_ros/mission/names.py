"""The one home of names: topics, frames, sizes of pictures, the planner and detector of whoever names none.

Topics are relative to the vehicle's namespace.
"""

from __future__ import annotations

PRESETS = {"paper": (640, 480), "fast": (320, 240)}  # name -> width and height of pictures
LOW, HIGH = QUALITIES = "low", "high"  # of the embedded simulator's pictures
DEFAULT_QUALITY = HIGH
CAMERAS: tuple[str, ...] = ("front", "left", "right", "down")
THERMAL = "thermal"  # the camera beside them that config/vehicle.yaml may mount
EYES = (*CAMERAS, THERMAL)

# Frames (REP-105); those of a vehicle are prefixed with its name.
MAP = "map"
ODOM = "odom"
BASE_LINK = "base_link"
LIDAR = "lidar"


def vehicle_frame(vehicle: str, frame: str) -> str:
    """Frame of one vehicle, e.g. uav1/base_link."""
    return f"{vehicle}/{frame}"


def camera_frame(vehicle: str, camera: str) -> str:
    """Optical frame of a vehicle's camera, e.g. uav1/camera_front_optical."""
    return f"{vehicle}/camera_{camera}_optical"


# Bridge
TICK = "tick"
HEARTBEAT = "heartbeat"
IMU = "imu"
FIX = "fix"
PRESSURE = "pressure"
ODOMETRY = "odometry"
BATTERY = "battery"
VEHICLE_STATE = "vehicle_state"
COLLISION = "collision"

# Sensing
RANGES = "ranges"
LIDAR_POINTS = "lidar/points"
DETECTIONS = "detections"
CLUES = "clues"
MAP_POINTS = "map/points"
MAP_GRID = "map/grid"
MAP_LOCAL = "map/local"
MAP_FRONTIERS = "map/frontiers"
MAP_STATUS = "map/status"
MAP_COVERAGE = "map/coverage"
MAP_CLASSES = "map/classes"
CLUE_MARKERS = "clues/markers"
CLUE_CROPS = "clues/crops"
CLUE_DETECTIONS = "clues/detections"


def camera_image(camera: str) -> str:
    """Image of a camera: colours, or greys of the thermal one."""
    return f"camera/{camera}/image"


def camera_depth(camera: str) -> str:
    """Planar depth of a camera."""
    return f"camera/{camera}/depth"


def camera_info(camera: str) -> str:
    """Intrinsics of a camera."""
    return f"camera/{camera}/camera_info"


def camera_compressed(camera: str) -> str:
    """Colour image of a camera as JPEG."""
    return f"camera/{camera}/image/compressed"


def camera_annotated(camera: str) -> str:
    """Colour image of a camera with what was detected in it."""
    return f"camera/{camera}/annotated"


def camera_detections(camera: str) -> str:
    """Detections in a camera's image, as vision_msgs has them."""
    return f"camera/{camera}/detections"


# Planning and control
BRIEF = "mission/brief"
MISSION_STATE = "mission/state"
DECISION = "planner/decision"
REPORTS = "reports"
REPORT_FIXES = "reports/fix"
PERSONS = "persons"
BELIEF = "belief"
GOAL = "goal"
GOAL_MARKERS = "goal/markers"
PILOT_STATE = "pilot/state"
PATH = "pilot/path"
CMD_VEL = "cmd_vel"
CMD_VEL_SAFE = "cmd_vel_safe"
SAFETY_STATUS = "safety/status"
SAFETY_MARKERS = "safety/markers"
SAFETY_LIMITS = "safety/limits"
SCORE = "score"
TRUTH = "mission/truth"

# From or about a person who watches
OPERATOR_ORDER = "operator/order"
OPERATOR_REPORT = "operator/report"
OPERATOR_ACT = "operator/act"

# Actions of the bridge
ARM = "arm"
TOUCH_DOWN = "touch_down"
MANOEUVRE = "manoeuvre"  # of an autopilot's bridge alone

# Services of the pilot and of the planner, each in the node's own namespace
ORDER = "order"
SIGHTING = "sighting"

# Service of the bridge in lockstep
SIM_STEP = "sim/step"

# Global, as ROS expects them
CLOCK = "/clock"
TF = "/tf"
TF_STATIC = "/tf_static"
DIAGNOSTICS = "/diagnostics"

# Taken by every command and node where the user names none
DEFAULT_PLANNER = "belief"
PX4 = "px4"
"""World of PX4 vehicles, simulated and real."""
ARDUPILOT = "ardupilot"
"""World of ArduPilot vehicles, likewise."""
AUTOPILOTS = (PX4, ARDUPILOT)
DEFAULT_DETECTOR = "esar_yolo"
