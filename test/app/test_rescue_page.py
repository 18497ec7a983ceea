"""A stored walk of RescueBench in the live page: the messages of a mission, from the walk done again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from esar_ros.app.view import rescue_page
from esar_ros.app.view.live import LiveView
from esar_ros.app.view.rescue_page import WALKER, main, play
from esar_ros.benchmark.runner.records import Record, make_record
from esar_ros.geometry.unreal import unreal_to_map
from esar_ros.mission.errors import UsageError
from esar_ros.msg import Decision, MissionState
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.episode import RescueEpisode
from esar_ros.suites.rescuebench.result import RescueResult
from esar_ros.suites.rescuebench.suite import RESCUEBENCH

TASK = "L1-19"


@pytest.fixture(scope="module")
def record() -> Record[RescueResult]:
    (job,) = RESCUEBENCH.plan([TASK], ["oracle"], 1, {}).jobs
    return make_record(job, RescueEpisode().run(job, lambda inside: None), 1, "h")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images that nobody draws."""
    black = np.zeros((4, 4, 3), dtype=np.uint8)
    monkeypatch.setattr(rescue_page, "from_above", lambda *_: (black, None))
    monkeypatch.setattr(EmbeddedWorld, "view", lambda self, draw: SimpleNamespace(colour=black))


def test_a_walk_is_told_step_by_step_and_the_truth_at_its_end(record: Record[RescueResult], undrawn: None) -> None:
    view, times = LiveView((WALKER,), None), []

    def wait(seconds: float) -> None:
        state = view.state()
        assert state["mission"]["phase"] == "running" and "truth" not in state
        assert state["mission"]["elapsed"] == pytest.approx(seconds, abs=0.05)
        times.append(seconds)

    play(view, record, wait)
    steps, point = record.result.line.steps, record.result.point
    assert times == pytest.approx([0.2 * (step + 1) for step in range(steps)])
    state = view.state()
    start, end = (unreal_to_map(pose[:3]) for pose in (record.result.poses[0], record.result.poses[-1]))
    track = state[f"track/{WALKER}"]["items"]
    assert track[0][:2] == pytest.approx(start[:2], abs=0.3)
    assert state[f"craft/{WALKER}"]["position"] == pytest.approx(end, abs=0.06)
    assert state["mission"]["phase"] == "ended"
    assert state["mission"]["text"] == "handed over, TS 100.0 of 100; 0.000 m from the recorded end"
    told = {entry["title"] for entry in state["log"]["items"]}
    assert {"walk", "pick up", "put down", "mission ended"} <= told
    victim, stretcher = (thing["position"] for thing in state["truth"])
    assert victim == pytest.approx(unreal_to_map(point["injured_player_loc"][:3]))
    assert stretcher == pytest.approx(unreal_to_map(point["stretcher_loc"][:3]))
    assert state["place"]["size"] >= 2.0 * np.abs(np.array(track)[:, :2]).max()
    for name in ("relief", f"camera/{WALKER}/front"):
        image = view.image(name)
        assert image is not None and image[0].startswith(b"\xff\xd8")  # JPEG


def test_its_numbers_are_the_messages() -> None:
    numbers = (MissionState.RUNNING, MissionState.ENDED, Decision.DONE)
    assert (rescue_page.RUNNING, rescue_page.ENDED, rescue_page.DONE) == numbers


def test_nothing_can_be_asked_of_a_walk_that_is_over() -> None:
    view = LiveView((WALKER,), None)
    assert view.state()["page"]["commands"] is False
    with pytest.raises(ValueError, match="nothing flies here"):
        view.command({"do": "hold", "vehicle": WALKER})


@pytest.mark.parametrize("speed", ["0", "101", "nan"])
def test_a_bad_speed_is_one_line(speed: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--speed .*: above 0, at most 100"):
        main([str(tmp_path), "x/y/0", "--speed", speed])


def test_an_episode_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        main([str(tmp_path), "x/y/0"])
