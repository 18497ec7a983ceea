"""An episode walked again from its record: the same walk, and a page of it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.embedded import EmbeddedWorld
from esar_ros.suites.rescuebench.episode import RescueEpisode
from esar_ros.suites.rescuebench.replay import PICTURES, main, page, walk_again
from esar_ros.suites.rescuebench.sets import find_task
from esar_ros.suites.rescuebench.settings import load_suite_settings
from esar_ros.suites.rescuebench.suite import RESCUEBENCH

TASK = "L1-19"


@pytest.fixture(scope="module")
def world() -> EmbeddedWorld:
    return EmbeddedWorld(find_task(TASK).point.place, load_suite_settings())


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    (job,) = RESCUEBENCH.plan([TASK], ["oracle"], 1, {}).jobs
    return {"id": f"{TASK}/oracle/0", "job": {"task": TASK}, **RescueEpisode().run(job, lambda inside: None)}


def test_the_same_actions_lead_to_the_same_end(world: EmbeddedWorld, record: dict[str, Any]) -> None:
    moments, gap = walk_again(world, record, lambda world: b"picture")
    assert gap < 0.001 and len(moments) <= PICTURES + 1 and moments[-1].step == len(record["result"]["actions"])
    assert any(moment.carrying for moment in moments) and not moments[-1].carrying
    made = page(record, moments, gap)
    assert made.count('"picture"') == len(moments) and f"{TASK}/oracle/0: COMPLETED" in made
    other = copy.deepcopy(record)
    other["result"]["actions"] = other["result"]["actions"][: len(moments) // 2]
    assert walk_again(world, other, lambda world: b"")[1] > 0.5


def test_what_cannot_be_walked_again_is_one_line(
    world: EmbeddedWorld, record: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = record | {"conditions": record["conditions"] | {"clock": "running"}}
    with pytest.raises(UsageError, match="cannot be walked again"):
        walk_again(world, running, lambda world: b"")
    with pytest.raises(UsageError, match="not the one that was walked"):
        walk_again(world, record | {"job": {"task": "L1-18"}}, lambda world: b"")
    with pytest.raises(UsageError, match="which task it is of"):
        walk_again(world, record | {"job": None}, lambda world: b"")
    for arguments in ([], [str(tmp_path), "x/y/0", str(tmp_path / "page.html")]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
