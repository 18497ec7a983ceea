"""The braking model that every distance limit shares.

The vehicle is assumed to go on at its speed for the whole reaction time `latency` (age of the inputs,
decision, transport and the velocity controller's lag) and then to slow down at `deceleration`.
"""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def stopping_distance(speed: float, deceleration: float, latency: float) -> float:
    """Returns the distance (m) covered until standstill from speed (m/s): v^2 / 2a + v * latency."""
    return speed * speed / (2.0 * deceleration) + speed * latency


@njit(cache=True, nogil=True)
def allowed_speed(distance: float, deceleration: float, latency: float) -> float:
    """Returns the greatest speed (m/s) that stops within distance (m), inverse to stopping_distance; 0: none does."""
    if not distance > 0.0:
        return 0.0
    reaction = deceleration * latency
    return math.sqrt(reaction * reaction + 2.0 * deceleration * distance) - reaction
