"""A stored walk of RescueBench in the live page: walked again step by step, told in the messages of a mission.

python -m esar_ros.app.view.rescue_page OUT TASK/PLANNER/SEED [--port N] [--speed X]

OUT is the --out of a benchmark. The page is the one of `esar mission --view`, read-only; its ground is the place as a
far camera above it sees it, its front camera the walker's eye. What a walker does not have (other cameras, governor,
pilot) stays empty. The page is served until interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace as Message
from typing import Any

import numpy as np

from esar_ros.app.arguments import Parser
from esar_ros.app.view.encode import encode_jpeg
from esar_ros.app.view.live import PAGE, LiveView
from esar_ros.app.view.pages import PageServer, read_assets
from esar_ros.benchmark.runner.records import Record, find_episode
from esar_ros.geometry.frames import quaternion_from_yaw
from esar_ros.geometry.unreal import CM, unreal_to_map
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation, Head, WalkAction
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.scoring.truth import End
from esar_ros.suites.rescuebench.conditions import RescueConditions
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.machine import Failure
from esar_ros.suites.rescuebench.replay import from_above, opened, walk_again
from esar_ros.suites.rescuebench.result import RescueResult
from esar_ros.suites.rescuebench.tables import LAYOUT

WALKER = "walker"
_GROUND = 1200  # px, side of the ground's image
_MARGIN = 5.0  # m of ground about where one can walk
_EVERY = 5  # steps between two images
RUNNING, ENDED, DONE = 2, 3, 1  # of msg/MissionState and msg/Decision
_TIMEOUTS = (Failure.TIMEOUT_SEARCH.value, Failure.TIMEOUT_RETURN.value)
_HANDS = {Animation.CARRY: "pick up", Animation.DROP: "put down", Animation.OPEN_DOOR: "open the door"}


class Telling:
    """Tells a page what happens in a walk. Positions are in the place's own frame, m."""

    def __init__(self, view: LiveView, world: EmbeddedWorld, record: Record[RescueResult]) -> None:
        """record: an episode's, whose walk has not begun."""
        self._view, self._world, self._record = view, world, record
        self._step = record.conditions_as(RescueConditions, f"episode {record.id}").step
        self._actions = record.result.actions
        self._count = 0

    def begin(self) -> None:
        """The task and the place, before the first step."""
        world, result = self._world, self._record.result
        area, environment = world.stage.site.area, world.stage.world.environment
        half = float(np.abs([area.low, area.high]).max()) + _MARGIN  # of the square about the origin that is shown
        floor = float(unreal_to_map(result.point["agent_loc"][:3])[2])
        ground, _ = from_above(world, world.origin + [0.0, 0.0, floor - world.origin[2]], half, _GROUND)
        self._view.lay_ground(encode_jpeg(ground[:, :, ::-1], 85), 2.0 * half)
        about = Message(
            header=_header(0.0),
            mission_id=self._record.id,
            map_id=result.place,
            prompt=result.line.reference_text,
            weather=environment.weather.value,
            local_time=environment.local_time.isoformat(),
            area=(),
            home=_xyz(self._place(result.point["agent_loc"])),
            origin_latitude=0.0,  # of a place on no map of the Earth
            origin_longitude=0.0,
            origin_altitude=0.0,
            report_cap=0,
        )
        odom = names.vehicle_frame(WALKER, names.ODOM)
        identity = Message(translation=_xyz([0.0, 0.0, 0.0]), rotation=_quaternion(0.0))
        self._take(names.TF_STATIC, Message(transforms=[Message(child_frame_id=odom, transform=identity)]))
        self._take(names.BRIEF, about)
        self._tell_state(RUNNING)

    def after_step(self, world: EmbeddedWorld) -> float:
        """One step is done: pose, what was done, and at times what is seen; returns the walk's time (s)."""
        action = _action(self._actions[self._count])
        self._count += 1
        body, header = world.body, _header(self.seconds)
        pose = Message(position=_xyz((body.position - world.origin).tolist()), orientation=_quaternion(body.yaw))
        odometry = Message(
            header=header,
            pose=Message(pose=pose, covariance=[0.0] * 36),
            twist=Message(twist=Message(linear=_xyz([action.speed, 0.0, 0.0]))),
        )
        self._take(names.ODOMETRY, odometry)
        decision = Message(
            header=header,
            method=self._record.planner,
            status=DONE,
            action=_words(action),
            why="carrying the victim" if world.walker.carrying else "",
            latency=0.0,
            considered=0,
            tokens_in=0,
            tokens_out=0,
        )
        self._take(names.DECISION, decision)
        if self._count % _EVERY == 1 or self._count == len(self._actions):
            seen = world.view(lambda draw: draw()).colour
            image = Message(header=header, data=encode_jpeg(seen[:, :, ::-1], 85))
            self._take(names.camera_compressed(names.CAMERAS[0]), image)
        self._tell_state(RUNNING)
        return self.seconds

    def end(self, gap: float) -> None:
        """The walk is over; gap: m from the recorded end. Now it is told where victim and stretcher were."""
        result = self._record.result
        point = result.point
        truth = {
            "victims": [{"name": "", "position": self._place(point["injured_player_loc"])}],
            "clues": [{"kind": "stretcher", "position": self._place(point["stretcher_loc"])}],
        }
        self._take(names.TRUTH, Message(header=_header(self.seconds), truth=json.dumps(truth)))
        score = f"TS {result.line.task_score:.1f} of 100"
        words = f"{LAYOUT.endings.get(result.end, result.end)}, {score}; {gap:.3f} m from the recorded end"
        self._tell_state(ENDED, words, End.TIMEOUT if result.end in _TIMEOUTS else None)

    @property
    def seconds(self) -> float:
        """Time of the walk, s."""
        return float(self._count * self._step)

    def _tell_state(self, phase: int, text: str = "", end: End | None = None) -> None:
        state = Message(
            header=_header(self.seconds),
            phase=phase,
            end=0 if end is None else end.code,
            elapsed=self.seconds,
            t_max=float(self._record.result.point["timeout"]),
            reports=0,
            text=text,
        )
        self._take(names.MISSION_STATE, state)

    def _take(self, topic: str, message: Any) -> None:
        self._view.take(WALKER, topic, message)

    def _place(self, numbers: Any) -> list[float]:
        place: list[float] = (unreal_to_map(numbers[:3]) - self._world.origin).tolist()
        return place


