"""The fake ArduCopter on a real MAVLink link, in real time: UDP to a port of this machine, as a companion's is."""

from __future__ import annotations

import threading
import time

from fake_copter import FakeCopter
from pymavlink import mavutil

STEP = 0.01  # s


class CopterLink:
    """A thread flies and speaks until `close`."""

    def __init__(self, fake: FakeCopter, port: int) -> None:
        self.fake, self.silent = fake, False
        self.heard: set[tuple[int, int, str]] = set()  # system, component, kind
        self.lock = threading.Lock()
        self._link = mavutil.mavlink_connection(
            f"udpout:127.0.0.1:{port}", source_system=fake.system_id, source_component=1, dialect="ardupilotmega"
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        begun = time.monotonic() - self.fake.now
        while not self._over.is_set():
            with self.lock:
                self._step(time.monotonic() - begun)
            time.sleep(STEP)

    def _step(self, now: float) -> None:
        while (message := self._link.recv_msg()) is not None:
            self.heard.add((message.get_srcSystem(), message.get_srcComponent(), message.get_type()))
            if not self.silent:
                self.fake.hear(message)
        self.fake.advance(now)
        for message in self.fake.speak():
            if not self.silent:
                self._link.mav.send(message)

    def close(self) -> None:
        """Ends the thread."""
        self._over.set()
        self._thread.join(5.0)
        self._link.close()
