"""Things drawn alone, without a scene: the simulator's meshes in random postures, clothes, light and views, to be
pasted into photographs.

A thing is seen from far away (parallel rays), lit by one sun and the sky, and throws a shadow on level ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.assets.mesh_builder import Colour, Mesh
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.assets.people import postures
from esar_ros.sim.assets.people.persons import Outfit, person
from esar_ros.sim.assets.people.postures import STANDING, WAVING, Skeleton

Floats = NDArray[np.float32]
FINER = 3  # samples along a side of a pixel
_UPRIGHT = 0.62  # share of people who stand or walk, as most whom drones see do; of the others any posture
_POSTURES = tuple(
    each for each in vars(postures).values() if isinstance(each, Skeleton) and each not in (STANDING, WAVING)
)
_JITTER = 0.05  # m, standard deviation of a joint
_STRIDE = 0.28  # m, standard deviation of a walker's ankle before or behind the hip
_SKINS: tuple[Colour, ...] = ((0.60, 0.38, 0.28), (0.42, 0.25, 0.16), (0.16, 0.085, 0.055))
_HAIRS: tuple[Colour, ...] = ((0.018, 0.015, 0.013), (0.07, 0.04, 0.022), (0.32, 0.31, 0.30), (0.45, 0.30, 0.12))


@dataclass(frozen=True)
class Light:
    """Sun and sky of a picture: the direction towards the sun, shares of sun and sky, and how dark a shadow is."""

    sun: NDArray[np.float64]  # (3,) unit
    direct: float
    sky: float
    shadow: float  # 0: none, 1: black


@dataclass(frozen=True)
class View:
    """Direction in which a picture is taken: depression (rad, pi/2 is straight down) and turn of the picture (rad)."""

    down: float
    roll: float

    @property
    def axes(self) -> NDArray[np.float64]:
        """(3, 3): the picture's right and down, and the way away from the eye, of a world whose third axis is up."""
        sine, cosine = math.sin(self.down), math.cos(self.down)
        right, away = np.array([0.0, -1.0, 0.0]), np.array([cosine, 0.0, -sine])
        below = np.cross(away, right)
        turn = np.array([[math.cos(self.roll), math.sin(self.roll)], [-math.sin(self.roll), math.cos(self.roll)]])
        return np.vstack([turn @ np.vstack([right, below]), away])


@dataclass(frozen=True)
class Cutout:
    """A thing's picture: colour 0..1 (linear), its own share of each pixel and its shadow's, and its box."""

    colour: Floats  # (H, W, 3)
    own: Floats  # (H, W)
    shadow: Floats  # (H, W)
    box: tuple[int, int, int, int]  # x, y, width, height px of what is its own


def random_light(rng: np.random.Generator) -> Light:
    """Returns fair weather's light in two of three cases, else that of a covered sky."""
    up, around = math.radians(float(rng.uniform(15.0, 75.0))), float(rng.uniform(-math.pi, math.pi))
    sun = np.array([math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up)])
    if rng.random() < 0.65:
        return Light(sun, float(rng.uniform(0.7, 1.2)), float(rng.uniform(0.2, 0.45)), float(rng.uniform(0.4, 0.8)))
    return Light(sun, float(rng.uniform(0.0, 0.25)), float(rng.uniform(0.6, 1.0)), float(rng.uniform(0.0, 0.2)))


def random_view(rng: np.random.Generator) -> View:
    """Returns a drone's view: steep in half of the cases."""
    if rng.random() < 0.5:
        return View(math.radians(float(rng.uniform(60.0, 90.0))), float(rng.uniform(-math.pi, math.pi)))
    return View(math.radians(float(rng.uniform(8.0, 60.0))), float(rng.normal(0.0, 0.06)))


def random_person(rng: np.random.Generator) -> Mesh:
    """Returns a person of random posture, build and clothes, facing anywhere."""
    base = _POSTURES[int(rng.integers(len(_POSTURES)))]
    if rng.random() < _UPRIGHT:
        base = WAVING if rng.random() < 0.1 else STANDING
    skeleton = _moved(base, rng)
    jacket, trousers = _cloth(rng), _cloth(rng)
    if rng.random() < 0.12:
        trousers = jacket
    skin = _SKINS[int(rng.integers(len(_SKINS)))]
    hat, helmet, pack = (_cloth(rng) if rng.random() < share else None for share in (0.3, 0.06, 0.25))
    cape = bool(rng.random() < 0.05)
    tail = float(rng.uniform(0.3, 1.0)) if cape or rng.random() < 0.15 else 0.0
    height = float(rng.uniform(0.9, 1.08) if rng.random() < 0.85 else rng.uniform(0.6, 0.9))
    outfit = Outfit(
        jacket, trousers, "", skin, _HAIRS[int(rng.integers(len(_HAIRS)))], hat, bool(rng.random() < 0.1),
        float(rng.uniform(0.85, 1.35)), height, tail, cape, bool(rng.random() < 0.25), helmet, None, pack,
    )  # fmt: skip
    return person(skeleton, outfit).mesh


def random_thing(rng: np.random.Generator) -> Mesh:
    """Returns what is no person: one of the simulator's distractors and clues, in its own or any size."""
    names = _things()
    mesh = assets()[names[int(rng.integers(len(names)))]].mesh
    return mesh.scaled(math.exp(float(rng.normal(0.0, 0.3))))


