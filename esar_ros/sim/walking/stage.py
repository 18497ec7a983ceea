"""The stage of a rescue: a place's world with its doors, and the victim, stretcher and ambulance of one task.

Poses are told as the benchmark's files have them: start and victim by the middle of a body that stands there, 0.9 m
above the floor, stretcher and ambulance by the floor.
"""

from __future__ import annotations

import math

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mission.clues import PERSON, VictimPose
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import RescuePoint, StandingPose
from esar_ros.sim.assets.meshes import RESCUE
from esar_ros.sim.assets.people.persons import OUTFITS
from esar_ros.sim.assets.rescue_meshes import DOOR_WIDTH, STRETCHER_TOP
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.sim.walking.contacts import HALF_HEIGHT, floor_under
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World

VICTIM, STRETCHER, AMBULANCE, DOOR = "victim", "stretcher", "ambulance", "door_"  # names of objects in the world
APPEARANCES = tuple(
    f"{PERSON}_{VictimPose.LYING.value}/{name}"
    for name in (*OUTFITS, *(f"prone_{name}" for name in ("red", "yellow", "black")))
)
"""Assets by the number that a point's `appearance` gives."""
_ARMS = np.array([0.32, 0.0, 1.0])  # m, of who is carried against the carrier's foot
_PUT_DOWN = 0.7  # m before the carrier
_SWUNG = math.radians(95.0)  # of an open door


class RescueStage:
    """One place; `set_up` for each task in it. What a walker does with its hands goes through this."""

    def __init__(self, site: RescueSite) -> None:
        self.site = site
        self.world = World(site.place, 0)
        self.walker = Walker(self.world)
        self.carrying = False
        self._open: set[int] = set()
        for index, doorway in enumerate(site.doors):
            self.world.spawn(f"{DOOR}{index}", f"{RESCUE}_door", _upright(np.array(doorway.position), doorway.yaw))

    def set_up(self, point: RescuePoint) -> None:
        """Shut all doors, put victim, stretcher and ambulance there, and the walker at its start. Raises UsageError."""
        appearance = point.appearance or 0
        if not 0 <= appearance < len(APPEARANCES):
            raise UsageError(f"appearance {appearance} of a victim", f"give 0 to {len(APPEARANCES) - 1}")
        for index in sorted(self._open):
            doorway = self.site.doors[index]
            self.world.move(f"{DOOR}{index}", _upright(np.array(doorway.position), doorway.yaw))
        self._open.clear()
        for name in (VICTIM, STRETCHER, AMBULANCE):
            if name in self.world.objects:
                self.world.destroy(name)
        self.carrying = False
        self.world.spawn(AMBULANCE, f"{RESCUE}_ambulance", self.resting(point.ambulance.position, point.ambulance.yaw))
        self.world.spawn(STRETCHER, f"{RESCUE}_stretcher", self.resting(point.stretcher.position, point.stretcher.yaw))
        lying = self.resting(point.victim.position - [0.0, 0.0, HALF_HEIGHT], point.victim.yaw)
        self.world.spawn(VICTIM, APPEARANCES[appearance], lying)
        start = self.resting(point.start.position - [0.0, 0.0, HALF_HEIGHT], point.start.yaw)
        x, y, z = (float(value) for value in start.position)
        self.walker.place((x, y, z), point.start.yaw)

    @property
    def victim(self) -> Vector:
        """Returns where the victim is, (3,) m, as points say it; who is carried is where the carrier is."""
        if self.carrying:
            return np.asarray(self.walker.pose.position)
        return np.asarray(self.world.objects[VICTIM].pose.position + [0.0, 0.0, HALF_HEIGHT])

    @property
    def stretcher(self) -> Vector:
        """Returns where the stretcher stands, (3,) m."""
        return np.asarray(self.world.objects[STRETCHER].pose.position)

    def advance(self, seconds: float) -> None:
        """Let the walker walk by its action; who is carried comes along."""
        self.walker.advance(seconds)
        if self.carrying:
            self._take_along()

    def pick_up(self) -> None:
        """Take the victim into the walker's arms, however far: the task's rules have said that it may be."""
        self.carrying = True
        self._take_along()

    def put_down(self, on_stretcher: bool) -> None:
        """Lay who is carried onto the stretcher, or onto the floor before the walker."""
        if not self.carrying:
            return
        self.carrying = False
        stretcher = self.world.objects[STRETCHER].pose
        if on_stretcher:
            pose = stretcher.compose(Pose(np.array([0.0, 0.0, STRETCHER_TOP])))
        else:
            ahead = _PUT_DOWN * np.array([math.cos(self.walker.yaw), math.sin(self.walker.yaw), 0.0])
            pose = self.resting(self.walker.foot + ahead, self.walker.yaw + math.pi / 2)
        self.world.move(VICTIM, pose)

    def open_door(self, index: int) -> None:
        """Swing a door of the site open: it is seen, and no longer in the way."""
        if index in self._open:
            return
        doorway = self.site.doors[index]
        half = DOOR_WIDTH / 2
        shut = _upright(np.array(doorway.position), doorway.yaw)
        hinge = shut.compose(Pose(np.array([0.0, half, 0.0]), quaternion_from_yaw(_SWUNG)))
        self.world.move(f"{DOOR}{index}", hinge.compose(Pose(np.array([0.0, -half, 0.0]))), passable=True)
        self._open.add(index)

    def resting(self, position: Vector, yaw: float) -> Pose:
        """Returns the pose of what lies or stands on the floor at a point (3,) that is up to half a metre off it."""
        x, y, z = (float(value) for value in position)
        floor = floor_under(self.world.collision_scene(), x, y, z + 0.5)[0]
        ground = float(self.world.ground_height((x, y)))
        if floor > ground + 1e-6:
            return _upright(np.array([x, y, floor]), yaw)
        return self.world.resting_pose((x, y), yaw)

    def standing(self, point: Vector, yaw: float) -> StandingPose:
        """Returns the pose of a body that stands on the floor at a point (3,)."""
        return StandingPose(self.resting(point, yaw).position + [0.0, 0.0, HALF_HEIGHT], yaw)

    def _take_along(self) -> None:
        turned = quaternion_from_yaw(self.walker.yaw)
        arms = Pose(self.walker.foot, turned).compose(Pose(_ARMS, quaternion_from_yaw(math.pi / 2)))
        self.world.move(VICTIM, arms, passable=True)


def _upright(position: Vector, yaw: float) -> Pose:
    return Pose(position, quaternion_from_yaw(yaw))
