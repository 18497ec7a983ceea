"""What a mission begins with: the planner's brief, and the account of how the mission is run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import esar_ros
from esar_ros.geometry.frames import Vector
from esar_ros.mission.observation import Brief
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.mission.task import Task
from esar_ros.perception.detectors.chosen import about_chosen, chosen_is_eligible
from esar_ros.scoring.truth import Run
from esar_ros.sim.terrain.maps import PlaceMap

CEILING = 120.0  # m above ground, the usual legal limit
AREA_MARGIN = 50.0  # m between the search area and the map's edge


def mission_id(task: Task, planner: str, seed: int) -> str:
    """Names a run; says nothing about where anything is."""
    return f"{task.id}-{planner}-{seed}"


def make_brief(task: Task, place: PlaceMap, name: str, report_cap: int, home: Vector) -> Brief:
    """Brief of a vehicle that starts at home (3,) m; the search area is the map less a margin."""
    half = place.size / 2.0 - AREA_MARGIN
    return Brief(
        mission_id=name,
        map_id=task.map,
        prompt=task.prompt,
        weather=task.weather.value,
        local_time=task.local_time.isoformat(),
        t_max=task.t_max,
        area=np.array([[-half, -half], [half, -half], [half, half], [-half, half]]),
        ceiling=CEILING,
        home=home,
        report_cap=report_cap,
        origin=(place.origin.latitude, place.origin.longitude, place.origin.altitude),
    )


def describe_run(
    name: str,
    map_digest: str,
    planner: str,
    seed: int,
    conditions: RunConditions,
    *,
    method_eligible: bool = True,
    planner_details: Mapping[str, str] | None = None,
) -> Run:
    """How a mission is run, for its result. Raises UsageError. method_eligible: the planner uses no ground truth."""
    about = about_chosen(conditions.detector)
    reasons = []
    if not chosen_is_eligible(conditions.detector):
        reasons.append(f"detector {about['backend']} uses ground truth")
    if not method_eligible:
        reasons.append(f"planner {planner} uses ground truth")
    if conditions.faults:
        reasons.append("faults were injected")
    details = dict(planner_details or {})
    return Run(
        mission_id=name,
        planner=planner,
        planner_details=details,
        detector_details=about,
        clock="running" if conditions.pace == "realtime" or details.get("clock") == "running" else "paused",
        eligible=not reasons,
        ineligible_reasons=tuple(reasons),
        judge=conditions.judge,
        pace=conditions.pace,
        world=conditions.world,
        seed=seed,
        preset=conditions.preset,
        governor=conditions.governor,
        odometry=conditions.odometry,
        map_digest=map_digest,
        versions={"esar_ros": esar_ros.__version__},
    )