def draw(mesh: Mesh, scale: float, view: View, light: Light, rng: np.random.Generator) -> Cutout:
    """Returns a mesh's picture at a scale (px a m), turned at random about the vertical."""
    turn = float(rng.uniform(-math.pi, math.pi))
    spin = np.array([[math.cos(turn), -math.sin(turn), 0.0], [math.sin(turn), math.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    places = mesh.positions.astype(np.float64) @ spin.T
    corners = places[mesh.triangles]
    flat = corners.copy()
    flat[..., :2] -= (flat[..., 2:] / max(light.sun[2], 0.2)) * light.sun[:2]
    flat[..., 2] = 0.0
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    axes = view.axes
    facing = normals @ axes[2] < 0.0
    seen, thrown = (part @ axes.T * (scale * FINER) for part in (corners, flat))
    everything = np.concatenate([seen, thrown]) if light.shadow > 0.05 else seen
    low = np.floor(everything[..., :2].min((0, 1))) - 2.0 * FINER
    size = np.ceil((everything[..., :2].max((0, 1)) - low) / FINER).astype(int) + 3
    width, height = (int(side) for side in size)
    lit = light.sky * (0.6 + 0.4 * normals[:, 2:]) + light.direct * np.maximum(normals @ light.sun, 0.0)[:, None]
    folds = np.exp(rng.normal(0.0, 0.12, (len(normals), 1)))
    colour = mesh.colours[mesh.triangles].mean(axis=1) * lit * folds
    paper = np.zeros((height * FINER, width * FINER, 3), np.float32)
    own, shadow = (np.zeros(paper.shape[:2], np.uint8) for _ in range(2))
    order = np.argsort(-seen[..., 2].mean(axis=1))  # the farthest first
    fine = np.rint((seen[..., :2] - low) * 16.0).astype(np.int32)  # in sixteenths, as cv2 takes them
    for n in order[facing[order]]:
        cv2.fillConvexPoly(paper, fine[n], colour[n].tolist(), cv2.LINE_8, 4)
        cv2.fillConvexPoly(own, fine[n], 255, cv2.LINE_8, 4)
    if light.shadow > 0.05:
        for shape in np.rint((thrown[..., :2] - low) * 16.0).astype(np.int32):
            cv2.fillConvexPoly(shadow, shape, 255, cv2.LINE_8, 4)
    small = (width, height)
    share = cv2.resize(own.astype(np.float32) / 255.0, small, interpolation=cv2.INTER_AREA)
    mean = cv2.resize(paper, small, interpolation=cv2.INTER_AREA) / np.maximum(share, 1e-3)[..., None]
    dark = cv2.resize(shadow.astype(np.float32) / 255.0, small, interpolation=cv2.INTER_AREA) * light.shadow
    rows, columns = np.nonzero(share > 0.4)
    if not len(rows):
        rows, columns = np.nonzero(share >= share.max())
    x, y = int(columns.min()), int(rows.min())
    box = (x, y, int(columns.max()) - x + 1, int(rows.max()) - y + 1)
    return Cutout(np.clip(mean, 0.0, 4.0).astype(np.float32), share, dark, box)


def _moved(base: Skeleton, rng: np.random.Generator) -> Skeleton:
    """Returns a skeleton with every joint displaced, and of one that stands mostly the legs and arms of a walk."""
    joints = {f.name: np.array(getattr(base, f.name), dtype=np.float64) for f in fields(base)}
    if base is STANDING and rng.random() < 0.75:
        step = float(rng.normal(0.0, _STRIDE))
        for side, sign in ((0, 1.0), (1, -1.0)):
            ahead = sign * step
            joints["knees"][side, 0] += 0.5 * ahead + 0.08 * abs(step)
            joints["ankles"][side, 0] += ahead
            joints["ankles"][side, 2] += 0.12 * max(0.0, -ahead)
            joints["toes"][side, 0] += ahead
            joints["toes"][side, 2] += 0.06 * max(0.0, -ahead)
            joints["elbows"][side, 0] -= 0.3 * ahead
            joints["hands"][side, 0] -= 0.7 * ahead
        if rng.random() < 0.25:  # hands before the body: a phone, a bag
            joints["hands"][:, 0] += 0.25
            joints["hands"][:, 2] += 0.25
    for name, joint in joints.items():
        noise = rng.normal(0.0, _JITTER * (0.4 if name in ("head", "neck", "pelvis") else 1.0), joint.shape)
        joint += noise * ([1.0, 1.0, 0.3] if base not in (STANDING, WAVING) else 1.0)
        joint[..., 2] = np.maximum(joint[..., 2], 0.04)
    return Skeleton(
        **{
            name: tuple(joint) if joint.ndim == 1 else (tuple(joint[0]), tuple(joint[1]))
            for name, joint in joints.items()
        }
    )


def _cloth(rng: np.random.Generator) -> Colour:
    """Returns a linear albedo: greys and dark cloth mostly, as people wear, else any hue."""
    value = float(rng.beta(1.1, 2.2))
    if rng.random() < 0.5:
        tint = rng.normal(1.0, 0.12, 3)
    else:
        hue = np.array(cv2.cvtColor(
            np.array([[[rng.integers(180), rng.integers(90, 256), 255]]], np.uint8), cv2.COLOR_HSV2RGB
        )[0, 0], dtype=np.float64) / 255.0  # fmt: skip
        tint = hue**2.2 * 1.5
    red, green, blue = np.clip(0.015 + 0.8 * value * tint, 0.01, 0.9).tolist()
    return red, green, blue


@cache
def _things() -> list[str]:
    """The names of assets that look like no person."""
    return [
        name for name in assets()
        if "/" in name and not name.startswith(("person", "footprints", "light")) and "card" not in name
        and assets()[name].mesh.radius < 4.0
    ]  # fmt: skip
