"""Any method of missions as an agent that flies step by step: its goal becomes the action that leads nearest to it.

No detector runs: a method that searches by detected objects sees none and covers ground. The brief is the object's
words and the box around the start. An action is not chosen where depth images show no room for it; the nearest that is
left is, and where none leads nearer the method is told that its goal is blocked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector, wrap_angle
from esar_ros.mapping.mapper import Mapper
from esar_ros.mission.decision import DecisionStatus, Goal, GoalType, HeightReference
from esar_ros.mission.modes import Mode
from esar_ros.mission.object_goal import TURNS, StepAction, StepKind, StepObservation, StepPose, StepTask, StepViews
from esar_ros.mission.observation import Brief, Grid
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.planning.depth_view import corridor_clear, surface_points
from esar_ros.planning.method import GRID, Method, details_of
from esar_ros.planning.session import PilotFeedback, Session

METHOD = "method:"  # before the name of a method
STEP_SECONDS = 5.0  # of mission time that an action stands for
ASKS = 5  # observations in a row without an action, a second apart, before the vehicle turns to look around
CEILING = 120.0  # m above ground, as missions have it
RANGE = 100.0  # m, depth at or beyond which nothing was measured
ROOM = 1.0  # m around an action's way that depth must show free
THERE, FACING = 1.0, math.radians(10.0)  # from a goal at which it counts as reached
TURN_METRES = 10.0  # m of way that a heading off by 1 rad stands for
REACHED = (0, 0.0)


class MethodAgent:
    """Asks a method until its goal calls for an action."""

    def __init__(self, name: str, method: Method) -> None:
        self.name = name
        self.eligible = method.eligible
        self._session = Session(method)

    @property
    def details(self) -> Mapping[str, str]:
        """See planning.method.HasDetails."""
        return details_of(self._session.method)

    def reset(self, task: StepTask, seed: int) -> None:
        """Begin an episode. Raises UsageError when the method cannot work with the brief."""
        self._task = task
        self._session = Session(self._session.method)
        brief = _brief(task)
        self._session.reset(brief, seed)
        self._mapper: Mapper | None = None
        if GRID in self._session.method.needs:
            self._mapper = Mapper(1.0, RANGE, load_thresholds().coverage_range)
            self._mapper.set_area(brief.area, brief.home)
        self._feedback: PilotFeedback | None = None

    def act(self, observation: StepObservation) -> StepAction:
        """The action nearest to the method's goal; a left turn where the method waits."""
        views = _planar_views(observation.views, observation.number * STEP_SECONDS)
        if self._mapper is not None:
            self._mapper.integrate(list(views.values()))
        points = surface_points(views.values())
        height = _height(views["down"])
        for ask in range(ASKS):
            now = observation.number * STEP_SECONDS + ask * STEP_SECONDS / ASKS
            answer = self._session.decide(
                self._session.observe(
                    self._session.method.needs,
                    now,
                    now,
                    "uav1",
                    observation.pose.pose,
                    np.zeros(3),
                    battery=1.0,
                    clues=(),
                    detector="",
                    focal=views["front"].model.fx,
                    cameras=tuple(views),
                    grid=self._grid,
                    views=lambda: _with_colour(views, observation.views),
                    pilot=self._feedback or PilotFeedback(0, False, False, height),
                    mode=Mode.NORMAL,
                )
            )
            if answer.status is DecisionStatus.STOP or answer.goal.type is GoalType.LAND:
                return StepAction(StepKind.STOP)
            target = self._target(answer.goal, observation.pose, height)
            action = None if target is None else self._towards(*target, observation.pose, points)
            reached = target is not None and _gap(*target, observation.pose) == REACHED
            blocked = target is not None and action is None and not reached
            self._feedback = PilotFeedback(answer.goal_seq, reached, blocked, height)
            if action is not None:
                return action
        return StepAction(StepKind.TURN_LEFT)

    def _grid(self) -> Grid | None:
        if self._mapper is None:
            return None
        cells, resolution, (x, y) = self._mapper.grid()
        return Grid(np.ascontiguousarray(cells, dtype=np.int8), float(resolution), (float(x), float(y)))

    def _target(self, goal: Goal, pose: StepPose, height: float | None) -> tuple[Vector, float | None] | None:
        """Position (3,) m and heading (rad, None: any) that a goal asks for; None to hold."""
        if goal.type is GoalType.WAYPOINT:
            position = np.array(goal.position, dtype=np.float64)
            if goal.height_reference is HeightReference.GROUND:
                below = pose.position[2] - height if height is not None else pose.position[2] - position[2]
                position[2] += below
            return position, goal.yaw
        if goal.type is GoalType.VELOCITY:
            return pose.position + STEP_SECONDS * np.asarray(goal.velocity, dtype=np.float64), None
        return (self._task.start.position, None) if goal.type is GoalType.RETURN else None

    def _towards(
        self, position: Vector, yaw: float | None, pose: StepPose, points: NDArray[np.float64]
    ) -> StepAction | None:
        """The action that leads nearest to a target, where there is room for it; None where none leads nearer."""
        best, least = None, _gap(position, yaw, pose)
        if least == REACHED:
            return None
        for kind, fixed in self._task.sizes.items():
            size = fixed
            if kind not in TURNS:  # no farther than abreast of the target
                way = pose.after(kind, 1.0).position - pose.position
                size = min(fixed, float((position - pose.position) @ way))
                if size <= 0.0:
                    continue
            end = pose.after(kind, size)
            gap = _gap(position, yaw, end)
            if gap < least and (kind in TURNS or corridor_clear(points, pose.position, end.position, ROOM)):
                best, least = StepAction(kind, size), gap
        return best


