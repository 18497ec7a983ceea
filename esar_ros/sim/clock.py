"""Simulation time: whole physics steps, counted; wall time never enters a result."""

from __future__ import annotations

STEP_NS = 2_000_000  # one physics step, 500 Hz
STEP = STEP_NS * 1e-9  # s
CONTROL_STEPS = 5  # the autopilot thinks every 10 ms
FRAME = 0.02  # s, what simContinueForFrames calls a frame at clock speed 1
FRAME_RATE = 60.0  # frames a second of wall time that a faster or slower clock is taken to draw


def frame_time(clock_speed: float) -> float:
    """Returns the seconds of simulation in a frame.

    Unreal counts frames that it draws, and between two of them a clock of speed s goes on by s times the wall time: at
    60 frames a second by s / 60. At speed 1 a frame is FRAME, the period of the autopilot's thinking twice over.
    """
    return FRAME if clock_speed == 1.0 else clock_speed / FRAME_RATE


class SimClock:
    """Counts physics steps since the simulator started; never runs backwards, not even at reset."""

    def __init__(self) -> None:
        self.step = 0
        self.paused = False
        self._owed_ns = 0  # requested time that did not fill a step yet

    @property
    def now_ns(self) -> int:
        """Simulation time in ns."""
        return self.step * STEP_NS

    @property
    def now(self) -> float:
        """Simulation time in s."""
        return self.step * STEP

    def steps_for(self, seconds: float) -> int:
        """Returns the whole steps in a request for `seconds`; the rest is kept for the next request.

        Many small requests so add up to the same time as one large one.
        """
        self._owed_ns += round(seconds * 1e9)
        steps, self._owed_ns = divmod(self._owed_ns, STEP_NS)
        return int(steps)
