"""The braking model that every distance limit shares.

The vehicle is assumed to go on at its speed v for the reaction time `latency`: age of the inputs, decision, transport,
and the dead time of the autopilot. Then its velocity follows the command, zero, as a first-order lag of time constant
tau whose acceleration is limited to the deceleration a:

    dv/dt = -min(a, v / tau).

While v > a tau it brakes at a, over (v^2 - (a tau)^2) / 2a; from a tau on it decays exponentially, over (a tau) tau. So
the distance after the reaction time is

    v^2 / 2a + a tau^2 / 2    where v > a tau,    v tau    elsewhere.

It is smooth where the two meet, never less than v tau nor than v^2 / 2a, and equals v^2 / 2a where tau is 0.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_SHORTEST = 1e-9  # s; a latency of 0 divides nothing


@njit(cache=True, nogil=True)
def stopping_distance(speed: float, deceleration: float, latency: float, tau: float) -> float:
    """Returns the distance (m) to standstill from speed (m/s), with deceleration (m/s^2), latency and tau (s)."""
    linear = deceleration * tau  # m/s, below which the deceleration is not limited
    if speed <= linear:
        return speed * (tau + latency)
    return speed * speed / (2.0 * deceleration) + speed * latency + 0.5 * linear * tau


@njit(cache=True, nogil=True)
def allowed_speed(distance: float, deceleration: float, latency: float, tau: float) -> float:
    """Returns the greatest speed (m/s) that stops within distance (m), inverse to stopping_distance; 0: none does."""
    if not distance > 0.0:
        return 0.0
    linear = deceleration * tau
    if distance <= linear * (tau + latency):
        return distance / (tau + latency)
    reaction = deceleration * latency
    braked = distance - 0.5 * linear * tau
    return math.sqrt(reaction * reaction + 2.0 * deceleration * braked) - reaction


@njit(cache=True, nogil=True)
def closing_speed(distance: float, closing: float, deceleration: float, latency: float, tau: float) -> float:
    """Returns the greatest speed (m/s) to command towards something at distance (m) while closing on it (m/s).

    A vehicle that closes faster than the allowed speed is commanded to less than that, by the excess. Whatever a lag
    does in between, from the command to its standstill it covers tau * closing and the integral of the command; so a
    command that lasts for latency must also fit into distance - tau * closing.
    """
    allowed = allowed_speed(distance, deceleration, latency, tau)
    if closing <= allowed:
        return allowed
    bound = 2.0 * allowed - closing
    if tau > 0.0:
        bound = min(bound, (distance - tau * closing) / max(latency, _SHORTEST))
    return max(0.0, bound)


@njit(cache=True, nogil=True)
def closing_speeds(distances, closings, deceleration, latency, tau):  # type: ignore[no-untyped-def]
    """Returns closing_speed of distances (n,) and closing speeds (n,)."""
    out = np.empty(len(distances))
    for i in range(len(distances)):
        out[i] = closing_speed(distances[i], closings[i], deceleration, latency, tau)
    return out
