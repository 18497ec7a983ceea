"""The stage of a rescue: doors, and a victim who is taken along and put down."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint, StandingPose, WalkAction
from esar_ros.sim.assets.meshes import assets
from esar_ros.sim.assets.rescue_meshes import STRETCHER_TOP
from esar_ros.sim.terrain.rescue_places.makers import rescue_site
from esar_ros.sim.terrain.rescue_places.site import Area, Doorway, RescueSite
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.stage import APPEARANCES, RescueStage
from helpers.walking import small_world, wall


def point(appearance: int | None = 2) -> RescuePoint:
    return RescuePoint(
        "small",
        0,
        0,
        start=StandingPose(np.array([-6.0, 0.0, HALF_HEIGHT]), 0.0),
        victim=StandingPose(np.array([-4.0, 0.0, HALF_HEIGHT]), 1.0),
        stretcher=StandingPose(np.array([-8.0, 4.0, 0.0]), 0.5),
        ambulance=StandingPose(np.array([-11.0, 8.0, 0.0]), 2.0),
        description="",
        time_limit=180.0,
        appearance=appearance,
    )


@pytest.fixture
def stage() -> RescueStage:
    """A wall across the map with a door in it at x = 3."""
    place = small_world(wall(3.0, 8.27, 15.5), wall(3.0, -8.27, 15.5)).place
    area = Area((-15.0, -15.0), (15.0, 15.0))
    stage = RescueStage(RescueSite("small", 0, place, area, (area,), (Doorway((3.0, 0.0, 0.0), 0.0),)))
    stage.set_up(point())
    return stage


def test_everything_is_where_the_point_says(stage: RescueStage) -> None:
    assert stage.walker.foot == pytest.approx([-6.0, 0.0, 0.0]) and stage.victim == pytest.approx([-4.0, 0.0, 0.9])
    assert stage.world.objects["victim"].asset.name == APPEARANCES[2]
    assert stage.stretcher == pytest.approx([-8.0, 4.0, 0.0]) and not stage.carrying
    assert len(APPEARANCES) == 20 and set(APPEARANCES) <= set(assets())
    with pytest.raises(UsageError, match="appearance 20"):
        stage.set_up(point(20))


def test_who_is_carried_comes_along_and_stands_in_nobodys_way(stage: RescueStage) -> None:
    boxes = len(stage.world.collision_scene()[5])
    stage.pick_up()
    assert len(stage.world.collision_scene()[5]) < boxes
    stage.walker.action = WalkAction(1.0, 10.0)
    stage.advance(3.0)
    gap = stage.world.objects["victim"].pose.position - stage.walker.foot
    assert (
        math.hypot(*gap[:2]) < 0.5 and 0.8 < gap[2] < 1.2 and stage.victim == pytest.approx(stage.walker.pose.position)
    )
    assert stage.walker.take_hit() is None
    stage.put_down(on_stretcher=False)
    assert not stage.carrying and len(stage.world.collision_scene()[5]) == boxes
    away = stage.victim - stage.walker.pose.position
    assert 0.5 < math.hypot(*away[:2]) < 1.0 and stage.victim[2] == pytest.approx(0.9)


def test_on_the_stretcher_a_victim_lies_along_it(stage: RescueStage) -> None:
    stage.pick_up()
    stage.put_down(on_stretcher=True)
    lying, stretcher = stage.world.objects["victim"].pose, stage.world.objects["stretcher"].pose
    assert lying.position == pytest.approx(stretcher.position + [0.0, 0.0, STRETCHER_TOP])
    assert lying.yaw == pytest.approx(stretcher.yaw)


def test_a_door_opens_once_and_is_shut_for_the_next_task(stage: RescueStage) -> None:
    def crosses() -> bool:
        stage.walker.place((1.0, 0.0, 0.0), 0.0)
        stage.walker.action = WalkAction(1.0)
        stage.advance(4.0)
        return bool(stage.walker.foot[0] > 4.0)

    assert not crosses()
    stage.open_door(0)
    stage.open_door(0)
    assert crosses()
    stage.set_up(point())
    assert not crosses()


def test_no_tree_gives_way_to_somebody_carried_past_it() -> None:
    stage = RescueStage(rescue_site("suburb"))
    eastmost = int(np.argmax(stage.world.flora.positions[:, 0]))  # far from the stretcher and the ambulance
    x, y, z = stage.world.flora.positions[eastmost].astype(float)
    stage.set_up(point())
    stage.walker.place((x + 0.5, y, z), 0.0)
    stage.pick_up()
    assert stage.world.flora_present[eastmost]
    stage.put_down(on_stretcher=False)
    assert not stage.world.flora_present[eastmost]


def test_a_floor_above_the_ground_is_a_floor() -> None:
    site = rescue_site("suburb")
    stage = RescueStage(site)
    upper = next(doorway for doorway in site.doors if doorway.position[2] > 2.0)
    inside = np.array(upper.position) - 1.2 * np.array([math.cos(upper.yaw), math.sin(upper.yaw), 0.0])
    up = dataclasses.replace(point(), victim=stage.standing(inside, 0.0))
    assert up.victim.position[2] == pytest.approx(upper.position[2] + HALF_HEIGHT)
    stage.set_up(up)
    assert stage.world.objects["victim"].pose.position[2] == pytest.approx(upper.position[2])
