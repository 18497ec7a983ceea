"""The link over real UDP, with pymavlink's own packets both ways."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from copter_link import CopterLink, mavutil
from fake_copter import GUIDED, FakeCopter, mavlink

from esar_ros.bridges.ardupilot import link as link_module
from esar_ros.bridges.ardupilot.link import COMPONENT, MavlinkLink, lock_port
from esar_ros.bridges.ardupilot.state import ArdupilotState
from esar_ros.bridges.px4.commands import MODE_OFFBOARD
from esar_ros.bridges.px4.frames import velocity_setpoint
from esar_ros.bridges.px4.stream import Output
from esar_ros.mission.errors import UsageError


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Ends:
    """A link and a vehicle behind it."""

    def __init__(self, system_id: int = 1) -> None:
        self.port = free_port()
        self.fake = FakeCopter(system_id)
        self.state = ArdupilotState(1)
        self.link = MavlinkLink(f"udpin:127.0.0.1:{self.port}", 57600, 1, self.state.hear)
        self.copter = CopterLink(self.fake, self.port)

    def run(self, until: Callable[[], bool], output: Output | None = None, seconds: float = 15.0) -> bool:
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and not until():
            self.link.poll(time.monotonic())
            self.link.send(output or Output(), time.monotonic())
            time.sleep(0.02)
        return until()


@pytest.fixture
def ends() -> Iterator[Callable[..., Ends]]:
    made: list[Ends] = []

    def make(system_id: int = 1) -> Ends:
        made.append(Ends(system_id))
        return made[-1]

    yield make
    for one in made:
        one.copter.close()
        one.link.close()


def test_what_is_asked_for_comes_and_makes_it_fit_to_be_armed(ends: Callable[..., Ends]) -> None:
    both = ends()
    assert both.run(lambda: not both.state.reasons_against_arming(time.monotonic()))
    assert both.run(lambda: not both.link.complaint(time.monotonic()))
    assert (1, COMPONENT, "HEARTBEAT") in both.copter.heard, "a companion of the vehicle's own system"


def test_a_mode_and_set_points_arrive(ends: Callable[..., Ends]) -> None:
    both = ends()
    assert both.run(lambda: both.state.is_linked(time.monotonic()))
    sent = Output(setpoint=velocity_setpoint(np.array([1.0, 2.0, 3.0]), 0.1), commands=(MODE_OFFBOARD,))
    assert both.run(lambda: both.fake.mode == GUIDED and both.state.copter_mode == "GUIDED", sent)
    assert both.run(lambda: bool(both.fake._target.any()), sent)
    with both.copter.lock:
        np.testing.assert_allclose(both.fake._target, [2.0, 1.0, -3.0])


def test_a_vehicle_of_another_number_is_named_and_not_obeyed(ends: Callable[..., Ends]) -> None:
    both = ends(system_id=3)
    assert both.run(lambda: bool(both.link.others))
    assert both.link.complaint(time.monotonic()) == (
        f"no ArduCopter of system 1 is heard on udpin:127.0.0.1:{both.port}, but system 3"
    )
    assert both.state.newest("VehicleStatus") is None
    assert not both.copter.heard, "and nothing was sent"


def test_another_autopilot_of_the_same_number_at_the_same_port_is_neither_heard_nor_told(
    ends: Callable[..., Ends],
) -> None:
    """As PX4's simulator sends to a ground station's port, whoever reads there."""
    both = ends()
    other = mavutil.mavlink_connection(f"udpout:127.0.0.1:{both.port}", source_system=1, source_component=1)
    told: list[str] = []

    def speak() -> None:
        other.mav.heartbeat_send(2, 12, 128, 0, 4)
        other.mav.local_position_ned_send(10, 500.0, 500.0, -500.0, 0.0, 0.0, 0.0)
        while (message := other.recv_msg()) is not None:
            told.append(message.get_type())

    def spoken() -> bool:
        speak()
        local = both.state.newest("VehicleLocalPosition")
        assert local is None or abs(local.x) < 1.0
        return both.fake.mode == GUIDED

    speak()
    assert both.run(spoken, Output(setpoint=velocity_setpoint(np.zeros(3), 0.0), commands=(MODE_OFFBOARD,)))
    both.run(lambda: False, Output(commands=(MODE_OFFBOARD,)), 1.0)
    speak()
    assert not told
    other.close()


def test_only_strangers_are_named_and_never_told(ends: Callable[..., Ends]) -> None:
    both = ends(system_id=3)
    other = mavutil.mavlink_connection(f"udpout:127.0.0.1:{both.port}", source_system=1, source_component=1)
    other.mav.heartbeat_send(2, 12, 0, 0, 4)
    told = Output(commands=(MODE_OFFBOARD,))
    assert both.run(lambda: "but system 1 is no ArduCopter" in both.link.complaint(time.monotonic()), told)
    both.run(lambda: False, told, 0.5)
    assert other.recv_msg() is None and not both.copter.heard
    other.close()


def test_a_vehicle_that_comes_back_from_another_port_is_met_again(
    ends: Callable[..., Ends], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "SILENT", 2.0)
    both = ends()
    assert both.run(lambda: both.state.is_linked(time.monotonic()))
    both.copter.close()
    assert both.run(lambda: not both.state.is_linked(time.monotonic()))
    both.copter = CopterLink(both.fake, both.port)
    both.fake.restart_messages()
    assert both.run(lambda: both.state.is_linked(time.monotonic()))


def test_a_silent_vehicle_is_named(ends: Callable[..., Ends]) -> None:
    both = ends()
    assert both.run(lambda: not both.link.complaint(time.monotonic()))
    both.copter.silent = True
    assert both.run(lambda: "no ArduCopter of system 1 is heard" in both.link.complaint(time.monotonic()))


def test_a_port_that_another_process_reads_is_not_taken_from_it(ends: Callable[..., Ends]) -> None:
    both = ends()
    with pytest.raises(UsageError, match="is in use"):
        MavlinkLink(f"udpin:127.0.0.1:{both.port}", 57600, 1, both.state.hear)
    assert both.run(lambda: both.state.is_linked(time.monotonic())), "and the first still hears"


@pytest.mark.parametrize("address", ["udpin:nowhere", "tcp:127.0.0.1:1", "/dev/no_such_port"])
def test_a_link_that_cannot_be_opened_is_refused_in_a_line(address: str) -> None:
    with pytest.raises(UsageError, match=f"link {address}"):
        MavlinkLink(address, 57600, 1, lambda kind, message, now: None)


def test_a_link_that_breaks_is_opened_again() -> None:
    """TCP, as SITL's is: its end is the end of the connection."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        server.settimeout(5.0)
        made = MavlinkLink(f"tcp:127.0.0.1:{server.getsockname()[1]}", 57600, 1, lambda kind, message, now: None)
        server.accept()[0].close()
        time.sleep(0.1)
        now = time.monotonic()
        for k in range(3):
            made.poll(now + 0.02 * k)
            made.send(Output(), now + 0.02 * k)
        assert made.complaint(now).endswith("is broken")
        made.poll(now + 1.0 + link_module.REOPEN)
        accepted, _ = server.accept()
        accepted.settimeout(5.0)
        beat = mavlink.MAVLink_heartbeat_message(2, 3, 0, 4, 4, 3)
        accepted.sendall(beat.pack(mavlink.MAVLink(None, srcSystem=1, srcComponent=1)))
        time.sleep(0.1)
        for k in range(100):
            made.poll(now + 5.0 + 0.02 * k)
        made.send(Output(), now + 8.0)
        assert accepted.recv(100)
        accepted.close()
        made.close()


def test_a_serial_port_is_one_process_s() -> None:
    """Both would read, and each would get a part of the bytes."""
    ours, theirs = os.openpty()
    try:
        name = os.ttyname(theirs)
        held = lock_port(name)
        assert held is not None
        with pytest.raises(UsageError, match=f"link {name} is in use"):
            lock_port(name)
        with pytest.raises(UsageError, match=f"link {name} is in use"):
            MavlinkLink(name, 57600, 1, ArdupilotState(1).hear)
        os.close(held)
        again = lock_port(name)
        assert again is not None
        os.close(again)
    finally:
        os.close(ours)
        os.close(theirs)
    assert lock_port("tcp:127.0.0.1:5762") is None
