"""People: a skeleton a posture, dressed in one of many outfits. Facing +x; lying, heads at -x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from esar_ros.mission.clues import VictimPose
from esar_ros.sim.assets.mesh_builder import Colour, MeshBuilder, Model
from esar_ros.sim.assets.palette import BLACK, COLOURS, HELD_OUT, shade
from esar_ros.sim.assets.people.covers import COVERS, SHEETS
from esar_ros.sim.assets.people.postures import (
    BECKONING,
    BENT,
    CROUCHING,
    CURLED,
    HUGGING,
    LYING,
    PRONE,
    RECLINING,
    SIDE,
    SITTING,
    SLUMPED,
    SPREAD,
    STANDING,
    WAVING,
    Skeleton,
)
from esar_ros.sim.assets.variants import Variant

_FAIR: Colour = (0.60, 0.38, 0.28)
_TAN: Colour = (0.42, 0.25, 0.16)
_DARK: Colour = (0.16, 0.085, 0.055)
_BLACK_HAIR: Colour = (0.018, 0.015, 0.013)
_BROWN_HAIR: Colour = (0.07, 0.04, 0.022)
_GREY_HAIR: Colour = (0.32, 0.31, 0.30)
_BOOT: Colour = (0.045, 0.032, 0.024)
_DEPTHS = (0.09, 0.125, 0.115, 0.125, 0.10, 0.065)  # m, half, of a trunk along the spine
_WARM_SKIN, _WARM_CLOTH, _WARM_BOOT = 13.0, 4.0, 2.0  # K above the air, of somebody dressed at some 5 degrees


@dataclass(frozen=True)
class Outfit:
    """Linear albedo of clothes and body; girth and height relative to a grown person of 1.75 m.

    tail: share of the thighs that the jacket covers, as coat, skirt or cape.
    """

    jacket: Colour
    trousers: Colour
    words: str  # "red jacket"
    skin: Colour = _FAIR
    hair: Colour = _BLACK_HAIR
    hat: Colour | None = None
    hood: bool = False
    girth: float = 1.0
    height: float = 1.0
    tail: float = 0.0
    cape: bool = False  # over arms and rucksack
    bare: bool = False  # forearms and shins
    helmet: Colour | None = None
    band: Colour | None = None  # reflecting, around chest and waist
    pack: Colour | None = None


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
# People of other builds and clothes than the plain ones above.
FIGURES: dict[str, Outfit] = {
    "trekker": Outfit(_C["orange"], (0.20, 0.16, 0.10), "orange shirt, shorts, grey rucksack", _FAIR,
                      _BROWN_HAIR, bare=True, pack=_C["grey"]),
    "caped": Outfit(_C["yellow"], (0.05, 0.05, 0.06), "yellow rain cape", _TAN, hood=True, tail=0.75, cape=True,
                    girth=1.05),
    "worker": Outfit((0.80, 0.50, 0.02), _C["navy"], "yellow vest with reflecting bands", _DARK,
                     helmet=(0.75, 0.75, 0.72), band=(0.80, 0.82, 0.80), girth=1.1),
    "elder": Outfit((0.10, 0.09, 0.08), (0.06, 0.06, 0.06), "long dark coat", _FAIR, _GREY_HAIR, tail=0.85,
                    hat=(0.20, 0.18, 0.15), girth=1.05, height=0.95),
    "child": Outfit(_C["red"], _JEANS, "red jacket, a child", _FAIR, _BROWN_HAIR, girth=1.02, height=0.70,
                    hat=_C["blue"]),
    "stout": Outfit(_C["blue"], (0.10, 0.09, 0.07), "blue jacket, stout", _FAIR, _BLACK_HAIR, girth=1.42, height=1.02),
    "climber": Outfit(_C["green"], (0.04, 0.04, 0.05), "green jacket, white helmet, red rucksack", _TAN,
                      helmet=(0.70, 0.70, 0.70), pack=_C["red"], girth=0.98, height=1.03),
    "skirted": Outfit(_C["white"], (0.30, 0.05, 0.07), "white blouse and dark red skirt", _TAN, _BLACK_HAIR, tail=0.6,
                      bare=True, girth=0.88, height=0.94),
    "runner": Outfit(_C["purple"], (0.03, 0.03, 0.035), "purple shirt and shorts", _DARK, bare=True, girth=0.85,
                     height=1.0),
}  # fmt: skip


def person(skeleton: Skeleton, outfit: Outfit, cover: str | None = None) -> Model:
    """A grown person in a posture, under one of covers.COVERS or none."""
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
    widths, depths = np.array([0.13, 0.175, 0.165, 0.195, 0.165, 0.065]) * g, np.array(_DEPTHS) * g
    b.body(spine, widths, depths, outfit.jacket)
    _worn(b, s, outfit)
    arm, shin = (outfit.skin, outfit.skin) if outfit.bare else (shade(outfit.jacket, 0.92), shade(outfit.trousers, 0.9))
    bare = _WARM_SKIN - 3.0
    for side in (0, 1):
        hip, knee, ankle, toe = (np.array(j[side]) for j in (s.hips, s.knees, s.ankles, s.toes))
        shoulder, elbow, hand = (np.array(j[side]) for j in (s.shoulders, s.elbows, s.hands))
        b.warmth = _WARM_CLOTH
        b.limb(shoulder + 0.25 * (neck - shoulder), elbow, 0.08 * g, 0.062, outfit.jacket, 6)
        b.limb(hip, knee, 0.105 * g, 0.075, outfit.trousers, 7)
        b.warmth = bare if outfit.bare else _WARM_CLOTH
        b.limb(elbow - 0.1 * (hand - elbow), hand, 0.064, 0.046, arm, 6)
        b.limb(knee - 0.1 * (ankle - knee), ankle, 0.077, 0.058, shin, 6)
        b.warmth = bare
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
    elif outfit.helmet:
        b.ellipsoid(head + 0.045 * up + 0.012 * back, np.full(3, 0.132), outfit.helmet, 8, 6)
    else:
        b.ellipsoid(head + 0.045 * up + 0.018 * back, np.full(3, 0.107), outfit.hat or outfit.hair, 8, 5)
        if outfit.hat:
            b.ellipsoid(head + 0.155 * up, np.full(3, 0.03), BLACK, 5, 3)
    b.limb(neck - 0.05 * up, neck + 0.055 * up, 0.095, 0.085, shade(outfit.jacket, 0.7), 7)


def _worn(b: MeshBuilder, s: Skeleton, outfit: Outfit) -> None:
    """Adds what some wear over the trunk: tail of a coat, cape, reflecting bands, rucksack."""
    g, pelvis, neck = outfit.girth, np.array(s.pelvis), np.array(s.neck)
    along = neck - pelvis
    thighs = (np.array(s.knees[0]) + np.array(s.knees[1])) / 2.0 - pelvis
    if outfit.tail:
        cloth = outfit.jacket if outfit.cape or not outfit.bare else outfit.trousers
        path = [pelvis + 0.25 * along, pelvis, pelvis + 0.5 * outfit.tail * thighs, pelvis + outfit.tail * thighs]
        wide = np.array([0.18, 0.21, 0.25, 0.29]) * g
        b.body(path, wide, wide * [0.75, 0.78, 0.72, 0.68], shade(cloth, 0.95), 9)
    if outfit.cape:
        path = [pelvis + t * along for t in (-0.05, 0.35, 0.75, 0.95, 1.08)]
        b.body(path, np.array([0.33, 0.31, 0.27, 0.20, 0.08]) * g, np.array([0.24, 0.23, 0.20, 0.15, 0.08]) * g,
               outfit.jacket, 9)  # fmt: skip
    if outfit.band:
        for share in (0.12, 0.62):
            path = [pelvis + (share + step) * along for step in (0.0, 0.05, 0.10)]
            b.body(path, np.array([0.188, 0.198, 0.200]) * g, np.array([0.136, 0.138, 0.140]) * g, outfit.band)
    if outfit.pack and along[2] > 0.3:  # who lies has laid it down
        back = np.cross(along, np.array(s.shoulders[0]) - np.array(s.shoulders[1]))
        back *= -0.19 * g / np.linalg.norm(back) * np.sign(back[0])
        path = [pelvis + t * along + back for t in (0.12, 0.2, 0.6, 1.0, 1.1)]
        b.warmth = 0.0
        b.body(path, [0.10, 0.17, 0.17, 0.15, 0.08], [0.06, 0.12, 0.12, 0.10, 0.05], outfit.pack)
        b.warmth = _WARM_CLOTH


def _behind_face(s: Skeleton) -> np.ndarray:
    """Unit vector from the face to the back of the head."""
    if s.head[2] > 0.5:
        return np.array([-1.0, 0.0, 0.0])
    if s is PRONE:
        return np.array([0.0, 0.0, 1.0])
    return np.array([-0.5, -0.87, 0.0]) if s in (CURLED, SIDE) else np.array([0.0, 0.0, -1.0])


def _dressed(skeleton: Skeleton, prefix: str, words: str, names: str, held_out: bool = False) -> tuple[Variant, ...]:
    """A posture in outfits (names between spaces)."""
    return tuple(
        Variant(
            f"{prefix}{name}",
            name,
            words.format(_wearing(_LOOKS[name])),
            _maker(skeleton, _LOOKS[name], None),
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


_ALL, _FIGURES = " ".join(OUTFITS), " ".join(FIGURES)
_LOOKS = OUTFITS | FIGURES
PERSONS: dict[VictimPose, tuple[Variant, ...]] = {
    VictimPose.STANDING: (
        *_dressed(STANDING, "", "person in {}, standing", _ALL),
        *_dressed(WAVING, "waving_", "person in {}, waving both arms", "red orange blue yellow black khaki pink"),
        *_dressed(STANDING, "figure_", "person in {}, standing", _FIGURES),
        *_dressed(
            BECKONING, "beckoning_", "person in {}, waving an arm", "green grey navy trekker stout skirted child"
        ),
        *_dressed(BENT, "bent_", "person in {}, bent", "brown white elder caped stout"),
    ),
    VictimPose.SITTING: (
        *_dressed(SITTING, "", "person in {}, sitting", _ALL),
        *_dressed(SITTING, "figure_", "person in {}, sitting", _FIGURES),
        *_dressed(HUGGING, "hugging_", "person in {}, hugging the knees", "black olive purple child skirted caped"),
        *_dressed(CROUCHING, "crouching_", "person in {}, crouching", "orange navy khaki climber worker stout"),
        *_dressed(SLUMPED, "slumped_", "person in {}, slumped over", "red blue grey lime", held_out=True),
    ),
    VictimPose.LYING: (
        *_dressed(LYING, "", "person in {}, lying on the back", _ALL),
        *_dressed(LYING, "figure_", "person in {}, lying on the back", _FIGURES),
        *_dressed(SIDE, "side_", "person in {}, lying on the side", "blue black brown elder child trekker stout"),
        *_dressed(SPREAD, "spread_", "person in {}, lying spread out", "red grey green climber runner"),
        *_dressed(
            RECLINING, "reclining_", "person in {}, propped up on the elbows", "yellow navy trekker worker elder"
        ),
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
