"""Drawn people and the pictures they are pasted into: alike from one seed, and boxes that hold what was drawn."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.training.cutouts import draw, random_light, random_person, random_thing, random_view
from esar_ros.training.montage import make_bank, montage, plain


@pytest.mark.parametrize("seed", range(6))
def test_a_cutouts_box_holds_what_is_its_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mesh = random_person(rng) if seed % 2 else random_thing(rng)
    cutout = draw(mesh, 20.0, random_view(rng), random_light(rng), rng)
    x, y, width, height = cutout.box
    inside = cutout.own[y : y + height, x : x + width]
    assert inside.sum() > 0.8 * cutout.own.sum() > 0.0
    assert cutout.colour.shape == (*cutout.own.shape, 3) and cutout.shadow.max() <= 1.0
    if seed % 2:
        assert 0.15 * 20.0 <= max(width, height) <= 3.0 * 20.0, "a person is half a metre to three metres long"


def test_one_seed_gives_one_picture_and_boxes_lie_in_it() -> None:
    made = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        bank, pictures = make_bank(4, rng), [plain(rng, 200)]
        made.append([montage(pictures, bank, 128, rng) for _ in range(12)])
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one.rgb, other.rgb) and np.array_equal(one.boxes, other.boxes)
        assert one.rgb.shape == (128, 128, 3) and one.rgb.dtype == np.uint8
        assert (one.boxes >= 0.0).all() and (one.boxes <= 128.0).all() and (one.boxes[:, 2:] > one.boxes[:, :2]).all()
    counts = {len(each.boxes) for each in made[0]}
    assert 0 in counts and max(counts) >= 2, "pictures of nobody, and of several people"


def test_a_picture_that_has_no_place_for_its_first_person_is_made_all_the_same() -> None:
    rng = np.random.default_rng(3)
    bank, pictures = make_bank(6, rng), [plain(rng, 64)]
    assert all(montage(pictures, bank, 16, rng).rgb.shape == (16, 16, 3) for _ in range(60))
