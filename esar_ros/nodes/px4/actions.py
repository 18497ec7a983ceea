"""Actions of a PX4 vehicle: what the pilot asks of every bridge, and manoeuvres. They end by the status alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from esar_ros.action import Arm, TouchDown
from esar_ros.action import Manoeuvre as ManoeuvreAction
from esar_ros.bridges.px4.commands import End, Manoeuvre, Outcome
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.mission import names
from esar_ros.nodes.core.operator_log import OperatorLog, is_goal_of

_ARM_CODES = {
    "safety": Arm.Result.REFUSED_SAFETY,
    "not ready": Arm.Result.REFUSED_NOT_READY,
    "flying": Arm.Result.REFUSED_FLYING,
}
_TOUCH_DOWN_CODES = {
    "safety": TouchDown.Result.REFUSED_SAFETY,
    "on ground": TouchDown.Result.REFUSED_ON_GROUND,
}
_MANOEUVRE_CODES = {
    End.DONE: ManoeuvreAction.Result.NONE,
    End.REFUSED: ManoeuvreAction.Result.REFUSED,
    End.FAILED: ManoeuvreAction.Result.FAILED,
    End.REPLACED: ManoeuvreAction.Result.REPLACED,
}


class Px4Actions:
    """Serves the actions of one vehicle; `settle` ends those that are over.

    A goal is held open until its manoeuvre has ended: the callback that answers runs once it has.
    """

    def __init__(self, node: Node, offboard: Offboard, operator_log: OperatorLog, pilot: Callable[[], int]) -> None:
        """pilot: its boot id, by which its goals are known."""
        self._node, self._offboard = node, offboard
        self._operator_log, self._pilot = operator_log, pilot
        self._open: dict[Manoeuvre, list[Any]] = {}
        self._ends: dict[Any, Outcome] = {}
        self._stage = ""
        for kind, name, wanted, answer in (
            (Arm, names.ARM, _wanted_of_arm, self._answer_arm),
            (TouchDown, names.TOUCH_DOWN, lambda goal: Manoeuvre.TOUCH_DOWN, self._answer_touch_down),
            (ManoeuvreAction, names.MANOEUVRE, _wanted_of_manoeuvre, self._answer_manoeuvre),
        ):
            ActionServer(
                node,
                kind,
                name,
                answer,
                goal_callback=lambda goal: GoalResponse.ACCEPT,
                cancel_callback=self._on_cancel,
                handle_accepted_callback=lambda handle, w=wanted: self._begin(handle, w),
            )

    def settle(self) -> None:
        """Finishes the goals whose manoeuvres have ended, and sends feedback to the others."""
        for manoeuvre, handles in self._open.items():
            if any(handle.is_cancel_requested for handle in handles):
                self._offboard.call_off(manoeuvre)
        for manoeuvre in list(self._open):
            outcome = self._offboard.outcome(manoeuvre)
            if outcome is None:
                continue
            for handle in self._open.pop(manoeuvre):
                self._end(handle, outcome)
        if self._offboard.stage != self._stage:
            self._stage = self._offboard.stage
            for handles in self._open.values():
                for handle in handles:
                    self._tell(handle)

    def _on_cancel(self, handle: Any) -> CancelResponse:
        answer = _may_cancel(handle.request)
        if answer is CancelResponse.ACCEPT:
            self._operator_log.record("called off")
        return answer

    def _begin(self, handle: Any, wanted: Callable[[Any], Manoeuvre | None]) -> None:
        manoeuvre = wanted(handle.request)
        by_pilot = is_goal_of(handle.goal_id, self._pilot())
        if not by_pilot:
            self._operator_log.record(manoeuvre.name.lower() if manoeuvre is not None else "a manoeuvre that is none")
        if manoeuvre is None:
            self._end(handle, Outcome(End.REFUSED, f"there is no manoeuvre {handle.request.manoeuvre}", "not ready"))
            return
        if manoeuvre is Manoeuvre.ARM and by_pilot and self._offboard.is_down_again:
            # A pilot that was started again does not know it; whoever fetches the vehicle is beside it.
            words = "its motors were stopped after a flight: a person arms it again"
            self._end(handle, Outcome(End.REFUSED, words, "not ready"))
            return
        height = float(getattr(handle.request, "height", 0.0))
        refusal = self._offboard.ask(manoeuvre, time.monotonic(), height)
        if refusal is not None:
            self._end(handle, refusal)
        else:
            self._open.setdefault(manoeuvre, []).append(handle)  # of one manoeuvre all goals end together

    def _end(self, handle: Any, outcome: Outcome) -> None:
        if outcome.end is not End.DONE:
            self._node.get_logger().warning(f"{outcome.end.value}: {outcome.text}")
        self._ends[bytes(handle.goal_id.uuid)] = outcome
        handle.execute()

    def _tell(self, handle: Any) -> None:
        if isinstance(handle.request, TouchDown.Goal):
            handle.publish_feedback(TouchDown.Feedback(height=self._offboard.stream.height or 0.0))
        else:
            feedback = Arm.Feedback if isinstance(handle.request, Arm.Goal) else ManoeuvreAction.Feedback
            handle.publish_feedback(feedback(stage=self._stage))

    # -- results --------------------------------------------------------------------------------

    def _taken(self, handle: Any) -> Outcome:
        outcome = self._ends.pop(bytes(handle.goal_id.uuid))
        if outcome.end is End.DONE:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return outcome

    def _answer_arm(self, handle: Any) -> Any:
        outcome = self._taken(handle)
        return _coded(Arm.Result(armed=self._offboard.state.armed), outcome, _ARM_CODES)

    def _answer_touch_down(self, handle: Any) -> Any:
        outcome = self._taken(handle)
        return _coded(TouchDown.Result(landed=self._offboard.state.landed), outcome, _TOUCH_DOWN_CODES)

    def _answer_manoeuvre(self, handle: Any) -> Any:
        outcome = self._taken(handle)
        return ManoeuvreAction.Result(
            error_code=_MANOEUVRE_CODES[outcome.end],
            error_msg=outcome.text,
            nav_state=max(self._offboard.state.nav_state, 0),
        )


def _coded(result: Any, outcome: Outcome, codes: dict[str, int]) -> Any:
    """A result with how it ended; codes: by what refused it."""
    result.error_msg = outcome.text
    if outcome.end is not End.DONE:
        result.error_code = codes.get(outcome.because, result.FAILED)
    return result


def _may_cancel(goal: Any) -> CancelResponse:
    """A touch-down leaves the vehicle to the governor at any time; other manoeuvres are replaced instead."""
    return CancelResponse.ACCEPT if isinstance(goal, TouchDown.Goal) else CancelResponse.REJECT


def _wanted_of_arm(goal: Any) -> Manoeuvre:
    return Manoeuvre.ARM if goal.arm else Manoeuvre.DISARM


def _wanted_of_manoeuvre(goal: Any) -> Manoeuvre | None:
    asked = int(goal.manoeuvre)
    known = (Manoeuvre.TAKE_OFF, Manoeuvre.MISSION, Manoeuvre.HOLD, Manoeuvre.RETURN, Manoeuvre.LAND)
    return Manoeuvre(asked) if asked in known else None
