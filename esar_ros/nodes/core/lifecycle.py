"""Participants that are managed nodes (design.ros2.org, "Managed nodes"), with rclpy's state machine and services.

| state | in the steps |
|---|---|
| unconfigured, finalized | takes no part: the others go on without it, as if its process had died |
| inactive | as before: no part until it was active once; then it answers, with what it knew |
| active | takes part |

So lockstep does not stand still for a node that is deactivated. By default a node configures and activates itself when
it is made; with `autostart` false it waits for a lifecycle manager.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn

from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.operator_log import OperatorLog
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.steps import StepNode

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_BRING_UP = ("configure", "activate")


class ManagedStepNode(LifecycleNodeMixin, StepNode):
    """A participant whose work is made by `configure` and dropped by `clean_up`; topics and services stay."""

    def __init__(self, name: str, namespace: str | None = None) -> None:
        """namespace: as StepNode's."""
        StepNode.__init__(self, name, namespace)
        about = "true: configures and activates itself at its start; false: a lifecycle manager does"
        self._autostart = bool(declare(self, "autostart", True, about))
        self.configured = self.active = False
        self._was_active = False  # since it was configured
        self._failure: Exception | None = None  # of the last configuration
        self._operator_log = OperatorLog(self)
        LifecycleNodeMixin.__init__(self)
        served = self._service_change_state
        served.callback = self._guarded(served.callback)
        self.withdraw("its configuration")

    @abstractmethod
    def configure(self) -> None:
        """Make what the node works with. Raises UsageError for parameters that cannot be had."""

    @abstractmethod
    def clean_up(self) -> None:
        """Drop what `configure` made."""

    def why_not_leave(self) -> str:
        """Returns why the node must stay active; empty when it need not."""
        return ""

    def join(self) -> None:
        """As StepNode's, configured and active where the node starts by itself. Raises what `configure` raises."""
        if self._autostart:
            self.bring_up()
            if self._failure is not None:
                raise self._failure
        StepNode.join(self)

    def bring_up(self) -> None:
        """Configures the node, where it is not, and activates it; a node that was shut down stays so."""
        if self._state_machine.current_state[1] == "unconfigured":
            self.trigger_configure()
        if self.configured and not self.active:
            self.trigger_activate()

    def lifecycle_finding(self) -> Finding:
        """The state, for diagnostics."""
        if self.active:
            return Finding("lifecycle", message="active")
        state = self._state_machine.current_state[1]
        words = f"{state}: says again what it knew" if self._was_active else state
        return Finding("lifecycle", DiagnosticStatus.WARN, words)

    # -- transitions ----------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Unconfigured to inactive."""
        self._failure = None
        try:
            self.configure()
        except Exception as error:  # rclpy would drop it
            self._failure = error
            return _FAILURE
        self.configured = True
        self.withdraw("its activation")
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Inactive to active."""
        self.active = self._was_active = True
        self.take_part()
        return _SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Active to inactive."""
        self.active = False
        return _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Inactive to unconfigured."""
        self._leave("its configuration")
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """From any state to finalized, of which only the end of the process is left."""
        self._leave("a new process: it was shut down")
        return _SUCCESS

    def _leave(self, waiting_for: str) -> None:
        self.withdraw(waiting_for)
        self.active = self._was_active = False
        if self.configured:
            self.configured = False
            self.clean_up()

    def _guarded(
        self, change: Callable[[ChangeState.Request, ChangeState.Response], ChangeState.Response]
    ) -> Callable[[ChangeState.Request, ChangeState.Response], ChangeState.Response]:
        """Returns the service with refusals: by rclpy alone, a transition out of another state ends the process."""

        def guarded(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
            asked, state = request.transition, self._state_machine.current_state[1]
            ways = {number: label for number, label, *_ in self._state_machine.available_transitions}
            by_label = {label: number for number, label in ways.items()}
            number = by_label.get(asked.label, -1) if asked.label else asked.id
            reason = f"it is {state}" if number not in ways else ""
            if not reason and ways[number] not in _BRING_UP:
                reason = self.why_not_leave()
            if reason:
                self.get_logger().warning(f"no transition {asked.label or asked.id}: {reason}")
                response.success = False
                return response
            flew = self._was_active
            response = change(request, response)
            if not response.success:
                self.get_logger().error(f"no transition {ways[number]}: {self._failure}")
            if response.success and flew:  # to bring a node up is no intervention
                self._operator_log.record(f"now {self._state_machine.current_state[1]}")
            return response

        return guarded
