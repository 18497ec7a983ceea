"""People: a skeleton a posture, dressed in one of many outfits. Facing +x; lying, heads at -x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from esar_ros.mission.clues import VictimPose
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, HELD_OUT, shade
from esar_ros.sim.assets.person_covers import COVERS, SHEETS
from esar_ros.sim.assets.variants import Variant

Point = tuple[float, float, float]

_FAIR: Colour = (0.60, 0.38, 0.28)
_TAN: Colour = (0.42, 0.25, 0.16)
_DARK: Colour = (0.16, 0.085, 0.055)
_BLACK_HAIR: Colour = (0.018, 0.015, 0.013)
_BROWN_HAIR: Colour = (0.07, 0.04, 0.022)
_GREY_HAIR: Colour = (0.32, 0.31, 0.30)
_BOOT: Colour = (0.045, 0.032, 0.024)
_WARM_SKIN, _WARM_CLOTH, _WARM_BOOT = 13.0, 4.0, 2.0  # K above the air, of somebody dressed at some 5 degrees


@dataclass(frozen=True)
class Outfit:
    """Linear albedo of clothes and body; girth and height relative to a grown person of 1.75 m."""

    jacket: Colour
    trousers: Colour
    words: str  # "red jacket"
    skin: Colour = _FAIR
    hair: Colour = _BLACK_HAIR
    hat: Colour | None = None
    hood: bool = False
    girth: float = 1.0
    height: float = 1.0


_C = COLOURS
_JEANS: Colour = (0.045, 0.07, 0.15)
OUTFITS: dict[str, Outfit] = {
    "red": Outfit(_C["red"], (0.030, 0.035, 0.06), "red jacket"),
    "orange": Outfit(_C["orange"], (0.05, 0.05, 0.05), "orange jacket and hat", _TAN, hat=_C["orange"]),
    "blue": Outfit(_C["blue"], (0.10, 0.09, 0.07), "blue jacket", _FAIR, _BROWN_HAIR, girth=1.1, height=1.03),
    "yellow": Outfit(
        _C["yellow"], (0.03, 0.04, 0.09), "yellow jacket and red hat", hat=(0.35, 0.03, 0.03), height=0.94
    ),
    "olive": Outfit(_C["olive"], (0.14, 0.11, 0.07), "olive jacket", _TAN, hat=(0.10, 0.10, 0.05), girth=1.08),
    "white": Outfit((0.65, 0.66, 0.68), (0.16, 0.17, 0.20), "white jacket", _TAN, height=0.95, girth=0.94),
    "black": Outfit(_C["black"], (0.03, 0.03, 0.035), "black jacket", hood=True),
    "grey": Outfit(_C["grey"], _JEANS, "grey jacket and jeans", _TAN, _GREY_HAIR, girth=1.15),
    "brown": Outfit(_C["brown"], _C["khaki"], "brown jacket", _FAIR, _GREY_HAIR, height=0.97),
    "khaki": Outfit(_C["khaki"], (0.18, 0.15, 0.10), "khaki jacket", _DARK, height=1.04),
    "green": Outfit(_C["green"], (0.04, 0.04, 0.045), "green jacket", _FAIR, _BROWN_HAIR, girth=0.93, height=0.93),
    "navy": Outfit(_C["navy"], _JEANS, "dark blue jacket and jeans", _TAN, hat=_C["red"]),
    "purple": Outfit(_C["purple"], (0.05, 0.05, 0.06), "purple jacket", _FAIR, hood=True, girth=0.92, height=0.92),
    "teal": Outfit(_C["teal"], (0.06, 0.06, 0.07), "teal jacket", _DARK, girth=1.05),
    "pink": Outfit(_C["pink"], (0.03, 0.03, 0.04), "pink jacket", _FAIR, _BROWN_HAIR, girth=0.92, height=0.92),
    "lime": Outfit(_C["lime"], (0.10, 0.10, 0.11), "bright green jacket", _TAN, hat=_C["grey"]),
    "maroon": Outfit(_C["maroon"], _C["khaki"], "dark red jacket", _TAN, _GREY_HAIR, girth=1.12),
}


@dataclass(frozen=True)
class Skeleton:
    """Joints in m; pairs are left, right."""

    head: Point
    neck: Point
    pelvis: Point
    shoulders: tuple[Point, Point]
    elbows: tuple[Point, Point]
    hands: tuple[Point, Point]
    hips: tuple[Point, Point]
    knees: tuple[Point, Point]
    ankles: tuple[Point, Point]
    toes: tuple[Point, Point]


STANDING = Skeleton(
    head=(0.02, 0.0, 1.62),
    neck=(0.0, 0.0, 1.46),
    pelvis=(0.0, 0.0, 0.93),
    shoulders=((0.0, 0.20, 1.39), (0.0, -0.20, 1.39)),
    elbows=((-0.02, 0.29, 1.12), (-0.02, -0.30, 1.12)),
    hands=((0.08, 0.31, 0.86), (0.10, -0.30, 0.87)),
    hips=((0.0, 0.10, 0.92), (0.0, -0.10, 0.92)),
    knees=((0.03, 0.12, 0.50), (0.04, -0.13, 0.50)),
    ankles=((0.0, 0.13, 0.09), (-0.02, -0.15, 0.09)),
    toes=((0.18, 0.15, 0.05), (0.16, -0.19, 0.05)),
)
WAVING = replace(
    STANDING,
    elbows=((0.0, 0.42, 1.55), (0.06, -0.42, 1.52)),
    hands=((0.06, 0.44, 1.85), (0.10, -0.52, 1.80)),
)
SITTING = Skeleton(
    head=(0.10, 0.0, 0.87),
    neck=(0.03, 0.0, 0.70),
    pelvis=(-0.12, 0.0, 0.15),
    shoulders=((0.0, 0.20, 0.63), (0.0, -0.20, 0.63)),
    elbows=((0.20, 0.28, 0.44), (0.20, -0.28, 0.44)),
    hands=((0.42, 0.10, 0.42), (0.42, -0.08, 0.40)),
    hips=((-0.08, 0.11, 0.15), (-0.08, -0.11, 0.15)),
    knees=((0.34, 0.16, 0.48), (0.34, -0.16, 0.48)),
    ankles=((0.56, 0.15, 0.10), (0.58, -0.15, 0.10)),
    toes=((0.74, 0.17, 0.06), (0.76, -0.17, 0.06)),
)
SLUMPED = Skeleton(
    head=(0.16, 0.05, 0.68),
    neck=(0.04, 0.02, 0.58),
    pelvis=(-0.14, 0.0, 0.13),
    shoulders=((0.02, 0.21, 0.50), (0.0, -0.18, 0.53)),
    elbows=((0.10, 0.34, 0.28), (-0.02, -0.34, 0.30)),
    hands=((0.28, 0.28, 0.10), (0.18, -0.36, 0.09)),
    hips=((-0.08, 0.11, 0.14), (-0.08, -0.11, 0.14)),
    knees=((0.38, 0.20, 0.17), (0.30, -0.30, 0.33)),
    ankles=((0.80, 0.24, 0.10), (0.62, -0.22, 0.10)),
    toes=((0.86, 0.27, 0.24), (0.78, -0.26, 0.07)),
)
LYING = Skeleton(
    head=(-0.80, 0.04, 0.13),
    neck=(-0.62, 0.02, 0.13),
    pelvis=(-0.06, 0.0, 0.13),
    shoulders=((-0.55, 0.20, 0.12), (-0.55, -0.19, 0.12)),
    elbows=((-0.34, 0.42, 0.08), (-0.72, -0.42, 0.08)),
    hands=((-0.08, 0.50, 0.06), (-0.96, -0.48, 0.06)),
    hips=((-0.02, 0.10, 0.12), (-0.02, -0.10, 0.12)),
    knees=((0.38, 0.24, 0.20), (0.42, -0.14, 0.11)),
    ankles=((0.70, 0.12, 0.09), (0.82, -0.18, 0.08)),
    toes=((0.76, 0.26, 0.10), (0.88, -0.26, 0.18)),
)
CURLED = Skeleton(
    head=(-0.52, 0.16, 0.13),
    neck=(-0.40, 0.04, 0.15),
    pelvis=(0.16, -0.10, 0.15),
    shoulders=((-0.32, 0.04, 0.28), (-0.30, -0.02, 0.10)),
    elbows=((-0.10, 0.26, 0.22), (-0.14, 0.28, 0.08)),
    hands=((-0.36, 0.34, 0.12), (-0.30, 0.40, 0.06)),
    hips=((0.18, -0.06, 0.22), (0.18, -0.06, 0.10)),
    knees=((0.20, 0.38, 0.22), (0.28, 0.36, 0.09)),
    ankles=((0.56, 0.16, 0.12), (0.62, 0.08, 0.07)),
    toes=((0.66, 0.28, 0.10), (0.74, 0.18, 0.06)),
)
PRONE = Skeleton(
    head=(-0.80, -0.03, 0.11),
    neck=(-0.61, 0.0, 0.12),
    pelvis=(-0.05, 0.0, 0.12),
    shoulders=((-0.54, 0.20, 0.11), (-0.54, -0.20, 0.11)),
    elbows=((-0.74, 0.44, 0.07), (-0.70, -0.40, 0.07)),
    hands=((-1.00, 0.36, 0.05), (-0.94, -0.28, 0.05)),
    hips=((0.0, 0.10, 0.11), (0.0, -0.10, 0.11)),
    knees=((0.40, 0.28, 0.09), (0.42, -0.12, 0.09)),
    ankles=((0.58, 0.06, 0.09), (0.84, -0.16, 0.09)),
    toes=((0.70, 0.00, 0.05), (1.00, -0.19, 0.05)),
)


def person(skeleton: Skeleton, outfit: Outfit, cover: str | None = None) -> Model:
    """A grown person in a posture, under one of person_covers.COVERS or none."""
    b = MeshBuilder()
    _body(b, skeleton, outfit)
    b.map(lambda p: p * outfit.height)
    for start, end, radius in (
        (skeleton.pelvis, skeleton.neck, 0.18 * outfit.girth),
        (skeleton.neck, skeleton.head, 0.12),
        *((skeleton.shoulders[s], skeleton.hands[s], 0.08) for s in (0, 1)),
        *((skeleton.hips[s], skeleton.knees[s], 0.10) for s in (0, 1)),
        *((skeleton.knees[s], skeleton.toes[s], 0.08) for s in (0, 1)),
    ):
        b.solid_rod(np.array(start) * outfit.height, np.array(end) * outfit.height, radius * outfit.height)
    if cover is not None:
        b.warmth = 1.0
        b.foreign = cover not in SHEETS  # a sheet is a sign of somebody, snow is none
        COVERS[cover][1](b)
    return b.model()


def _body(b: MeshBuilder, s: Skeleton, outfit: Outfit) -> None:
    g = outfit.girth
    pelvis, neck, head = np.array(s.pelvis), np.array(s.neck), np.array(s.head)
    b.warmth = _WARM_CLOTH
    spine = [pelvis + t * (neck - pelvis) for t in (-0.10, 0.0, 0.35, 0.70, 0.90, 1.05)]
    b.body(
        spine,
        np.array([0.13, 0.175, 0.165, 0.195, 0.165, 0.065]) * g,
        np.array([0.09, 0.125, 0.115, 0.125, 0.10, 0.065]) * g,
        outfit.jacket,
    )
    for side in (0, 1):
        hip, knee, ankle, toe = (np.array(j[side]) for j in (s.hips, s.knees, s.ankles, s.toes))
        shoulder, elbow, hand = (np.array(j[side]) for j in (s.shoulders, s.elbows, s.hands))
        b.warmth = _WARM_CLOTH
        b.limb(shoulder + 0.25 * (neck - shoulder), elbow, 0.08 * g, 0.062, outfit.jacket, 6)
        b.limb(elbow - 0.1 * (hand - elbow), hand, 0.064, 0.046, shade(outfit.jacket, 0.92), 6)
        b.limb(hip, knee, 0.105 * g, 0.075, outfit.trousers, 7)
        b.limb(knee - 0.1 * (ankle - knee), ankle, 0.077, 0.058, shade(outfit.trousers, 0.9), 6)
        b.warmth = _WARM_SKIN - 3.0
        tip = hand + 0.10 * (hand - elbow) / np.linalg.norm(hand - elbow)
        b.limb(hand, tip, 0.042, 0.028, outfit.skin, 5)
        b.warmth = _WARM_BOOT
        b.limb(ankle + 0.35 * (ankle - toe), toe, 0.068, 0.048, _BOOT, 6)
    b.warmth = _WARM_SKIN
    up = (head - neck) / np.linalg.norm(head - neck)
    b.limb(neck, head, 0.06, 0.06, outfit.skin, 6)
    b.ellipsoid(head, (0.098, 0.085, 0.12) if up[2] > 0.6 else (0.12, 0.088, 0.098), outfit.skin, 8, 6)
    b.warmth = _WARM_CLOTH
    back = _behind_face(s)
    if outfit.hood:
        b.ellipsoid(head + 0.02 * up + 0.035 * back, np.full(3, 0.128), shade(outfit.jacket, 0.85), 8, 6)
    else:
        b.ellipsoid(head + 0.045 * up + 0.018 * back, np.full(3, 0.107), outfit.hat or outfit.hair, 8, 5)
        if outfit.hat:
            b.ellipsoid(head + 0.155 * up, np.full(3, 0.03), BLACK, 5, 3)
    b.limb(neck - 0.05 * up, neck + 0.055 * up, 0.095, 0.085, shade(outfit.jacket, 0.7), 7)


def _behind_face(s: Skeleton) -> np.ndarray:
    """Unit vector from the face to the back of the head."""
    if s.head[2] > 0.5:
        return np.array([-1.0, 0.0, 0.0])
    if s is PRONE:
        return np.array([0.0, 0.0, 1.0])
    return np.array([-0.5, -0.87, 0.0]) if s is CURLED else np.array([0.0, 0.0, -1.0])


def _dressed(skeleton: Skeleton, prefix: str, words: str, names: str, held_out: bool = False) -> tuple[Variant, ...]:
    """A posture in outfits (names between spaces)."""
    return tuple(
        Variant(
            f"{prefix}{name}",
            name,
            words.format(_wearing(OUTFITS[name])),
            _maker(skeleton, OUTFITS[name], None),
            held_out or name in HELD_OUT,
        )
        for name in names.split()
    )


def _covered(skeleton: Skeleton, prefix: str, cover: str, names: str, held_out: bool = False) -> tuple[Variant, ...]:
    return tuple(
        Variant(
            f"{prefix}{name}",
            name,
            f"person in {_wearing(OUTFITS[name])}, {COVERS[cover][0]}",
            _maker(skeleton, OUTFITS[name], cover),
            held_out or name in HELD_OUT,
        )
        for name in names.split()
    )


def _wearing(outfit: Outfit) -> str:
    return f"{'an' if outfit.words[0] in 'aeiou' else 'a'} {outfit.words}"


def _maker(skeleton: Skeleton, outfit: Outfit, cover: str | None) -> Callable[[], Model]:
    return lambda: person(skeleton, outfit, cover)


_ALL = " ".join(OUTFITS)
PERSONS: dict[VictimPose, tuple[Variant, ...]] = {
    VictimPose.STANDING: (
        *_dressed(STANDING, "", "person in {}, standing", _ALL),
        *_dressed(WAVING, "waving_", "person in {}, waving both arms", "red orange blue yellow black khaki pink"),
    ),
    VictimPose.SITTING: (
        *_dressed(SITTING, "", "person in {}, sitting", _ALL),
        *_dressed(SLUMPED, "slumped_", "person in {}, slumped over", "red blue grey lime", held_out=True),
    ),
    VictimPose.LYING: (
        *_dressed(LYING, "", "person in {}, lying on the back", _ALL),
        *_dressed(CURLED, "curled_", "person in {}, curled up on the side", "red orange blue olive grey white teal"),
        *_dressed(PRONE, "prone_", "person in {}, lying face down", "red yellow black maroon", held_out=True),
    ),
    VictimPose.COVERED: (
        *_covered(LYING, "", "blanket", _ALL),
        *_covered(CURLED, "gold_", "gold", "red blue black"),
        *_covered(LYING, "snow_", "snow", "red orange blue black navy teal"),
        *_covered(LYING, "branches_", "branches", "red blue olive brown yellow"),
        *_covered(LYING, "rock_", "rock", "red blue grey orange white"),
        *_covered(CURLED, "scree_", "scree", "red olive pink", held_out=True),
    ),
}
