"""An episode of a benchmark walked again from its recorded actions, as a page with what the walker saw.

python -m esar_ros.suites.rescuebench.replay OUT TASK/PLANNER/SEED [PAGE.html | SHEET.jpg]

Without a name the page goes to OUT/replays/, where the report of the benchmark links it. A sheet is one picture: the
place from above with the walk, and eight things that the walker saw, half of them before the pick.

With the clock paused the world is the same for the same actions: the page says how far from the recorded end it came.
"""

from __future__ import annotations

import base64
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from esar_ros.benchmark.report.formatting import PAGE_POLICY
from esar_ros.benchmark.report.page import fill
from esar_ros.benchmark.runner.records import Record, find_episode
from esar_ros.geometry.camera import optical_rotation
from esar_ros.geometry.frames import Pose, Vector, quaternion_from_rotation
from esar_ros.geometry.unreal import CM, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.scoring.result import write_atomically
from esar_ros.sim.walking.first_person import FirstPersonCamera
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.records import REPLAYS
from esar_ros.suites.rescuebench.result import RescueResult
from esar_ros.suites.rescuebench.sets import find_task
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.sites import find_site
from esar_ros.suites.rescuebench.tables import LAYOUT

PICTURES = 60  # at most, over the whole walk
SHEET = ".jpg"
_COLUMNS, _TILE, _BAR = 4, 260, 34  # of a sheet: images in a row; px, side of one, height of the title
_FAR = math.radians(15.0)  # field of view from above: nearly a map
_SCALE = 5.0  # m of the bar
_INK, _WALK = (45, 40, 38), (180, 90, 20)  # BGR
_ODD = re.compile(r"[^\w.-]")


@dataclass(frozen=True, eq=False)
class Moment:
    """The walker after a step."""

    step: int
    seconds: float
    position: Vector  # (3,) m
    carrying: bool
    picture: bytes  # JPEG; empty where nobody drew


def opened(record: Record[RescueResult]) -> EmbeddedWorld:
    """Returns the world in which a recorded episode can be walked again. Raises UsageError."""
    conditions, place = _checked(record), record.result.place
    site = find_site(place, find_task(record.job.task).checkout)
    return EmbeddedWorld(place, load_suite_settings(), site, busy=conditions.population == "busy")


def walk_again(
    world: EmbeddedWorld, record: Record[RescueResult], draw: Callable[[EmbeddedWorld], bytes], most: int = PICTURES
) -> tuple[list[Moment], float]:
    """Returns at most so many moments of a recorded episode, evenly, and its gap (m) to the recorded end.

    draw is asked once for each. Raises UsageError.
    """
    result, conditions = record.result, _checked(record)
    task = find_task(record.job.task)
    if task.document != result.point:
        raise UsageError(f"task {task.id} is not the one that was walked", "restore its file")
    world.set_up(task.point)
    every = max(1, math.ceil(len(result.actions) / most))
    moments: list[Moment] = []
    for step, (angle, speed, head, animation) in enumerate(result.actions):
        world.step(WalkAction(speed / CM, -angle, Head(head), Animation(animation)), conditions.step)
        if step % every == 0 or step == len(result.actions) - 1:
            seconds = (step + 1) * conditions.step
            moments.append(Moment(step + 1, seconds, world.body.position, world.walker.carrying, draw(world)))
    return moments, float(np.linalg.norm(world.body.position - unreal_to_map(result.poses[-1][:3])))


