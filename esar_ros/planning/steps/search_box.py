"""The box that a step may not leave: out of it UAV-ON's agents turn left instead."""

from __future__ import annotations

import numpy as np

from esar_ros.mission.object_goal import MOVES, StepAction, StepKind, StepPose, StepTask


def kept_inside(action: StepAction, pose: StepPose, task: StepTask) -> StepAction:
    """Returns the action, or a left turn of fixed size where it is a move that ends outside the box around the start.

    Climbs are not restricted. Lengths are compared to the centimetre, as the public code does.
    """
    if action.kind not in MOVES:
        return action
    end = pose.after(action.kind, task.size(action)).position
    inside = round(float(np.abs(end[:2] - task.start.position[:2]).max()), 2) <= task.half_side
    return action if inside else StepAction(StepKind.TURN_LEFT)
