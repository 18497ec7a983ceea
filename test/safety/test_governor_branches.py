"""Every branch in which the governor finds a fault matters: taking any one away breaks a scene.

The branches are found in the source, so that a branch that is added needs a scene; `pytest -v` lists them.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.mission.modes import Mode, Reason
from esar_ros.safety.acceleration import AccelerationLimit
from esar_ros.safety.checks import InputChecks
from esar_ros.safety.envelope import Envelope
from esar_ros.safety.governor import Governor
from esar_ros.safety.limits import Limits
from esar_ros.safety.site import Site
from esar_ros.safety.traffic import OtherVehicle
from esar_ros.safety.wind import WindDisturbance
from helpers import governor_scenes as deleted

Kit = SimpleNamespace
Safe = Callable[[Kit, Limits], bool]
NOTES = ("add", "raised")  # methods by which a finding, or a latched mode, is noted
LOST = np.array([math.nan, 0.0, 20.0])


def found_in_source() -> Iterator[tuple[type, str, str, Callable[..., Any]]]:
    """Yields each branch that notes something: class, method, condition, and the method without it."""
    for owner in (InputChecks, Governor, Envelope, AccelerationLimit):
        source = textwrap.dedent(inspect.getsource(owner))
        names = [part.name for part in ast.parse(source).body[0].body if isinstance(part, ast.FunctionDef)]  # type: ignore[attr-defined]
        for name in names:
            for number in range(len(branches(method(source, name)))):
                tree = method(source, name)
                branch = branches(tree)[number]
                condition = ast.unparse(branch.test)
                branch.test = ast.Constant(False)
                module = ast.fix_missing_locations(ast.Module([tree], []))
                code: Any = compile(module, owner.__name__, "exec", __future__.annotations.compiler_flag)
                made: dict[str, Any] = {}
                exec(code, vars(sys.modules[owner.__module__]), made)
                yield owner, name, condition, made[name]


def method(source: str, name: str) -> ast.FunctionDef:
    """Returns a class's method, parsed afresh."""
    parts = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    return next(part for part in parts if isinstance(part, ast.FunctionDef) and part.name == name)


def branches(function: ast.FunctionDef) -> list[ast.If]:
    """Returns the branches of a function in which something is noted."""
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.If) and any(notes(call) for part in node.body for call in ast.walk(part))
    ]


def notes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NOTES


# -- scenes beside those of the deleted checks ----------------------------------------------------


def breaches(scene: Any) -> bool:
    return bool(scene.decide([0.0, 0.0, 0.0]).breach)


def odometry_without_numbers(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits)
    scene.state = replace(scene.state, pose=Pose(LOST))
    answer = scene.decide([0.1, 0.0, 0.0])
    return answer.mode is Mode.HOLD and not answer.velocity.any()


def ranges_from_nowhere(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits)
    scene.ranges = replace(scene.ranges, pose=Pose(LOST))
    return scene.decide([0.1, 0.0, 0.0]).reason is Reason.STALE_RANGES


def clock_without_time(kit: Kit, limits: Limits) -> bool:
    """One step without it holds, and leaves nothing behind."""
    governor, modes = kit.Scene(limits).governor(), []
    for now in (kit.NOW, math.nan, kit.NOW + 0.05):
        scene = kit.Scene(limits, now=kit.NOW if math.isnan(now) else now)
        scene.now = now
        modes.append(scene.decide([0.0, 0.0, 0.0], governor=governor).mode)
    return modes == [Mode.NORMAL, Mode.HOLD, Mode.NORMAL]


def jump_is_reported(kit: Kit, limits: Limits) -> bool:
    governor = kit.Scene(limits).governor()
    kit.Scene(limits).decide([0.0, 0.0, 0.0], governor=governor)
    return "jumped by" in kit.Scene(limits, now=kit.NOW - 50.0).decide([0.0, 0.0, 0.0], governor=governor).text


