"""A place as an UnrealCV client knows it: actors that it sets one by one, and a walker that it moves.

Positions and headings here are Unreal's (geometry.unreal). Where a map has no place here, the ground is open: level,
with nothing on it, about wherever the walker is set, at the height that the stretcher is set to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation, wrap_angle
from esar_ros.geometry.unreal import CM, map_heading_to_unreal, map_to_unreal, unreal_heading_to_map, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, RescuePoint, StandingPose, WalkAction
from esar_ros.sim.terrain.rescue_places.open_ground import open_ground
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.sim.walking.contacts import HALF_HEIGHT
from esar_ros.sim.walking.stage import AMBULANCE, APPEARANCES, DOOR, STRETCHER, VICTIM
from esar_ros.sim.walking.walker import TICK
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.files.tracks import tracks_of
from esar_ros.suites.rescuebench.protocol_server.names import Kind
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.sites import find_site

FARTHEST = 1e7  # cm of a position that can be set
_SETTLING = 1.0  # s of a fall onto the floor
_THINGS = {Kind.VICTIM: VICTIM, Kind.STRETCHER: STRETCHER, Kind.AMBULANCE: AMBULANCE}
_LIFT = {Kind.PLAYER: HALF_HEIGHT, Kind.VICTIM: HALF_HEIGHT}  # m of a position above the floor
_FIRST = {Kind.PLAYER: 0.0, Kind.VICTIM: 4.0, Kind.STRETCHER: 8.0, Kind.AMBULANCE: 14.0}  # m from a home's middle


def site_for(map_name: str, checkout: Path | None = None) -> tuple[RescueSite, str]:
    """Returns the place of a map, and what stands in for it: a few words, none where it is a place of our own.

    checkout: of the public code; where people walked in it, a stand-in is made from their tracks. Raises UsageError for
    tracks that cannot be read.
    """
    if checkout is not None and tracks_of(checkout, map_name).is_dir():
        site = find_site(map_name, checkout)
        return site, site.place.name
    try:
        return find_site(map_name), ""
    except UsageError:
        return open_ground(), "open ground, no place here has this name"


class MapScene:
    """One map. Raises UsageError from what cannot be set.

    `revision` rises with everything that changes what can be seen.
    """

    def __init__(self, map_name: str, checkout: Path | None = None) -> None:
        self.map_name = map_name
        site, self._instead = site_for(map_name, checkout)
        self.is_open = site is open_ground()
        self._world = EmbeddedWorld(map_name, load_suite_settings(), site)
        self.stage = self._world.stage
        self.world = self.stage.world
        self.revision = 0
        self.look = (0.0, 0.0)  # rad: heading and pitch of the eye against the body
        self._origin = np.array(site.origin)  # m: where the place's own frame begins
        self._crouched = self._jumps = self._hit = False
        self._set: dict[Kind, tuple[Vector, float]] = {}  # m and rad, as they were set
        home = site.home[0]
        middle = np.append((np.array(home.low) + home.high) / 2, 0.0)
        middle[2] = float(site.place.ground_height(middle[:2]))
        middle += self._origin
        first = {kind: StandingPose(middle + [ahead, 0.0, _LIFT.get(kind, 0.0)], 0.0) for kind, ahead in _FIRST.items()}
        self._world.set_up(_point(map_name, first))
        self._set.update({kind: (pose.position, pose.yaw) for kind, pose in first.items()})

    @property
    def title(self) -> str:
        """Names the map, and what stands in for it."""
        return f"{self.map_name}: {self._instead}" if self._instead else self.map_name

    @property
    def doors(self) -> int:
        """Number of doors."""
        return len(self._world.doors)

    @property
    def carrying(self) -> bool:
        """True while the walker carries the victim."""
        return self.stage.carrying

    @property
    def seconds(self) -> float:
        """Since the walker was set, s."""
        return self.stage.walker.seconds

    def location(self, kind: Kind, number: int) -> Vector:
        """Returns where something is, (3,) cm. Raises UsageError for a door that there is not."""
        return self._unreal(self._position(kind, number))

    def heading(self, kind: Kind, number: int) -> float:
        """Returns where it is turned to, degrees. Raises UsageError for a door that there is not."""
        if kind is Kind.PLAYER:
            return map_heading_to_unreal(self.stage.walker.yaw)
        if kind is Kind.DOOR:
            return map_heading_to_unreal(self.stage.site.doors[self._door(number)].yaw)
        return map_heading_to_unreal(self._set[kind][1])

    def instance(self, kind: Kind, number: int) -> int | None:
        """Returns its id in pictures, None for what is not seen. Raises UsageError for a door that there is not."""
        name = f"{DOOR}{self._door(number)}" if kind is Kind.DOOR else _THINGS.get(kind)
        return None if name is None else self.world.objects[name].id

    def move_to(self, kind: Kind, location: Vector) -> None:
        """Put the walker, victim, stretcher or ambulance somewhere, (3,) cm: onto the floor there."""
        if not (np.isfinite(location).all() and float(np.abs(location).max()) <= FARTHEST):
            raise UsageError(f"no location: {location.tolist()}", f"give cm within {FARTHEST:g}")
        self._settable(kind)
        self._set[kind] = (unreal_to_map(location), self._set[kind][1])
        if self.is_open and kind is Kind.STRETCHER:
            self._origin[2] = self._set[kind][0][2]
        elif self.is_open and kind is Kind.PLAYER:
            self._origin[:2] = self._set[kind][0][:2]
            for other in _THINGS:
                self._put(other)
        self._put(kind)

    def turn_to(self, kind: Kind, degrees: float) -> None:
        """Turn the walker, victim, stretcher or ambulance where it is."""
        self._settable(kind)
        yaw = unreal_heading_to_map(degrees)
        if kind is Kind.PLAYER:  # it has walked since it was set
            self._set[kind] = (np.asarray(self.stage.walker.pose.position) + self._origin, yaw)
        else:
            self._set[kind] = (self._set[kind][0], yaw)
        self._put(kind)

    def dress(self, appearance: int) -> None:
        """Show the victim as somebody else."""
        if not 0 <= appearance < len(APPEARANCES):
            raise UsageError(f"appearance {appearance}", f"give 0 to {len(APPEARANCES) - 1}")
        lying = self.world.objects[VICTIM]
        self.world.destroy(VICTIM)
        self.world.spawn(VICTIM, APPEARANCES[appearance], lying.pose)
        self.world.move(VICTIM, lying.pose, passable=lying.passable)
        self.revision += 1

    def walk(self, angle: float, speed: float) -> None:
        """Walk from now on. angle: degrees to the right; speed: cm/s."""
        own = self.stage.walker.action
        self.stage.walker.action = WalkAction(speed / CM, -angle + 0.0, own.head, own.animation)

    def act(self, animation: Animation) -> None:
        """Do something with body or hands, at once; a jump begins when time goes on."""
        self._crouched = animation is Animation.CROUCH
        self._jumps = animation is Animation.JUMP
        self._step(animation if animation not in (Animation.CROUCH, Animation.JUMP) else Animation.STAND, 0.0)

    def advance(self, seconds: float) -> None:
        """Let time go on."""
        if seconds <= 0.0:
            return
        if self._jumps:
            self._jumps = False
            self._step(Animation.JUMP, TICK)
            seconds -= TICK
        self._step(Animation.CROUCH if self._crouched else Animation.STAND, seconds)

    def take_hit(self) -> bool:
        """Returns whether the walker walked against something since the last question."""
        hit, self._hit = self._hit, False
        return hit

    @property
    def eye(self) -> tuple[Vector, float, float]:
        """Pose of the walker's camera: (3,) cm, heading and pitch in degrees."""
        yaw, pitch = self.look
        heading = map_heading_to_unreal(wrap_angle(self.stage.walker.yaw + yaw))
        return self._unreal(self.stage.walker.eye), heading, math.degrees(pitch)

    def optical(self, location: Vector, heading: float, pitch: float) -> Pose:
        """Returns the optical frame of a camera at a location (3,) cm, turned by degrees, in the place's frame."""
        rotation = optical_rotation(unreal_heading_to_map(heading), math.radians(pitch))
        return Pose(unreal_to_map(location) - self._origin, quaternion_from_rotation(rotation))

    def _step(self, animation: Animation, seconds: float) -> None:
        own = self.stage.walker.action
        self._hit |= self._world.step(WalkAction(own.speed, own.angle, own.head, animation), seconds)
        self.revision += 1

    def _put(self, kind: Kind) -> None:
        """Put something where it was set to."""
        position, yaw = self._set[kind]
        spot = position - self._origin - [0.0, 0.0, _LIFT.get(kind, 0.0)]
        if self.is_open:
            spot[2] = 0.0
        resting = self.stage.resting(spot, yaw)
        if kind is Kind.PLAYER:
            x, y, z = (float(value) for value in resting.position)
            self.stage.walker.place((x, y, z), yaw)
            self.stage.advance(_SETTLING)
            self.stage.walker.take_hit()
            self._crouched = self._jumps = self._hit = False
        else:
            if kind is Kind.VICTIM:
                self.stage.carrying = False
            self.world.move(_THINGS[kind], resting)
        self.revision += 1

    def _position(self, kind: Kind, number: int) -> Vector:
        if kind is Kind.PLAYER:
            return np.asarray(self.stage.walker.pose.position)
        if kind is Kind.VICTIM:
            return self.stage.victim
        if kind is Kind.DOOR:
            return np.array(self.stage.site.doors[self._door(number)].position)
        return np.asarray(self.world.objects[_THINGS[kind]].pose.position)

    def _door(self, number: int) -> int:
        if not 1 <= number <= self.doors:
            raise UsageError(f"no door {number}", f"there are {self.doors}")
        return number - 1

    def _settable(self, kind: Kind) -> None:
        if kind not in self._set:
            raise UsageError(f"a {kind.name.lower()} stays where it is", "set the player, victim, stretcher, ambulance")

    def _unreal(self, position: Vector) -> Vector:
        return map_to_unreal(position + self._origin)


def _point(place: str, first: Mapping[Kind, StandingPose]) -> RescuePoint:
    """Returns the task that a scene begins with, before a client sets its own."""
    return RescuePoint(
        place, 0, 0, first[Kind.PLAYER], first[Kind.VICTIM], first[Kind.STRETCHER], first[Kind.AMBULANCE], "", 1.0
    )