def _gap(position: Vector, yaw: float | None, pose: StepPose) -> tuple[int, float]:
    """Returns what is left to a target, less first: once there a turn to its heading (rad), before that the way (m)."""
    offset = position - pose.position
    horizontal, vertical = math.hypot(offset[0], offset[1]), abs(float(offset[2]))
    there = max(horizontal, vertical) <= THERE
    heading = yaw if there else math.atan2(offset[1], offset[0]) if horizontal > THERE else None
    turn = 0.0 if heading is None else abs(wrap_angle(heading - math.radians(pose.yaw)))
    if there:
        return REACHED if turn <= FACING else (1, round(turn, 6))
    return 2, round(horizontal + vertical + TURN_METRES * turn, 6)


def _planar_views(views: StepViews, stamp: float) -> dict[str, CameraFrame]:
    """The cameras with planar depth and without colour."""
    per_metre = np.linalg.norm(views.model.rays(), axis=-1)
    return {
        camera: CameraFrame(
            camera,
            views.model,
            views.poses[camera],
            np.where(depth >= RANGE, np.inf, depth / per_metre).astype(np.float32),
            stamp=stamp,
        )
        for camera, depth in views.depth.items()
    }


def _with_colour(views: Mapping[str, CameraFrame], drawn: StepViews) -> dict[str, CameraFrame]:
    """The same cameras with colour images of the depth images' size."""
    size = (drawn.model.width, drawn.model.height)
    shrunk = {camera: cv2.resize(drawn.colour[camera], size, interpolation=cv2.INTER_AREA) for camera in views}
    return {camera: replace(view, rgb=np.asarray(shrunk[camera], dtype=np.uint8)) for camera, view in views.items()}


def _height(down: CameraFrame) -> float | None:
    """m to what lies straight below, None where nothing is in range."""
    rows, columns = (side // 2 for side in down.depth.shape)
    nearest = float(np.median(down.depth[rows - 4 : rows + 4, columns - 4 : columns + 4]))
    return nearest if math.isfinite(nearest) else None


def _brief(task: StepTask) -> Brief:
    goal, (x, y, _), half = task.goal, task.start.position, task.half_side
    return Brief(
        mission_id=task.id,
        map_id="",
        prompt=f"Search for one object: {goal.name}, {goal.size}. {goal.description}",
        weather="clear",
        local_time="2024-07-01T11:00:00",
        t_max=task.max_actions * STEP_SECONDS,
        area=np.array([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]]),
        ceiling=CEILING,
        home=np.array(task.start.position),
        report_cap=load_thresholds().report_cap,
        vehicle="uav1",
    )
