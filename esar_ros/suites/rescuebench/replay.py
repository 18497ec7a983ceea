"""An episode of a benchmark walked again from its recorded actions, as a page with what the walker saw.

python -m esar_ros.suites.rescuebench.replay OUT TASK/PLANNER/SEED [PAGE.html]

Without a name the page goes to OUT/replays/, where the report of the benchmark links it.

With the clock paused the world is the same for the same actions: the page says how far from the recorded end it came.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from esar_ros.benchmark.runner.store import find_episode
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.unreal import CM, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.scoring.result import write_atomically
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.records import REPLAYS
from esar_ros.suites.rescuebench.result import RescueResult, parse_rescue_result
from esar_ros.suites.rescuebench.sets import RescueTask, find_task
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.sites import find_site

PICTURES = 60  # at most, over the whole walk
_ODD = re.compile(r"[^\w.-]")


@dataclass(frozen=True, eq=False)
class Moment:
    """The walker after a step."""

    step: int
    seconds: float
    position: Vector  # (3,) m
    carrying: bool
    picture: bytes  # JPEG; empty where nobody drew


def walk_again(
    world: EmbeddedWorld, record: dict[str, Any], draw: Callable[[EmbeddedWorld], bytes]
) -> tuple[list[Moment], float]:
    """Returns some moments of a recorded episode, and its gap (m) to the recorded end. Raises UsageError."""
    result, conditions = _parsed(record)
    task = _task(record)
    if task.document != result.point:
        raise UsageError(f"task {task.id} is not the one that was walked", "restore its file")
    world.set_up(task.point)
    every = max(1, math.ceil(len(result.actions) / PICTURES))
    moments: list[Moment] = []
    for step, (angle, speed, head, animation) in enumerate(result.actions):
        world.step(WalkAction(speed / CM, -angle, Head(head), Animation(animation)), conditions.step)
        if step % every == 0 or step == len(result.actions) - 1:
            seconds = (step + 1) * conditions.step
            moments.append(Moment(step + 1, seconds, world.body.position, world.walker.carrying, draw(world)))
    return moments, float(np.linalg.norm(world.body.position - unreal_to_map(result.poses[-1][:3])))


def page(record: dict[str, Any], moments: Sequence[Moment], gap: float) -> str:
    """Returns the page: a picture, a map of the walk, and a slider over the moments."""
    point, end = record["result"]["point"], record["result"]["end"]
    marks = {name: unreal_to_map(point[key][:3])[:2] for name, key in _MARKS.items()}
    track = np.array([moment.position[:2] for moment in moments])
    everything = np.concatenate([track, list(marks.values())])
    low, high = everything.min(axis=0) - 2.0, everything.max(axis=0) + 2.0
    line = " ".join(f"{x - low[0]:.2f},{high[1] - y:.2f}" for x, y in track)
    words = "".join(
        f'<circle cx="{x - low[0]:.2f}" cy="{high[1] - y:.2f}" r=".35"/>'
        f'<text x="{x - low[0] + 0.5:.2f}" y="{high[1] - y:.2f}">{name}</text>'
        for name, (x, y) in marks.items()
    )
    frames = [
        {
            "text": f"step {moment.step}, {moment.seconds:.1f} s{', carrying' if moment.carrying else ''}",
            "x": round(float(moment.position[0] - low[0]), 2),
            "y": round(float(high[1] - moment.position[1]), 2),
            "picture": base64.b64encode(moment.picture).decode(),
        }
        for moment in moments
    ]
    title = html.escape(f"{record['id']}: {end}")
    return _PAGE.format(
        title=title,
        gap=f"{gap:.3f}",
        last=len(frames) - 1,
        width=f"{high[0] - low[0]:.2f}",
        height=f"{high[1] - low[1]:.2f}",
        line=line,
        words=words,
        frames=json.dumps(frames),
    )


def main(arguments: Sequence[str]) -> int:
    """Write the page of an episode."""
    if len(arguments) not in (2, 3):
        print("give the --out of a benchmark, TASK/PLANNER/SEED, and a page to write or none", file=sys.stderr)
        return 2
    folder, episode = Path(arguments[0]), arguments[1]
    path = Path(arguments[2]) if len(arguments) == 3 else folder / REPLAYS / f"{_ODD.sub('_', episode)}.html"
    try:
        record = find_episode(folder, episode)
        result, conditions = _parsed(record)
        task = _task(record)
        site = find_site(task.point.place, task.checkout)
        world = EmbeddedWorld(result.place, load_suite_settings(), site, busy=conditions.population == "busy")
        moments, gap = walk_again(world, record, _drawn)
        world.close()
        write_atomically(path, page(record, moments, gap))
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{path}: {len(moments)} pictures, {gap:.3f} m from the recorded end")
    return 0


def _task(record: dict[str, Any]) -> RescueTask:
    """Returns the task of a record: of a file of points, by that file. Raises UsageError."""
    try:
        return find_task(str(record["job"]["task"]))
    except (KeyError, TypeError):
        raise UsageError(f"episode {record['id']} does not say which task it is of", "restore the file") from None


def _parsed(record: dict[str, Any]) -> tuple[RescueResult, RescueConditions]:
    """Returns result and conditions of an episode that can be walked again. Raises UsageError for others."""
    where = f"episode {record['id']}"
    result = parse_rescue_result(record.get("result"), where)
    try:
        conditions = RescueConditions.parse(record["conditions"])
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{where}: conditions that this version does not know", "use its own version") from None
    if conditions.clock == "running" or not result.actions:
        raise UsageError(f"{where} cannot be walked again", "name one with the clock paused that has a step")
    return result, conditions


def _drawn(world: EmbeddedWorld) -> bytes:
    image = world.view(lambda draw: draw()).colour
    return bytes(cv2.imencode(".jpg", image[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])[1])


_MARKS = {"start": "agent_loc", "victim": "injured_player_loc", "stretcher": "stretcher_loc"}
_PAGE = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px sans-serif;margin:1em}} main{{display:flex;flex-wrap:wrap;gap:1em}} img,svg{{height:26em;
background:#e8ebe6}} text{{font-size:.9px}} polyline{{fill:none;stroke:#1f77b4;stroke-width:.15}}
#here{{fill:#d62728}} input{{width:40em;max-width:100%}}</style>
<h1>{title}</h1><p>Walked again from its actions: {gap} m from the recorded end.</p>
<main><img id="eye" alt="what the walker saw"><svg viewBox="0 0 {width} {height}">
<polyline points="{line}"/>{words}<circle id="here" r=".45"/></svg></main>
<p><input id="at" type="range" min="0" max="{last}" value="0"> <output id="words"></output></p>
<script>const frames={frames},get=id=>document.getElementById(id);
function show(){{const f=frames[+get("at").value];get("eye").src="data:image/jpeg;base64,"+f.picture;
get("here").setAttribute("cx",f.x);get("here").setAttribute("cy",f.y);get("words").textContent=f.text}}
get("at").oninput=show;show()</script>
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
