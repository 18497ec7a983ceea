"""An autopilot whose messages a test writes, and the bridge's rules: nothing flies, a step is microseconds."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from esar_ros.bridges.px4.commands import Command, Manoeuvre, Outcome
from esar_ros.bridges.px4.external import ExternalMode
from esar_ros.bridges.px4.offboard import Offboard
from esar_ros.bridges.px4.state import HOLD, OFFBOARD, Px4State
from esar_ros.bridges.px4.stream import Output, Stream, Timing
from esar_ros.mission.modes import Mode

STEP = 0.02  # s
EXTERNAL = 23  # nav_state of the first external mode
FORWARD = np.array([2.0, 0.0, 0.0])  # m/s ENU


def registered(refused: bool = False, nav_state: int | None = EXTERNAL) -> ExternalMode:
    """Returns an external mode as it is after its registration."""
    mode = ExternalMode(77)
    mode.nav_state, mode.refused = nav_state, refused
    if nav_state is not None:
        mode.complaint = ""
    return mode


class Desk:
    """A bridge whose autopilot is in the air, in offboard; it says what a test writes."""

    def __init__(self, external: ExternalMode | None = None, timing: Timing | None = None) -> None:
        self.state = Px4State(1)
        self.stream = Stream(self.state, timing, external)
        self.stream.mode = Mode.NORMAL
        self.bridge = Offboard(self.stream)
        self.now = 100.0
        self.speaks = self.commanded = True
        self.armed, self.landed, self.failsafe, self.sound = True, False, False, True
        self.nav_state = self.intention = OFFBOARD
        self.height, self.speed, self.knows_sea = 20.0, 0.0, True
        self.sent: list[Output] = []

    def say(self) -> None:
        """The autopilot's messages of now."""
        messages = {
            "VehicleStatus": SimpleNamespace(
                arming_state=2 if self.armed else 1, nav_state=self.nav_state, failsafe=self.failsafe,
                nav_state_user_intention=self.intention, system_id=1, pre_flight_checks_pass=self.sound,
                rc_calibration_in_progress=False, calibration_enabled=False,
            ),
            "VehicleLocalPosition": SimpleNamespace(
                xy_valid=True, z_valid=True, v_xy_valid=True, v_z_valid=True, heading=0.0, heading_var=0.001,
                xy_global=True, z_global=self.knows_sea, dead_reckoning=False, z=-self.height, ref_alt=500.0,
                vx=0.0, vy=0.0, vz=self.speed,
            ),
            "VehicleOdometry": SimpleNamespace(pose_frame=1),
            "VehicleLandDetected": SimpleNamespace(landed=self.landed),
            "BatteryStatus": SimpleNamespace(connected=True, warning=0),
            "FailsafeFlags": SimpleNamespace(battery_warning=0),
        }  # fmt: skip
        for name, message in messages.items():
            self.state.receive(name, message, self.now)

    def _hear(self, seconds: float) -> None:
        self.now += seconds
        if self.speaks:
            self.say()
        if self.commanded:
            self.stream.obey(FORWARD, 0.0, self.now)

    def step(self, seconds: float = STEP, idle: bool = True) -> Output:
        """A step of the stream alone, without manoeuvres."""
        self._hear(seconds)
        self.stream.begin(self.now)
        return self.stream.end(idle)

    def steps(self, count: int, seconds: float = STEP) -> list[Output]:
        """Steps of the stream alone."""
        return [self.step(seconds) for _ in range(count)]

    def flying(self) -> Desk:
        """In its mode, where safe commands are streamed."""
        own, self.nav_state = self.nav_state, HOLD
        self.steps(2)
        self.stream.start()
        self.stream.engage()
        self.nav_state = own
        self.step()
        return self

    def waiting(self) -> Desk:
        """Armed in hold in the air, nothing asked for."""
        self.nav_state = self.intention = HOLD
        self.run(0.5)
        return self

    def standing(self) -> Desk:
        """On the ground, disarmed, in hold."""
        self.armed, self.landed, self.height = False, True, 0.0
        return self.waiting()

    # -- with manoeuvres ------------------------------------------------------------------------

    def run(self, seconds: float) -> list[Output]:
        """Steps of the whole bridge."""
        outputs = []
        for _ in range(math.ceil(seconds / STEP - 1e-9)):
            self._hear(STEP)
            outputs.append(self.bridge.step(self.now))
        self.sent += outputs
        return outputs

    def ask(self, manoeuvre: Manoeuvre, height: float = 0.0) -> Outcome | None:
        """Asks for a manoeuvre; returns its refusal."""
        return self.bridge.ask(manoeuvre, self.now, height)


def commands(desk: Desk, seconds: float) -> list[Command]:
    """Runs; returns what was commanded."""
    return [command for output in desk.run(seconds) for command in output.commands]


def ended(desk: Desk, manoeuvre: Manoeuvre, seconds: float = 0.1) -> Outcome | None:
    """Runs; returns the outcome."""
    desk.run(seconds)
    return desk.bridge.outcome(manoeuvre)


def begun(desk: Desk, manoeuvre: Manoeuvre, height: float = 0.0) -> Desk:
    """Asks for what must not be refused."""
    assert desk.ask(manoeuvre, height) is None
    return desk
