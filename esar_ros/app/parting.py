"""The end of a mission of autopilots: a person is asked once before one in the air is left, and told what is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from esar_ros.mission.names import PX4
from esar_ros.mission.system.environment import graph_environment

PATIENCE = 60.0  # s
WHERE = (sys.executable, "-m", "esar_ros.app.cli", "px4", "where", "--vehicles")


class Parting:
    """Asks the autopilots themselves where they are: they speak without the graph, and after it."""

    def __init__(self, vehicles: Sequence[str], tell: Callable[[str], None], autopilot: str = PX4) -> None:
        self._vehicles, self._tell = ",".join(vehicles), tell
        self._which = [self._vehicles, *(() if autopilot == PX4 else ("--autopilot", autopilot))]
        self._asked = False

    def may_end(self) -> bool:
        """Returns whether to end at a person's Ctrl-C: at the first one not while a vehicle is in the air."""
        if self._asked:
            return True
        self._asked = True
        aloft, lines = self._where()
        for words in lines:
            self._tell(words)
        if aloft:
            self._tell("Ctrl-C again ends the mission and leaves it hovering there, armed; else the mission goes on")
        return not aloft

    def tell(self) -> None:
        """Tells where the vehicles are, and the command that lands them where one is in the air."""
        aloft, lines = self._where()
        for words in lines:
            self._tell(words)
        if aloft:
            self._tell(f"./esar px4 land --vehicles {' '.join(self._which)} lands it there and stops its motors")

    def _where(self) -> tuple[bool, list[str]]:
        """Returns whether a vehicle is in the air or silent, and where each is."""
        try:
            done = subprocess.run(
                [*WHERE, *self._which], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                env={**os.environ, **graph_environment()}, start_new_session=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True, ["the autopilot does not say where its vehicles are"]
        return done.returncode != 0, (done.stdout or done.stderr).splitlines()
