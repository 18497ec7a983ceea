"""A search of one's own: words, a map and a start in place of a task, flown in every world and not scored."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from esar_ros.mission.briefing import field_task
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.task import Task
from esar_ros.mission.task_files import is_text_file, read_text
from esar_ros.suites.esarbench.tasks.validation import check_task

NOON = 12  # h: a simulated search is flown by daylight


def own_task(brief: str, map_id: str, start: str, t_max: float, world: str) -> Task:
    """Returns the task of a search of one's own. Raises UsageError, UsageErrors.

    brief: a file's name, or words; start: "LAT,LON", empty: the map's centre; t_max: s.
    """
    if not map_id:
        raise UsageError("--brief without --map", "say where: an id of esar maps")
    is_file = is_text_file(brief)
    words = read_text(Path(brief), what="brief") if is_file else brief
    now = datetime.now().astimezone().replace(microsecond=0)
    local_time = now if world != "embedded" else now.replace(hour=NOON, minute=0, second=0)
    name = Path(brief).stem if is_file else "words"
    task = field_task(name, map_id, words, _start(start, map_id), t_max, local_time)
    check_task(task, f"brief {name}")
    return task


def degrees(text: str) -> tuple[float, float]:
    """Returns latitude and longitude of a --start "LAT,LON". Raises UsageError."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 180.0):
            raise ValueError
    except ValueError:
        raise UsageError(f"--start {text[:60]}", "write degrees as LAT,LON, e.g. 33.9512,107.7498") from None
    return latitude, longitude


def _start(text: str, map_id: str) -> tuple[float, float]:
    """Returns a start in m east and north of the map's origin."""
    extent = map_extent(map_id)
    if not text:
        return 0.0, 0.0
    latitude, longitude = degrees(text)
    east, north, _ = extent.origin.to_enu(latitude, longitude, extent.origin.altitude)
    if max(abs(east), abs(north)) > extent.size / 2.0:
        origin = extent.origin
        where = f"its centre is {origin.latitude:.4f},{origin.longitude:.4f}, its side {extent.size:g} m"
        raise UsageError(f"--start {text} lies off map {map_id}", where)
    return round(float(east), 2), round(float(north), 2)