def page(record: Record[RescueResult], moments: Sequence[Moment], gap: float) -> str:
    """Returns the page: a picture, a map of the walk, and a slider over the moments."""
    point, end = record.result.point, record.result.end
    marks = {name: unreal_to_map(point[key][:3])[:2] for name, key in _MARKS.items()}
    track = np.array([moment.position[:2] for moment in moments])
    everything = np.concatenate([track, list(marks.values())])
    low, high = everything.min(axis=0) - 2.0, everything.max(axis=0) + 2.0
    line = " ".join(f"{x - low[0]:.2f},{high[1] - y:.2f}" for x, y in track)
    places = [(name, f"{x - low[0]:.2f}", f"{high[1] - y:.2f}") for name, (x, y) in marks.items()]
    frames = [
        {
            "text": f"step {moment.step}, {moment.seconds:.1f} s{', carrying' if moment.carrying else ''}",
            "x": round(float(moment.position[0] - low[0]), 2),
            "y": round(float(high[1] - moment.position[1]), 2),
            "picture": base64.b64encode(moment.picture).decode(),
        }
        for moment in moments
    ]
    return fill(
        Path(__file__).with_name("replay.html"),
        policy=f"{PAGE_POLICY}; script-src 'unsafe-inline'",
        title=f"{record.id}: {end}",
        gap=f"{gap:.3f}",
        last=len(frames) - 1,
        width=f"{high[0] - low[0]:.2f}",
        height=f"{high[1] - low[1]:.2f}",
        line=line,
        marks=places,
        frames=frames,
    )


def sheet(world: EmbeddedWorld, record: Record[RescueResult], moments: Sequence[Moment]) -> bytes:
    """Returns a JPEG of the place from above with the walk, beside some of what the walker saw, numbered on both."""
    shown = _chosen(moments)
    tiles = [_tile(moment, number) for number, moment in enumerate(shown, 1)]
    rows = [np.hstack(tiles[start : start + _COLUMNS]) for start in range(0, len(tiles), _COLUMNS)]
    seen = np.vstack(rows)
    above = _map(world, record, moments, shown, seen.shape[0])
    result = record.result
    end = LAYOUT.endings.get(result.end, result.end)
    found = f"{record.id}, {result.place}: {end} after {moments[-1].seconds:.0f} s"
    bar = np.full((_BAR, above.shape[1] + seen.shape[1], 3), _INK, dtype=np.uint8)
    _write(bar, found, (10, _BAR - 11), 0.6, (255, 255, 255))
    picture = np.vstack([bar, np.hstack([above, seen])])
    return bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 80])[1])


def _chosen(moments: Sequence[Moment]) -> list[Moment]:
    """Returns the moments of a sheet: as many up to the pick as from it on, evenly; without a pick over all."""
    count = 2 * _COLUMNS
    pick = next((place for place, moment in enumerate(moments) if moment.carrying), None)
    if not pick:
        places = np.linspace(0, len(moments) - 1, count)
    else:
        places = np.concatenate(
            [np.linspace(0, pick - 1, _COLUMNS), np.linspace(pick, len(moments) - 1, count - _COLUMNS)]
        )
    return [moments[round(place)] for place in places]


def _tile(moment: Moment, number: int) -> NDArray[np.uint8]:
    image = cv2.resize(_decoded(moment.picture), (_TILE, _TILE), interpolation=cv2.INTER_AREA)
    cv2.rectangle(image, (0, 0), (_TILE, 24), _INK, -1)
    words = f"{number}   {moment.seconds:.0f} s{', carrying' if moment.carrying else ''}"
    _write(image, words, (8, 17), 0.5, (255, 255, 255))
    cv2.rectangle(image, (0, 0), (_TILE - 1, _TILE - 1), (255, 255, 255), 1)
    return image


def _map(
    world: EmbeddedWorld, record: Record[RescueResult], moments: Sequence[Moment], shown: Sequence[Moment], side: int
) -> NDArray[np.uint8]:
    """Returns the place as a far camera above it sees it (side, side, 3) BGR, with the walk and what it is about."""
    point = record.result.point
    marks = {name: unreal_to_map(point[key][:3]) for name, key in _MARKS.items()}
    track = np.array([moment.position for moment in moments])
    everything = np.concatenate([track, list(marks.values())])
    low, high = everything.min(axis=0), everything.max(axis=0)
    half = float((high - low)[:2].max()) / 2.0 + 4.0  # m
    middle = np.array([*(low + high)[:2] / 2.0, float(high[2])])
    rgb, project = from_above(world, middle, half, side)
    image = np.ascontiguousarray(rgb[:, :, ::-1])

    def pixels(places: Vector) -> NDArray[np.int32]:
        return np.rint(project(places)).astype(np.int32)

    cv2.polylines(image, [pixels(track)], False, (255, 255, 255), 5, cv2.LINE_AA)
    cv2.polylines(image, [pixels(track)], False, _WALK, 2, cv2.LINE_AA)
    for name, place in marks.items():
        x, y = pixels(place[None])[0].tolist()
        cv2.drawMarker(image, (x, y), (255, 255, 255), cv2.MARKER_TILTED_CROSS, 16, 5)
        cv2.drawMarker(image, (x, y), (40, 40, 220), cv2.MARKER_TILTED_CROSS, 14, 2)
        _label(image, name, (x + 12, y - 8))
    for number, moment in enumerate(shown, 1):
        x, y = pixels(moment.position[None])[0].tolist()
        cv2.circle(image, (x, y), 10, _WALK, -1, cv2.LINE_AA)
        _write(image, str(number), (x - 5, y + 5), 0.45, (255, 255, 255))
    length = round(side / (2.0 * half) * _SCALE)  # px, at the ground's height
    cv2.rectangle(image, (12, side - 18), (12 + length, side - 12), (255, 255, 255), -1)
    _label(image, f"{_SCALE:g} m, north is up", (12, side - 26))
    return image


