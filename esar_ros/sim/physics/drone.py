"""One vehicle in the world: airframe, autopilot and battery, kept out of the ground and of obstacles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from esar_ros.geometry.frames import Pose, Vector, quaternion_from_yaw
from esar_ros.mission.vehicle import Body
from esar_ros.sim.clock import STEP
from esar_ros.sim.physics.autopilot import POSITION_GAIN, Autopilot, Motion
from esar_ros.sim.physics.battery import Battery
from esar_ros.sim.physics.dynamics import ATTITUDE, GRAVITY, MOTORS, Quadrotor, SetPoint, limits_of
from esar_ros.sim.physics.manual_control import Stick
from esar_ros.sim.world.scene import Contact

CLEARANCE = 0.02  # m, left between the body's sphere and the ground it stands on
TOUCHDOWN_SPEED = 1.5  # m/s
TOUCHDOWN_SLIDE = 1.5  # m/s along the ground; faster is a collision
LEVEL_ENOUGH = math.cos(math.radians(45.0))  # steeper ground carries no vehicle
GROUND = 0  # id of the ground in contacts
RESTITUTION = 0.15  # share of the speed into an obstacle that comes back
FRICTION = 0.6  # share of the speed along an obstacle that is left


class Surroundings(Protocol):
    """The part of a world that a vehicle's motion depends on; see world.World."""

    def ground_height(self, xy: Vector) -> Any: ...

    def contact(self, position: Vector, radius: float) -> Contact | None: ...

    def contact_along(self, start: Vector, end: Vector, radius: float) -> Contact | None: ...


@dataclass(frozen=True)
class Collision:
    """The last time the vehicle hit something; map frame."""

    count: int = 0  # collisions so far
    stamp_ns: int = 0
    position: Vector = field(default_factory=lambda: np.zeros(3))
    point: Vector = field(default_factory=lambda: np.zeros(3))
    normal: Vector = field(default_factory=lambda: np.zeros(3))
    depth: float = 0.0
    object_id: int = -1


