"""The embedded simulator as a world to rescue in: one place with a walker, and what its hands do."""

from __future__ import annotations

import math
import zlib
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.camera import CameraModel
from esar_ros.geometry.frames import Pose, Vector, wrap_angle
from esar_ros.mission.rescue import Animation, RescuePoint, StandingPose, WalkAction
from esar_ros.planning.agent_call import Draw
from esar_ros.scoring.rescue import HEIGHT
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.crowd import Crowd
from esar_ros.sim.walking.first_person import AIR_FOV, FOV, FirstPersonCamera, WalkerImage
from esar_ros.sim.walking.stage import RescueStage
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.suites.rescuebench.machine import DOOR_DISTANCE, DOOR_HEADING, WalkerState, lies_on_stretcher
from esar_ros.suites.rescuebench.own_points import site_of
from esar_ros.suites.rescuebench.settings import SuiteSettings

_SETTLING = 1.0  # s of a fall onto the floor
_AIR_IMAGE = 640  # px, side of what a drone sees


class EmbeddedWorld:
    """A place with its walker (walk.WalkWorld); tasks in the same place share it."""

    def __init__(
        self, place: str, settings: SuiteSettings, site: RescueSite | None = None, *, busy: bool = False
    ) -> None:
        """Raises UsageError for a place that there is not.

        site: what it is, else found by its name; busy: bystanders and vehicles pass by.
        """
        self.place, self.settings, self.busy = place, settings, busy
        self._crowd: Crowd | None = None
        self.stage = RescueStage(site_of(place) if site is None else site)
        self.origin = np.array(self.stage.site.origin)  # (3,) m, of the place's own frame, which the stage knows alone
        self._cameras: dict[bool, FirstPersonCamera] = {}  # of the walker (False), of its drone (True): when one looks

    @property
    def walker(self) -> WalkerState:
        """The walker by its camera."""
        walker = self.stage.walker
        return WalkerState(walker.eye + self.origin, walker.yaw, self.stage.carrying)

    @property
    def body(self) -> StandingPose:
        """The middle of the walker's body."""
        return StandingPose(self.stage.walker.pose.position + self.origin, self.stage.walker.yaw)

    @property
    def victim(self) -> Vector:
        """The victim's position, (3,) m."""
        return self.stage.victim + self.origin

    @property
    def stretcher(self) -> Vector:
        """The stretcher's position, (3,) m."""
        return self.stage.stretcher + self.origin

    @property
    def doors(self) -> tuple[Vector, ...]:
        """Positions of all doors, (3,) m each."""
        return tuple(np.array(doorway.position) + self.origin for doorway in self.stage.site.doors)

    @property
    def ended(self) -> bool:
        """True when the victim lies on the stretcher and nobody carries them."""
        return lies_on_stretcher(self.victim, self.stretcher, self.stage.carrying)

    def set_up(self, point: RescuePoint) -> None:
        """Put everything of a task in its place and let the walker settle. Raises UsageError."""
        if self._crowd is not None:
            self._crowd.leave()
        point = point.moved(-self.origin)
        self.stage.set_up(point)
        if self.busy:
            grid = WalkableGrid.of(self.stage.world, self.stage.site.area)
            away = [one.position for one in (point.start, point.victim, point.stretcher, point.ambulance)]
            self._crowd = Crowd(self.stage.world, grid, zlib.crc32(point.title.encode()), away)
        self.stage.walker.action = WalkAction()
        self.stage.advance(_SETTLING)
        self.stage.walker.take_hit()

    def step(self, action: WalkAction, seconds: float) -> bool:
        """Let the walker do an action for a time; returns whether it walked against something."""
        stage = self.stage
        if action.animation is Animation.CARRY and not stage.carrying and self._reaches(stage.victim):
            stage.pick_up()
        elif action.animation is Animation.DROP and stage.carrying:
            stage.put_down(self._reaches(stage.stretcher))
        elif action.animation is Animation.OPEN_DOOR:
            self._open_doors()
        elif action.animation is Animation.JUMP and stage.carrying:
            action = WalkAction(action.speed, action.angle, action.head)
        stage.walker.action = action
        stage.advance(seconds)
        if self._crowd is not None:
            self._crowd.advance(seconds, stage.walker.foot)
        return stage.walker.take_hit() is not None

    def view(self, draw: Draw) -> MomentImage:
        """The image through the walker's eye."""
        camera = self.stage.walker.camera
        return MomentImage(self, draw, Pose(camera.position + self.origin, camera.quaternion))

    def air_view(self, pose: Pose, draw: Draw) -> MomentImage:
        """The image of a drone's camera whose optical frame has this pose."""
        return MomentImage(self, draw, pose, from_air=True)

    def camera(self, from_air: bool = False) -> FirstPersonCamera:
        """Returns what draws for the walker, or for its drone. Raises UsageError without OpenGL."""
        if from_air not in self._cameras:
            side, fov = (_AIR_IMAGE, AIR_FOV) if from_air else (self.settings.image, FOV)
            self._cameras[from_air] = FirstPersonCamera(self.stage.world, side, side, fov)
        return self._cameras[from_air]

    def close(self) -> None:
        """Give the graphics contexts back."""
        for camera in self._cameras.values():
            camera.close()
        self._cameras.clear()

    def _reaches(self, target: Vector) -> bool:
        gap = target - self.stage.walker.eye
        return math.hypot(gap[0], gap[1]) <= self.settings.hands and abs(float(gap[2])) <= HEIGHT

    def _open_doors(self) -> None:
        """Opens the doors that are at hand ahead."""
        eye, yaw = self.walker.position, self.stage.walker.yaw
        for index, door in enumerate(self.doors):
            x, y, z = door - eye
            ahead = abs(wrap_angle(math.atan2(y, x) - yaw)) <= DOOR_HEADING
            if ahead and math.hypot(x, y) <= DOOR_DISTANCE and abs(z) <= HEIGHT:
                self.stage.open_door(index)


