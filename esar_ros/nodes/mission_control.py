"""Mission control node: begins and ends a flight of a real vehicle, without ground truth and scoring.

In place of the referee: it briefs the planner from the task's public part, with home where the vehicle stands, and
starts the mission clock when a person calls `~/start`. `~/stop` ends it; so do its time and an error of a planner, and
the pilot then follows its parameter `end`. It counts the reports, so that a restarted planner goes on with their
numbers.
"""

from __future__ import annotations

import time
from typing import Any

from std_srvs.srv import Trigger

from esar_ros.mission import names
from esar_ros.mission.briefing import make_brief, mission_id
from esar_ros.mission.decision import DecisionStatus
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.task import load_task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.msg import MissionState, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.operator_log import OperatorLog
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import Step, StepNode
from esar_ros.nodes.messages import convert

PERIOD = 1.0  # s
WAITING = "waiting-for-position"  # id of the brief that only tells where the map lies


class MissionControlNode(StepNode):
    """Briefs one mission's vehicles."""

    def __init__(self) -> None:
        super().__init__(node_names.MISSION_CONTROL)
        self._task = load_task(str(declare(self, "task", "aotai-first", "task id or path of a task file")))
        planner = str(declare(self, "planner", names.DEFAULT_PLANNER, "method, for the mission's name"))
        self._extent = map_extent(self._task.map)
        self._id = mission_id(self._task, planner, self._task.seed)
        self._cap = load_thresholds().report_cap // len(self.vehicles)  # the team's, shared out
        self._odometry = {vehicle: convert.OdometryInMap(self, vehicle) for vehicle in self.vehicles}
        self._reports: set[tuple[str, int]] = set()  # vehicle and number
        self._stands: dict[str, bool] = {}  # on the ground, by vehicle
        for vehicle in self.vehicles:
            self.input(names.VEHICLE_STATE, lambda m, v=vehicle: self._on_state(v, m), vehicle=vehicle)
            self.input(names.REPORTS, lambda m, v=vehicle: self._reports.add((v, m.seq)), vehicle=vehicle)
            self.input(names.DECISION, lambda m, v=vehicle: self._on_decision(v, m), vehicle=vehicle)
            self.output(names.BRIEF, vehicle)
            self.output(names.MISSION_STATE, vehicle)
            # The bridge needs the map's origin before it can say where the vehicle is.
            self._brief(vehicle, WAITING, [*self._task.start.position, 0.0])
        self._homes: set[str] = set()
        self._phase, self._end, self._text = MissionState.PREPARING, MissionState.END_NONE, "call ~/start"
        self._started = self._stopped = 0.0
        self._operator_logs = [OperatorLog(self, vehicle) for vehicle in self.vehicles]
        self.create_service(Trigger, "~/start", self._on_start)
        self.create_service(Trigger, "~/stop", self._on_stop)
        self.create_timer(PERIOD, self._on_time, clock=self.steady)

    def on_step(self, step: Step) -> None:
        """Real vehicles know no lockstep: it works on its timer."""

    def _brief(self, vehicle: str, name: str, home: Any) -> None:
        brief = make_brief(self._task, self._extent, name, self._cap, home)
        self.send(names.BRIEF, convert.brief_message(brief), vehicle)

    def _on_start(self, request: Any, response: Any) -> Any:
        lacking = [vehicle for vehicle in self.vehicles if vehicle not in self._homes]
        response.success = self._phase == MissionState.PREPARING and not lacking
        if lacking:
            aloft = [vehicle for vehicle in lacking if self._stands.get(vehicle) is False]
            response.message = (
                f"{', '.join(aloft)} is armed or in the air, and home is where it stands: land it first"
                if aloft
                else f"no position of {', '.join(lacking)} yet"
            )
        elif not response.success:
            response.message = "it has been started before"
        else:
            self._phase, self._started, self._text = MissionState.RUNNING, time.monotonic(), "the mission clock runs"
            self._note("start")
            self._on_time()
        return response

    def _on_stop(self, request: Any, response: Any) -> Any:
        response.success = self._phase == MissionState.RUNNING
        response.message = "" if response.success else "it is not running"
        if response.success:
            self._note("stop")
            self._finish(MissionState.END_ABORTED, "a person ended it")
            self._on_time()
        return response

    def _on_state(self, vehicle: str, state: VehicleState) -> None:
        self._stands[vehicle] = bool(state.landed == VehicleState.LANDED_ON_GROUND and not state.armed)

    def _on_decision(self, vehicle: str, decision: Any) -> None:
        """Ends the mission where a planner has failed."""
        if decision.status == DecisionStatus.FAILED and self._phase == MissionState.RUNNING:
            self._finish(MissionState.END_ERROR, f"{vehicle}: the planner failed: {decision.trouble}")
            self._on_time()

    def _note(self, what: str) -> None:
        for log in self._operator_logs:
            log.record(what)

    def _finish(self, end: int, text: str) -> None:
        self._phase, self._end, self._text, self._stopped = MissionState.ENDED, end, text, time.monotonic()

    def _on_time(self) -> None:
        now = time.monotonic()
        for vehicle, odometry in self._odometry.items():
            own = odometry.at()
            # In the air, where this process was started again, what is below it is not home: nobody returns there.
            if own is not None and vehicle not in self._homes and self._stands.get(vehicle, False):
                self._homes.add(vehicle)
                self._brief(vehicle, self._id, own[1].position)
        elapsed = 0.0
        if self._phase != MissionState.PREPARING:
            elapsed = (now if self._phase == MissionState.RUNNING else self._stopped) - self._started
        if self._phase == MissionState.RUNNING and elapsed >= self._task.t_max:
            self._finish(MissionState.END_TIMEOUT, f"{self._task.t_max:.0f} s are over")
        message = MissionState(
            mission_id=self._id,
            phase=self._phase,
            end=self._end,
            elapsed=min(elapsed, self._task.t_max),
            t_max=self._task.t_max,
            reports=len(self._reports),
            text=self._text,
        )
        message.header.stamp = self.get_clock().now().to_msg()
        for vehicle in self.vehicles:
            self.send(names.MISSION_STATE, message, vehicle)


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [MissionControlNode()])


if __name__ == "__main__":
    raise SystemExit(main())
