"""The rounding of numbers by messages, reproduced so that one process decides as the graph does.

Fields of type float32 round; stamps are whole nanoseconds. test/nodes/messages/test_wire.py holds these against the
messages.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from esar_ros.flight.pilot import PilotOutput
from esar_ros.geometry.frames import Pose
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission.decision import Goal
from esar_ros.mission.observation import Grid, SeenClue
from esar_ros.perception.ranges import RangeGrid
from esar_ros.planning.session import PilotFeedback
from esar_ros.safety.inputs import RangeImageData


def single(value: float) -> float:
    """Returns a number as a float32 field has it."""
    return float(np.float32(value))


def seconds(ns: int) -> float:
    """Returns a stamp in s."""
    return ns * 1e-9


def clue_as_sent(clue: SeenClue) -> SeenClue:
    """Returns a clue as msg/Clue has it."""
    return replace(
        clue,
        probability=single(clue.probability),
        nearest_view=single(clue.nearest_view),
        first_seen=seconds(round(clue.first_seen * 1e9)),
        last_seen=seconds(round(clue.last_seen * 1e9)),
    )


def window_as_sent(window: OccupancyWindow, ns: int) -> OccupancyWindow:
    """Returns a window as msg/LocalMap has it."""
    return replace(window, resolution=single(window.resolution), stamp=seconds(ns))


def grid_as_sent(grid: Grid) -> Grid:
    """Returns a grid as nav_msgs/OccupancyGrid has it; its cells are read-only."""
    cells = grid.cells
    cells.flags.writeable = False
    return replace(grid, resolution=single(grid.resolution))


def goal_as_sent(goal: Goal) -> Goal:
    """Returns a goal as msg/Goal has it: another object, whatever the method does with its own."""
    return replace(
        goal,
        position=np.array(goal.position, dtype=np.float64),
        velocity=np.array(goal.velocity, dtype=np.float64),
        yaw=None if goal.yaw is None else float(goal.yaw),
        yaw_rate=float(goal.yaw_rate),
        speed=float(goal.speed),
    )


def feedback_as_sent(output: PilotOutput, goal_seq: int) -> PilotFeedback:
    """Returns feedback as msg/PilotState has it: the height is a float32."""
    height = None if output.height is None else single(output.height)
    return PilotFeedback(goal_seq, output.goal_reached, output.goal_blocked, height)


def ranges_as_sent(pooled: np.ndarray, grid: RangeGrid, pose: Pose, ns: int) -> RangeImageData:
    """Returns ranges as msg/RangeImage has them, with the pose (base_link in map) of the stamp."""
    return RangeImageData(
        seconds(ns),
        pose,
        single(grid.azimuth_min),
        single(grid.azimuth_step),
        single(grid.elevation_min),
        single(grid.elevation_step),
        single(grid.range_min),
        single(grid.range_max),
        pooled,
    )
