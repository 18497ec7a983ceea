"""Parameters of the methods: config/planners.yaml, overlaid by the caller's, checked by each method's model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from esar_ros.mission.errors import UsageError, suggest
from esar_ros.mission.resources import resource
from esar_ros.mission.settings_file import meant_key, read_yaml

SHARED = "reporting"  # section that every method gets
MODEL = "model"  # section that methods get which ask a language model

_Model = TypeVar("_Model", bound=BaseModel)


def check(model: type[_Model], parameters: Mapping[str, Any], method: str) -> _Model:
    """Parameters as a checked model. Raises UsageError naming the method, the key and the reason."""
    try:
        return model.model_validate(dict(parameters))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "all"
        what = f"planner {method}, parameter {key}: {first['msg']}"
        raise UsageError(what, f"{meant_key(model, first)}mend the value") from None


def configured(
    method: str,
    overlay: Mapping[str, Any],
    path: Path | None = None,
    shared: tuple[str, ...] = (SHARED,),
    known: Collection[str] = (),
) -> dict[str, Any]:
    """A method's section of the file with the shared ones inside it, all overlaid. Raises UsageError.

    known: names that sections may have beside those of the shared ones; none: any.
    """
    source = path or resource("config/planners.yaml")
    data = read_yaml(source, "planners' parameters") or {}
    if not isinstance(data, dict) or not all(isinstance(section, dict) for section in data.values()):
        raise UsageError(f"{source}: not a table of sections", "give each method a table of parameters")
    odd = next((str(name) for name in data if known and name not in (*known, SHARED, MODEL)), None)
    if odd is not None:
        meant = suggest(
            odd, (*known, SHARED, MODEL), f"{SHARED}, {MODEL} and those that esar bench --list-planners names"
        )
        raise UsageError(f"{source}, key {odd}: a section of no planner", meant)
    merged = {**data.get(method, {}), **overlay}
    for part in shared:
        merged[part] = dict(data.get(part, {}))
        for owner in (data.get(method, {}), overlay):
            if not isinstance(own := owner.get(part, {}), Mapping):
                what = f"planner {method}, parameter {part}: {'empty' if own is None else repr(own)[:60]}, not a table"
                raise UsageError(what, "give it keys and values, or leave it out")
            merged[part].update(own)
    return merged
