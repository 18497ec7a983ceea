"""The embedded simulator as a world to fly step by step in: one scene with one vehicle, and its four RGB-D cameras."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from esar_ros.geometry.frames import Pose, Vector
from esar_ros.mission.object_goal import StepPose
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.planning.agent_call import Draw
from esar_ros.sim.clock import CONTROL_STEPS, STEP
from esar_ros.sim.physics.autopilot import STILL, Flier, Heading, Turn, toward
from esar_ros.sim.physics.drone import Drone
from esar_ros.sim.physics.dynamics import SetPoint
from esar_ros.sim.physics.simulation import Simulation
from esar_ros.sim.render.renderer import Renderer, Shapes
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.world import World
from esar_ros.suites.uav_on.flight import Look, not_free
from esar_ros.suites.uav_on.scenes import FlownTask, Scene
from esar_ros.suites.uav_on.settings import SuiteSettings
from esar_ros.suites.uav_on.worlds.images import Images, quantised

VEHICLE = "uav1"
ENDLESS = 1e9  # Wh: the suite knows no battery


class OpenScene:
    """A scene's world with its objects, and what draws it. Nothing that is flown in it changes it."""

    def __init__(self, scene: Scene, settings: SuiteSettings) -> None:
        """Raises UsageError for a scene that cannot be."""
        self.scene, self.settings = scene, settings
        place = load_map(scene.map)
        self.map_digest = place.digest
        self.world = World(place, 0)
        self.words: dict[int, str] = {}  # by object id
        for placed in scene.objects:
            pose = Pose(np.array(placed.position), np.array(placed.quaternion))
            self.words[self.world.spawn(placed.name, placed.asset, pose, placed.scale).id] = placed.words
        self._renderers: dict[int, Renderer] = {}

    def renderer(self, side: int) -> Renderer:
        """Returns the renderer of images of side x side px. Raises UsageError without OpenGL."""
        if side not in self._renderers:
            self._renderers[side] = Renderer(self.world, side, side, math.radians(self.settings.fov_deg))
        return self._renderers[side]

    def close(self) -> None:
        """Give the graphics contexts back."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()


def check_starts(tasks: Sequence[FlownTask], settings: SuiteSettings) -> None:
    """Raises UsageError for an episode that starts inside something."""
    opened: OpenScene | None = None
    for task in sorted(tasks, key=lambda task: task.scene.name):
        if opened is None or opened.scene is not task.scene:
            opened = OpenScene(task.scene, settings)
        start = StepPose.of(task.entry.episode.start)
        if opened.world.contact(start.pose.position, settings.vehicle.radius) is not None:
            raise not_free(task.entry.episode)


@dataclass
class _ToPose:
    """A motion that flies straight to a point, turns to a heading (rad) and stays there."""

    goal: Vector
    yaw: float
    speed: float

    def steer(self, flier: Flier, now: float) -> SetPoint:
        setpoint = SetPoint(values=toward(flier, self.goal, self.speed))
        return Heading(Turn.ANGLE, self.yaw).apply(setpoint, flier)


class EmbeddedWorld:
    """A vehicle in a scene (flight.StepWorld)."""

    def __init__(self, opened: OpenScene) -> None:
        self.opened = opened
        self._vehicle = opened.settings.vehicle
        body = load_vehicle().body
        self._body = body.model_copy(update={"radius": self._vehicle.radius, "battery_energy": ENDLESS})

    @property
    def seconds(self) -> float:
        """Simulated so far, s."""
        return self._simulation.clock.now

    @property
    def measured(self) -> Pose:
        """The vehicle's pose (FLU) in the map."""
        return self._drone.body.pose

    def place(self, pose: Pose) -> None:
        """Put a fresh vehicle into the air and let it settle; touching meanwhile does not count."""
        self._drone = Drone(VEHICLE, pose, np.zeros(3), self._body, self.opened.world)
        self._drone.starts_armed = True
        self._drone.reset()
        self._simulation = Simulation(self.opened.world, [self._drone])
        self._advance(self._vehicle.settle)
        self._touches = self._drone.touches

    def fly(self, target: StepPose, seconds: float) -> None:
        """Fly to a pose until it is reached, something is touched or a time (s) is over, then hover."""
        self._drone.command(
            _ToPose(np.array(target.position), math.radians(target.yaw), self._vehicle.speed), lambda outcome: None
        )
        self._advance(seconds, lambda: self._is_at(target) or self._drone.touches > self._touches)
        if not self._is_at(target):
            self._drone.autopilot.hold()

    def hover(self) -> None:
        """Stay for the time of a stop."""
        self._advance(self._vehicle.settle)

    def touched(self) -> bool:
        """Returns whether anything was touched since the last question, or the vehicle stands on something."""
        before, self._touches = self._touches, self._drone.touches
        return self._touches > before or self._drone.grounded

    def is_free(self, pose: Pose) -> bool:
        """Returns whether the vehicle would touch nothing at a pose."""
        return self.opened.world.contact(pose.position, self._vehicle.radius) is None

    def images(self, told: Pose, look: Look, draw: Draw) -> Images:
        """Images where the vehicle is; told: its pose as the agent is told it."""
        opened, settings, time = self.opened, self.opened.settings, self.seconds
        eyes = [self.measured.compose(mount.pose) for mount in settings.cameras.values()]

        def colour() -> NDArray[np.uint8]:
            return draw(lambda: opened.renderer(settings.colour).render(eyes, time).rgb)

        @cache
        def shapes() -> Shapes:
            return draw(lambda: opened.renderer(settings.depth).shapes(eyes))

        def depth() -> NDArray[np.float32]:
            metres = shapes().depth * np.linalg.norm(images.model.rays(), axis=-1).astype(np.float32)
            return quantised(metres, settings.depth_range) if look.depth == "code" else metres

        def labels() -> list[dict[str, int]]:
            if not look.truth:
                raise PermissionError("labels are ground truth: only an agent that is not eligible may see them")
            return [_labels(ids, opened.words) for ids in shapes().ids]

        images = Images(settings, told, colour, depth, labels)
        return images

    def _advance(self, seconds: float, done: Callable[[], bool] = lambda: False) -> None:
        for _ in range(round(seconds / STEP / CONTROL_STEPS)):
            self._simulation.advance(CONTROL_STEPS)
            if done():
                return

    def _is_at(self, target: StepPose) -> bool:
        drone = self._drone
        off = math.remainder(math.radians(target.yaw) - drone.yaw, math.tau)
        return (
            float(np.linalg.norm(target.position - drone.position)) < self._vehicle.reached
            and float(np.linalg.norm(drone.velocity)) < STILL
            and abs(off) < math.radians(self._vehicle.turned)
        )


def _labels(ids: NDArray[np.uint8], words: Mapping[int, str]) -> dict[str, int]:
    """Pixels by words of the objects in an image of ids."""
    counts = np.bincount(ids.ravel(), minlength=256)
    seen: dict[str, int] = {}
    for id, text in words.items():
        if counts[id]:
            seen[text] = seen.get(text, 0) + int(counts[id])
    return seen
