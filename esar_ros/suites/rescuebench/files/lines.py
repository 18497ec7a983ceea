"""Files of JSON lines as other people's programs write them: unknown keys are passed over, known ones are checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from esar_ros.mission.errors import UsageError
from esar_ros.mission.task_files import read_text

FARTHEST_CM = 1e7  # 100 km
CURE = "mend the line or take it away; docs/reference/rescuebench.md shows the formats"
Line = TypeVar("Line", bound="TolerantModel")

Coordinate = Annotated[float, Field(ge=-FARTHEST_CM, le=FARTHEST_CM)]
Degrees = Annotated[float, Field(ge=-1e6, le=1e6)]
Amount = Annotated[float, Field(ge=0.0, le=1e9)]
Count = Annotated[int, Field(ge=0, le=10_000_000)]
Level = Annotated[int, Field(ge=0, le=4)]
PoseNumbers = tuple[Coordinate, Coordinate, Coordinate, Degrees, Degrees, Degrees]
"""x, y, z (cm), roll, yaw, pitch (degrees)."""


class TolerantModel(BaseModel):
    """Base of a line."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)


def lines_of(path: Path, largest: int, what: str) -> Iterator[tuple[str, str]]:
    """Yields the lines of a file that are not empty, each after where it stands. Raises UsageError."""
    for number, text in enumerate(read_text(path, largest, what).split("\n"), 1):
        if text.strip():
            yield f"{path}, line {number}", text


def parse_line(model: type[Line], text: str, where: str) -> Line:
    """Returns a line as its model. Raises UsageError naming line and key."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part)[:60] for part in first["loc"]) or "the line"
        raise UsageError(f"{where}, key {key}: {first['msg'].removeprefix('Value error, ')}", CURE) from None


def dumped(document: object) -> str:
    """Returns a value as one line of JSON with its end."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"
