"""A node that can be put out of action and back, by the services of ROS's managed nodes (`ros2 lifecycle`).

An inactive node goes on answering steps, since lockstep would stand still without it, but with what it already knew.
Nodes are configured when they are made and start active, so of the state machine of managed nodes (design.ros2.org,
"Managed nodes") there are two states and two transitions; ends of processes are the supervisor's.
"""

from __future__ import annotations

from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State, Transition, TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.node import Node

from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.operator_log import OperatorLog

_INACTIVE = State(id=State.PRIMARY_STATE_INACTIVE, label="inactive")
_ACTIVE = State(id=State.PRIMARY_STATE_ACTIVE, label="active")
_ACTIVATE = TransitionDescription(
    transition=Transition(id=Transition.TRANSITION_ACTIVATE, label="activate"),
    start_state=_INACTIVE,
    goal_state=_ACTIVE,
)
_DEACTIVATE = TransitionDescription(
    transition=Transition(id=Transition.TRANSITION_DEACTIVATE, label="deactivate"),
    start_state=_ACTIVE,
    goal_state=_INACTIVE,
)


class Lifecycle:
    """Serves get_state, change_state, get_available_states and get_available_transitions for a node.

    keep: returns why the node must stay active; empty when it need not.
    """

    def __init__(self, node: Node, operator_log: OperatorLog, keep: Callable[[], str] = str) -> None:
        self.active = True
        self._node = node
        self._operator_log = operator_log
        self._keep = keep
        self._events = node.create_publisher(TransitionEvent, "~/transition_event", 10)
        node.create_service(GetState, "~/get_state", self._get_state)
        node.create_service(ChangeState, "~/change_state", self._change_state)
        node.create_service(GetAvailableStates, "~/get_available_states", self._get_states)
        node.create_service(GetAvailableTransitions, "~/get_available_transitions", self._get_transitions)

    def change(self, active: bool) -> str:
        """Activates or deactivates; returns why not, empty when it was done."""
        if active == self.active:
            return f"the node is {self._state().label} already"
        reason = "" if active else self._keep()
        if reason:
            self._node.get_logger().warning(f"stays active: {reason}")
            return reason
        self.active = active
        done = _ACTIVATE if active else _DEACTIVATE
        self._node.get_logger().info(f"now {done.goal_state.label}")
        self._events.publish(
            TransitionEvent(
                timestamp=self._node.get_clock().now().nanoseconds,
                transition=done.transition,
                start_state=done.start_state,
                goal_state=done.goal_state,
            )
        )
        return ""

    def finding(self) -> Finding:
        """The state, for diagnostics."""
        if self.active:
            return Finding("lifecycle", message="active")
        return Finding("lifecycle", DiagnosticStatus.WARN, "inactive: says again what it knew")

    def _state(self) -> State:
        return _ACTIVE if self.active else _INACTIVE

    def _get_state(self, _: GetState.Request, response: GetState.Response) -> GetState.Response:
        response.current_state = self._state()
        return response

    def _change_state(self, request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
        # Asked by number, or by name where the number is left at zero.
        asked = request.transition
        wanted = {
            Transition.TRANSITION_ACTIVATE: True,
            Transition.TRANSITION_DEACTIVATE: False,
        }.get(asked.id, {"activate": True, "deactivate": False}.get(asked.label))
        response.success = wanted is not None and not self.change(wanted)
        if response.success:
            self._operator_log.record(f"now {self._state().label}")
        return response

    def _get_states(
        self, _: GetAvailableStates.Request, response: GetAvailableStates.Response
    ) -> GetAvailableStates.Response:
        response.available_states = [_INACTIVE, _ACTIVE]
        return response

    def _get_transitions(
        self, _: GetAvailableTransitions.Request, response: GetAvailableTransitions.Response
    ) -> GetAvailableTransitions.Response:
        response.available_transitions = [_DEACTIVATE if self.active else _ACTIVATE]
        return response
