"""Households: enough of them, and each told truly and apart from the others of its family."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from esar_ros.sim.assets.households.catalogue import HOUSEHOLDS
from esar_ros.sim.assets.households.make import Family, Make, Stand, finish
from esar_ros.sim.assets.meshes import HOUSEHOLD, assets

MAKES = [(family, make) for family in HOUSEHOLDS.values() for make in family.makes]


def tone(make: Make) -> np.ndarray:
    """Linear albedo of a make's colour and material."""
    return np.array(finish(make.colour, make.material).tone)


def lab(albedo: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of a linear albedo."""
    encoded = np.where(albedo <= 0.0031308, 12.92 * albedo, 1.055 * albedo ** (1 / 2.4) - 0.055)
    return np.asarray(cv2.cvtColor(encoded.astype(np.float32)[None, None], cv2.COLOR_RGB2LAB)[0, 0])


def test_there_are_many_families_and_makes() -> None:
    assert len(HOUSEHOLDS) >= 50 and len(MAKES) >= 400
    assert all(4 <= len(family.makes) <= 12 for family in HOUSEHOLDS.values())
    assert {family.stand for family in HOUSEHOLDS.values()} == set(Stand)
    for family, make in MAKES:
        assert assets()[f"{HOUSEHOLD}_{family.name}/{make.name}"].variant is make


def test_no_two_makes_of_a_family_are_told_alike() -> None:
    for family in HOUSEHOLDS.values():
        assert len({make.description for make in family.makes}) == len(family.makes)
        # What is told apart by its material alone could not be told apart by eye.
        assert len({(make.shape, make.colour) for make in family.makes}) == len(family.makes), family.noun
        for make in family.makes:
            assert make.colour in make.description and not make.held_out


@pytest.mark.parametrize("family", HOUSEHOLDS.values(), ids=HOUSEHOLDS)
def test_colours_of_a_shape_differ_to_the_eye(family: Family) -> None:
    for one, other in itertools.combinations(family.makes, 2):
        if one.shape == other.shape:
            apart = np.linalg.norm(lab(tone(one)) - lab(tone(other)))
            assert apart > 10.0, (one.description, other.description)


@pytest.mark.parametrize("family", HOUSEHOLDS.values(), ids=HOUSEHOLDS)
def test_a_make_shows_the_colour_that_is_told(family: Family) -> None:
    """At least a fourteenth of what is drawn has the colour, lighter or darker."""
    for make in family.makes:
        mesh = assets()[f"{HOUSEHOLD}_{family.name}/{make.name}"].mesh
        corners = mesh.positions[mesh.triangles].astype(np.float64)
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        drawn, told = mesh.colours[mesh.triangles].mean(axis=1).astype(np.float64), tone(make)
        bright = np.linalg.norm(drawn, axis=1) / np.linalg.norm(told)
        alike = (drawn @ told) / np.maximum(np.linalg.norm(drawn, axis=1) * np.linalg.norm(told), 1e-9)
        share = area[(alike > 0.995) & (bright > 0.5) & (bright < 1.3)].sum() / area.sum()
        assert share > 1.0 / 14.0, make.description
