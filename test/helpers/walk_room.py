"""A room of boxes with a toy walker, an agent to drive it, and a detector that knows where persons are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.geometry.frames import Vector
from esar_ros.mission.clues import PERSON
from esar_ros.mission.rescue import (
    Animation,
    PersonReport,
    Phase,
    StandingPose,
    WalkAction,
    WalkObservation,
    WalkTask,
)
from esar_ros.perception.detectors.backend import Detection2D
from esar_ros.planning.walk.agent import WalkAgent
from helpers.box_view import Box, BoxView

STEP = 0.2  # s
TASK = WalkTask("L1-0", 0, "", 180.0, STEP, pick_up=1.0, put_down=2.0)
WALLS: tuple[Box, ...] = (
    ((-7.0, -7.0, 0.0), (7.0, -6.8, 3.0)),
    ((-7.0, 6.8, 0.0), (7.0, 7.0, 3.0)),
    ((-7.0, -7.0, 0.0), (-6.8, 7.0, 3.0)),
    ((6.8, -7.0, 0.0), (7.0, 7.0, 3.0)),
    ((0.0, -7.0, 0.0), (0.2, 3.0, 3.0)),
)
VICTIM, STRETCHER, START = np.array([4.5, -4.5, 0.9]), np.array([-5.0, 4.0, 0.0]), np.array([-4.0, -4.0, 0.9])
LOW: tuple[Box, ...] = (((-6.0, 3.7, 0.0), (-4.0, 4.3, 0.4)),)  # the stretcher
BODY = 0.34  # m


class Eyes:
    """A detector that names somebody wherever their place is in the picture, and not behind a wall."""

    name, eligible = "eyes", True
    prompts: Mapping[str, str] = {PERSON: PERSON}

    def __init__(self, places: Sequence[Vector]) -> None:
        self._places = places

    def set_prompts(self, prompts: Mapping[str, str]) -> None:
        raise NotImplementedError

    def detect(self, frames: Sequence[CameraFrame]) -> list[list[Detection2D]]:
        return [[found for place in self._places if (found := self._seen(frame, place))] for frame in frames]

    def _seen(self, frame: CameraFrame, place: Vector) -> Detection2D | None:
        point = frame.pose.rotation.T @ (place - [0.0, 0.0, 0.8] - frame.pose.position)
        pixel, inside = frame.model.project(point)
        if not inside or frame.depth[int(pixel[1]), int(pixel[0])] < point[2] - 0.7:
            return None
        half = max(1, round(0.4 * frame.model.fx / point[2]))
        return Detection2D(PERSON, 0.9, (int(pixel[0]) - half, int(pixel[1]) - 1, 2 * half, 3), "person")


class Room:
    """The toy walker among boxes, with an agent, whose own hands pick up and put down; tall boxes stop it."""

    def __init__(self, agent: WalkAgent, unseen: Sequence[Box] = (), reports: tuple[PersonReport, ...] = ()) -> None:
        """unseen: boxes that no image shows; reports: that come with the first observation."""
        self.agent, self.unseen, self.reports = agent, unseen, reports
        self.position, self.yaw, self.carrying, self.steps = START.copy(), 0.0, False, 0

    def step(self) -> WalkAction:
        phase = Phase.FIND_STRETCHER if self.carrying else Phase.FIND_INJURED
        pose, view = StandingPose(self.position, self.yaw), BoxView(self.position, self.yaw, [*WALLS, *LOW])
        seen = WalkObservation(self.steps, self.steps * STEP, phase, self.carrying, pose, view, reports=self.reports)
        self.reports = ()
        action = self.agent.act(seen)
        self.yaw += math.radians(2.8 * action.angle) * STEP
        ahead = self.position + action.speed * STEP * np.array([math.cos(self.yaw), math.sin(self.yaw), 0.0])
        if not any(self._touches(box, ahead) for box in (*WALLS, *self.unseen)):
            self.position = ahead
        self.steps += 1
        return action

    def rescue(self, most: int) -> bool:
        """Walks until the victim is handed over; returns whether that is so within a number of steps."""
        while self.steps < most:
            hands = self.step().animation
            if hands is Animation.CARRY and math.dist(self.position[:2], VICTIM[:2]) < TASK.pick_up:
                self.carrying = True
            elif hands is Animation.DROP and math.dist(self.position[:2], STRETCHER[:2]) < TASK.put_down:
                return True
        return False

    def _touches(self, box: Box, place: Vector) -> bool:
        (x, y, _), (far_x, far_y, _) = box
        return bool(x - BODY < place[0] < far_x + BODY and y - BODY < place[1] < far_y + BODY)
