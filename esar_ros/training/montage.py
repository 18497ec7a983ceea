"""Training pictures of people in photographs: drawn people and things pasted into pictures that show nobody.

What a lens, a sensor and a codec do to a picture is done to the whole of it: blur, noise, haze, exposure, compression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.training.cutouts import Cutout, draw, random_light, random_person, random_thing, random_view

Rgb = NDArray[np.uint8]
SIZES = (7.0, 110.0)  # px that a standing person is long in the picture; small ones more often
_TALL, _THICK = 1.75, 0.9  # m, of who stands, with arms
LEAST = 4  # px, of a person's longer side, from which the person is labelled
_CROWD = (0.22, 0.22, 0.20, 0.14, 0.10, 0.12)  # chances of nobody, one person, two, ... in a crop; the last: six to ten
_GAMMA = 2.2
_ENLARGED = (
    0.55  # share of pictures taken at half the side and enlarged, as small pictures are before they are looked at
)


@dataclass(frozen=True)
class Montage:
    """A training picture and its people."""

    rgb: Rgb  # (H, W, 3)
    boxes: NDArray[np.float32]  # (N, 4) x1, y1, x2, y2 px


@dataclass(frozen=True)
class Bank:
    """Cutouts drawn beforehand, of people and of what is none, in groups that share a view and light."""

    people: Sequence[Sequence[Cutout]]
    things: Sequence[Sequence[Cutout]]


def make_bank(groups: int, rng: np.random.Generator) -> Bank:
    """Returns a bank of some groups of five people and three things each."""
    people, things = [], []
    for _ in range(groups):
        view, light = random_view(rng), random_light(rng)
        tall = math.exp(float(rng.uniform(*np.log(SIZES)))) if rng.random() < 0.8 else float(rng.uniform(*SIZES))
        scale = tall / (_TALL * math.cos(view.down) + _THICK * math.sin(view.down))
        people.append([draw(random_person(rng), scale, view, light, rng) for _ in range(5)])
        things.append([draw(random_thing(rng), scale, view, light, rng) for _ in range(3)])
    return Bank(people, things)


def montage(pictures: Sequence[Rgb], bank: Bank, side: int, rng: np.random.Generator) -> Montage:
    """Returns a square training picture with `side` px made of one picture (at least as large) and a group."""
    canvas = _linear(_ground(pictures[int(rng.integers(len(pictures)))], side, rng))
    group = int(rng.integers(len(bank.people)))
    count = int(rng.choice(len(_CROWD), p=_CROWD))
    count = int(rng.integers(6, 11)) if count == len(_CROWD) - 1 else count
    level = float(np.median(canvas)) / 0.18
    gain = float(np.clip(level, 0.25, 2.5)) * math.exp(float(rng.normal(0.0, 0.25)))
    if rng.random() < 0.10:
        gain *= float(rng.uniform(0.02, 0.2))  # silhouettes before a bright sky
    tint = np.exp(rng.normal(0.0, 0.06, 3)).astype(np.float32)
    mirrored = bool(rng.random() < 0.5)
    boxes: list[tuple[float, float, float, float]] = []
    taken = np.zeros((side, side), np.float32)
    for _ in range(int(rng.poisson(1.2))):
        _paste(
            canvas,
            taken,
            bank.things[group][int(rng.integers(len(bank.things[group])))],
            mirrored,
            gain,
            tint,
            None,
            rng,
        )
    for _ in range(count):
        beside = boxes[-1] if boxes and rng.random() < 0.35 else None
        cutout = bank.people[group][int(rng.integers(len(bank.people[group])))]
        box = _paste(canvas, taken, cutout, mirrored, gain, tint, beside, rng)
        if box is not None:
            boxes.append(box)
    rgb = _taken(canvas, rng)
    found = np.array(boxes, dtype=np.float32).reshape(-1, 4)
    large = np.maximum(found[:, 2] - found[:, 0], found[:, 3] - found[:, 1]) >= LEAST
    return Montage(rgb, found[large])


def plain(rng: np.random.Generator, side: int = 640) -> Rgb:
    """Returns a drawn ground without a thing on it: rough, under a sky or not, with a horizon like hills'."""
    horizon = int(float(rng.uniform(-0.2, 0.7)) * side)
    rough = _roughness(side, side, float(rng.uniform(0.6, 2.0)), rng)[..., None]
    picture = _tone(rng) + rough * float(rng.uniform(4.0, 35.0)) * np.exp(rng.normal(0.0, 0.15, 3))
    if horizon > 0:
        share = np.clip(np.arange(side) / horizon, 0.0, 1.0)[:, None, None]
        clouds = _roughness(side, side, 2.5, rng)[..., None] * float(rng.uniform(0.0, 15.0))
        sky = _tone(rng) * (1.0 - share) + _tone(rng) * share + clouds
        line = horizon + _roughness(2, side, 2.0, rng)[0] * float(rng.uniform(0.0, 40.0))
        picture = np.where((np.arange(side)[:, None] < line)[..., None], sky, picture)
    return np.clip(picture, 0.0, 255.0).astype(np.uint8)


