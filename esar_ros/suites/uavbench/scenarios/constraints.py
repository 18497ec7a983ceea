"""Checks S3 to S6 over several keys: order of numbers, what goes together, what happens after the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import StrictModel, load_settings
from esar_ros.suites.uavbench.scenarios.findings import ERROR, WARNING
from esar_ros.suites.uavbench.scenarios.scene import Broken, Scene
from esar_ros.suites.uavbench.scenarios.taxonomy import NEEDS_RUNWAY, Family, canonical

Told = Iterator[tuple[str, str, str]]  # severity, pointer, text
SHORTEST = 60.0  # s, of a scenario
AXES_OF_STICKS = frozenset({"throttle", "pitch", "roll", "yaw"})
_LEAST_MOVES = frozenset({"fwd", "up", "down"})


class Pair(StrictModel):
    """Tokens that do not go together: it holds where every axis that it names matches."""

    why: str
    families: tuple[Family, ...] | None = None
    types: tuple[str, ...] | None = None
    airspaces: tuple[str, ...] | None = None
    missions: tuple[str, ...] | None = None
    phenomena: tuple[str, ...] | None = None


class _Pairs(StrictModel):
    forbidden: tuple[Pair, ...]


@cache
def pairs() -> tuple[Pair, ...]:
    """Returns the table of what does not go together (config/scenarios/pairs.yaml)."""
    return load_settings(_Pairs, resource("config/scenarios/pairs.yaml"), "the pairs of scenarios").forbidden


def forbidding(family: Family, vehicle: str, airspace: str, mission: str, phenomena: list[str]) -> Pair | None:
    """Returns the first pair that forbids a combination."""
    for pair in pairs():
        if (
            (pair.families is None or family in pair.families)
            and (pair.types is None or vehicle in pair.types)
            and (pair.airspaces is None or airspace in pair.airspaces)
            and (pair.missions is None or mission in pair.missions)
            and (pair.phenomena is None or any(token in pair.phenomena for token in phenomena))
        ):
            return pair
    return None


def rate(scene: Scene) -> Told:
    """S3: a policy acts at most once a step."""
    dt, frequency = scene["/sim/dt"], scene["/sim/policy_frequency"]
    if frequency * dt > 1.0 + 1e-9:
        yield ERROR, "/sim", f"policy_frequency must be at most 1 / dt = {1.0 / dt:g} Hz, is {frequency:g}"


def band_order(scene: Scene) -> Told:
    """S3: the altitude band is not empty."""
    low, high = scene["/airspace/altitude_agl_min_m"], scene["/airspace/altitude_agl_max_m"]
    if low >= high:
        yield ERROR, "/airspace", f"altitude_agl_min_m {low:g} must be below altitude_agl_max_m {high:g}"


def zone_order(scene: Scene) -> Told:
    """S3: zones have their floor below their ceiling."""
    for key in ("/airspace/no_fly_zones", "/airspace/no_fly_zones_dynamic"):
        for index, zone in enumerate(scene.get(key, ())):
            if zone["floor_m"] >= zone["ceiling_m"]:
                yield ERROR, f"{key}/{index}", f"floor {zone['floor_m']:g} must be below ceiling {zone['ceiling_m']:g}"


def window_order(scene: Scene) -> Told:
    """S3: windows of lost link begin before they end."""
    for index, (begin, end) in enumerate(scene.get("/comms/loss_windows", ())):
        if begin >= end:
            yield ERROR, f"/comms/loss_windows/{index}", f"must begin before it ends, is {begin:g} to {end:g} s"


def profile_order(scene: Scene) -> Told:
    """S3: heights of the wind profile rise."""
    heights = [layer["alt_m"] for layer in scene.get("/environment/wind_profile", ())]
    for index in range(1, len(heights)):
        if heights[index] <= heights[index - 1]:
            yield ERROR, f"/environment/wind_profile/{index}/alt_m", f"must rise, is {heights[index]:g}"


def sources(scene: Scene) -> Told:
    """S3: an energy source has something in it."""
    source = scene["/uav/energy_source"]
    if source != "fuel" and scene["/uav/battery_Wh"] <= 0.0:
        yield ERROR, "/uav/battery_Wh", f"must be above 0 for energy source {source}, is {scene['/uav/battery_Wh']:g}"
    if source != "battery" and scene["/uav/fuel_L"] <= 0.0:
        yield ERROR, "/uav/fuel_L", f"must be above 0 for energy source {source}, is {scene['/uav/fuel_L']:g}"


def together(scene: Scene) -> Told:
    """S5: vehicle, airspace, mission and weather go together."""
    airspace, mission = canonical(scene["/environment/airspace"]), canonical(scene["/mission/type"])
    pair = forbidding(scene.family, scene.vehicle, airspace, mission, scene.phenomena)
    if pair is not None:
        named = [scene.vehicle] if pair.families or pair.types else []
        named += [mission] if pair.missions else []
        named += [airspace] if pair.airspaces else []
        named += [token for token in scene.phenomena if token in (pair.phenomena or ())]
        yield ERROR, "", f"{', '.join(named)} do not go together: {pair.why}"


def controls(scene: Scene) -> Told:
    """S5: the controls can fly the vehicle."""
    actions, mode = set(scene["/controls/actions"]), scene["/controls/mode"]
    if mode == "continuous" and not actions >= AXES_OF_STICKS:
        yield ERROR, "/controls", f"continuous control needs {', '.join(sorted(AXES_OF_STICKS - actions))} too"
    if mode == "discrete" and not scene.family.hovers:
        yield ERROR, "/controls", f"type {scene.vehicle} cannot be flown by discrete moves, it has to keep moving"
    elif mode == "discrete" and not actions >= _LEAST_MOVES:
        yield ERROR, "/controls", f"without {', '.join(sorted(_LEAST_MOVES - actions))} it cannot fly the route"


def blocks(scene: Scene) -> Told:
    """S5: a vehicle has the blocks of its family, and no other."""
    rotors, wing = (scene.get(f"/uav/{key}") is not None for key in ("rotorcraft", "aero"))
    if scene.family.hovers and not rotors:
        yield ERROR, "/uav/rotorcraft", f"is missing: type {scene.vehicle} hovers"
    if scene.family.has_wing and not wing:
        yield ERROR, "/uav/aero", f"is missing: type {scene.vehicle} has a wing"
    if wing and not scene.family.has_wing:
        yield WARNING, "/uav/aero", f"type {scene.vehicle} has no wing"


def runway(scene: Scene) -> Told:
    """S5: what needs a runway asks for one, and what is asked for is there."""
    required = scene.get("/mission/runway_required", False)
    if scene.vehicle in NEEDS_RUNWAY and not required:
        yield ERROR, "/mission/runway_required", f"must be true: type {scene.vehicle} needs a runway"
    elif required and scene.get("/airspace/runway") is None:
        yield ERROR, "/airspace/runway", "is missing: runway_required is true"


def pattern(scene: Scene) -> Told:
    """S5: a pattern and a family have what they need of the mission."""
    if scene["/mission/pattern"] == "orbit" and scene.get("/mission/loiter_radius_m") is None:
        yield ERROR, "/mission/loiter_radius_m", "is missing: an orbit needs its radius"
    if scene.family is Family.HYBRID and scene.get("/mission/transition_profile") is None:
        yield ERROR, "/mission/transition_profile", f"is missing: type {scene.vehicle} has transitions"


def link(scene: Scene) -> Told:
    """S5: a link that is down throughout is not lost once more."""
    if scene.get("/comms/loss_windows") and scene.get("/comms/uplink_ok") is False:
        yield WARNING, "/comms", "the uplink is down throughout, and windows say when it is lost"


def clear_sky(scene: Scene) -> Told:
    """S5: a clear sky has no other phenomenon."""
    if "clear" in scene.phenomena and len(set(scene.phenomena)) > 1:
        yield WARNING, "/environment/weather/phenomena", "is clear and something else"


def length(scene: Scene) -> Told:
    """S6: the scenario is long enough for its time budget (and the line says if not even for its route)."""
    least = max(SHORTEST, scene["/mission/time_budget_s"])
    if scene.duration >= least - 1e-6:
        return
    text = f"ends after {scene.duration:g} s, before the {least:g} s that it needs"
    with suppress(Broken):
        if (takes := scene.length / scene.max_speed) > scene.duration:
            text += f", and the route takes {takes:.4g} s at greatest speed"
    yield ERROR, "/sim/duration_steps", text


def faults_in_time(scene: Scene) -> Told:
    """S6: faults happen before the end."""
    for index, fault in enumerate(scene.get("/faults", ())):
        if (end := fault["t_s"] + fault["duration_s"]) > scene.duration + 1e-6:
            yield ERROR, f"/faults/{index}", f"ends at {end:g} s, after the scenario at {scene.duration:g} s"


def windows_in_time(scene: Scene) -> Told:
    """S6: windows of lost link end before the scenario does."""
    for index, (begin, end) in enumerate(scene.get("/comms/loss_windows", ())):
        if begin < end and end > scene.duration + 1e-6:
            yield ERROR, f"/comms/loss_windows/{index}", f"ends at {end:g} s, the scenario at {scene.duration:g} s"