class MomentImage:
    """The image of one moment (mission.rescue.WalkView)."""

    def __init__(self, world: EmbeddedWorld, draw: Draw, pose: Pose, from_air: bool = False) -> None:
        self.pose = pose
        self._world, self._draw, self._seconds, self._from_air = world, draw, world.stage.walker.seconds, from_air

    @property
    def model(self) -> CameraModel:
        """Intrinsics."""
        return self._draw(lambda: self._world.camera(self._from_air)).model

    @cached_property
    def _image(self) -> WalkerImage:
        if self._world.stage.walker.seconds != self._seconds:
            raise RuntimeError("an image of a step that is past: look at it before the next action")
        camera = Pose(self.pose.position - self._world.origin, self.pose.quaternion)
        return self._draw(lambda: self._world.camera(self._from_air).image_from(camera, self._seconds))

    @property
    def colour(self) -> NDArray[np.uint8]:
        """(H, W, 3) RGB."""
        return self._image.rgb

    @property
    def depth(self) -> NDArray[np.float32]:
        """(H, W) m along the optical axis, +inf for sky."""
        return self._image.depth


def insight(point: RescuePoint, site: RescueSite) -> tuple[WalkableGrid, Vector, Vector, Vector]:
    """Returns what an insider is shown of a task: where one can walk, its doors open; start, victim and stretcher.

    These are (3,) m on the floor. Raises UsageError.
    """
    stage, origin = RescueStage(site), np.array(site.origin)
    stage.set_up(point.moved(-origin))
    for index in range(len(site.doors)):
        stage.open_door(index)
    grid = WalkableGrid.of(stage.world, site.area).moved(origin)
    victim = stage.victim - [0.0, 0.0, HALF_HEIGHT]
    return grid, stage.walker.foot + origin, victim + origin, stage.stretcher + origin
