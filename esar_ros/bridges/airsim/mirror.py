"""A vehicle of a server that only draws, kept where somebody else flies it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from esar_ros.bridges.airsim.client import AirSimConnectionError, AirSimError, Caller
from esar_ros.bridges.airsim.frames import VehicleFrame
from esar_ros.geometry.frames import Pose
from esar_ros.mission.errors import UsageError

PERIOD = 0.05  # s between two poses, at least
LAPSE = 0.25  # s without a pose after which the vehicle hovers
LOST = 1.0  # s until a server that does not answer is tried again


class PoseMirror:
    """Puts a vehicle at the newest pose that it was told, from a thread and on a connection of its own.

    Pictures come first: no pose is sent before the server has answered the last one, poses that were told meanwhile
    are passed over, and after each answer the server is left alone for at least as long as it took. Where no pose is
    told any more the vehicle hovers where it was last, with its motors on: a server would let it fall.
    """

    def __init__(self, connect: Callable[[], Caller], vehicle: str, say: Callable[[str], None]) -> None:
        """connect: raises AirSimError or UsageError without a server; say: told, once, what keeps poses back."""
        self._connect, self._vehicle, self._say = connect, vehicle, say
        self._newest: Pose | None = None
        self._told = threading.Event()
        self._closing = threading.Event()
        self._complaint = ""
        self.shown = 0  # poses that the server took
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def show(self, pose: Pose) -> None:
        """Tells where the vehicle is: base_link in the map, FLU in ENU. Returns at once."""
        self._newest = pose
        self._told.set()

    def close(self) -> None:
        """Ends the thread; a call that the server has not answered is left to itself."""
        self._closing.set()
        self._told.set()
        self._thread.join(LOST)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                client = self._connect()
                try:
                    self._mirror(client)
                finally:
                    client.close()
            except (AirSimError, UsageError, ValueError) as error:
                self._complain(str(error))
                self._closing.wait(LOST)

    def _mirror(self, client: Caller) -> None:
        """Shows poses until it is closed. Raises AirSimConnectionError when the server is gone."""
        frame = VehicleFrame.of_settings(client.call("getSettingsString"), self._vehicle)
        hovers = False
        while True:
            is_new = self._told.wait(None if hovers or self._newest is None else LAPSE)
            if self._closing.is_set():
                return
            self._told.clear()
            pose, asked = self._newest, time.monotonic()
            assert pose is not None
            try:
                if hovers is is_new:  # it begins to hover, or ends it
                    hovers = not is_new
                    client.call("enableApiControl", hovers, self._vehicle)
                    client.call("armDisarm", hovers, self._vehicle)
                client.call("simSetVehiclePose", frame.pose_to_airsim(pose), True, self._vehicle)
                self.shown += is_new
                self._complaint = ""
            except AirSimConnectionError:
                raise
            except AirSimError as error:  # it refuses this one
                self._complain(str(error))
            took = time.monotonic() - asked
            self._closing.wait(max(PERIOD - took, took))

    def _complain(self, why: str) -> None:
        if why != self._complaint:
            self._complaint = why
            self._say(f"{self._vehicle} is not shown: {why}")
