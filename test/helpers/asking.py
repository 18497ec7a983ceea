"""A person beside a loop of an autopilot's rules: asks for manoeuvres, and reads through which modes they led."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from esar_ros.bridges.px4.commands import Manoeuvre, Outcome


class Asking:
    """Base of a loop; bridge: its rules, fake: its vehicle, which keeps its modes with their times (s)."""

    bridge: Any
    fake: Any
    now: float  # s
    run: Any  # lets time pass until something is true
    velocity: Any  # m/s, that the governor commands

    def climb(self, height: float, seen: Callable[[], float]) -> None:
        """Arms and climbs by safe commands until the height that is seen (m) is reached, and hovers."""
        self.run(2.0)
        outcome = self.do(Manoeuvre.ARM)
        assert outcome.end.value == "done", outcome
        self.velocity = np.array([0.0, 0.0, 2.0])
        assert self.run(60.0, lambda: seen() >= height)
        self.velocity = np.zeros(3)
        self.run(2.0)

    def do(self, manoeuvre: Manoeuvre, seconds: float = 120.0, height: float = 0.0) -> Outcome:
        """Ask, and wait for the outcome."""
        refused = self.bridge.ask(manoeuvre, self.now, height)
        if refused is not None:
            return refused
        ended: list[Outcome] = []

        def over() -> bool:
            outcome = self.bridge.outcome(manoeuvre)
            ended.extend([outcome] if outcome is not None else [])
            return bool(ended)

        assert self.run(seconds, over), f"{manoeuvre.name} never ended"
        return ended[0]

    def modes_since(self, then: float) -> list[int]:
        """Modes that the autopilot went through."""
        return [mode for at, mode in self.fake.modes if at > then]