def settling_is_reported(kit: Kit, limits: Limits) -> bool:
    limits = limits.model_copy(update={"release": 0.0})
    governor = kit.Scene(limits).governor()
    for now in (kit.NOW, kit.NOW - 50.0, kit.NOW - 49.6):
        answer = kit.Scene(limits, now=now).decide([0.0, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.HOLD


def return_outlasts_odometry(kit: Kit, limits: Limits) -> bool:
    governor = kit.Scene(limits).governor()
    for later, charge in ((0.0, limits.battery_return), (0.05, 0.9)):
        scene = kit.Scene(limits, position=[30.0, 0.0, 20.0], now=kit.NOW + later)
        scene.state = replace(scene.state, battery=charge, stamp=kit.NOW - 9.0 if later else kit.NOW)
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.RETURN


def pilot_stays_away(kit: Kit, limits: Limits) -> bool:
    limits = limits.model_copy(update={"link_return": 0.04})
    governor = kit.Scene(limits).governor()
    for later in (0.0, 0.05):
        scene = kit.Scene(limits, position=[30.0, 0.0, 20.0], now=kit.NOW + later, heartbeat_age=2.0)
        answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.RETURN


def charged(kit: Kit, limits: Limits, charge: float, east: float) -> Mode:
    scene = kit.Scene(limits, position=[east, 0.0, 20.0])
    scene.state = replace(scene.state, battery=charge)
    return Mode(scene.decide([0.0, 0.0, 0.0]).mode)


def reserve_at_home(kit: Kit, limits: Limits) -> bool:
    return charged(kit, limits, limits.battery_return, 0.0) is Mode.LAND


def empty_battery(kit: Kit, limits: Limits) -> bool:
    return charged(kit, limits, limits.battery_land, 300.0) is Mode.LAND


def other_within_reach(kit: Kit, limits: Limits) -> bool:
    return breaches(kit.Scene(limits, others=(OtherVehicle(kit.NOW, np.array([0.8, 0.0, 20.0]), np.zeros(3)),)))


def outside_the_fence(kit: Kit, limits: Limits) -> bool:
    return breaches(kit.Scene(limits, position=[27.0, 0.0, 20.0], site=Site(kit.square(25.0), 120.0, np.zeros(3))))


def in_a_zone(kit: Kit, limits: Limits) -> bool:
    zone = kit.square(5.0) + [40.0, 0.0]
    site = Site(kit.square(99.0), 120.0, np.zeros(3), (zone,))
    return breaches(kit.Scene(limits, position=[40.0, 0.0, 20.0], site=site))


def above_the_ceiling(kit: Kit, limits: Limits) -> bool:
    return breaches(kit.Scene(limits, position=[0.0, 0.0, 40.0], site=Site(kit.square(99.0), 20.0, np.zeros(3))))


def above_the_top(kit: Kit, limits: Limits) -> bool:
    site = Site(kit.square(99.0), 120.0, np.zeros(3), top=20.0)
    return breaches(kit.Scene(limits, position=[0.0, 0.0, 40.0], site=site))


def stuck_odometry(kit: Kit, limits: Limits) -> bool:
    governor = kit.Scene(limits).governor()
    for n in range(20):
        scene = kit.Scene(limits, velocity=[4.0, 0.0, 0.0], now=kit.NOW + n * kit.STEP)
        answer = scene.decide([4.0, 0.0, 0.0], governor=governor)
    return "the same position" in answer.text and not answer.velocity.any()


def blown_home(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[30.0, 0.0, 20.0])
    governor = scene.governor()
    governor._memory = replace(governor._memory, wind=WindDisturbance(kit.NOW - kit.STEP, mean_square=4.0))
    return scene.decide([0.0, 0.0, 0.0], governor=governor).mode is Mode.RETURN


def more_wind_is_forecast(kit: Kit, limits: Limits) -> bool:
    site = Site(kit.square(300.0), 120.0, np.zeros(3), wind=limits.wind_limit + 1.0)
    return kit.Scene(limits, position=[30.0, 0.0, 20.0], site=site).decide([0.0, 0.0, 0.0]).mode is Mode.RETURN


def not_armed(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits)
    scene.state = replace(scene.state, armed=False)
    return not scene.decide([0.0, 0.0, 0.1]).velocity.any()


def speeding_is_reported(kit: Kit, limits: Limits) -> bool:
    return Reason.SPEED in kit.Scene(limits, velocity=[6.0, 0.0, 0.0]).decide([7.0, 0.0, 0.0]).reasons


def fence_is_reported(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[19.0, 0.0, 20.0], site=Site(kit.square(25.0), 120.0, np.zeros(3)))
    return Reason.FENCE in scene.decide([5.0, 0.0, 0.0]).reasons


def without_a_site(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[0.0, 0.0, 0.1])
    scene.state = replace(scene.state, landed=True)
    answer = scene.decide([0.0, 0.0, 0.1], governor=Governor(limits))
    return answer.reason is Reason.FENCE and not answer.velocity.any()


def ground_is_reported(kit: Kit, limits: Limits) -> bool:
    scene = kit.Scene(limits, position=[0.0, 0.0, 0.1])
    scene.state = replace(scene.state, landed=True)
    return Reason.NOT_FLYING in scene.decide([0.1, 0.0, 0.1]).reasons


def turned_upwards(kit: Kit, limits: Limits) -> bool:
    bank = kit.World(np.array([[8.9, 0.0, -8.5, 27.9]]), 24, 180)
    scene = kit.Scene(limits, bank, velocity=[5.4, 0.0, 1.9])
    scene.window = replace(scene.window, cells=np.zeros_like(scene.window.cells))
    return scene.decide([5.4, 0.0, 0.4]).velocity[2] <= limits.speed_unseen_up + 1e-6


def backs_off_without_odometry(kit: Kit, limits: Limits) -> bool:
    """A held vehicle that no longer knows where it is says what it backs off from."""
    governor = kit.Scene(limits).governor()
    pillar = kit.World(np.array([[1.6, 0.0, np.inf, 0.3]]))
    kit.Scene(limits, pillar).decide([0.0, 0.0, 0.0], governor=governor)
    scene = kit.Scene(limits, pillar, now=kit.NOW + kit.STEP)
    scene.state = None
    answer = scene.decide([0.0, 0.0, 0.0], governor=governor)
    return answer.mode is Mode.HOLD and Reason.OBSTACLE in answer.reasons and answer.velocity[0] < -0.05


SCENES: tuple[Safe, ...] = (
    backs_off_without_odometry,
    odometry_without_numbers, ranges_from_nowhere, clock_without_time, jump_is_reported, settling_is_reported,
    return_outlasts_odometry, pilot_stays_away, reserve_at_home, empty_battery, other_within_reach, outside_the_fence,
    in_a_zone, above_the_ceiling, above_the_top, stuck_odometry, blown_home, more_wind_is_forecast,
    not_armed, speeding_is_reported,
    fence_is_reported, without_a_site, ground_is_reported, turned_upwards,
    deleted.finite, deleted.odometry, deleted.old_command, deleted.old_ranges, deleted.silent_ranges, deleted.old_map,
    deleted.estimator, deleted.heading, deleted.release, deleted.battery, deleted.breach, deleted.column,
    deleted.unseen_ahead, deleted.conflicting_publisher, deleted.somebody_below,
    deleted.unheard, deleted.unheard_below_a_low_ceiling,
)  # fmt: skip
BRANCHES = list(found_in_source())


@pytest.mark.parametrize("safe", SCENES, ids=lambda safe: safe.__name__)
def test_every_scene_is_safe(kit: Kit, limits: Limits, safe: Safe) -> None:
    assert safe(kit, limits)


@pytest.mark.parametrize(("owner", "name", "condition", "without"), BRANCHES, ids=[f"{b[1]}-{b[2]}" for b in BRANCHES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that the branch would have kept out
def test_taking_a_branch_away_breaks_a_scene(
    kit: Kit,
    limits: Limits,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    condition: str,
    without: Callable[..., Any],
) -> None:
    monkeypatch.setattr(owner, name, without)
    assert any(is_broken(safe, kit, limits) for safe in SCENES), f"{owner.__name__}.{name} needs no `if {condition}`"


def is_broken(safe: Safe, kit: Kit, limits: Limits) -> bool:
    """Returns whether a scene is not safe, or cannot even be decided."""
    try:
        return not safe(kit, limits)
    except (AttributeError, ValueError, ZeroDivisionError):
        return True
