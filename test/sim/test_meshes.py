"""Assets: complete, well-formed and distinct."""

from __future__ import annotations

import numpy as np
import pytest

from esar_ros.mission.clues import KINDS, PERSON, ClueKind, VictimPose
from esar_ros.sim.meshes import Asset, assets
from esar_ros.sim.plant_meshes import SHAPES, broadleaf, bush, conifer, pebble, rock

EVERY = sorted(assets().items())


def test_every_kind_and_pose_has_variants() -> None:
    names = set(assets())
    for kind in ClueKind:
        assert kind.value in names
        assert sum(name.startswith(f"{kind.value}/") for name in names) >= 2
    for pose in VictimPose:
        assert f"person_{pose.value}" in names
        assert sum(name.startswith(f"person_{pose.value}/") for name in names) >= 5
    assert {asset.kind for asset in assets().values()} == set(KINDS)


@pytest.mark.parametrize(("name", "asset"), EVERY, ids=[name for name, _ in EVERY])
def test_meshes_are_well_formed(name: str, asset: Asset) -> None:
    mesh = asset.mesh
    assert np.isfinite(mesh.positions).all() and np.isfinite(mesh.colours).all()
    assert mesh.triangles.min() >= 0 and mesh.triangles.max() < len(mesh.positions)
    assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert (mesh.colours >= 0.0).all() and (mesh.colours[mesh.emission == 0.0] <= 1.0).all()
    assert len(mesh.triangles) < 900
    assert mesh.bounds[0][2] == pytest.approx(0.0, abs=0.06)  # stands on the ground
    assert 0.1 < asset.radius < 8.0


def test_normals_point_outwards() -> None:
    for name in ("person_standing", "backpack", "sleeping_bag", "campfire", "water_bottle"):
        mesh = assets()[name].mesh
        a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(np.float64) for k in range(3))
        facet = np.cross(b - a, c - a)
        size = np.linalg.norm(facet, axis=1)
        smooth = mesh.normals[mesh.triangles].mean(axis=1)
        agree = (facet * smooth).sum(axis=1)[size > 1e-8] > 0.0
        assert agree.mean() > 0.97


def test_poses_differ_as_people_do() -> None:
    height = {pose: assets()[f"person_{pose.value}"].mesh.bounds[1][2] for pose in VictimPose}
    assert 1.6 < height[VictimPose.STANDING] < 2.0
    assert 0.8 < height[VictimPose.SITTING] < 1.1
    assert height[VictimPose.LYING] < 0.4 and height[VictimPose.COVERED] < 0.5
    lying = assets()["person_lying"].mesh
    assert 1.6 < np.ptp(lying.positions[:, 0]) < 2.1


def test_only_fires_and_lamps_glow() -> None:
    glowing = {asset.kind for asset in assets().values() if asset.emissive}
    assert glowing == {"campfire", "signal_flare", "light"}
    assert not assets()["campfire/ashes"].emissive


def test_variants_differ_in_colour_or_shape() -> None:
    for kind in (*[clue.value for clue in ClueKind], *[f"{PERSON}_{pose.value}" for pose in VictimPose]):
        seen = {
            asset.mesh.positions.tobytes() + asset.mesh.colours.tobytes()
            for name, asset in assets().items()
            if name.startswith(f"{kind}/")
        }
        assert len(seen) == sum(name.startswith(f"{kind}/") for name in assets())


def test_plants_have_unit_height_and_few_triangles() -> None:
    for mesh, most in (
        (conifer(1, 7, 6), 120),
        (conifer(1, 3, 3), 20),
        (broadleaf(1, 8, 6), 100),
        (bush(1, 5, 3), 20),
        (rock(1, 7, 5), 60),
        (pebble(1, 5, 3), 20),
    ):
        assert 0.75 < mesh.bounds[1][2] < 1.25
        assert len(mesh.triangles) <= most
    widest = np.hypot(*conifer(3, 7, 6).positions[:, :2].T).max()
    assert SHAPES["conifer"][1] < widest < 1.5 * SHAPES["conifer"][1]
