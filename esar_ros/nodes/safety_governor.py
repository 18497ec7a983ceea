"""Safety governor node, the last stage before the actuator: a thin shell around safety.governor.Governor.

Its process has no images, so that nothing delays it. In lockstep it answers every step; in real time
a 50 Hz timer asks it, whatever else arrives or does not.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from std_srvs.srv import Trigger

from esar_ros.geometry.frames import Vector
from esar_ros.geometry.occupancy_window import OccupancyWindow
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Mode
from esar_ros.mission.stamps import nanoseconds
from esar_ros.msg import Brief, Clues, RangeImage, SafetyStatus, Tick, VehicleState
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.authority import Authority
from esar_ros.nodes.core.deadlines import Deadlines
from esar_ros.nodes.core.diagnostics import Finding
from esar_ros.nodes.core.lifecycle import ManagedStepNode
from esar_ros.nodes.core.mission_clock import MissionClock
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.realtime_scheduling import use_realtime_scheduling
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.safety_limits import changed, changed_message, declare_limits
from esar_ros.nodes.core.steps import Step, to_stamp
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.markers import safety_markers
from esar_ros.safety.conditions import load_keep_out, site_of
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command, RangeImageData, SafeCommand, State, pass_through
from esar_ros.safety.site import Site
from esar_ros.safety.surroundings.landing_site import people_of
from esar_ros.safety.traffic import OtherVehicle, Team
from esar_ros.safety.warm_up import warm_up

RATE = 50.0  # Hz, in real time
MISSES = 0.001  # share of deadlines missed from which the diagnostics warn
MARKER_INTERVAL = 5  # decisions between two sets of markers
JITTER = 500_000_000  # ns, by which the newest odometry may fall behind what was extrapolated
LATEST = 2**31 * 1_000_000_000 - 1  # ns, of a stamp
# Inputs that must have one writer each.
SINGLE_WRITER_TOPICS = (
    names.CMD_VEL,
    names.ODOMETRY,
    names.VEHICLE_STATE,
    names.BATTERY,
    names.RANGES,
    names.MAP_LOCAL,
    names.BRIEF,
    names.MISSION_STATE,
)


class SafetyGovernorNode(ManagedStepNode):
    """The node that feeds the governor and publishes its answers."""

    def __init__(self) -> None:
        super().__init__(node_names.SAFETY_GOVERNOR)
        self._enabled = bool(declare(self, "enabled", True, "false: only watch, pass every finite command on"))
        self._limits = declare_limits(self)
        warm_up(self._limits)
        self._made: Governor | None = None
        zones = str(declare(self, "keep_out", "", "YAML file of keep-out zones; empty: none"))
        self._zones = load_keep_out(Path(zones)) if zones else ()
        listed = declare(self, "others", [""], "names of the mission's other vehicles")
        self._others = {name: convert.OdometryInMap(self, name) for name in listed if name}
        self._team = Team.of(self.vehicles[0], tuple(self._others))
        self._home_known, self._mission_clock = False, MissionClock()
        self._odometry = convert.OdometryInMap(self)
        self.input(names.VEHICLE_STATE, self._on_vehicle_state)
        self.await_input(names.VEHICLE_STATE)
        self.await_input(names.CMD_VEL)
        self.await_input(names.RANGES, Tick.RANGES)
        self.await_input(names.MAP_LOCAL, Tick.FRAME)
        self.await_input(names.BATTERY, Tick.FRAME)
        self.await_input(names.CLUES, Tick.FRAME)
        self.input(names.BRIEF, self._on_brief)
        self.input(names.MISSION_STATE)
        for topic in (names.CMD_VEL_SAFE, names.SAFETY_STATUS, names.SAFETY_MARKERS, names.SAFETY_LIMITS):
            self.output(topic)
        self._authority = Authority(self, "", SINGLE_WRITER_TOPICS)
        self.create_service(Trigger, "~/clear", self._on_clear)
        self.create_service(Trigger, "~/terminate", self._on_terminate)
        self._mode, self._text = Mode.UNKNOWN, ""
        self._window_of: tuple[int, OccupancyWindow | None] | None = None
        self._now_ns = 0
        self._deadlines = Deadlines(1.0 / RATE)
        self.scheduling = ""  # of this process, in words
        self.listen_to(node_names.PILOT)
        self._timer = self.every(1.0 / RATE, self._on_time)
        if different := changed(self._limits):
            self.send(names.SAFETY_LIMITS, changed_message(self, different))
        self.join()

    @property
    def _governor(self) -> Governor:
        """The governor of a configured node."""
        assert self._made is not None
        return self._made

    def configure(self) -> None:
        """Make a governor that remembers nothing, on the site of the newest brief."""
        self._made, self._home_known = Governor(self._limits, team=self._team), False
        self._deadlines = Deadlines(1.0 / RATE)
        if (brief := self.inbox(names.BRIEF).newest) is not None:
            self._on_brief(brief)

    def clean_up(self) -> None:
        """Forget the site and whatever was latched."""
        self._made, self._mode, self._text = None, Mode.UNKNOWN, ""

    def waiting_for(self) -> str:
        """Returns the input that is still missing: fence and home, or the transform."""
        if not self._home_known:
            return "the brief"
        return "" if self._odometry.known else "the transform map -> odom"

    def why_not_leave(self) -> str:
        """Returns why the governor must stay active; empty when the vehicle reports itself disarmed on the ground."""
        if self._made is not None and self._made.is_terminated:
            return "termination is final"
        autopilot: VehicleState | None = self.inbox(names.VEHICLE_STATE).newest
        if autopilot is None:
            return "whether the vehicle flies is not known"
        if autopilot.armed:
            return "the vehicle is armed"
        return "" if autopilot.landed == VehicleState.LANDED_ON_GROUND else "the vehicle is in the air"

    def _on_vehicle_state(self, _: VehicleState) -> None:
        """Brings the governor up where the vehicle is armed or in the air: nothing flies without it."""
        if self.active or not self.why_not_leave():
            return
        self.bring_up()
        if not self.active:
            self.get_logger().error("the vehicle is armed without a governor", throttle_duration_sec=1.0)

    def diagnose(self) -> list[Finding]:
        """Returns the findings on lifecycle, mode and reasons, and deadlines."""
        words = f"{self._mode.name.lower()}: {self._text}" if self._text else self._mode.name.lower()
        level = DiagnosticStatus.OK
        if self._mode >= Mode.RETURN:
            level = DiagnosticStatus.ERROR
        elif self._mode >= Mode.HOLD or not self._enabled:
            level = DiagnosticStatus.WARN
        governor = Finding("governor", level, words, {"intervenes": self._enabled})
        findings = [governor, self.lifecycle_finding()]
        return findings if self.lockstep else [*findings, self._deadline_finding()]

    def _deadline_finding(self) -> Finding:
        watch = self._deadlines
        level = DiagnosticStatus.WARN if watch.missed > MISSES * watch.periods else DiagnosticStatus.OK
        about = {
            "periods": watch.periods,
            "missed": watch.missed,
            "p99 (ms)": round(1e3 * watch.response(99.0), 2),
            "scheduling": self.scheduling,
        }
        return Finding("deadlines", level, f"{watch.missed} of {watch.periods} deadlines missed", about)

    def _on_brief(self, brief: Brief) -> None:
        """Puts a brief's site in force; in flight a brief that loosens anything is refused."""
        if self._made is None:
            return
        try:
            self._governor.set_site(self._site(brief))
        except UsageError as error:
            if not self._home_known:
                raise
            self.get_logger().error(f"the brief is not obeyed, the one before stays in force: {error}")
        self._home_known = True

    def _site(self, brief: Brief) -> Site:
        """Returns the site of a brief. Raises UsageError, whatever the brief holds."""
        try:
            return site_of(convert.brief_of(brief), self._governor.limits, self._zones)
        except (ValueError, ArithmeticError, IndexError) as error:
            raise UsageError(f"the brief makes no sense: {error}", "mend area, home and origin") from None

    def _on_clear(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Ends a latched return or landing, at a person's request."""
        if not self.configured:
            response.success, response.message = False, "the node is not configured"
            return response
        response.success = self._governor.clear()
        if response.success:
            self._trace("clear")
        response.message = "" if response.success else "termination is final"
        return response

    def _on_terminate(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Stops the motors for good, wherever the vehicle is, at a person's request; no inactive governor stays so."""
        self.bring_up()
        if not self.active:
            response.success, response.message = False, "the node cannot be activated"
            return response
        self._governor.terminate()
        self.get_logger().fatal("terminated: the motors are to stop")
        self._trace("terminate")
        response.success = True
        return response

    def _trace(self, what: str) -> None:
        """Records a person's act; the act stands, even where that fails."""
        try:
            self._operator_log.record(what)
        except Exception as error:  # of the middleware, which has no common name
            self.get_logger().error(f"no trace of a person's '{what}': {error!r}")

    def _on_time(self) -> None:
        """Answers in real time, at the newest odometry's stamp plus the time since it came."""
        newest = self._odometry.newest_ns()
        if newest is None or self._timer is None or not self.configured:
            return
        released = time.monotonic() + self._timer.time_until_next_call() * 1e-9 - 1.0 / RATE
        ns = newest + round((time.monotonic() - self._odometry.arrived) * 1e9)
        # Odometry that comes a little later than expected is no clock running backwards.
        if self._now_ns - JITTER <= ns < self._now_ns:
            ns = self._now_ns
        self._now_ns = ns = min(max(ns, 0), LATEST)
        self.answer_now(ns, 0, 1.0 / RATE)
        self._deadlines.answered(released, time.monotonic())

    def on_step(self, step: Step) -> bool | None:
        """Decides and publishes; a step that cannot be decided holds."""
        try:
            self._answer(step)
        except Exception as error:  # whatever it is, nothing but a hold may follow from it
            self.get_logger().error(f"holds, for it cannot decide: {error!r}", throttle_duration_sec=1.0)
            self._hold(step, error)
        return None

    def _hold(self, step: Step, error: Exception) -> None:
        self._mode, self._text = Mode.HOLD, f"cannot decide: {error!r}"
        self.send(names.CMD_VEL_SAFE, convert.twist(step, np.zeros(3), 0.0))
        mode = SafetyStatus.MODE_HOLD if self.active else SafetyStatus.MODE_UNKNOWN
        status = SafetyStatus(seq=step.seq, mode=mode, changed=True, text=self._text)
        status.reason = SafetyStatus.REASON_NON_FINITE
        status.reasons = [status.reason]
        status.header.stamp, status.header.frame_id = step.stamp, names.MAP
        self.send(names.SAFETY_STATUS, status)

    def _answer(self, step: Step) -> None:
        self._governor.keep_pace(self._mission_clock.elapsed(step, self.inbox(names.MISSION_STATE).newest))
        state, command = self._state(step.at), self._command()
        autopilot: VehicleState | None = self.inbox(names.VEHICLE_STATE).newest
        age = self.silence_of(node_names.PILOT, step)
        landing = autopilot is not None and autopilot.landed == VehicleState.LANDED_LANDING
        answer = self._governor.decide(
            state, command, self._ranges(), self._window(), step.seconds, age, landing, self._traffic(step),
            self._authority.complaint, self._people(),
        )  # fmt: skip
        given, yaw_rate = answer.velocity, answer.yaw_rate
        self._mode, self._text = answer.mode, answer.text
        if not self.active:
            given, yaw_rate = np.zeros(3), 0.0
        elif not self._enabled:
            given, yaw_rate = pass_through(command)  # without a governor nothing else protects the vehicle
        self.send(names.CMD_VEL_SAFE, convert.twist(step, given, yaw_rate))
        self.send(names.SAFETY_STATUS, self._status(step, answer, command, given))
        if step.seq % MARKER_INTERVAL == 0 and state is not None and self.wanted(names.SAFETY_MARKERS):
            where, reach = state.pose.position, answer.stopping_distance
            shown = safety_markers(where, given, answer.mode, reach, answer.text, step.stamp)
            self.send(names.SAFETY_MARKERS, shown)

    def _state(self, at: int | None) -> State | None:
        """Returns the vehicle's state with odometry of a stamp (ns), or the newest; None where a part is missing."""
        own, autopilot = self._odometry.at(at), self.inbox(names.VEHICLE_STATE).newest
        if own is None or autopilot is None:
            return None
        battery = self.inbox(names.BATTERY).newest
        charge = float(battery.percentage) if battery is not None else None
        if charge is not None and not 0.0 <= charge <= 1.0:
            self.get_logger().warning(f"a charge of {charge:g} is none", throttle_duration_sec=10.0)
        ns, pose, velocity = own
        return State(
            ns * 1e-9,
            pose,
            velocity,
            bool(autopilot.armed),
            autopilot.landed == VehicleState.LANDED_ON_GROUND,
            charge,
            self._odometry.deviation(at),
            bool(autopilot.offboard and not autopilot.holding and self._enabled and self.active),
            self._odometry.rates(at),
            self._odometry.velocity_deviation(at),
        )

    def _command(self) -> Command | None:
        """Returns the pilot's last command."""
        asked = self.inbox(names.CMD_VEL).newest
        if asked is None or asked.header.frame_id not in ("", names.MAP):
            return None
        velocity = convert.array3(asked.twist.linear)
        return Command(nanoseconds(asked.header.stamp) * 1e-9, velocity, float(asked.twist.angular.z))

    def _traffic(self, step: Step) -> list[OtherVehicle]:
        """Returns the other vehicles at their last reported positions."""
        reports = [box.at(step.at) or box.at() for box in self._others.values()]
        return [OtherVehicle(ns * 1e-9, pose.position, velocity) for ns, pose, velocity in filter(None, reports)]

    def _people(self) -> list[Vector]:
        """Returns where (m, map) the detector has seen people."""
        clues: Clues | None = self.inbox(names.CLUES).newest
        return [] if clues is None else people_of([convert.clue_of(clue) for clue in clues.clues])

    def _ranges(self) -> RangeImageData | None:
        message: RangeImage | None = self.inbox(names.RANGES).newest
        if message is None:
            return None
        if message.header.frame_id.rpartition("/")[2] not in ("", names.BASE_LINK):
            words = f"ranges in frame '{message.header.frame_id[:60]}' refused: {names.BASE_LINK} is known"
            self.get_logger().warning(words, throttle_duration_sec=5.0)
            return None
        nearest = self._odometry.nearest(nanoseconds(message.header.stamp))  # a LiDAR has a rhythm of its own
        if nearest is None:
            return None
        try:
            m = message
            return RangeImageData(
                nanoseconds(m.header.stamp) * 1e-9, nearest[1], m.azimuth_min, m.azimuth_step, m.elevation_min,
                m.elevation_step, m.range_min, m.range_max,
                np.frombuffer(m.ranges, dtype=np.float32).reshape(m.rows, m.columns),
            )  # fmt: skip
        except ValueError as error:
            self.get_logger().warning(f"range image refused: {error}", throttle_duration_sec=5.0)
            return None

    def _window(self) -> OccupancyWindow | None:
        """Returns the local map, unpacked once."""
        message = self.inbox(names.MAP_LOCAL).newest
        if message is None:
            return None
        ns = nanoseconds(message.header.stamp)
        if self._window_of is None or self._window_of[0] != ns:
            try:
                self._window_of = (ns, convert.window_of(message))
            except ValueError as error:
                self.get_logger().warning(f"local map refused: {error}", throttle_duration_sec=5.0)
                self._window_of = (ns, None)
        return self._window_of[1]

    def _words(self, text: str) -> str:
        if not self.active:
            return "inactive"
        return text if self._enabled else f"off: {text}"

    def _status(self, step: Step, answer: SafeCommand, command: Command | None, given: Vector) -> SafetyStatus:
        message = SafetyStatus(
            seq=step.seq,
            mode=int(answer.mode) if self.active else SafetyStatus.MODE_UNKNOWN,  # which no bridge obeys
            reason=int(answer.reason),
            reasons=[int(reason) for reason in answer.reasons],
            text=self._words(answer.text),
            changed=answer.changed and self._enabled,
            breach=answer.breach,
            asked=convert.vector3(np.nan_to_num(command.velocity) if command is not None else np.zeros(3)),
            given=convert.vector3(given),
            has_clearance=answer.clearance is not None,
            clearance=float(answer.clearance or 0.0),
            stopping_distance=float(answer.stopping_distance),
            has_height=answer.height is not None,
            height=float(answer.height or 0.0),
            interventions=answer.interventions if self._enabled else 0,
        )
        message.header.stamp = step.stamp
        message.header.frame_id = names.MAP
        for field, topic in (
            ("odometry_stamp", names.ODOMETRY),
            ("command_stamp", names.CMD_VEL),
            ("ranges_stamp", names.RANGES),
            ("map_stamp", names.MAP_LOCAL),
        ):
            newest = self.inbox(topic).newest
            setattr(message, field, newest.header.stamp if newest is not None else to_stamp(0))
        return message


def main() -> int:
    """Entry point of the executable."""

    def make() -> list[SafetyGovernorNode]:
        node = SafetyGovernorNode()
        if not node.lockstep:
            node.scheduling = use_realtime_scheduling()
        return [node]

    return run(make)


if __name__ == "__main__":
    raise SystemExit(main())
