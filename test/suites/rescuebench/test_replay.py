"""An episode walked again from its record: the same walk, and a page of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.benchmark.runner.records import Record, RecordedJob, make_record
from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench import replay
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.episode import RescueEpisode
from esar_ros.suites.rescuebench.replay import PICTURES, Moment, main, page, sheet, walk_again
from esar_ros.suites.rescuebench.result import RescueResult
from esar_ros.suites.rescuebench.sets import find_task
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.suite import RESCUEBENCH

TASK = "L1-19"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return EmbeddedWorld(find_task(TASK).point.place, load_suite_settings())


@pytest.fixture(scope="module")
def record() -> Record[RescueResult]:
    (job,) = RESCUEBENCH.plan([TASK], ["oracle"], 1, {}).jobs
    return make_record(job, RescueEpisode().run(job, lambda inside: None), 1, "h")


def test_the_same_actions_lead_to_the_same_end(world: EmbeddedWorld, record: Record[RescueResult]) -> None:
    moments, gap = walk_again(world, record, lambda world: b"picture")
    assert gap < 0.001 and len(moments) <= PICTURES + 1 and moments[-1].step == len(record.result.actions)
    assert any(moment.carrying for moment in moments) and not moments[-1].carrying
    made = page(record, moments, gap)
    assert made.count('"picture"') == len(moments) and f"{TASK}/oracle/0: COMPLETED" in made
    half = record.result.model_copy(update={"actions": record.result.actions[: len(moments) // 2]})
    other = record.model_copy(update={"result": half})
    assert walk_again(world, other, lambda world: b"")[1] > 0.5


@pytest.mark.parametrize("picked", [False, True])
def test_a_sheet_shows_both_halves_of_a_walk(picked: bool) -> None:
    moments = [Moment(step, 0.2 * step, np.zeros(3), picked and step >= 40, b"") for step in range(1, 61)]
    chosen = replay._chosen(moments)
    assert (len(chosen), chosen[0].step, chosen[-1].step) == (8, 1, 60)
    assert [moment.carrying for moment in chosen] == ([False] * 4 + [True] * 4 if picked else [False] * 8)
    if picked:
        assert [moment.step for moment in chosen[3:5]] == [39, 40]


@pytest.mark.full
def test_the_sheet_has_north_up_and_the_walk_where_it_was(
    world: EmbeddedWorld, record: Record[RescueResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    colour = np.array([255, 0, 255])  # of nothing else
    monkeypatch.setattr(replay, "_WALK", tuple(colour.tolist()))
    moments, _ = walk_again(world, record, replay._drawn)
    made = replay._decoded(sheet(world, record, moments))
    above = made[-520:, :520]
    assert made.shape == (554, 520 + 4 * 260, 3)
    rows, columns = np.nonzero(np.abs(above.astype(int) - colour).max(axis=2) < 60)
    track = np.array([moment.position[:2] for moment in moments])
    metres, pixels = np.ptp(track, axis=0), np.array([np.ptp(columns), np.ptp(rows)]) - 20.0  # its dots are 20 px wide
    assert pixels[0] / metres[0] == pytest.approx(pixels[1] / metres[1], rel=0.1)
    east = np.array([columns[np.argmin(rows)], columns[np.argmax(rows)]])  # of its northern and its southern end
    ends = track[[np.argmax(track[:, 1]), np.argmin(track[:, 1])], 0]
    assert np.diff(east)[0] * np.diff(ends)[0] > 0.0
    world.close()


def test_what_cannot_be_walked_again_is_one_line(
    world: EmbeddedWorld, record: Record[RescueResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = record.model_copy(update={"conditions": record.conditions | {"clock": "running"}})
    with pytest.raises(UsageError, match="cannot be walked again"):
        walk_again(world, running, lambda world: b"")
    with pytest.raises(UsageError, match="not the one that was walked"):
        walk_again(world, record.model_copy(update={"job": RecordedJob(task="L1-18")}), lambda world: b"")
    for arguments in ([], [str(tmp_path), "x/y/0", str(tmp_path / "page.html")]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
