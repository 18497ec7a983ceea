"""The account of how a mission is run, as its result states it."""

from __future__ import annotations

from collections.abc import Mapping

import esar_ros
from esar_ros.mission.run_conditions import RunConditions
from esar_ros.perception.detectors.chosen import about_chosen, chosen_is_eligible
from esar_ros.scoring.truth import Run


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
    """Describes a run for its result. Raises UsageError. method_eligible: the planner uses no ground truth."""
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
        quality=conditions.quality,
        governor=conditions.governor,
        odometry=conditions.odometry,
        map_digest=map_digest,
        versions={"esar_ros": esar_ros.__version__},
    )
