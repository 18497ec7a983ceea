"""Assets: complete, well-formed, of real size and distinct."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.mission.clues import KINDS, PERSON, ClueKind, VictimPose
from esar_ros.sim.assets.mesh_builder import MeshBuilder
from esar_ros.sim.assets.meshes import DISTRACTOR, HOUSEHOLD, RESCUE, STRUCTURE, Asset, assets

VARIANTS = {name: asset for name, asset in assets().items() if "/" in name}
CLUES = [kind.value for kind in ClueKind]
# Least and greatest length on the ground, then height, m; guy lines, ropes' ends, smoke and snow count.
SIZES: dict[str, tuple[float, float, float, float]] = {
    "tent": (2.3, 4.3, 0.5, 1.9),
    "backpack": (0.35, 1.2, 0.35, 0.9),
    "clothing": (0.8, 1.65, 0.1, 0.35),
    "campfire": (0.6, 2.0, 0.1, 1.7),
    "signal_flare": (0.2, 1.9, 0.05, 2.7),
    "light": (0.14, 0.35, 0.03, 0.36),
    "sleeping_bag": (0.45, 2.35, 0.2, 0.45),
    "trekking_pole": (0.6, 1.3, 0.05, 1.3),
    "water_bottle": (0.08, 0.45, 0.08, 0.3),
    "food_wrapper": (0.3, 1.15, 0.05, 0.2),
    "rope": (0.8, 2.8, 0.05, 0.45),
    "footprints": (1.9, 5.3, 0.01, 0.05),
    "person_standing": (0.45, 1.3, 1.1, 2.1),  # a child is among them
    "person_sitting": (0.5, 1.3, 0.6, 1.2),
    "person_lying": (1.1, 2.2, 0.18, 0.85),
    "person_covered": (1.3, 2.4, 0.25, 1.05),
}
BUDGET = {"person": 1000, DISTRACTOR: 800, STRUCTURE: 800, HOUSEHOLD: 1300, RESCUE: 1500}  # triangles; clues 660


def of(family: str) -> Iterator[tuple[str, Asset]]:
    return ((name, asset) for name, asset in VARIANTS.items() if asset.family == family)


def test_every_kind_and_pose_has_variants() -> None:
    for family in (*CLUES, *(f"{PERSON}_{pose.value}" for pose in VictimPose)):
        found = dict(of(family))
        assert len(found) >= 8 and assets()[family].variant is next(iter(found.values())).variant
        assert sum(asset.held_out for asset in found.values()) >= 2
        assert sum(not asset.held_out for asset in found.values()) >= 5
    for pose in VictimPose:
        assert len({asset.variant.colour for _, asset in of(f"{PERSON}_{pose.value}")}) >= 8
    assert {asset.kind for asset in assets().values()} == {*KINDS, DISTRACTOR, STRUCTURE, HOUSEHOLD, RESCUE}
    for thing in (
        "rock",
        "log",
        "bush",
        "rubbish",
        "goat",
        "yak",
        "dog",
        "bird",
        "sign",
        "hut",
        "tarp",
        "drum",
        "salt",
    ):
        assert f"distractor_{thing}" in assets()


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_meshes_are_well_formed(name: str) -> None:
    asset = VARIANTS[name]
    mesh = asset.mesh
    for array in (mesh.positions, mesh.colours, mesh.warmth, mesh.emission):
        assert np.isfinite(array).all() and len(array) == len(mesh.positions)
    assert mesh.triangles.min() >= 0 and mesh.triangles.max() < len(mesh.positions)
    assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert (mesh.colours >= 0.0).all() and (mesh.colours[mesh.emission == 0.0] <= 1.0).all()
    assert len(mesh.triangles) <= BUDGET.get(asset.kind, 660)
    low = mesh.bounds[0][2]
    assert (-1.21 if asset.kind in (DISTRACTOR, STRUCTURE) else -0.051) <= low <= 0.03  # stands on the ground
    assert 0.05 < asset.radius < 11.0
    # Normals agree with the way the triangles run.
    a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(np.float64) for k in range(3))
    facet = np.cross(b - a, c - a)
    size = np.linalg.norm(facet, axis=1)
    agree = (facet * mesh.normals[mesh.triangles].mean(axis=1)).sum(axis=1)[size > 1e-8] > 0.0
    assert agree.mean() > 0.98


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_surfaces_are_closed(name: str) -> None:
    """Nothing is open but into the ground: every edge above it is run through equally often both ways."""
    mesh = VARIANTS[name].mesh
    corners = np.round(mesh.positions[mesh.triangles].astype(np.float64) / 1e-4).astype(np.int64)
    start, end = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
    above = (start[:, 2] > 10) | (end[:, 2] > 10)  # by more than a millimetre
    runs: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for p, q in zip(map(tuple, start[above]), map(tuple, end[above]), strict=True):
        if p != q:
            runs[(p, q)] += 1
    lone = [edge for edge, count in runs.items() if count != runs.get(edge[::-1], 0)]
    assert not lone


@pytest.mark.parametrize("family", sorted(SIZES))
def test_sizes_are_real(family: str) -> None:
    least, most, low, high = SIZES[family]
    for name, asset in of(family):
        length, width, height = asset.size
        assert least <= max(length, width) <= most, name
        assert low <= height <= high, name


def test_words_fit() -> None:
    for name, asset in VARIANTS.items():
        words = asset.variant.description
        assert words and words == words.strip() and len(words) < 80, name
        assert name == f"{asset.family}/{asset.variant.name}"
    for kind in CLUES:
        descriptions = [asset.variant.description for _, asset in of(kind)]
        assert len(set(descriptions)) == len(descriptions)
    assert assets()["tent/dome_red"].variant.description == "red dome tent"


def test_poses_differ_as_people_do() -> None:
    height = {pose: assets()[f"person_{pose.value}"].mesh.bounds[1][2] for pose in VictimPose}
    assert 1.6 < height[VictimPose.STANDING] < 2.0
    assert 0.8 < height[VictimPose.SITTING] < 1.1
    assert height[VictimPose.LYING] < 0.4 and height[VictimPose.COVERED] < 0.5
    lying = assets()["person_lying"].mesh
    assert 1.6 < np.ptp(lying.positions[:, 0]) < 2.1
    assert assets()["person_standing/waving_red"].mesh.bounds[1][2] > 1.85


def test_covers_hide_a_part_and_not_all() -> None:
    """Seen from above, at least a fifth and at most nine tenths of a body's points stay in sight."""
    for name, asset in of("person_covered"):
        bare = assets()[f"person_lying/{'curled_' if name.split('/')[1][:4] in ('gold', 'scre') else ''}red"].mesh
        count = len(bare.positions)
        mesh = asset.mesh
        cover = mesh.positions[count:] if len(mesh.positions) > count else mesh.positions[:0]
        assert len(cover) > 50, name
        body = mesh.positions[:count]
        top: dict[tuple[int, int], float] = {}
        for x, y, z in cover[cover[:, 2] > 0.0]:
            for i in (-1, 0, 1):
                for j in (-1, 0, 1):
                    cell = (round(x / 0.1) + i, round(y / 0.1) + j)
                    top[cell] = max(top.get(cell, 0.0), float(z))
        seen = np.mean([z > top.get((round(x / 0.1), round(y / 0.1)), -1.0) for x, y, z in body])
        assert 0.15 <= seen <= 0.9, (name, seen)