def _header(seconds: float) -> Message:
    return Message(stamp=to_stamp(round(seconds * 1e9)))


def _xyz(place: Sequence[float]) -> Message:
    x, y, z = place
    return Message(x=x, y=y, z=z)


def _quaternion(yaw: float) -> Message:
    w, x, y, z = quaternion_from_yaw(yaw).tolist()
    return Message(x=x, y=y, z=z, w=w)


def _action(numbers: Any) -> WalkAction:
    angle, speed, head, animation = numbers
    return WalkAction(speed / CM, -angle, Head(head), Animation(animation))


def _words(action: WalkAction) -> str:
    """Returns an action in words that change with its kind alone, so that the log is short."""
    if action.animation in _HANDS:
        return _HANDS[action.animation]
    if abs(action.speed) > 0.05:
        return "walk" if action.speed > 0.0 else "walk backwards"
    return "stand" if abs(action.angle) < 0.5 else f"turn {'left' if action.angle > 0.0 else 'right'}"


def play(view: LiveView, record: Record[RescueResult], wait: Callable[[float], None]) -> None:
    """Walk an episode again for a page; wait is called with the walk's time (s) after each step. Raises UsageError."""
    world = opened(record)
    try:
        telling = Telling(view, world, record)
        begun = False

        def after_step(world: EmbeddedWorld) -> bytes:
            nonlocal begun
            if not begun:
                begun = True
                telling.begin()
            wait(telling.after_step(world))
            return b""

        _, gap = walk_again(world, record, after_step, len(record.result.actions))
        telling.end(gap)
    finally:
        world.close()


def main(argv: list[str] | None = None) -> int:
    """Run the command."""
    parser = Parser(prog="python -m esar_ros.app.view.rescue_page", description=str(__doc__).splitlines()[0])
    parser.add_argument("out", type=Path, help="--out of a benchmark of suite rescuebench")
    parser.add_argument("episode", help="TASK/PLANNER/SEED")
    parser.add_argument("--port", type=int, default=0, help="of the page (default: a free one)")
    parser.add_argument("--speed", type=float, default=2.0, help="times the walk's own (default: %(default)g)")
    arguments: argparse.Namespace = parser.parse_args(argv)
    if not 0.0 < arguments.speed <= 100.0:
        raise UsageError(f"--speed {arguments.speed:g}", "above 0, at most 100")
    record = find_episode(arguments.out, arguments.episode, RescueResult)
    view = LiveView((WALKER,), None)
    page = PageServer(
        (PAGE / "index.html").read_text(encoding="utf-8"), view, arguments.port, read_assets(PAGE), view.changes
    )
    try:
        print(f"Watch it at {page.address}; Ctrl-C ends it", flush=True)
        began = time.monotonic()

        def wait(seconds: float) -> None:
            time.sleep(max(0.0, began + seconds / arguments.speed - time.monotonic()))

        play(view, record, wait)
        while True:
            time.sleep(1.0)
    except KeyboardInterrupt:
        return 0
    finally:
        page.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
