"""The scenes that the tests of the governor's mutants share."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from esar_ros.geometry.frames import Pose, quaternion_from_yaw
from esar_ros.mission.modes import Mode
from esar_ros.safety.governor import Governor
from esar_ros.safety.inputs import Command
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import Team

Kit = SimpleNamespace


def finite(kit: Kit, limits: Limits) -> bool:
    return bool(np.isfinite(kit.Scene(limits).decide([math.nan, 0.0, 0.0]).velocity).all())


def unseen_ahead(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[3.0, 0.0, 0.0])
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    scene.ranges = replace(scene.ranges, ranges=np.full((24, 72), math.nan, dtype=np.float32))
    return not scene.decide([3.0, 0.0, 0.0]).velocity.any()


def column(kit: Kit, limits: Limits) -> bool:
    """A vehicle on the ground does not move sideways."""
    scene = kit.Scene(limits, position=[0.0, 0.0, 0.5])
    scene.state = replace(scene.state, landed=True)
    return scene.decide([0.1, 0.0, 0.1]).velocity[0] == 0.0


def estimator(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[0.2, 0.0, 0.0])
    scene.state = replace(scene.state, deviation=2.0 * limits.deviation_hold)
    return scene.decide([0.03, 0.0, 0.0]).mode is Mode.HOLD


def heading(kit: Kit, limits: Limits) -> bool:
    """From one step to the next the compass turns by a quarter: every range is then posed elsewhere."""
    governor = kit.Scene(limits).governor()
    for n, yaw in enumerate((0.0, 0.5 * math.pi)):
        position = [0.1 * n * kit.STEP, 0.0, 20.0]
        scene = kit.Scene(limits, velocity=[0.1, 0.0, 0.0], position=position, now=kit.NOW + n * kit.STEP)
        scene.state = replace(scene.state, pose=Pose(scene.state.pose.position, quaternion_from_yaw(yaw)))
        answer = scene.decide([0.1, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.HOLD and not answer.velocity.any()


def somebody_below(kit: Kit, limits: Limits) -> bool:
    """Somebody stands where the vehicle is to touch down."""
    person = kit.World(np.array([[0.0, 0.0, 0.2 + 0.25 * n, 0.2] for n in range(7)]))
    scene = kit.Scene(limits, person, position=[0.0, 0.0, 5.0], velocity=[0.0, 0.0, -0.1], touching_down=True)
    answer = scene.decide(
        [0.0, 0.0, -0.1], governor=Governor(limits, Site(kit.square(500.0), 120.0, np.full(3, -99.0)))
    )
    return not answer.velocity.any() and "out of the ground" in answer.text


def silent_ranges(kit: Kit, limits: Limits) -> bool:
    """Neither the ground below nor the pillar ahead has an echo, and there is no map."""
    scene = kit.Scene(limits, position=[0.0, 0.0, 10.0], velocity=[2.0, 0.0, 0.0])
    scene.ranges = replace(scene.ranges, ranges=np.full((24, 72), math.inf, dtype=np.float32))
    answer = scene.decide([2.0, 0.0, 0.0])
    return answer.mode is Mode.HOLD and not answer.velocity.any()


def odometry(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[2.0, 0.0, 0.0])
    scene.state = replace(scene.state, stamp=kit.NOW - 1.0)
    return not scene.decide([2.0, 0.0, 0.0]).velocity.any()


def old_command(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[2.0, 0.0, 0.0])
    return not scene.ask(Command(kit.NOW - 1.0, np.array([2.0, 0.0, 0.0]))).velocity.any()


def old_ranges(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[2.0, 0.0, 0.0])
    scene.ranges = replace(scene.ranges, stamp=kit.NOW - 1.0)
    return not scene.decide([2.0, 0.0, 0.0]).velocity.any()


def old_map(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, velocity=[4.0, 0.0, 0.0])
    scene.window = replace(scene.window, stamp=kit.NOW - 9.0)
    return scene.decide([4.0, 0.0, 0.0]).velocity[0] <= limits.speed_without_map


def release(kit: Kit, limits: Limits) -> bool:
    governor = Governor(limits, Site(kit.square(500.0), 120.0, np.zeros(3)))
    kit.Scene(limits).ask(None, governor)
    return not kit.Scene(limits, now=kit.NOW + 0.05).decide([0.1, 0.0, 0.0], governor=governor).velocity.any()


def battery(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[30.0, 0.0, 20.0])
    scene.state = replace(scene.state, battery=limits.battery_return)
    return scene.decide([0.0, 0.0, 0.0]).mode is Mode.RETURN


def breach(kit: Kit, limits: Limits) -> bool:
    world = kit.World(np.array([[2.4, 0.0, math.inf, 2.0]]), 24, 180)
    return kit.Scene(limits, world=world).decide([0.0, 0.0, 0.0]).breach


def conflicting_publisher(kit: Kit, limits: Limits) -> bool:
    """A second node publishes one of its inputs."""
    scene = kit.Scene(limits, velocity=[2.0, 0.0, 0.0])
    command = Command(kit.NOW, np.array([2.0, 0.0, 0.0]))
    answer = scene.governor().decide(
        scene.state, command, scene.ranges, scene.window, kit.NOW, conflicting_publisher="cmd_vel is written by /x/y"
    )
    return answer.mode is Mode.HOLD and "/x/y" in answer.text and not answer.velocity.any()


def unheard(kit: Kit, limits: Limits) -> bool:
    """A vehicle whose teammate was never heard rises into its own layer before it flies anywhere."""
    scene = kit.Scene(limits, position=[40.0, 0.0, 20.0])
    given = scene.decide([5.0, 0.0, 0.0], governor=Governor(limits, scene.site, Team(1, 2))).velocity
    return bool(given[2] > 0.0 and given[0] == 0.0)


def unheard_below_a_low_ceiling(kit: Kit, limits: Limits) -> bool:
    """Without a layer it holds, and comes home when the silence lasts."""
    site, modes = Site(kit.square(500.0), 25.0, np.zeros(3)), []
    governor = Governor(limits, site, Team(1, 2))
    for n in range(int(limits.link_return) + 2):
        scene = kit.Scene(limits, position=[40.0, 0.0, 15.0], site=site, now=kit.NOW + n)
        modes.append(scene.decide([0.0, 0.0, 0.0], governor=governor).mode)
    return set(modes[:-2]) == {Mode.HOLD} and modes[-1] is Mode.RETURN
