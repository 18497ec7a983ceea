"""One vehicle's MAVLink link: what it says, and what is said to it. The only module that knows pymavlink.

Others may speak there, too, with the same system id. So nothing is sent until an ArduCopter has been heard; at a UDP
port it alone is then heard and told, whoever else sends.

The bridge speaks as a companion computer of the vehicle's own system (component 191): its heartbeats do not stand for a
ground station's, whose loss stays ArduPilot's to notice (FS_GCS_ENABLE).
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from esar_ros.bridges.ardupilot.translation import stranger
from esar_ros.bridges.ardupilot.wire import ANSWERS, WANTED, Streams, setpoint_fields, to_ardupilot
from esar_ros.bridges.px4.commands import Command
from esar_ros.bridges.px4.stream import Output
from esar_ros.mission.errors import UsageError, install

COMPONENT, AUTOPILOT = 191, 1  # MAV_COMP_ID_ONBOARD_COMPUTER; of the vehicle
_COMPANION, _NO_AUTOPILOT, _ACTIVE = 18, 8, 4  # MAV_TYPE_ONBOARD_CONTROLLER, MAV_AUTOPILOT_INVALID, MAV_STATE
BEAT: Final = 1.0  # s between two heartbeats of the bridge's
OPENING: Final = 1.0  # s until a host that does not answer counts as absent
REOPEN: Final = 1.0  # s between two attempts to open a link that broke
SILENT: Final = 5.0  # s without its heartbeat, after which a vehicle may be back at another UDP port
MOST: Final = 1000  # messages taken at once
_DATAGRAM: Final = 65535  # bytes
_HEARD: Final = (*WANTED, *ANSWERS)
CURE: Final = "e.g. tcp:127.0.0.1:5762, udpin:0.0.0.0:14650 or /dev/ttyAMA0, in config/ardupilot.yaml"


class MavlinkLink:
    """on_message(kind, message, now) is called by `poll` with what the vehicle says. Times are s of a steady clock."""

    def __init__(self, address: str, baud: int, system_id: int, on_message: Callable[[str, Any, float], None]) -> None:
        """address: as pymavlink takes it. Raises UsageError where it cannot be opened."""
        self._address, self._baud, self._system = address, baud, system_id
        self._on_message = on_message
        self.streams = Streams()
        self.others: set[str] = set()  # what speaks there, too, in words
        self._met = False  # whether an ArduCopter of that system was heard
        self._heard_at = float("-inf")  # s, its last heartbeat
        self._beat = self._broken = float("-inf")
        self._lock: int | None = None  # descriptor by which this process alone has a serial port
        refuse_taken(address)
        try:
            self._connection: Any = self._open()
        except UsageError:
            raise
        except Exception as error:  # whatever its kinds of links raise
            raise UsageError(f"link {address}: {error}", CURE) from None

    def _open(self) -> Any:
        try:
            from pymavlink import mavutil
        except ImportError:
            raise UsageError("ArduPilot needs pymavlink", install("mavlink")) from None
        self._lock = lock_port(self._address)
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(OPENING)  # a host that does not answer must not stop the bridge
        try:
            return self._made(mavutil)
        except ModuleNotFoundError:
            self._unlock()
            raise UsageError(f"link {self._address}: a serial port needs pyserial", install("mavlink")) from None
        except BaseException:
            self._unlock()
            raise
        finally:
            socket.setdefaulttimeout(before)

    def _made(self, mavutil: Any) -> Any:
        return mavutil.mavlink_connection(
            self._address, baud=self._baud, source_system=self._system, source_component=COMPONENT,
            dialect="ardupilotmega", retries=1,
        )  # fmt: skip

    def poll(self, now: float) -> None:
        """Takes in all that has come."""
        if self._connection is None and now - self._broken >= REOPEN:
            self._broken = now
            try:
                self._connection = self._open()
            except Exception:  # still not there
                return
        if self._has_ended() or (self._is_port and self._met and now - self._heard_at > SILENT):
            self._break(now)
        try:
            if self._is_port and not self._met:
                self._meet(now)
            for _ in range(MOST):
                message = None if self._connection is None else self._connection.recv_msg()
                if message is None:
                    return
                if self._is_its(message):
                    self._heard_at = now if message.get_type() == "HEARTBEAT" else self._heard_at
                    self.streams.hear(message.get_type(), now)
                    self._on_message(message.get_type(), message, now)
        except OSError:  # a socket or a serial port that is gone
            self._break(now)

    @property
    def _is_port(self) -> bool:
        """True for a UDP port, at which anybody may speak."""
        return bool(getattr(self._connection, "udp_server", False))

    def _meet(self, now: float) -> None:
        """Reads datagrams until an ArduCopter's heartbeat is in one, and from then on its sender's alone."""
        from pymavlink.dialects.v20 import ardupilotmega  # reads packets of MAVLink 1, too

        port, connection = self._connection.port, self._connection
        for _ in range(MOST):
            try:
                data, sender = port.recvfrom(_DATAGRAM)
            except BlockingIOError:
                return
            parser = ardupilotmega.MAVLink(None)
            parser.robust_parsing = True
            if not any([self._is_its(message) for message in parser.parse_buffer(data) or ()]):
                continue
            port.connect(sender)
            connection.clients, self._heard_at = {sender}, now
            with suppress(BlockingIOError):
                while True:  # what others had sent before
                    port.recvfrom(_DATAGRAM)

    def _has_ended(self) -> bool:
        """Returns whether the other end of a TCP connection has closed it, of which pymavlink says nothing."""
        port = getattr(self._connection, "port", None)
        if not isinstance(port, socket.socket) or port.type != socket.SOCK_STREAM:
            return False
        try:
            return not port.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _is_its(self, message: Any) -> bool:
        """Returns whether a message is for the rules: the vehicle's own, after its first heartbeat."""
        kind, system = message.get_type(), int(message.get_srcSystem())
        if message.get_srcComponent() != AUTOPILOT or kind not in _HEARD:
            return False
        if kind == "HEARTBEAT":
            why = stranger(message, system)
            if why or system != self._system:
                self.others.add(why or f"system {system}")
            self._met = not why if system == self._system else self._met
        return self._met and system == self._system

    def send(self, output: Output, now: float) -> None:
        """Sends one step's output, what lacks is asked for, and the bridge's own heartbeat."""
        if self._connection is None or not self._met:
            return
        mav = self._connection.mav
        try:
            if now - self._beat >= BEAT:
                self._beat = now
                mav.heartbeat_send(_COMPANION, _NO_AUTOPILOT, 0, 0, _ACTIVE)
            if output.setpoint is not None:
                boot_ms = int(now * 1e3) & 0xFFFFFFFF  # ArduPilot does not read it
                frame, mask, *numbers = setpoint_fields(output.setpoint)
                mav.set_position_target_local_ned_send(
                    boot_ms, self._system, AUTOPILOT, int(frame), int(mask), *numbers
                )
            for command in (*output.commands, *self.streams.requests(now)):
                self._command(mav, to_ardupilot(command))
        except OSError:  # a link that is gone
            self._break(now)

    def _command(self, mav: Any, command: Command) -> None:
        mav.command_long_send(
            self._system, AUTOPILOT, command.command, 0, command.param1, command.param2, command.param3, command.param4,
            command.param5, command.param6, command.param7,
        )  # fmt: skip

    def _break(self, now: float) -> None:
        self.close()
        self._broken = now

    def complaint(self, now: float) -> str:
        """Returns in words what is wrong with the link, or what the vehicle does not send; empty where all is well."""
        if self._connection is None:
            return f"link {self._address} is broken"
        lacking = [kind for kind in self.streams.lacking(now) if WANTED[kind].needed]
        if "HEARTBEAT" not in lacking:
            return f"the vehicle does not send {', '.join(lacking)}" if lacking else ""
        instead = f", but {', '.join(sorted(self.others))}" if self.others else ""
        return f"no ArduCopter of system {self._system} is heard on {self._address}{instead}"

    def close(self) -> None:
        """Closes the link."""
        if self._connection is not None:
            self._connection.close()
        self._unlock()
        self._connection, self._met = None, False

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None


def lock_port(address: str) -> int | None:
    """Returns the descriptor that holds a serial port for this process until it is closed; None for other links.

    Raises UsageError where another process holds it: both would read, and each would get a part of the bytes. It is
    asked before the port is opened, as pymavlink changes its speed for a moment.
    """
    path = Path(address.partition(",")[0])
    if not path.is_char_device():
        return None
    port = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(port)
        raise _in_use(address) from None
    return port


def _in_use(address: str) -> UsageError:
    cure = "a bridge may fly with it: ./esar px4 ask land asks that; or give another link"
    return UsageError(f"link {address} is in use", cure)


def refuse_taken(address: str) -> None:
    """Raises UsageError where another process listens on a UDP port: pymavlink would take its messages away."""
    kind, _, place = address.partition(":")
    host, _, port = place.rpartition(":")
    if kind not in ("udpin", "udp") or not port.isdecimal():
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _in_use(address) from None
