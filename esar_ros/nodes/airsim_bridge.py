"""AirSim bridge node: state out, safe velocity in, for any number of vehicles of one AirSim server.

Owns /clock. In lockstep it owns time: it publishes the state and a Tick, waits for every vehicle's safe
command of that stamp, and lets the simulator go on for one period. In real time it polls the state and
sends on the newest safe command. Either way a command older than HOLD_AFTER is replaced by a hold.
Carries no images.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from esar_ros.bridges.airsim.actuation import Actuation
from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError
from esar_ros.bridges.airsim.vehicle import AirSimVehicle
from esar_ros.bridges.odometry_error import OdometryError
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.stamps import nanoseconds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.msg import Heartbeat, SafetyStatus, Tick
from esar_ros.nodes.airsim.actions import BridgeActions
from esar_ros.nodes.airsim.bridged_vehicle import BridgedVehicle
from esar_ros.nodes.airsim.clock import BridgeClock
from esar_ros.nodes.airsim.server import Server
from esar_ros.nodes.airsim.state_out import StateOut
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.authority import Authority, Rivals, places_vehicle
from esar_ros.nodes.core.diagnostics import Diagnostics, Finding
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.node_names import MISSION_PARTICIPANTS, VEHICLE_PARTICIPANTS
from esar_ros.nodes.core.operator_log import OperatorLog
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.roster import Roster
from esar_ros.nodes.core.runtime import run
from esar_ros.nodes.core.steps import LOCKSTEP, REALTIME, to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.graph.mission import NOISY, ODOMETRIES
from esar_ros.nodes.graph.progress import WAIT, Progress, tell
from esar_ros.nodes.messages import convert
from esar_ros.nodes.messages.governor_status import GovernorStatus

HOLD_AFTER = 0.2  # s since a safe command came, after which it is not obeyed
OLDEST = 400_000_000  # ns, the same by its stamp, which in real time counts from the odometry it answers
# s of silence after which a participant is gone. In lockstep time stands still meanwhile, so patience costs
# nothing and keeps a machine that compiles or swaps from changing a result; a restarted process is known at once
# by its new boot id.
PATIENCE = {LOCKSTEP: 20.0, REALTIME: 0.5}
SLOW_STEP = 3.0  # s wall without an answer, after which it is told whose
PACED = 0.01  # s wall between looks at a clock that goes slower than it could


class AirSimBridgeNode(Node):
    """The only node that talks to the vehicles' actuators, and the only owner of time in simulation."""

    def __init__(self) -> None:
        super().__init__(node_names.AIRSIM_BRIDGE)
        self.lockstep = declare(self, "pace", LOCKSTEP, "who moves time", choices=(LOCKSTEP, REALTIME)) == LOCKSTEP
        vehicles = list(declare(self, "vehicles", ["uav1"], "names of the vehicles"))
        server = Server.of(self)
        self._progress = bool(declare(self, "progress", False, "print machine-readable progress lines"))
        noisy = declare(self, "odometry", NOISY, "whether it is off as an estimator's", choices=ODOMETRIES) == NOISY
        seed = int(declare(self, "seed", 0, "of the odometry's error", minimum=0))
        about = "height (m) of the sea above the WGS 84 ellipsoid, added to altitudes of fix; 0: taken to be the same"
        undulation = float(declare(self, "geoid_undulation", 0.0, about, minimum=-120.0, maximum=120.0))
        self._rig = load_vehicle()
        rates = self._rig.rates
        self._period_ns = round(1e9 / rates.control)
        self._ranges_every = round(rates.control / rates.ranges)
        self._frame_every = round(rates.control / rates.cameras)
        self._client = server.connect()
        self.exit_code: int | None = None
        patience = PATIENCE[LOCKSTEP if self.lockstep else REALTIME]
        members = (*VEHICLE_PARTICIPANTS, *MISSION_PARTICIPANTS)
        self._bridged: dict[str, BridgedVehicle] = {}
        self._actions: dict[str, BridgeActions] = {}
        self._operator_logs: dict[str, OperatorLog] = {}
        for name in vehicles:
            try:
                remote = AirSimVehicle(self._client, name)
            except AirSimError as error:
                raise UsageError(f"vehicle '{name}' at {server}: {error}", "check its name") from None
            roster = Roster(members, patience, int(time.monotonic()))
            off = OdometryError(self._rig.odometry_error, seed, name) if noisy else None
            self._bridged[name] = BridgedVehicle(name, remote, roster, off, Actuation(remote))
        for bridged in self._bridged.values():
            self._connect(bridged)
        self._out = StateOut(self, self._bridged.values(), self._rig, undulation)
        self._diagnostics = Diagnostics(self, "")
        self.create_timer(1.0, self._while_connected(self._diagnose), clock=self._steady())
        self._seq = -1
        self._ns = 0
        self._kinds = 0
        self._ticked_epoch = -1
        self._stepping = False
        self._not_before = 0.0  # s steady: while somebody is missing, time goes no faster than real time
        self._last_progress = ""
        self._last_report = 0.0
        self._unanswered_since = 0.0  # s steady: when the present step was published
        told = [f"{name}/{names.ODOMETRY}" for name in vehicles]
        self._rivals = (
            Rivals(self, names.ODOMETRY, told, lambda odometry: True),
            Rivals(self, names.TF_STATIC, [names.TF_STATIC], places_vehicle, "clock and frames"),
        )
        self._pacer = BridgeClock(
            self, self.lockstep, lambda: self._pacer.release(self._seq, self._frame_every), self._on_operator_act
        )
        if self.lockstep:
            self._client.call("simPause", True)
            self.create_timer(0.05, self._while_connected(self._watch), clock=self._steady())
            self.create_timer(PACED, self._while_connected(self._try_step_if_slowed), clock=self._steady())
        else:
            self._client.call("simPause", False)
            self.create_timer(1.0 / rates.control, self._while_connected(self._in_real_time), clock=self._steady())

    def _on_operator_act(self, what: str) -> None:
        for log in self._operator_logs.values():
            log.record(what)

    # -- setting up -----------------------------------------------------------------------------

    def _while_connected(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Returns the callback, which ends the process in good order where the simulator has gone."""

        def guarded(*arguments: Any) -> None:
            try:
                callback(*arguments)
            except AirSimConnectionError as error:
                if self.exit_code is None:
                    self.get_logger().error(str(error))
                self.exit_code = 1

        return guarded

    def _steady(self) -> Any:
        from rclpy.clock import Clock, ClockType

        return Clock(clock_type=ClockType.STEADY_TIME)

    def _is_alone(self) -> bool:
        return all(rivals.alone for rivals in self._rivals)

    def _connect(self, bridged: BridgedVehicle) -> None:
        bridged.publishers[names.TICK] = self.create_publisher(
            Tick, f"{bridged.name}/{names.TICK}", PROFILES[BY_NAME[names.TICK].quality]
        )
        quality = PROFILES[BY_NAME[names.CMD_VEL_SAFE].quality]
        for name, callback in (
            (names.CMD_VEL_SAFE, self._on_command),
            (names.SAFETY_STATUS, self._on_safety),
            (names.HEARTBEAT, self._on_heartbeat),
        ):
            self.create_subscription(
                message_class(BY_NAME[name].type),
                f"{bridged.name}/{name}",
                self._while_connected(lambda message, c=bridged, f=callback: f(c, message)),
                quality,
            )
        bridged.authority = Authority(self, bridged.name, (names.CMD_VEL_SAFE, names.SAFETY_STATUS))
        bridged.told = GovernorStatus(bridged.authority)
        self._operator_logs[bridged.name] = OperatorLog(self, bridged.name)
        self._actions[bridged.name] = BridgeActions(self, bridged, lambda: self._ns, self._operator_logs[bridged.name])

    # -- messages in ----------------------------------------------------------------------------

    def _on_heartbeat(self, bridged: BridgedVehicle, message: Heartbeat) -> None:
        bridged.roster.on_heartbeat(
            message.node,
            message.boot_id,
            message.ready,
            message.waiting_for,
            nanoseconds(message.answered),
            time.monotonic(),
        )
        if self.lockstep and message.node in MISSION_PARTICIPANTS and self._seq >= 0:
            self._try_step()

    def _on_safety(self, bridged: BridgedVehicle, message: SafetyStatus) -> None:
        assert bridged.told is not None
        bridged.safety = message
        bridged.told.take(message, time.monotonic())
        if self.lockstep:
            self._try_step()

    def _on_command(self, bridged: BridgedVehicle, message: Any) -> None:
        bridged.command = message
        bridged.command_arrived = time.monotonic()
        if self.lockstep:
            self._try_step()

    # -- lockstep -------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Every 50 ms: who has gone, who has come, is the first step due?"""
        if not self._is_alone():
            return
        now = time.monotonic()
        for bridged in self._bridged.values():
            bridged.roster.evict(now)
        lost = self._seq >= 0 and self._epoch() != self._ticked_epoch
        if lost:
            self._warn_of_the_absent()
        if self._seq < 0:
            self._try_start(now)
        elif lost:
            self._publish_tick()  # the same step at a new epoch: go on without the lost
            self._try_step()
        elif now >= self._not_before:
            self._try_step()
        if self._seq >= 0 and now - self._unanswered_since > SLOW_STEP:
            late = [f"{c.name}/{node}" for c in self._bridged.values() for node in self._unanswered(c)]
            self._tell(f"step {self._seq}: waiting for {', '.join(late)}" if late else "")

    def _warn_of_the_absent(self) -> None:
        gone = [
            f"{bridged.name}/{node} ({why})"
            for bridged in self._bridged.values()
            for node, why in bridged.roster.left().items()
        ]
        self.get_logger().warning(f"going on without {', '.join(gone)}")

    def _tell(self, words: str) -> None:
        """Publishes a text on what the bridge waits for, once, for the display of the mission's progress."""
        if self._progress and words and words != self._last_progress:
            self._last_progress = words
            tell(Progress("join" if self._seq <= 0 else WAIT, text=words))

    def _diagnose(self) -> None:
        findings = []
        for bridged in self._bridged.values():
            absent = bridged.roster.absent()
            values = {"step": self._seq, "epoch": bridged.roster.epoch, "contacts": bridged.collisions}
            if absent and self._seq >= 0:
                level, text = DiagnosticStatus.WARN, f"without {', '.join(absent)}"
            elif bridged.holding and self._seq >= 0:
                why = bridged.authority.complaint if bridged.authority is not None else ""
                level, text = DiagnosticStatus.WARN, f"holding: {why or 'no fresh safe command'}"
            else:
                level, text = DiagnosticStatus.OK, "flying by safe commands" if self._seq >= 0 else "waiting for nodes"
            findings.append(Finding(f"vehicle {bridged.name}", level, text, values))
        self._diagnostics.publish(findings)

    def _try_start(self, now: float) -> None:
        self._read()
        self._out.tell_frames(self._ns)
        missing = {
            f"{bridged.name}/{node}": lacks
            for bridged in self._bridged.values()
            for node, lacks in bridged.roster.missing().items()
        }
        if missing:
            words = "waiting for " + ", ".join(f"{n} ({why})" for n, why in missing.items())
            if now - self._last_report > 5.0:
                self._last_report = now
                self.get_logger().info(words)
            self._tell(words)
            return
        for bridged in self._bridged.values():
            bridged.roster.admit()
            bridged.remote.take_control()
        if self._ns == 0:
            # Stamp zero means "never" to ROS clocks and in heartbeats: the first step has a later one.
            self._client.call("simContinueForTime", self._period_ns * 1e-9)
            self._read()
        self._next_step()

    def _next_step(self) -> None:
        self._seq += 1
        self._kinds = Tick.RANGES if self._seq % self._ranges_every == 0 else 0
        if self._seq % self._frame_every == 0:
            self._kinds |= Tick.FRAME
        if self._seq > 0:
            self._read()
            for bridged in self._bridged.values():
                bridged.roster.admit()
        self._unanswered_since = time.monotonic()
        self._out.tell(self._ns, bool(self._kinds & Tick.FRAME))
        self._publish_tick()

    def _epoch(self) -> int:
        return max(bridged.roster.epoch for bridged in self._bridged.values())

    def _publish_tick(self) -> None:
        epoch = self._ticked_epoch = self._epoch()
        for bridged in self._bridged.values():
            tick = Tick(
                epoch=epoch,
                seq=self._seq,
                kinds=self._kinds,
                period=self._period_ns * 1e-9,
                absent=bridged.roster.absent(),
            )
            tick.header.stamp = to_stamp(self._ns)
            bridged.publishers[names.TICK].publish(tick)

    def _answered(self, bridged: BridgedVehicle) -> bool:
        if bridged.roster.present(node_names.SAFETY_GOVERNOR) and any(
            message is None or nanoseconds(message.header.stamp) != self._ns
            for message in (bridged.command, bridged.safety)
        ):
            return False
        if self._kinds & Tick.FRAME:
            return all(bridged.roster.has_answered(node, self._ns) for node in MISSION_PARTICIPANTS)
        return True

    def _unanswered(self, bridged: BridgedVehicle) -> list[str]:
        """Returns the nodes whose answers the present step still lacks."""
        if not self._kinds & Tick.FRAME:
            return [node_names.SAFETY_GOVERNOR]
        nodes = (*VEHICLE_PARTICIPANTS, *MISSION_PARTICIPANTS)
        return [node for node in nodes if not bridged.roster.has_answered(node, self._ns)]

    def _try_step_if_slowed(self) -> None:
        if self._pacer.speed > 0.0:
            self._try_step()

    def _try_step(self) -> None:
        """Let the simulator go on once every vehicle's safe command of this stamp is there."""
        if self._stepping or self._seq < 0 or not all(self._answered(bridged) for bridged in self._bridged.values()):
            return
        now = time.monotonic()
        complete = not any(bridged.roster.absent() for bridged in self._bridged.values())
        if (not complete and now < self._not_before) or not self._pacer.may_step(self._seq, now):
            return
        self._pacer.stepped(self._period_ns * 1e-9, now)
        self._not_before = now + self._period_ns * 1e-9
        self._stepping = True
        period = self._period_ns * 1e-9
        for bridged in self._bridged.values():
            fresh = bridged.command is not None and nanoseconds(bridged.command.header.stamp) == self._ns
            self._obey(bridged, fresh, period)
        self._client.call("simContinueForTime", period)
        self._stepping = False
        self._next_step()

    # -- real time ------------------------------------------------------------------------------

    def _in_real_time(self) -> None:
        if not self._is_alone():
            return
        now = time.monotonic()
        self._read()
        self._out.tell_frames(self._ns)
        self._seq += 1
        self._kinds = Tick.FRAME if self._seq % self._frame_every == 0 else 0
        for bridged in self._bridged.values():
            if bridged.roster.evict(now):
                self._warn_of_the_absent()
            bridged.roster.admit()
            bridged.remote.take_control()
            self._obey(bridged, now - bridged.command_arrived <= HOLD_AFTER, HOLD_AFTER)
        self._out.tell(self._ns, bool(self._kinds & Tick.FRAME))

    # -- actuator -------------------------------------------------------------------------------

    def _obey(self, bridged: BridgedVehicle, fresh: bool, seconds: float) -> None:
        """Send a safe command on, or hold. The autopilot keeps it no longer than it is good for."""
        fresh = fresh and not bridged.refusal(self._ns, OLDEST)
        bridged.holding = not fresh
        if bridged.reading is None:
            return
        command = None
        if fresh:
            twist = bridged.command.twist
            command = convert.array3(twist.linear), float(twist.angular.z)
        bridged.actuation.height = bridged.height if fresh else None
        bridged.actuation.obey(bridged.reading, bridged.mode, command, seconds)

    def _read(self) -> None:
        for bridged in self._bridged.values():
            bridged.reading = bridged.remote.read()
            if bridged.name in self._actions:
                self._actions[bridged.name].settle(bridged.reading)
        self._ns = max(bridged.reading.ns for bridged in self._bridged.values() if bridged.reading is not None)

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()


def main() -> int:
    """Entry point of the executable."""
    return run(lambda: [AirSimBridgeNode()])


if __name__ == "__main__":
    raise SystemExit(main())
