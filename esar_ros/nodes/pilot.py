"""Pilot node: goals to velocity set-points, phase by phase. A thin shell around flight.pilot.Pilot."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from numpy.typing import NDArray
from rclpy.action import ActionClient

from esar_ros.action import Arm, TouchDown
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.flight.pilot import Pilot, PilotInput, PilotOutput, Request
from esar_ros.geometry.frames import FARTHEST, Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission import names
from esar_ros.mission.decision import Goal, GoalType
from esar_ros.mission.modes import Order as Ordered
from esar_ros.mission.modes import order_name
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Brief, MissionState, PilotState, SafetyStatus, StandingOrder, Tick, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.mission_clock import MissionClock
from esar_ros.nodes.core.operator_log import goal_of
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.safety_limits import declare_limits
from esar_ros.nodes.core.steps import Step, StepNode, to_stamp
from esar_ros.nodes.graph.mission import ENDS
from esar_ros.nodes.messages import convert
from esar_ros.safety.conditions import pace_of
from esar_ros.safety.pace import Pace
from esar_ros.safety.traffic import Team
from esar_ros.srv import Order

RATE = 20.0  # Hz, in real time
HOME_MOVED = 1.0  # m, from which a brief names another home
# What a person may order, as goals; the planner's without an entry.
_ORDERED: dict[int, Goal] = {Ordered.HOLD: Goal(GoalType.HOLD), Ordered.RETURN: Goal(GoalType.RETURN)}
_Read = TypeVar("_Read")
ACTION_PATIENCE = 3.0  # s wall to wait for the bridge's answer to a request


class PilotNode(StepNode):
    """Feeds the pilot, publishes its set-points and carries its requests to the bridge."""

    def __init__(self) -> None:
        super().__init__(node_names.PILOT)
        end = str(declare(self, "end", "hold", "what to do when the mission has ended", choices=ENDS))
        limits = load_pilot_limits().model_copy(update={"mission_end": end})
        self._limits = declare_limits(self)
        self._pilot = Pilot(limits, self._limits)
        self._pace, self._mission_clock = Pace(), MissionClock()
        listed = declare(self, "others", [""], "names of the mission's other vehicles")
        self._team = Team.of(self.vehicles[0], [name for name in listed if name])
        self._goal: tuple[int, Goal] | None = None
        self._home: Vector | None = None
        self._window: tuple[int, OccupancyWindow | None] | None = None
        self._pending: tuple[int, PilotOutput] | None = None  # answer waiting for the bridge, by stamp
        self._pending_until = 0.0
        self._ordered: int = Ordered.SEARCH  # by a person
        self._odometry = convert.OdometryInMap(self)
        self.input(names.BRIEF, self._on_brief)
        self.input(names.MISSION_STATE)
        self.await_input(names.VEHICLE_STATE)
        self.await_input(names.DECISION, Tick.FRAME)
        self.await_input(names.GOAL, Tick.FRAME)
        self.await_input(names.MAP_LOCAL, Tick.FRAME)
        self.await_input(names.SAFETY_STATUS, previous=True)
        for topic in (names.CMD_VEL, names.PILOT_STATE, names.PATH, names.OPERATOR_ORDER):
            self.output(topic)
        self._arm = ActionClient(self, Arm, names.ARM)
        self._touch_down = ActionClient(self, TouchDown, names.TOUCH_DOWN)
        self.create_service(Order, f"~/{names.ORDER}", self._on_order)
        self.listen_to(node_names.PLANNER)
        self.every(1.0 / RATE, self._on_time)
        if self.lockstep:
            self.create_timer(0.2, self._on_patience, clock=self.steady)
        self.join()

    def waiting_for(self) -> str:
        """Home, the transform and the bridge's actions."""
        if self._home is None:
            return "the brief"
        if not self._odometry.known:
            return "the transform map -> odom"
        ready = self._arm.server_is_ready() and self._touch_down.server_is_ready()
        return "" if ready else "the bridge's actions"

    def _on_brief(self, brief: Brief) -> None:
        home = convert.array3(brief.home)
        if not np.abs(home).max() < FARTHEST:
            self.get_logger().error(f"the brief is not obeyed: home at {home.tolist()}")
            return
        autopilot: VehicleState | None = self.inbox(names.VEHICLE_STATE).newest
        flies = autopilot is not None and autopilot.armed
        if self._home is not None and flies and float(np.linalg.norm(home - self._home)) > HOME_MOVED:
            self.get_logger().error(f"the brief is not obeyed: it moves home to {home.tolist()} in flight")
            return
        self._home = home
        self._pace = pace_of(convert.brief_of(brief), self._limits)
        self._pilot.rise_into_layer(self._team, float(brief.ceiling))

    def _on_order(self, request: Order.Request, response: Order.Response) -> Order.Response:
        """A person's order holds until the next one; ORDER_SEARCH gives the vehicle back to the planner."""
        if request.order not in set(Ordered):
            known = ", ".join(f"{order} ({order_name(order)})" for order in Ordered)
            response.success, response.message = False, f"order {request.order} is none of {known}"
            return response
        if request.order != self._ordered:
            self._ordered = request.order
            self.get_logger().info(f"ordered by a person: {order_name(request.order)}")
            standing = StandingOrder(order=request.order)
            standing.header.stamp = to_stamp(self._odometry.newest_ns() or 0)
            self.send(names.OPERATOR_ORDER, standing)
        response.success = True
        return response

    def _on_time(self) -> None:
        ns = self._odometry.newest_ns()
        if ns is not None and self._home is not None:
            self.answer_now(ns, 0, 1.0 / RATE)

    def _on_patience(self) -> None:
        """A bridge that does not answer a request must not stop the chain."""
        if self._pending is not None and time.monotonic() > self._pending_until:
            self._pending_until = 0.0
            self.retry()

    def on_step(self, step: Step) -> bool | None:
        """Fly one step; a step with a request is answered once the bridge has."""
        if self._pending is not None and self._pending[0] == step.ns:
            if self._pending_until > 0.0:
                return False
            output = self._pending[1]
            self._pending = None
        else:
            seen = self._see(step)
            if seen is None:
                if self.lockstep:
                    self._stand_still(step)
                return None
            elapsed = self._mission_clock.elapsed(step, self.inbox(names.MISSION_STATE).newest)
            self._pilot.slow_to(self._pace.at(elapsed))
            output = self._pilot.step(seen)
            if output.request is not None:
                self._ask(output.request)
                if self.lockstep:
                    self._pending = (step.ns, output)
                    self._pending_until = time.monotonic() + ACTION_PATIENCE
                    return False
        self._publish(step, output)
        return None

    # -- requests -------------------------------------------------------------------------------

    def _ask(self, request: Request) -> None:
        if request is Request.TOUCH_DOWN:
            future = self._touch_down.send_goal_async(TouchDown.Goal(), goal_uuid=goal_of(self.boot_id))
        else:
            future = self._arm.send_goal_async(Arm.Goal(arm=request is Request.ARM), goal_uuid=goal_of(self.boot_id))
        future.add_done_callback(self._on_accepted)

    def _on_accepted(self, future: Any) -> None:
        handle = future.result()
        if handle is None or not handle.accepted:
            self._settled()
            return
        handle.get_result_async().add_done_callback(self._on_result)
        if self._pending is not None and self._pending[1].request is Request.TOUCH_DOWN:
            self._settled()  # it ends when the vehicle has landed, which takes steps

    def _on_result(self, future: Any) -> None:
        result = future.result().result
        if future.result().status == GoalStatus.STATUS_CANCELED:
            self._pilot.call_off()
        if result.error_code:
            self.get_logger().warning(f"request refused ({result.error_code}): {result.error_msg}")
        self._settled()

    def _settled(self) -> None:
        self._pending_until = 0.0
        self.retry()

    # -- in and out -----------------------------------------------------------------------------

    def _see(self, step: Step) -> PilotInput | None:
        own = self._odometry.at(step.at)
        autopilot: VehicleState | None = self.inbox(names.VEHICLE_STATE).newest
        if own is None or autopilot is None or self._home is None:
            return None
        mission: MissionState | None = self.inbox(names.MISSION_STATE).newest
        safety: SafetyStatus | None = self.of_step_before(names.SAFETY_STATUS, step)
        phase = mission.phase if mission is not None else MissionState.UNKNOWN
        return PilotInput(
            now=step.seconds,
            pose=own[1],
            velocity=own[2],
            armed=bool(autopilot.armed),
            landed=autopilot.landed == VehicleState.LANDED_ON_GROUND,
            # Steps begin with the mission, so that in lockstep no message has to tell.
            running=step.exact or phase == MissionState.RUNNING,
            ended=phase == MissionState.ENDED,
            home=self._home,
            goal=self._newest_goal(),
            planner_silence=self.silence_of(node_names.PLANNER, step),
            window=self._newest_window(),
            governed=None if safety is None else convert.governed_of(safety),
            touching_down=autopilot.landed == VehicleState.LANDED_LANDING,
        )

    def _newest_goal(self) -> Goal | None:
        if self._ordered in _ORDERED:
            return _ORDERED[self._ordered]
        message = self.inbox(names.GOAL).newest
        if message is None or message.seq == 0:
            return None
        if self._goal is None or self._goal[0] != message.seq:
            self._goal = (message.seq, self._sound(lambda: convert.goal_of(message), Goal(GoalType.HOLD)))
        return self._goal[1]

    def _newest_window(self) -> OccupancyWindow | None:
        message = self.inbox(names.MAP_LOCAL).newest
        if message is None:
            return None
        ns = nanoseconds(message.header.stamp)
        if self._window is None or self._window[0] != ns:
            self._window = (ns, self._sound(lambda: convert.window_of(message), None))
        return self._window[1]

    def _sound(self, read: Callable[[], _Read], otherwise: _Read) -> _Read:
        """Returns the content of a message; `otherwise`, with a warning, where the content is invalid."""
        try:
            return read()
        except ValueError as error:
            self.get_logger().warning(f"message refused: {error}", throttle_duration_sec=5.0)
            return otherwise

    def _stand_still(self, step: Step) -> None:
        """Answers a step without a known position by a zero velocity, so that no other node waits for it."""
        self.send(names.CMD_VEL, convert.twist(step, np.zeros(3), 0.0))
        state = PilotState(phase=PilotState.HOLD, text="no position")
        state.header.stamp = step.stamp
        state.header.frame_id = names.MAP
        self.send(names.PILOT_STATE, state)

    def _publish(self, step: Step, output: PilotOutput) -> None:
        self.send(names.CMD_VEL, convert.twist(step, output.velocity, output.yaw_rate))
        state = PilotState(
            phase=int(output.phase),
            goal_seq=self._goal[0] if self._goal is not None and self._ordered not in _ORDERED else 0,
            goal_reached=output.goal_reached,
            goal_blocked=output.goal_blocked,
            has_height=output.height is not None,
            height=float(output.height or 0.0),
            text=output.text,
        )
        state.header.stamp = step.stamp
        state.header.frame_id = names.MAP
        self.send(names.PILOT_STATE, state)
        if step.seq % 10 == 0 and self.wanted(names.PATH):
            self.send(names.PATH, _path(output.path, step))


def _path(points: NDArray[np.float64], step: Step) -> Path:
    message = Path()
    message.header.stamp = step.stamp
    message.header.frame_id = names.MAP
    for position in points:
        pose = PoseStamped(header=message.header)
        pose.pose.position = convert.point(position)
        pose.pose.orientation.w = 1.0
        message.poses.append(pose)
    return message


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [PilotNode()])


if __name__ == "__main__":
    raise SystemExit(main())
