"""Parts switched off for measuring what they are worth: each does what its name says, and nobody can mistake it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.planning import registry
from esar_ros.planning.belief.stopping import Score

PROMPT = "A hiker is missing. You start at the hut. He left the hut and walked 200 m to the east."


def begun(name: str, brief: Any, **values: Any) -> Any:
    method = registry.create(name)
    method.reset(brief(half=300.0, prompt=PROMPT, **values), 0)
    return method


@pytest.mark.parametrize("part", ["prior", "clues", "looks", "stop"])
def test_a_variant_is_named_after_what_it_lacks(part: str) -> None:
    assert registry.create(f"belief@no_{part}").name == f"belief@no_{part}"
    assert registry.create("belief", {"use": {part: False}}).name == f"belief@no_{part}"
    assert registry.create("belief").name == "belief" and f"belief@no_{part}" not in registry.names()


def test_unknown_variants_are_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown variant 'belief@no_luck'.*belief@no_prior"):
        registry.create("belief@no_luck")
    with pytest.raises(UsageError, match="unknown variant 'zigzag@no_prior': name zigzag alone"):
        registry.create("zigzag@no_prior")
    with pytest.raises(UsageError, match="unknown planner 'faith@no_prior'"):
        registry.create("faith@no_prior")


def test_without_the_prior_everywhere_is_as_likely(brief: Any) -> None:
    told, nothing = begun("belief", brief).belief_grid(), begun("belief@no_prior", brief).belief_grid()
    east, west = told.cell_of(np.array([200.0, 0.0])), told.cell_of(np.array([-200.0, 0.0]))
    assert told.cells[east] > 5 * told.cells[west]
    inside = nothing.cells[5:-5, 5:-5].astype(float)
    assert inside.std() < 0.3 * inside.mean()


def test_without_clues_a_find_changes_nothing(brief: Any, observe: Any, clue: Any) -> None:
    grids = {}
    for name in ("belief", "belief@no_clues"):
        method = begun(name, brief)
        before = method.people[0].prior.copy()
        method.act(observe(0.0, clues=(clue(1, "backpack", (0.0, 150.0, 0.0)),)))
        grids[name] = np.abs(method.people[0].prior - before).max()
    assert grids["belief"] > 0.0 and grids["belief@no_clues"] == 0.0


def test_without_looks_pictures_of_nobody_change_nothing(brief: Any, observe: Any) -> None:
    method = begun("belief@no_looks", brief)
    before = method.belief_grid().cells.copy()
    for stamp in range(10):
        method.act(observe(float(stamp), (200.0, 0.0, 30.0)))
    assert np.array_equal(method.belief_grid().cells, before)


def test_without_the_stop_it_searches_on(brief: Any, observe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Score, "pays", lambda self, rate, found: False)
    assert begun("belief", brief).act(observe(0.0)).stop
    decision = begun("belief@no_stop", brief).act(observe(0.0))
    assert not decision.stop and decision.goal.position[0] > 60.0
