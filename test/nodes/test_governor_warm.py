"""Nothing is compiled in flight: what the governor computes with is there before it takes part."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import array, itertools, math, sys
import numpy as np, rclpy
from geometry_msgs.msg import Point, TransformStamped
from nav_msgs.msg import Odometry
from numba.core.dispatcher import Dispatcher
from tf2_msgs.msg import TFMessage
INNER = {"_bound", "_on_line", "_on_plane", "_plane", "_range_at", "_free_by_ranges"}  # called by kernels alone
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission import names
from esar_ros.msg import Brief, RangeImage, VehicleState
from esar_ros.nodes.messages.convert import twist
from esar_ros.nodes.messages.mapping import local_map_message
from esar_ros.nodes.safety_governor import SafetyGovernorNode
from esar_ros.nodes.core.steps import Step, to_stamp

def kernels():
    modules = [module for name, module in sys.modules.items() if name.startswith("esar_ros.safety.")]  # the node's
    every = {d.__name__: d.signatures for m in modules for d in vars(m).values() if isinstance(d, Dispatcher)}
    return {name: signatures for name, signatures in every.items() if name not in INNER}

rclpy.init()
node = SafetyGovernorNode()
before = kernels()
assert len(before) > 7 and all(before.values()), before
corners = [(-200.0, -200.0), (200.0, -200.0), (200.0, 200.0), (-200.0, 200.0)]
node._on_brief(Brief(area=[Point(x=x, y=y) for x, y in corners], ceiling=120.0))
transform = TransformStamped(child_frame_id=names.vehicle_frame("uav1", names.ODOM))
transform.header.frame_id = names.MAP
node._odometry._on_static(TFMessage(transforms=[transform]))
cells = np.ones((32, 32, 32), np.uint8)
cells[:, :, :4] = 2
reasons = set()
for n, (near, mapped, high) in enumerate(itertools.product((1.5, 5.0, math.inf, math.nan), (False, True), (3.0, 20.0))):
    ns = (n + 1) * 50_000_000
    step = Step(ns, n, 0, 0.05, None, frozenset())
    odometry = Odometry()
    odometry.header.stamp = step.stamp
    odometry.pose.pose.position.x, odometry.pose.pose.position.z = 0.2 * n, high
    odometry.twist.twist.linear.x = 4.0
    node.inbox(names.ODOMETRY).put(ns, odometry)
    node.inbox(names.VEHICLE_STATE).put(ns, VehicleState(armed=True, landed=VehicleState.LANDED_FLYING))
    node.inbox(names.CMD_VEL).put(ns, twist(step, np.array([5.0, -4.0, 2.5]), 0.1))
    ranges = RangeImage(rows=6, columns=12, azimuth_min=-math.pi, azimuth_step=math.pi / 6, elevation_min=-math.pi / 2,
                        elevation_step=math.pi / 6, range_max=60.0)
    ranges.header.stamp = step.stamp
    ranges.ranges = array.array("f", [near + 0.01 * k for k in range(72)])
    node.inbox(names.RANGES).put(ns, ranges)
    if mapped:
        window = OccupancyWindow(np.array([-16.0, -16.0, 0.0]), 1.0, cells, 0.0)
        node.inbox(names.MAP_LOCAL).put(ns, local_map_message(window, 0.0, step.stamp))
    node.on_step(step)
    reasons.add(node._text)
assert any("obstacle" in words for words in reasons), reasons
after = kernels()
late = {name: len(signatures) - len(before[name]) for name, signatures in after.items() if signatures != before[name]}
assert not late, f"compiled in flight: {late}"
"""


def test_no_kernel_is_compiled_after_the_start(domain: int) -> None:
    arguments = [sys.executable, "-c", PROGRAM, "--ros-args", "-r", "__ns:=/uav1"]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300.0)
    assert result.returncode == 0, result.stderr[-2000:]