def from_above(
    world: EmbeddedWorld, middle: Vector, half: float, side: int
) -> tuple[NDArray[np.uint8], Callable[[Vector], Vector]]:
    """Returns the place as a far camera above it sees it, (side, side, 3) RGB, north up, and where places are in it.

    middle: (3,) m, map; half: m from it to each side that are shown at its height. The second maps (N, 3) m to (N, 2)
    px.
    """
    eye = middle + [0.0, 0.0, half / math.tan(_FAR / 2.0)]
    pose = Pose(eye - world.origin, quaternion_from_rotation(optical_rotation(math.pi / 2.0, -math.pi / 2.0)))
    camera = FirstPersonCamera(world.stage.world, side, side, _FAR)
    image, model = camera.image_from(pose, world.stage.walker.seconds).rgb, camera.model
    camera.close()
    return image, lambda places: model.project((places - eye) @ pose.rotation)[0]


def _label(image: NDArray[np.uint8], words: str, place: tuple[int, int]) -> None:
    (width, height), low = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
    x = max(4, min(place[0], image.shape[1] - width - 6))  # within the image
    cv2.rectangle(image, (x - 4, place[1] - height - 4), (x + width + 4, place[1] + low), _INK, -1)
    _write(image, words, (x, place[1]), 0.5, (255, 255, 255))


def _write(image: NDArray[np.uint8], words: str, place: tuple[int, int], size: float, colour: Sequence[int]) -> None:
    cv2.putText(image, words, place, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)


def _decoded(jpeg: bytes) -> NDArray[np.uint8]:
    image = cv2.imdecode(np.frombuffer(jpeg, dtype=np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, dtype=np.uint8)


def main(arguments: Sequence[str]) -> int:
    """Write the page of an episode."""
    if len(arguments) not in (2, 3):
        print("give the --out of a benchmark, TASK/PLANNER/SEED, and a page or sheet to write or none", file=sys.stderr)
        return 2
    folder, episode = Path(arguments[0]), arguments[1]
    path = Path(arguments[2]) if len(arguments) == 3 else folder / REPLAYS / f"{_ODD.sub('_', episode)}.html"
    try:
        record = find_episode(folder, episode, RescueResult)
        world = opened(record)
        moments, gap = walk_again(world, record, _drawn)
        drawn = sheet(world, record, moments) if path.suffix == SHEET else page(record, moments, gap)
        world.close()
        write_atomically(path, drawn)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{path}: {len(moments)} pictures, {gap:.3f} m from the recorded end")
    return 0


def _checked(record: Record[RescueResult]) -> RescueConditions:
    """Returns the conditions of an episode that can be walked again. Raises UsageError for others."""
    where = f"episode {record.id}"
    conditions = record.conditions_as(RescueConditions, where)
    if conditions.clock == "running" or not record.result.actions:
        raise UsageError(f"{where} cannot be walked again", "name one with the clock paused that has a step")
    return conditions


def _drawn(world: EmbeddedWorld) -> bytes:
    image = world.view(lambda draw: draw()).colour
    return bytes(cv2.imencode(".jpg", image[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])[1])


_MARKS = {"start": "agent_loc", "victim": "injured_player_loc", "stretcher": "stretcher_loc"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
