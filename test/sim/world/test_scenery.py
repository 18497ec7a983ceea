"""Scenery: thousands of pieces that are solid and drawn, and no objects."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.mission.map_files import settlement_maps
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.terrain.maps import PlaceMap, load_map
from esar_ros.sim.world.raycast import FIXTURE_BASE, bounded, box_bins
from esar_ros.sim.world.scenery import scenery_of
from esar_ros.sim.world.world import World

angle = st.floats(0.0, 2.0 * math.pi)


@pytest.fixture(scope="module")
def street() -> World:
    return World(load_map("standin_street"), 0)


@pytest.fixture(scope="module")
def bare(street: World) -> World:
    """The same place without scenery."""
    assert street.place.plan is not None
    return World(dataclasses.replace(street.place, plan=dataclasses.replace(street.place.plan, pieces=())), 0)


def hits(boxes: np.ndarray, origin: np.ndarray, ray: np.ndarray) -> np.ndarray:
    """Ranges (B,) at which a ray meets each box (B, 15), infinite for those it misses."""
    axes = boxes[:, 6:15].reshape(-1, 3, 3)
    p, d = np.einsum("bij,bj->bi", axes, origin - boxes[:, :3]), axes @ ray
    d = np.where(np.abs(d) < 1e-12, 1e-12, d)
    a, b = (-boxes[:, 3:6] - p) / d, (boxes[:, 3:6] - p) / d
    near, far = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    return np.where((near <= far) & (far >= 0.0), np.maximum(near, 0.0), np.inf)


@pytest.mark.parametrize("map_id", settlement_maps())
def test_every_piece_is_built_and_has_solids_on_the_ground(map_id: str) -> None:
    place = load_map(map_id)
    scenery = scenery_of(place)
    assert place.plan is not None and len(scenery.names) == len(place.plan.pieces)
    assert len(scenery.solids) > 150 and np.isfinite(scenery.solids).all() and (scenery.solids[:, 3:6] > 0.0).all()
    axes = scenery.solids[:, 6:].reshape(-1, 3, 3)
    assert axes @ axes.transpose(0, 2, 1) == pytest.approx(np.broadcast_to(np.eye(3), axes.shape), abs=1e-9)
    reach = bounded(scenery.solids)
    ground = place.ground_height(scenery.solids[:, :2])
    foot = np.full(len(scenery.names), np.inf)
    np.minimum.at(foot, scenery.owners, reach[:, 16] - ground)
    assert (foot[np.isfinite(foot)] < 0.6).all() and (reach[:, 17] < ground + 30.0).all()
    for facets in (scenery.coarse, scenery.fine):
        assert np.isfinite(facets.corners).all() and (facets.tones >= 0.0).all() and (facets.tones <= 1.0).all()
    assert len(scenery.coarse.corners) + len(scenery.fine.corners) < 300_000
    flat = [name for name in scenery.names if not name.startswith(("mark", "kerb", "flower_bed"))]
    solid = {scenery.names[owner] for owner in scenery.owners}
    assert solid == set(flat)


def test_a_wilderness_has_none(place: PlaceMap) -> None:
    assert scenery_of(place).names == () and not len(scenery_of(place).solids)


def test_houses_keep_vehicles_out(street: World) -> None:
    assert street.place.plan is not None
    for index, piece in enumerate(street.place.plan.pieces):
        if piece.kind != "house":
            continue
        ground = float(street.ground_height(piece.xy))
        inside = street.contact((*piece.xy, ground + 1.5), 0.25)
        assert inside is not None and inside.name.startswith("house_") and inside.depth > 0.25
        above = (*piece.xy, ground + piece.height + 0.8 * piece.width + 3.0)
        down = street.contact_along(above, (*piece.xy, ground + 0.5), 0.25)
        assert down is not None and down.name == f"house_{index}"
    assert street.contact((0.0, 0.0, 3.0), 0.5) is None  # the middle of a crossing


def test_pieces_have_names_and_no_ids_of_objects(street: World) -> None:
    assert not street.objects and not street.fixtures
    owner = int(street.scenery.owners[0])
    assert street.name_of(FIXTURE_BASE - owner) == street.scenery.names[owner]
    for index in range(254):
        street.spawn(f"o{index}", "water_bottle", Pose(np.array([0.3 * index, 0.0, 90.0])))
    for index in range(254):
        street.destroy(f"o{index}")


@given(x=st.floats(-150, 150), y=st.floats(-150, 150), up=st.floats(0.3, 40), az=angle, el=st.floats(-1.5, 0.6))
@settings(deadline=None, max_examples=300)
def test_rays_meet_what_every_box_by_itself_would_be_asked(
    street: World, bare: World, x: float, y: float, up: float, az: float, el: float
) -> None:
    origin = np.array([x, y, float(street.ground_height((x, y))) + up])
    ray = np.array([math.cos(el) * math.cos(az), math.cos(el) * math.sin(az), math.sin(el)])
    edges = ((math.copysign(158.0, ray[k]) - origin[k]) / ray[k] for k in (0, 1) if abs(ray[k]) > 1e-9)
    inside = float(min(edges, default=200.0))
    reach = min(max(inside, 0.0), 200.0)  # within the map: beyond it there are no cells
    ranges, ids = street.raycast(origin, ray[None], reach)
    behind, _ = bare.raycast(origin, ray[None], reach)
    each = hits(street.scenery.solids, origin, ray)
    expected = min(float(behind[0]), float(each.min()) if each.min() <= reach else math.inf)
    if math.isinf(expected):
        assert np.isinf(ranges[0])
    else:
        assert ranges[0] == pytest.approx(expected, abs=2e-3)
    if each.min() < behind[0] - 2e-3 and each.min() <= reach:
        owner = street.scenery.owners[int(np.argmin(each))]
        assert ids[0] == FIXTURE_BASE - owner or each[np.argsort(each)[1]] == pytest.approx(each.min(), abs=2e-3)


def test_bounds_hold_their_boxes_and_bins_their_bounds() -> None:
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(200, 3, 3)))[0]
    boxes = np.hstack([rng.uniform(-60, 60, (200, 3)), rng.uniform(0.05, 6.0, (200, 3)), axes.reshape(200, 9)])
    wide = bounded(boxes)
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
    points = boxes[:, None, :3] + np.einsum("sk,bk,bkc->bsc", signs, boxes[:, 3:6], axes)
    assert np.linalg.norm(points[:, :, :2] - boxes[:, None, :2], axis=2).max(axis=1) == pytest.approx(wide[:, 15])
    assert points[..., 2].min(axis=1) == pytest.approx(wide[:, 16])
    assert points[..., 2].max(axis=1) == pytest.approx(wide[:, 17])
    bins = box_bins(wide, 64.0)
    for k in range(200):
        for x, y in points[k, :, :2]:
            cell = [int((v + 64.0) // 8.0) for v in (x, y)]
            if 0 <= min(cell) and max(cell) < bins.side:
                c = cell[1] * bins.side + cell[0]
                assert k in bins.items[bins.starts[c] : bins.starts[c + 1]]


def test_what_is_drawn_is_what_rays_meet(street: World) -> None:
    drawn = Renderer(street, 96, 64, math.pi / 2)
    try:
        poses = [
            Pose(np.array(eye), quaternion_from_rotation(optical_rotation(yaw, -0.15)))
            for eye, yaw in (((0.0, -40.0, 7.0), 2.4), ((-54.0, 3.0, 9.0), 1.2), ((60.0, -2.0, 5.0), -1.9))
        ]
        shapes = drawn.shapes(poses)
        rays = drawn.camera.rays().reshape(-1, 3)
        length = np.linalg.norm(rays, axis=1)
        near = []
        for depth, pose in zip(shapes.depth, poses, strict=True):
            ranges, ids = street.raycast(pose.position, (rays / length[:, None]) @ pose.rotation.T, 120.0)
            built = ids <= FIXTURE_BASE
            near.append(np.abs(depth.ravel()[built] - (ranges / length)[built]))
        every = np.concatenate(near)
        assert len(every) > 800 and not shapes.ids.any()
        assert np.median(every) < 0.1 and np.percentile(every, 85) < 0.8
    finally:
        drawn.close()
