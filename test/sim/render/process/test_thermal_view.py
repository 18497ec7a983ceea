"""The rendering process draws a thermal camera's view as a renderer in this process does."""

from __future__ import annotations

import math
from datetime import datetime

import numpy as np

from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, quaternion_from_rotation
from esar_ros.sim.render.process.images import ImageType
from esar_ros.sim.render.process.protocol import Job, Placed, RenderRequest, RenderScene
from esar_ros.sim.render.process.worker import Painter
from esar_ros.sim.render.renderer import Renderer
from esar_ros.sim.settings import Capture
from esar_ros.sim.terrain.maps import load_map
from esar_ros.sim.world.environment import Environment
from esar_ros.sim.world.world import World


def test_a_thermal_view_shows_a_body_and_is_the_same_in_both_processes() -> None:
    capture, night = Capture(160, 128, 50.0), Environment(local_time=datetime(2024, 7, 6, 1, 0))
    world = World(load_map("aotai"), 0)
    world.environment = night
    victim = world.spawn("victim", "person_lying", world.resting_pose((12.0, 1.5), 1.0))
    eye = np.array([12.0, 1.5, float(world.ground_height((12.0, 1.5))) + 12.0])
    pose = Pose(eye, quaternion_from_rotation(optical_rotation(0.0, -math.pi / 2)))
    drawn = Renderer(world, capture.width, capture.height, math.radians(capture.fov))
    painter = Painter("aotai", 0, "low")
    try:
        seen, (grey,) = drawn.thermal([pose], 2.0)
        placed = Placed("victim", "person_lying", victim.pose, victim.scale, victim.id)
        kinds = ((ImageType.THERMAL, False), (ImageType.DEPTH_PLANAR, True))
        views = tuple(RenderRequest(pose, capture, kind, as_float, False, ()) for kind, as_float in kinds)
        told, _ = painter.paint(Job(RenderScene(1, (placed,), night, 0), 2.0, views))
    finally:
        drawn.close()
        painter.close()
    picture = np.frombuffer(told, np.uint8).reshape(capture.height, capture.width, 3)
    assert (picture == grey[..., None]).all()
    body = seen.ids[0] == victim.id
    assert grey[body].mean() > 200 > 160 > np.median(grey[~body])
