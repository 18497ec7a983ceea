"""The prior that knows: its probability lies around the victims, whatever the brief says, and it is not eligible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from esar_ros.mission.briefing import make_brief
from esar_ros.mission.errors import UsageError
from esar_ros.mission.map_files import map_extent
from esar_ros.mission.observation import Brief
from esar_ros.mission.task import load_task
from esar_ros.planning.registry import parameters_of
from esar_ros.suites.esarbench.oracle_prior import SPREAD, OraclePrior


def brief_of(id: str) -> Brief:
    task = load_task(id)
    return make_brief(task, map_extent(task.map), "uav1", 100, np.zeros(3))


@pytest.mark.parametrize("id", ["k2-storm-1-03", "aotai-pair"])
def test_its_prior_lies_around_each_victim(id: str) -> None:
    task = load_task(id)
    method = OraclePrior(parameters_of("belief"))
    assert not method.eligible and method.name == "oracle_prior"
    method.reset(brief_of(id), 0)
    assert len(method.people) == len(task.victims)
    for person, victim in zip(method.people, task.victims, strict=True):
        cells = np.stack(np.meshgrid(method.looks.x, method.looks.y), axis=-1)
        near = np.linalg.norm(cells - np.array(victim.position), axis=-1) < 3.0 * SPREAD
        area = person.posterior
        assert area[near].sum() > 0.9 * area.sum()


def test_a_brief_that_no_shipped_task_has_is_refused() -> None:
    unknown = replace(brief_of("k2-storm-1-03"), prompt="Somebody is missing.")
    with pytest.raises(UsageError, match="no shipped task has this brief"):
        OraclePrior(parameters_of("belief")).reset(unknown, 0)
