"""Task files in a folder of one's own, and the list by which `esar bench` flies them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from esar_ros.mission.errors import UsageError
from esar_ros.mission.task import Task

LIST = "tasks.txt"


def write_tasks(tasks: Iterable[Task], out: Path) -> list[Path]:
    """A file of each task, named by its id, and tasks.txt with their paths; the files."""
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for task in tasks:
        path = out / f"{task.id}.json"
        path.write_text(task.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
        files.append(path.resolve())
    (out / LIST).write_text("".join(f"{path}\n" for path in files), encoding="utf-8")
    return files


def exit_status(write: Callable[[], list[Path]], out: Path) -> int:
    """Of a command that writes tasks: 0 and how to fly them, or 2 and what was wrong."""
    try:
        files = write()
    except UsageError as error:
        print(f"esar: {error}", file=sys.stderr)
        return 2
    print(f"{len(files)} tasks in {out}; fly them: esar bench --tasks {out / LIST}")
    return 0
