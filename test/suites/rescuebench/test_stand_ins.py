"""Stand-ins of public maps: free where somebody walked, and as much as that shows of tracks held out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esar_ros.benchmark.runner.records import make_record
from esar_ros.geometry.unreal import map_to_unreal, unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import WalkAction
from esar_ros.sim.terrain.far_terrain import paint_far_terrain
from esar_ros.sim.terrain.rescue_places.site import RescueSite
from esar_ros.sim.walking.walkable import WalkableGrid
from esar_ros.sim.walking.walker import Walker
from esar_ros.sim.world.world import World
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.episode import RescueEpisode
from esar_ros.suites.rescuebench.files import points
from esar_ros.suites.rescuebench.files.points import LEVELS, checkout_around, point_document, write_points
from esar_ros.suites.rescuebench.files.tracks import FOLDER, WalkedTrack, write_tracks
from esar_ros.suites.rescuebench.protocol_server.clocks import PausedClock
from esar_ros.suites.rescuebench.protocol_server.commands import Commands
from esar_ros.suites.rescuebench.replay import walk_again
from esar_ros.suites.rescuebench.sets import find_task, tasks_of_file
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.sites import find_site
from esar_ros.suites.rescuebench.stand_ins import handed_over, likeness, main, replayed, stand_in
from esar_ros.suites.rescuebench.suite import RESCUEBENCH
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
def made(tracks: list[WalkedTrack]) -> RescueSite:
    return stand_in("Hill", tracks)


def test_one_can_stand_wherever_somebody_walked_and_things_stand_elsewhere(
    tracks: list[WalkedTrack], made: RescueSite
) -> None:
    grid = WalkableGrid.of(World(made.place, 0), made.area)
    for track in tracks:
        for position in track.positions - made.origin:
            assert grid.node_at(position - [0.0, 0.0, 0.9]) is not None
    assert len(made.place.plan.pieces) >= 5  # type: ignore[union-attr]
    assert stand_in("Hill", tracks).place.digest == made.place.digest


def test_ground_that_is_paved_to_its_edge_goes_on_in_its_own_colour(made: RescueSite) -> None:
    grey = np.full((64, 64, 3), 100, dtype=np.uint8)
    paint = paint_far_terrain(made.place, grey)
    assert np.isfinite(paint).all() and np.allclose(paint[0], (100 / 255) ** 2)


def test_a_task_that_was_held_out_is_walked_where_the_others_show_the_way(tracks: list[WalkedTrack]) -> None:
    tasks = [replace(a_point(), victim=standing(*VICTIM[:2], 302.5), stretcher=standing(*STRETCHER[:2], 300.0))] * len(
        tracks
    )
    found = likeness("Hill", tracks, tasks)
    assert (found.tracks, found.held_out, found.reachable) == (4, 1, 1) and found.off < 0.5
    far = replace(tasks[0], victim=standing(80.0, 0.0, 300.0))
    assert likeness("Hill", tracks, [*tasks[:4], far]).reachable == 0
    assert handed_over("Hill", tracks, tasks) == 1
    assert handed_over("Hill", tracks, [*tasks[:4], replace(tasks[0], time_limit=5.0)]) == 0
    with pytest.raises(UsageError, match="4 tracks, of which none can be held out"):
        likeness("Hill", tracks[:4], tasks[:4])


def test_commands_are_given_in_the_time_of_their_track(tracks: list[WalkedTrack], made: RescueSite) -> None:
    world = World(made.place, 0)
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


FAR = np.array([-215.0, 2389.0, -319.0])  # m, where a public map's coordinates may be


def a_checkout(folder: Path, sides: tuple[float, ...], known: int = 1) -> Path:
    """A checkout with a point, so many times, and tracks on the hill far away; returns its file of points."""
    name = points.FOLDER + "/level_0.jsonl"
    hill = replace(a_point(), victim=standing(*VICTIM[:2], 302.5), stretcher=standing(*STRETCHER[:2], 300.0))
    there = replace(hill, start=standing(0.0, 0.0, 301.0), ambulance=standing(-5.0, 7.0, 300.0), place="Hill_dooropen")
    write_points(folder / name, [point_document(there.moved(FAR))] * known)
    for level in LEVELS[1:]:  # of a whole checkout
        write_points(folder / points.FOLDER / f"level_{level}.jsonl", [point_document(replace(there, level=level))])
    walked = [replace(a_track(side), place="Hill", point=number) for number, side in enumerate(sides)]
    tracks = [replace(track, positions=track.positions + FAR) for track in walked]
    write_tracks(folder / FOLDER / "UnrealRescue-Hill" / "level_0.jsonl", tracks)
    return folder / name


def test_a_published_point_is_walked_at_its_own_coordinates(tmp_path: Path) -> None:
    path = a_checkout(tmp_path / "one", (-3.0, 0.0, 3.0))
    plan = RESCUEBENCH.plan(tasks_of_file(str(path)), ["oracle"], 1, {})
    assert plan.settings.conditions[0].as_text["world"] == "stand-ins"
    record = make_record(plan.jobs[0], RescueEpisode().run(plan.jobs[0], lambda inside: None), 1, "h")
    result = record.result
    assert result.end == "COMPLETED" and result.similarity.code > 0.95
    first, last = (unreal_to_map(result.poses[index][:3]) - FAR for index in (0, -1))
    assert first == pytest.approx([0.0, 0.0, 300.9], abs=0.3)
    assert math.dist(last[:2], STRETCHER[:2]) < 2.3 and last[2] == pytest.approx(300.9, abs=0.5)
    task = find_task(plan.jobs[0].task)
    world = EmbeddedWorld(task.point.place, load_suite_settings(), find_site(task.point.place, task.checkout))
    seen = world.view(lambda draw: draw()).pose.position - world.body.position
    assert walk_again(world, record, lambda world: b"")[1] < 0.001
    assert float(np.linalg.norm(seen)) < 1.0  # the eye, in the same frame as the body
    other = find_task(tasks_of_file(str(a_checkout(tmp_path / "other", (-3.0, 0.0))))[0])
    assert other.document == task.document and other.digest != task.digest


def test_points_without_tracks_have_no_place(tmp_path: Path) -> None:
    path = a_checkout(tmp_path / "theirs", (0.0,))
    alone = tmp_path / "alone.jsonl"
    alone.write_text(path.read_text())
    for task in (find_task(f"{alone}#0"), replace(find_task(f"{path}#0"), checkout=None)):
        with pytest.raises(UsageError, match="no place of our own"):
            find_site(task.point.place, task.checkout)
    with pytest.raises(UsageError, match="no place of our own"):  # before anything is walked
        tasks_of_file(str(alone))


def test_the_server_has_a_public_map_at_its_own_coordinates(tmp_path: Path) -> None:
    path = a_checkout(tmp_path, (-3.0, 0.0, 3.0))
    door = Commands("Hill", 64, 48, PausedClock(0.2), checkout_around(path))
    assert door.scene.title == "Hill: a stand-in after 3 tracks"
    x, y, z = (float(value) for value in map_to_unreal(FAR + [4.0, 0.0, 301.5]))
    for name, ahead in (("BP_Character_C_1", 0.0), ("StaticMeshActor_1", 300.0)):
        assert door.answer(f"vset /object/{name}/location {x + ahead} {y} {z}") == b"ok"
        place = [float(word) for word in door.answer(f"vget /object/{name}/location").split()]
        assert place[:2] == pytest.approx([x + ahead, y], abs=1.0) and abs(place[2] - z) < 100.0
    assert door.answer("vset /action/game/level Elsewhere") == b"ok" and "open ground" in door.scene.title


def test_the_figures_of_a_checkout_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = (-3.0, -1.5, 0.0, 1.5, 3.0)
    a_checkout(tmp_path, sides, len(sides))
    assert main([str(tmp_path), "--oracle"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Hill: made of 4 tracks; 1 of 1 held-out tasks can be walked, feet ")
    assert lines[1] == "Hill: the oracle hands over at 1 of 1"
    assert lines[2] == "all: 1 of 1 held-out tasks; the oracle hands over at 1"
    assert lines[3].startswith("Hill: the commands of 5 tracks of L1 end ")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [lines[0], "all: 1 of 1 held-out tasks", lines[3]]


def test_bad_usage_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_checkout(tmp_path, (-3.0, 3.0))  # the second without its point
    for arguments, words in (
        ([], "no checkout"),
        (["--oracle"], "no checkout"),
        (["/nowhere"], "/nowhere"),
        ([str(tmp_path)], "level and point (0, 1)"),
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and words in error
