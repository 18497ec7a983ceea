"""A planner's view of the mission's other vehicles.

Their place and clues, which do not depend on a planner, are of the frame's own stamp. Their planners' goals and reports
are of the frame before: two planners that wait for each other's decision on one frame would wait for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from esar_ros.mission import names
from esar_ros.mission.decision import GoalType, Report
from esar_ros.mission.observation import Teammate
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Decision as DecisionMessage
from esar_ros.msg import Goal as GoalMessage
from esar_ros.msg import PilotState, Tick
from esar_ros.msg import Report as ReportMessage
from esar_ros.nodes.core.steps import Step, StepNode
from esar_ros.nodes.messages import convert


class Team:
    """The teammates' places, clues, goals and reports, as known to one vehicle's planner."""

    def __init__(self, node: StepNode, others: Sequence[str]) -> None:
        """others: names, in the mission's order. Subscribes; a step of the node then waits for what they send."""
        self._node = node
        self.names = tuple(others)
        self._odometry = {name: convert.OdometryInMap(node, name) for name in self.names}
        # By number; None in place of one that makes no sense, which counts all the same.
        self._reports: dict[str, dict[int, tuple[int, Report | None]]] = {name: {} for name in self.names}
        for name in self.names:
            node.follow(name)
            node.await_input(names.CLUES, Tick.FRAME, vehicle=name)
            node.await_input(names.PILOT_STATE, Tick.FRAME, previous=True, vehicle=name)
            node.await_input(names.GOAL, Tick.FRAME, vehicle=name, frame_before=True)
            node.await_input(names.DECISION, Tick.FRAME, vehicle=name, frame_before=True)
            node.input(names.REPORTS, partial(self._on_report, name), vehicle=name)

    @property
    def known(self) -> bool:
        """True once every teammate's transform has arrived."""
        return all(odometry.known for odometry in self._odometry.values())

    def _on_report(self, name: str, message: ReportMessage) -> None:
        report = None
        try:
            report = convert.report_of(message)
        except ValueError as error:
            what = f"refused report {message.seq} of {name}: {error}"
            self._node.get_logger().error(what, throttle_duration_sec=5.0)
        self._reports[name][message.seq] = nanoseconds(message.header.stamp), report

    def is_complete(self, step: Step) -> bool:
        """Returns whether all reports have arrived that the teammates' decisions of the frame before have counted."""
        before = step.frame_before_ns
        if before is None:
            return True
        for name in self.names:
            decision: DecisionMessage | None = self._node.inbox(names.DECISION, name).at(before)
            if decision is not None and max(self._reports[name], default=0) < decision.reports:
                return False
        return True

    def observe(self, step: Step) -> tuple[Teammate, ...]:
        """Returns the teammates at a frame; one without any message so far is left out."""
        return tuple(mate for name in self.names if (mate := self._mate(name, step)) is not None)

    def _mate(self, name: str, step: Step) -> Teammate | None:
        node = self._node
        own = self._odometry[name].at(step.at) or self._odometry[name].at()
        if own is None:
            return None
        until = step.ns if step.frame_before_ns is None else step.frame_before_ns
        pilot: PilotState | None = node.of_step_before(names.PILOT_STATE, step, name)
        clues = node.of_step(names.CLUES, step, name)
        goal: GoalMessage | None = node.inbox(names.GOAL, name).newest
        if step.exact:
            goal = None if step.frame_before_ns is None else node.inbox(names.GOAL, name).at(step.frame_before_ns)
        flown_to = None
        if goal is not None and goal.type == GoalType.WAYPOINT.value:
            flown_to = convert.array3(goal.position)
        return Teammate(
            vehicle=name,
            pose=own[1],
            height=float(pilot.height) if pilot is not None and pilot.has_height else None,
            goal=flown_to,
            clues=tuple(convert.clue_of(clue) for clue in clues.clues) if clues is not None else (),
            cameras=tuple(clues.cameras) if clues is not None else (),
            reports=tuple(
                report
                for _, (stamp, report) in sorted(self._reports[name].items())
                if report is not None and (not step.exact or stamp <= until)
            ),
        )
