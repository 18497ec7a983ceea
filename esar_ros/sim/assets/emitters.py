"""Light, heat and smoke that an object gives off, as data for renderers.

Luminous intensities: a hand flare burns with 15 000 cd and buoyant smoke lasts three minutes (IMO LSA Code, 3.2 and
3.3); lanterns and headlamps by their makers' lumens; a small wood fire gives about a thousand lumens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

Triple = tuple[float, float, float]


class EmitterKind(str, Enum):
    """Kind of a light, heat or smoke source."""

    FIRE = "fire"
    FLARE = "flare"
    TORCH = "torch"
    EMBERS = "embers"
    CANISTER = "canister"  # of coloured smoke: no light to speak of


@dataclass(frozen=True)
class Smoke:
    """A plume in still air; wind bends it."""

    colour: Triple  # linear albedo
    radius: float  # m at the source
    spread: float  # m of radius gained a metre of rise
    rise: float  # m/s
    height: float  # m above the source at which it has thinned out
    opacity: float  # 0..1, of a ray through the plume's middle at the source


@dataclass(frozen=True)
class Emitter:
    """One source in its asset's frame (m, z up); it scales and turns with the object."""

    kind: EmitterKind
    offset: Triple  # m, of the luminous centre
    colour: Triple  # linear, the greatest component 1
    intensity: float  # cd, on the axis where there is a beam
    radius: float  # m, of the luminous body
    flicker: float = 0.0  # 0 steady .. 1 goes out at times
    temperature: float = 290.0  # K, of what glows, as an infrared camera sees it
    direction: Triple = (0.0, 0.0, 1.0)  # unit, of the beam
    beam: float = math.pi  # rad, half angle of the beam; pi: all round
    smoke: Smoke | None = None


FIRE_SMOKE = Smoke((0.42, 0.42, 0.43), 0.22, 0.16, 1.6, 22.0, 0.45)
EMBER_SMOKE = Smoke((0.48, 0.48, 0.49), 0.12, 0.14, 0.8, 9.0, 0.28)


def fire(height: float) -> Emitter:
    """Flames of a wood fire of a height (m)."""
    return Emitter(
        EmitterKind.FIRE,
        (0.0, 0.0, 0.55 * height),
        (1.0, 0.48, 0.14),
        110.0 * height,
        0.35 * height,
        0.35,
        1100.0,
        smoke=FIRE_SMOKE,
    )


def embers(height: float) -> Emitter:
    """Returns the embers under the ash of a fire that has just burnt down."""
    return Emitter(EmitterKind.EMBERS, (0.0, 0.0, height), (1.0, 0.25, 0.05), 1.5, 0.2, 0.2, 620.0, smoke=EMBER_SMOKE)


def flare(colour: Triple, smoke: Triple, offset: Triple) -> Emitter:
    """A hand flare's flame."""
    plume = Smoke(smoke, 0.15, 0.18, 2.2, 28.0, 0.8)
    return Emitter(EmitterKind.FLARE, offset, colour, 15_000.0, 0.06, 0.15, 1900.0, smoke=plume)


def canister(smoke: Triple, offset: Triple) -> Emitter:
    """A smoke signal's mouth."""
    plume = Smoke(smoke, 0.25, 0.24, 1.5, 35.0, 0.97)
    return Emitter(EmitterKind.CANISTER, offset, (1.0, 0.5, 0.2), 0.5, 0.05, 0.3, 450.0, smoke=plume)


def lamp(offset: Triple, lumens: float, colour: Triple = (1.0, 0.88, 0.68)) -> Emitter:
    """A lantern that shines all round."""
    return Emitter(EmitterKind.TORCH, offset, colour, lumens / (4.0 * math.pi), 0.05, 0.0, 305.0)


def torch(offset: Triple, direction: Triple, candela: float, beam: float) -> Emitter:
    """A torch or headlamp with a beam of a half angle (rad)."""
    return Emitter(EmitterKind.TORCH, offset, (0.95, 1.0, 1.0), candela, 0.03, 0.0, 303.0, direction, beam)
