"""The conditions of a run on this machine, by the content of its files and its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import esar_ros
from esar_ros.flight.limits import load_pilot_limits
from esar_ros.mission.resources import resource
from esar_ros.mission.run_conditions import RunConditions, digest
from esar_ros.mission.settings_file import read_yaml
from esar_ros.mission.task import Task
from esar_ros.mission.thresholds import load_thresholds
from esar_ros.mission.vehicle import load_vehicle
from esar_ros.perception.detectors.chosen import about_chosen, parted
from esar_ros.perception.settings import load_detector_settings
from esar_ros.planning.method import Method, details_of
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons
from esar_ros.planning.model.settings import ModelSettings, resolved
from esar_ros.planning.parameters import MODEL, check
from esar_ros.planning.registry import asks_model, parameters_of
from esar_ros.safety.limits import load_limits
from esar_ros.scoring.judge import OfflineJudge

# SHA-256 of everything that a detector reads from files; a card's other networks where it does not state theirs itself
_NETWORK = ("digest", "card", "embeddings", "second_stage_unchecked", "pictures_unchecked")
# Of section `model`: where it is reached and what is kept of it decides no answer; the rest stands in `model`.
_NO_MATTER = {"base_url", "log", "log_images", "replay", "preset", "name", "clock"}


def with_content(chosen: RunConditions, planner: str, method: Method, tasks: Sequence[str]) -> RunConditions:
    """Returns the chosen conditions with all that this machine adds. tasks: digest of each. Raises UsageError."""
    details = {key: value for key, value in details_of(method).items() if key != "date"}
    return replace(
        with_files(chosen, planner),
        tasks=f"{len(tasks)}, {digest(sorted(tasks))}",
        model=", ".join(f"{key} {value[:12] if key.endswith('sha256') else value}" for key, value in details.items()),
    )


def with_files(chosen: RunConditions, planner: str) -> RunConditions:
    """Returns the conditions with the content of files and environment; tasks and model stay. Raises UsageError."""
    return replace(
        chosen,
        version=esar_ros.__version__,
        judge=OfflineJudge().name,
        detector_settings=digest(_detector(chosen.detector)),
        judge_settings=digest(read_yaml(resource("config/synonyms.yaml"), "synonyms")),
        thresholds=digest(load_thresholds().model_dump(mode="json")),
        vehicle=digest(load_vehicle().content),
        pilot=digest(load_pilot_limits().model_dump(mode="json")),
        safety=digest(load_limits().model_dump(mode="json")),
        planner_settings=digest(_planner(planner)),
    )


def task_digest(task: Task) -> str:
    """Returns the digest of a task's content."""
    return digest(task.model_dump(mode="json", by_alias=True))


def _detector(choice: str) -> Mapping[str, object]:
    """Returns all that decides a detector's output: its files and parameters, and the processing of its sightings."""
    settings = load_detector_settings()
    about = about_chosen(choice)
    network = {key: about[key] for key in _NETWORK if key in about}
    parameters = dict(parted(choice, settings)[1])
    if network:
        parameters.pop("model", None)  # a path; its content counts
    own = settings.model_dump(mode="json", exclude={"backends", "thermal"})
    warm_people = own["fusion"]["evidence"].pop("warm_people")
    if "thermal_digest" in about:  # a camera that is not mounted decides nothing
        kept = {key: value for key, value in settings.thermal.items() if key != "model"}
        kept["warm_people"] = warm_people
        own["thermal"] = {"digest": about["thermal_digest"], "card": about["thermal_card"], "parameters": kept}
    return {"network": network, "parameters": parameters, **own}


def _planner(planner: str) -> Mapping[str, object]:
    """Returns the parameters of a method's factory, and the tables that methods read beside it."""
    parameters = parameters_of(planner)
    if asks_model(planner.partition("@")[0]):
        model = resolved(check(ModelSettings, parameters[MODEL], planner), planner)
        parameters[MODEL] = model.model_dump(mode="json", exclude=_NO_MATTER)
    return {"parameters": parameters, "lost_persons": asdict(load_lost_persons())}