def _tone(rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(rng.uniform(30.0, 215.0) * np.exp(rng.normal(0.0, 0.18, 3)))


def _roughness(height: int, width: int, slope: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Returns noise (H, W) of mean 0 and deviation 1 whose octaves weaken by a slope."""
    out, cells = np.zeros((height, width)), 2
    while cells < max(height, width):
        octave = rng.normal(0.0, 1.0, (cells, cells)).astype(np.float32)
        out += cv2.resize(octave, (width, height), interpolation=cv2.INTER_CUBIC) * cells ** (-slope / 2.0)
        cells *= 2
    return np.asarray((out - out.mean()) / out.std())


def _ground(picture: Rgb, side: int, rng: np.random.Generator) -> Rgb:
    """Returns a square part of a picture, turned and mirrored at random."""
    height, width = picture.shape[:2]
    most = min(height, width)
    part = int(min(most, max(side // 2, side * math.exp(float(rng.normal(0.2, 0.45))))))
    top, left = int(rng.integers(height - part + 1)), int(rng.integers(width - part + 1))
    crop = picture[top : top + part, left : left + part]
    if rng.random() < 0.5:
        crop = crop[:, ::-1]
    smooth = cv2.INTER_AREA if part > side else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(np.ascontiguousarray(crop), (side, side), interpolation=smooth), dtype=np.uint8)


def _paste(
    canvas: NDArray[np.float32],
    taken: NDArray[np.float32],
    cutout: Cutout,
    mirrored: bool,
    gain: float,
    tint: NDArray[np.float32],
    beside: tuple[float, float, float, float] | None,
    rng: np.random.Generator,
) -> tuple[float, float, float, float] | None:
    """Puts a cutout into a linear picture; returns its box there, None where it found no place.

    taken: (H, W) what covers the picture already, which is brought up to date.
    """
    colour, own, shadow = cutout.colour, cutout.own, cutout.shadow
    x, y, width, height = cutout.box
    if mirrored:
        colour, own, shadow = colour[:, ::-1], own[:, ::-1], shadow[:, ::-1]
        x = own.shape[1] - x - width
    side = canvas.shape[0]
    if width >= side - 2 or height >= side - 2:
        return None
    for _ in range(4):
        if beside is not None:
            reach = 0.6 * max(width, height)
            left = int(beside[0] + rng.choice([-1.0, 1.0]) * (width + float(rng.uniform(-0.2, 0.5)) * width))
            top = int(beside[1] + float(rng.normal(0.0, 0.3)) * reach)
        else:
            left, top = int(rng.integers(-width // 4, side - width)), int(rng.integers(-height // 4, side - height))
        x1, y1 = left - x, top - y  # of the cutout's corner
        rows = slice(max(0, y1), min(side, y1 + own.shape[0]))
        columns = slice(max(0, x1), min(side, x1 + own.shape[1]))
        if rows.stop <= rows.start or columns.stop <= columns.start:
            continue
        inner = np.s_[rows.start - y1 : rows.stop - y1, columns.start - x1 : columns.stop - x1]
        mine = own[inner]
        if mine.sum() < 0.6 * own.sum() or (taken[rows, columns] * mine).sum() > 0.25 * mine.sum():
            continue
        part = canvas[rows, columns]
        part *= (1.0 - shadow[inner])[..., None]
        part[:] = part * (1.0 - mine[..., None]) + colour[inner] * (gain * tint) * mine[..., None]
        taken[rows, columns] = np.maximum(taken[rows, columns], mine)
        return (
            float(max(0, left)), float(max(0, top)),
            float(min(side, left + width)), float(min(side, top + height)),
        )  # fmt: skip
    return None


def _linear(rgb: Rgb) -> NDArray[np.float32]:
    return (rgb.astype(np.float32) / 255.0) ** _GAMMA


def _taken(canvas: NDArray[np.float32], rng: np.random.Generator) -> Rgb:
    """Returns the picture that a camera takes of a linear one."""
    side = canvas.shape[0]
    if rng.random() < 0.3:  # haze
        veil = float(rng.uniform(0.05, 0.5))
        air = np.array([0.55, 0.6, 0.68], np.float32) * float(rng.uniform(0.5, 1.4))
        canvas = canvas * (1.0 - veil) + veil * air
    canvas = canvas * math.exp(float(rng.normal(0.0, 0.35))) * np.exp(rng.normal(0.0, 0.06, 3)).astype(np.float32)
    seen = np.clip(canvas, 0.0, 1.0) ** (1.0 / _GAMMA) * 255.0
    grey = seen.mean(axis=2, keepdims=True)
    seen = grey + (seen - grey) * float(rng.uniform(0.3, 1.3))
    middle = float(seen.mean())
    seen = (seen - middle) * float(rng.uniform(0.6, 1.25)) + middle
    out = np.clip(seen, 0.0, 255.0).astype(np.float32)
    if rng.random() < 0.45:
        out = cv2.GaussianBlur(out, (0, 0), float(rng.uniform(0.3, 1.3)))
    if rng.random() < 0.15:  # a stretched picture of fewer pixels, as films are
        small = int(side / float(rng.uniform(1.2, 2.0)))
        out = cv2.resize(cv2.resize(out, (small, small), interpolation=cv2.INTER_AREA), (side, side))
    if rng.random() < 0.12:  # the camera moves
        length = int(rng.integers(2, 5))
        kernel = np.zeros((length, length), np.float32)
        kernel[length // 2] = 1.0 / length
        out = cv2.filter2D(out, -1, kernel if rng.random() < 0.5 else np.ascontiguousarray(kernel.T))
    if rng.random() < 0.6:
        out = out + rng.normal(0.0, float(rng.uniform(1.0, 9.0)), out.shape)
    rgb = np.clip(out, 0.0, 255.0).astype(np.uint8)
    if rng.random() < 0.7:
        done, data = cv2.imencode(".jpg", rgb, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 96))])
        if done:
            rgb = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)
    return rgb