def test_only_what_burns_or_shines_glows() -> None:
    glowing = {asset.kind for asset in assets().values() if asset.emissive}
    assert glowing == {"campfire", "signal_flare", "light"}
    for name, asset in VARIANTS.items():
        burns = any(
            word in asset.variant.description for word in ("burning", "smouldering", "lit", "glowing", "smoke signal")
        )
        if asset.kind in glowing:
            assert bool(asset.emitters) == burns, name
        else:
            assert not asset.emitters, name
        for emitter in asset.emitters:
            low, high = asset.mesh.bounds
            assert (np.array(emitter.offset) >= low - 0.1).all() and (np.array(emitter.offset) <= high + 0.1).all()
            assert max(emitter.colour) == pytest.approx(1.0) and emitter.intensity > 0.0
            assert np.linalg.norm(emitter.direction) == pytest.approx(1.0, abs=1e-3)
    assert not assets()["campfire/ashes"].emissive and not assets()["signal_flare/spent_red"].emissive


def test_people_animals_and_fires_are_warm() -> None:
    for name, asset in VARIANTS.items():
        warm = float(asset.mesh.warmth.max())
        if asset.kind == PERSON:
            assert 10.0 <= warm <= 20.0, name
        elif "burning" in asset.variant.description and asset.kind in ("campfire", "signal_flare"):
            assert warm > 500.0, name
        elif asset.kind == STRUCTURE:
            assert warm == 0.0
    assert assets()["distractor_goat"].mesh.warmth.max() > 5.0


def test_variants_differ_in_colour_or_shape() -> None:
    for family in {asset.family for asset in VARIANTS.values()}:
        looks = [(a.mesh.positions.tobytes(), a.mesh.colours.tobytes()) for _, a in of(family)]
        assert len(set(looks)) == len(looks), family


def test_no_two_kinds_share_a_shape() -> None:
    """A mesh belongs to one kind."""
    owners: dict[bytes, str] = {}
    for name, asset in VARIANTS.items():
        kind = asset.family.removeprefix(f"{DISTRACTOR}_").removeprefix(f"{STRUCTURE}_").removeprefix(f"{HOUSEHOLD}_")
        shape = asset.mesh.positions.tobytes()
        assert owners.setdefault(shape, kind) == kind, name


def test_held_out_looks_are_nowhere_in_training() -> None:
    for family in {asset.family for asset in VARIANTS.values()}:
        training = {(a.mesh.positions.tobytes(), a.mesh.colours.tobytes()) for _, a in of(family) if not a.held_out}
        for name, asset in of(family):
            if asset.held_out:
                assert (asset.mesh.positions.tobytes(), asset.mesh.colours.tobytes()) not in training, name
    for asset in VARIANTS.values():
        if asset.variant.colour in ("teal", "pink", "lime", "maroon"):
            assert asset.held_out


