"""The age of messages that carry the autopilot's time since its start, without a common clock.

The quickest way through the link of the last seconds is taken for none; whatever took longer has waited. Of the last
seconds alone: a vehicle's clock may be slow, as a simulator's is that falls behind, and is not a link that delays.
ArduPilot sends the estimate of the instant of sending, so that this is the age of the measurement, too.
"""

from __future__ import annotations

import math
from typing import Final

WINDOW: Final = 5.0  # s: a quickest way counts for one to two of these
RESTARTED: Final = 1.0  # s backwards, from which it has started again
GAP: Final = 2.0  # s without a message, in which it may have


class BootClock:
    """Times named now are s of a steady clock that the caller reads."""

    def __init__(self) -> None:
        self._least = self._before = math.inf  # s, from the autopilot's time to now, of this window and the last
        self._begun = self._boot = self._now = -math.inf

    def age(self, boot_ms: int, now: float) -> float:
        """Returns how long a message stamped boot_ms has waited (s), at least 0."""
        boot = boot_ms * 1e-3
        if boot < self._boot - RESTARTED or now - self._now > GAP:
            self._least = self._before = math.inf
            self._begun = now
        elif now - self._begun > WINDOW:
            self._before, self._least, self._begun = self._least, math.inf, now
        self._boot, self._now = boot, now
        self._least = min(self._least, now - boot)
        return now - boot - min(self._least, self._before)
