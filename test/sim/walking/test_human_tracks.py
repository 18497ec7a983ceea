"""The walker beside people: the public human tracks of RescueBench, replayed without looking where it gets to.

Skipped without them: ESAR_RESCUEBENCH_TRACKS names a folder with their compact form, tracks.json.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from esar_ros.geometry.unreal import unreal_heading_to_map, unreal_to_map
from esar_ros.mission.rescue import WalkAction
from esar_ros.sim.walking.walker import TICK, Walker
from esar_ros.sim.world.world import World
from helpers.walking import flat_world

FOLDER = os.environ.get("ESAR_RESCUEBENCH_TRACKS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ESAR_RESCUEBENCH_TRACKS names no folder with tracks.json")


@dataclass(frozen=True, eq=False)
class HumanTrack:
    """One track of level 1, and where the walker gets to by the same actions at the same times."""

    times: NDArray[np.float64]  # (N,) s
    angles: NDArray[np.float64]  # (N,) degrees, of the action before each pose
    person: NDArray[np.float64]  # (N, 3) x, y (m), yaw (rad, unwrapped)
    walker: NDArray[np.float64]  # (N, 3) the same


@pytest.fixture(scope="module")
def tracks() -> list[HumanTrack]:
    """All of level 1; its room is flat."""
    recorded = json.loads((Path(FOLDER) / "tracks.json").read_text())
    world = flat_world(96.0)
    return [_replayed(world, track) for track in recorded if track["level"] == 0]


def _replayed(world: World, track: dict[str, Any]) -> HumanTrack:
    person = unreal_to_map(track["xyz"])
    yaws = np.unwrap([unreal_heading_to_map(yaw) for yaw in track["yaw"]])
    walker = Walker(world)
    walker.place((person[0, 0], person[0, 1], 0.0), float(yaws[0]))
    walked, angles = [(*person[0, :2], yaws[0])], [0.0]
    for time, action in zip(track["t"][1:], track["actions"][1:], strict=True):
        angle, velocity = action[0] or (0.0, 0.0)
        walker.action = WalkAction(velocity / 100.0, -angle)
        walker.advance(max(0.0, time - walker.seconds))
        walked.append((*walker.foot[:2], walker.yaw))
        angles.append(angle)
    rows = np.array(walked)
    rows[:, 2] = np.unwrap(rows[:, 2])
    return HumanTrack(np.array(track["t"]), np.array(angles), np.column_stack([person[:, :2], yaws]), rows)


def test_by_a_persons_actions_it_ends_near_where_the_person_ended(tracks: list[HumanTrack]) -> None:
    gaps = np.array([np.hypot(*(track.walker[-1] - track.person[-1])[:2]) for track in tracks])
    print(f"end error of {len(gaps)} tracks: median {np.median(gaps):.2f} m, quartiles {np.percentile(gaps, [25, 75])}")
    assert len(gaps) == 25 and np.median(gaps) < 2.0


def test_it_walks_as_fast_and_turns_as_fast_as_people_do(tracks: list[HumanTrack]) -> None:
    speeds: list[list[float]] = [[], []]
    turns: list[list[float]] = [[], []]
    for track in tracks:
        steps = np.diff(track.times)
        held = np.abs(track.angles) == 30.0
        for kind, rows in enumerate((track.person, track.walker)):
            moved = np.hypot(*np.diff(rows[:, :2], axis=0).T) / np.maximum(steps, TICK)
            speeds[kind] += [s for s in moved if s > 0.5]
            rate = np.abs(np.diff(rows[:, 2])) / np.maximum(steps, TICK)
            # The third step of a turn and later ones: what the first two lack is the ramp.
            turns[kind] += [float(rate[k]) for k in range(2, len(rate)) if held[k - 1 : k + 2].all()]
    people, ours = (float(np.median(part)) for part in speeds)
    turned, our_turns = (math.degrees(float(np.median(part))) for part in turns)
    print(
        f"speed {people:.3f} m/s, ours {ours:.3f}; turn {turned:.1f} deg/s, ours {our_turns:.1f}, {len(turns[0])} steps"
    )
    assert ours == pytest.approx(people, rel=0.03) and our_turns == pytest.approx(turned, rel=0.08)
