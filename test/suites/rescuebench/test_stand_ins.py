"""Stand-ins of public maps: free where somebody walked, and as much as that shows of tracks held out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import WalkAction
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World
from esar_ros.suites.rescuebench.files.tracks import WalkedTrack
from esar_ros.suites.rescuebench.stand_ins import StandIn, likeness, main, replayed, stand_in
from helpers.rescuebench import STRETCHER, VICTIM, a_point, standing, walk

HILL = 0.15  # rise over run, to the east


def a_track(side: float) -> WalkedTrack:
    """Up a slope to the victim and back by another way, a metre a step."""
    there = [(float(x), side * math.sin(math.pi * x / 10.0)) for x in range(11)]
    corner = [(10.0 - k, 0.4 * k) for k in range(11)]
    track = walk([*there, *corner], [False] * 11 + [True] * 11, "success")
    rise = np.outer(HILL * track.positions[:, 0], [0.0, 0.0, 1.0])
    return replace(track, positions=track.positions + [0.0, 0.0, 300.0] + rise)


@pytest.fixture(scope="module")
def tracks() -> list[WalkedTrack]:
    return [a_track(side) for side in (-3.0, -1.5, 0.0, 1.5, 3.0)]


@pytest.fixture(scope="module")
def made(tracks: list[WalkedTrack]) -> StandIn:
    return stand_in("Hill", tracks)


def test_one_can_stand_wherever_somebody_walked_and_things_stand_elsewhere(
    tracks: list[WalkedTrack], made: StandIn
) -> None:
    grid = WalkableGrid.of(World(made.site.place, 0), made.site.area)
    for track in tracks:
        for position in track.positions - made.origin:
            assert grid.node_at(position - [0.0, 0.0, 0.9]) is not None
    assert len(made.site.place.plan.pieces) >= 5  # type: ignore[union-attr]
    assert stand_in("Hill", tracks).site.place.digest == made.site.place.digest


def test_a_task_that_was_held_out_is_walked_where_the_others_show_the_way(tracks: list[WalkedTrack]) -> None:
    points = [replace(a_point(), victim=standing(*VICTIM[:2], 302.5), stretcher=standing(*STRETCHER[:2], 300.0))] * len(
        tracks
    )
    found = likeness("Hill", tracks, points)
    assert (found.tracks, found.held_out, found.reachable) == (4, 1, 1) and found.off < 0.5
    far = replace(points[0], victim=standing(80.0, 0.0, 300.0))
    assert likeness("Hill", tracks, [*points[:4], far]).reachable == 0
    with pytest.raises(UsageError, match="4 tracks, of which none can be held out"):
        likeness("Hill", tracks[:4], points[:4])


def test_commands_are_given_in_the_time_of_their_track(tracks: list[WalkedTrack], made: StandIn) -> None:
    world = World(made.site.place, 0)
    walker = Walker(world)
    foot = np.array([0.0, 0.0, 301.0]) - made.origin
    walker.place((float(foot[0]), float(foot[1]), float(foot[2])), 0.0)
    actions = [WalkAction(1.0, angle) for angle in (0.0, 12.0, 0.0, -12.0, 0.0, 0.0)]
    places, seconds = [walker.pose.position + made.origin], [7.0]
    for number, action in enumerate(actions):
        walker.action = action
        walker.advance(0.6 + 0.02 * number)
        places.append(walker.pose.position + made.origin)
        seconds.append(seconds[-1] + 0.6 + 0.02 * number)
    track = replace(
        tracks[0], positions=np.array(places), yaws=np.zeros(7), times=np.array(seconds), actions=(None, *actions)
    )
    assert math.dist(replayed(track, made, world)[:2], places[-1][:2]) < 0.02
    late = replace(track, times=track.times * 1.5)
    assert math.dist(replayed(late, made, world)[:2], places[-1][:2]) > 1.0


def test_bad_usage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["/nowhere"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
