"""The age of messages that carry the autopilot's time since its start, without a common clock.

The quickest way through the link is taken for none; whatever takes longer than that has waited. ArduPilot sends the
estimate of the instant of sending, so that this is the age of the measurement, too.
"""

from __future__ import annotations

import math
from typing import Final

DRIFT: Final = 1e-4  # s per s by which two clocks may go apart
RESTARTED: Final = 1.0  # s backwards, from which it has started again
GAP: Final = 2.0  # s without a message, in which it may have


class BootClock:
    """Times named now are s of a steady clock that the caller reads."""

    def __init__(self) -> None:
        self._least = math.inf  # s, from the autopilot's time to now
        self._boot = self._now = -math.inf

    def age(self, boot_ms: int, now: float) -> float:
        """Returns how long a message stamped boot_ms has waited (s), at least 0."""
        boot = boot_ms * 1e-3
        if boot < self._boot - RESTARTED or now - self._now > GAP:
            self._least = math.inf
        elif math.isfinite(self._now):
            self._least += DRIFT * max(now - self._now, 0.0)
        self._boot, self._now = boot, now
        self._least = min(self._least, now - boot)
        return now - boot - self._least
