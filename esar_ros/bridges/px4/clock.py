"""The time at which the autopilot measured something, on this computer's clock.

With UXRCE_DDS_SYNCT 1 (the default) the stamps that the autopilot sends are of the clock of its agent's host, and
TimesyncStatus tells how well that is known. Without it a message counts as sent when it came: its way through the
link is then taken for nothing.
"""

from __future__ import annotations

import math
from typing import Any, Final

OLDEST_SAMPLE: Final = 0.5  # s: what is said to be measured longer ago is taken for no instant of the clock
LONGEST_WAY: Final = 10.0  # s through the link, likewise
SYNCHRONISED_FOR: Final = 5.0  # s since the last TimesyncStatus; one comes every second
ROUND_TRIP: Final = 0.02  # s; the offset is wrong by less than half of it
_DDS = 2  # TimesyncStatus.SOURCE_PROTOCOL_DDS; MAVLink's is another host's clock


def sample_age(message: Any) -> float:
    """Returns the time (s) from a message's measurement to its sending, by the autopilot's own clock.

    So it needs no common clock. 0 where the message names no such instant: zero, later than itself or long ago.
    """
    age = (int(message.timestamp) - int(message.timestamp_sample)) * 1e-6
    return age if int(message.timestamp_sample) > 0 and 0.0 <= age <= OLDEST_SAMPLE else 0.0


class SampleClock:
    """Times of measurements in system time. Times named now are s of a steady clock that the caller reads."""

    def __init__(self) -> None:
        self._told_at = -math.inf  # s, of the last status that is good enough

    def on_timesync(self, status: Any, now: float) -> None:
        """A TimesyncStatus came. One of MAVLink's clock counts as none; so does a long round trip at first.

        Once the offset is known, a long round trip says that the link is slow, and not that the offset is wrong: to
        take a message's arrival for its time then would make old positions look new.
        """
        trip = int(status.round_trip_time)
        if int(status.source_protocol) == _DDS and trip > 0 and (trip <= ROUND_TRIP * 1e6 or self.is_synchronised(now)):
            self._told_at = now

    def is_synchronised(self, now: float) -> bool:
        """Returns whether the autopilot's stamps are of the agent's clock."""
        return now - self._told_at <= SYNCHRONISED_FOR

    def sampled(self, message: Any, arrived: int, now: float) -> int:
        """Returns when a message's content was measured (ns, system time). arrived: ns, system time.

        A stamp that is later than the arrival or LONGEST_WAY before it is of another clock and is not taken.
        """
        age = round(sample_age(message) * 1e9)
        sent = int(message.timestamp) * 1000
        if self.is_synchronised(now) and 0 <= arrived - sent <= LONGEST_WAY * 1e9:
            return sent - age
        return arrived - age