def test_solids_lie_about_what_is_seen() -> None:
    for name, asset in VARIANTS.items():
        solids = asset.solids
        assert solids.ndim == 2 and solids.shape[1] == 15 and np.isfinite(solids).all()
        assert (solids[:, 3:6] > 0.0).all()
        axes = solids[:, 6:].reshape(-1, 3, 3)
        assert axes @ axes.transpose(0, 2, 1) == pytest.approx(np.broadcast_to(np.eye(3), axes.shape), abs=1e-9)
        low, high = asset.mesh.bounds
        reach = np.abs(axes.transpose(0, 2, 1)) @ solids[:, 3:6, None]
        assert (solids[:, :3] - reach[..., 0] >= low - 1.25).all(), name
        assert (solids[:, :3] + reach[..., 0] <= high + 0.2).all(), name


# Nothing in them stops a vehicle: smoke, strands of rope, paper.
YIELDING = ("signal_flare", "food_wrapper", "rope/anchor", "trekking_pole/planted", "distractor_rubbish/scrap")


def _sampled(asset: Asset, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random points (P, 3) of a surface above the ground; their distances (P,) to the solids, inside negative, m."""
    mesh, solids = asset.mesh, asset.solids
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = rng.choice(len(corners), 400, p=area / area.sum())
    share = np.sort(rng.random((400, 2)), axis=1)
    weights = np.stack([share[:, 0], share[:, 1] - share[:, 0], 1.0 - share[:, 1]], axis=1)
    points = (corners[chosen] * weights[..., None]).sum(axis=1)
    points = points[points[:, 2] > -0.02]
    local = np.einsum("kij,kpj->kpi", solids[:, 6:].reshape(-1, 3, 3), points[None] - solids[:, None, :3])
    over = np.abs(local) - solids[:, None, 3:6]
    distance = np.linalg.norm(np.maximum(over, 0.0), axis=2) + np.minimum(over.max(axis=2), 0.0)
    return points, distance.min(axis=0)


def test_solids_follow_the_shape() -> None:
    """Rays and spheres meet the solids within half a metre of what is drawn; huts are solid inside."""
    rng = np.random.default_rng(0)
    shapes = {asset.mesh.positions.tobytes(): name for name, asset in VARIANTS.items() if not name.startswith(YIELDING)}
    for name in shapes.values():
        _, signed = _sampled(VARIANTS[name], rng)
        assert np.percentile(signed, 95) < 0.45, name
        assert np.percentile(signed, 5) > (-1.1 if "_hut/" in name else -0.45), name


# Smoke, flames, the ropes of swings, a tractor's exhaust pipe. Were the latter solid, shipped tasks would change.
SLIGHT = ("signal_flare", "campfire", "household_swing", "household_tractor")


def test_what_stands_high_is_solid() -> None:
    """Above 0.3 m nothing but slight parts is drawn farther than half a metre from a solid."""
    rng = np.random.default_rng(1)
    shapes = {asset.mesh.positions.tobytes(): name for name, asset in VARIANTS.items()}
    for name in shapes.values():
        points, signed = _sampled(VARIANTS[name], rng)
        high = signed[points[:, 2] > 0.3]
        if len(high) and not name.startswith(SLIGHT):
            assert high.max() < 0.55 and np.percentile(high, 95) < 0.3, name


def test_building_twice_gives_the_same_bytes() -> None:
    for name, asset in VARIANTS.items():
        again = asset.variant.make()
        for part in ("positions", "normals", "colours", "emission", "triangles", "warmth"):
            assert getattr(again.mesh, part).tobytes() == getattr(asset.mesh, part).tobytes(), name
        assert again.solids.tobytes() == asset.solids.tobytes() and again.emitters == asset.emitters


@given(
    path=st.lists(st.tuples(*[st.floats(-2.0, 2.0)] * 3), min_size=2, max_size=6, unique=True).filter(
        lambda path: all(
            sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) > 0.25 for p, q in itertools.pairwise(path)
        )
    ),
    width=st.floats(0.01, 0.05),
    sides=st.integers(3, 9),
)
@settings(deadline=None, max_examples=60)
def test_tubes_are_closed_and_hold_their_path(path: list[tuple[float, float, float]], width: float, sides: int) -> None:
    builder = MeshBuilder(sunk=10.0)
    builder.tube(path, width, (0.5, 0.5, 0.5), sides)
    mesh = builder.mesh()
    edges: dict[tuple[int, int], int] = {}
    for triangle in mesh.triangles:
        for k in range(3):
            edge = (int(triangle[k]), int(triangle[(k + 1) % 3]))
            edges[edge] = edges.get(edge, 0) + 1
    assert all(count == 1 and edges.get((q, p)) == 1 for (p, q), count in edges.items())
    gap = np.linalg.norm(mesh.positions[:, None].astype(float) - np.array(path)[None], axis=2).min(axis=1)
    assert gap.max() <= width + 1e-5