class Drone:
    """A multirotor that obeys its autopilot while armed and falls while not.

    `offset` is the map-frame position that AirSim's coordinates of this vehicle count from.
    """

    def __init__(self, name: str, start: Pose, offset: Vector, body: Body, world: Surroundings) -> None:
        self.name = name
        self.start = start
        self.offset = offset
        self.radius = body.radius  # m, of the sphere that meets the world
        self.scale = 1.0  # of the radius, against the airframe's
        self.world = world
        self.body = Quadrotor(start, limits_of(body.velocity_tau))
        self.autopilot = Autopilot()
        self.airframe = body
        self.position_gain = POSITION_GAIN
        self.air = np.zeros(3)  # m/s, ENU: wind and gusts at present
        self.starts_armed = False
        self.touchdown_speed = TOUCHDOWN_SPEED  # m/s into the ground; harder is a collision
        self.reset()

    def reset(self) -> None:
        """Back to the start: still, disarmed, full battery, no collision remembered."""
        self.autopilot.hold()
        self.battery = Battery.of(self.airframe)
        self.collision = Collision()
        self.touches = 0  # times that it met anything in flight, gentle landings too
        self.api_control = False
        self.armed = self.starts_armed
        self.stick = Stick()
        self.place(self.start)
        self.home = self.position.copy()

    # What motions see
    @property
    def position(self) -> Vector:
        """m, map frame."""
        return self.body.position

    @property
    def velocity(self) -> Vector:
        """m/s, map frame."""
        return self.body.velocity

    @property
    def yaw(self) -> float:
        """rad, 0 = east, counter-clockwise."""
        return self.body.yaw

    @property
    def airspeed(self) -> float:
        """m/s, of the air past the vehicle."""
        return float(np.linalg.norm(self.velocity - self.air))

    def height(self) -> float:
        """m from the body's underside to the ground."""
        return float(self.position[2] - self.world.ground_height(self.position[:2])) - self.radius

    def command(self, motion: Motion, done) -> None:  # type: ignore[no-untyped-def]
        """Start a motion; done(outcome) is called when it ends."""
        self.autopilot.start(motion, done)

    def place(self, pose: Pose) -> None:
        """Put the vehicle somewhere; on or under the ground it stands, in the air it hovers if armed."""
        self.autopilot.hold()
        position, self.grounded = self._clear(pose.position)
        at = Pose(position, quaternion_from_yaw(pose.yaw) if self.grounded else pose.quaternion)
        if self.armed and not self.grounded:
            self.body.float_at(at)
        else:
            self.body.rest(at)

    def resize(self, scale: float) -> None:
        """Scale the sphere that meets the world; a vehicle that stands goes on standing."""
        sunk = self.airframe.radius * (self.scale - scale)
        self.scale, self.radius = scale, self.airframe.radius * scale
        if self.grounded:
            pose = self.body.pose
            self.place(Pose(pose.position - np.array([0.0, 0.0, sunk]), pose.quaternion))

    def arm(self, armed: bool) -> None:
        """Start or stop the motors; stopped in the air, the vehicle falls."""
        self.armed = armed and self.battery.charge > 0.0
        if armed:
            self.home = self.position.copy()
        else:
            self.autopilot.hold()

    def advance(self, wind: Vector, now_ns: int, steps: int) -> None:
        """Advances by one control interval of `steps` physics steps."""
        setpoint = self.autopilot.think(self, now_ns * 1e-9)
        if self.battery.charge <= 0.0 and self.armed:
            self.arm(False)
        if self.grounded and self.armed and self._asks_to_rise(setpoint):
            self.grounded = False
            self.body.float_at(self.body.pose)
        if not self.grounded:
            before = self.position.copy()
            if self.armed:
                self.body.advance(setpoint.as_array(), wind, steps)
            else:
                self.body.fall(wind, steps)
            touch = self.world.contact_along(before, self.position, self.radius)
            if touch is not None:
                self._meet(touch, setpoint, now_ns)
        self.battery.drain(0.0 if self.grounded else self.body.thrust, self.armed, steps * STEP)

    def bump(self, other_id: int, normal: Vector, depth: float, now_ns: int) -> None:
        """Collide with a body on the far side of a unit normal that points here."""
        self._record(self.position - normal * self.radius, normal, depth, other_id, now_ns)
        self.touches += 1
        if self.grounded:
            return
        into = float(self.velocity @ normal)
        if into < 0.0:
            self.velocity[:] -= (1.0 + RESTITUTION) * into * normal
        self.position[:] += depth * normal

    def _asks_to_rise(self, setpoint: SetPoint) -> bool:
        if setpoint.mode <= ATTITUDE:
            return bool(setpoint.values[2] > 0.05)
        if setpoint.mode == MOTORS:
            duties = float(setpoint.values.sum()) + setpoint.yaw
            return duties / 4.0 * self.body.limits.thrust > GRAVITY
        return bool(setpoint.values[2] * self.body.limits.thrust > GRAVITY)

    def _clear(self, position: Vector) -> tuple[Vector, bool]:
        """The place itself, or the lowest above it where the body is not in the ground; and whether it stands there."""
        at = position.copy()
        for _ in range(8):  # on curved ground one step does not suffice
            touch = self.world.contact(at, self.radius + CLEARANCE)
            if touch is None:
                break
            if touch.id != GROUND:  # in a rock or a bush: it stays there, but not in the ground
                at[2] = max(at[2], float(self.world.ground_height(at[:2])) + self.radius + CLEARANCE)
                break
            at[2] += touch.depth / max(float(touch.normal[2]), 0.1) + 1e-3
        below = self.world.contact(at - np.array([0.0, 0.0, 2.0 * CLEARANCE]), self.radius)
        if below is not None and below.id != GROUND and below.normal[2] <= 0.0:
            return at, bool(at[2] - self.world.ground_height(at[:2]) < self.radius + 2.0 * CLEARANCE)
        return at, below is not None and bool(below.normal[2] > 0.0)

    def _stand(self, position: Vector) -> None:
        self.grounded = True
        self.body.rest(Pose(position, quaternion_from_yaw(self.yaw)))

    def _meet(self, touch: Contact, setpoint: SetPoint, now_ns: int) -> None:
        """Stop at what was met: stand on it when touched gently from above, else collide."""
        normal = np.asarray(touch.normal, dtype=np.float64)
        into = -float(self.velocity @ normal)
        if into <= 0.0:
            return  # already leaving it
        self.touches += 1
        slide = self.velocity + into * normal
        depth = float(np.linalg.norm(self.position - touch.position))
        at = np.asarray(touch.position, dtype=np.float64) + CLEARANCE * normal
        self.position[:] = at
        gentle = into < self.touchdown_speed and float(np.linalg.norm(slide)) < TOUCHDOWN_SLIDE
        if normal[2] > LEVEL_ENOUGH and (not self.armed or gentle):
            if not gentle:
                self._record(at - normal * self.radius, normal, depth, touch.id, now_ns)
            if not self.armed or not self._asks_to_rise(setpoint):
                self._stand(at)
            else:
                self.velocity[:] = slide
            return
        self._record(at - normal * self.radius, normal, depth, touch.id, now_ns)
        self.velocity[:] = FRICTION * slide + RESTITUTION * into * normal

    def _record(self, point: Vector, normal: Vector, depth: float, object_id: int, now_ns: int) -> None:
        self.collision = Collision(
            self.collision.count + 1, now_ns, self.position.copy(), point, normal, depth, object_id
        )
