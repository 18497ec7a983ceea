"""Lost-person statistics: what is read, and the density made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.planning.methods.patterns.lost_persons import load_lost_persons


def test_quantiles_are_kept() -> None:
    hiker = load_lost_persons().category("hiker")
    assert hiker.within(np.array([1100.0, 3100.0, 5800.0, 18300.0])) == pytest.approx([0.25, 0.5, 0.75, 0.95])
    assert hiker.within(np.array([550.0])) == pytest.approx([0.125])
    assert hiker.within(np.array([1e6])) == pytest.approx([1.0])


def test_density_falls_and_adds_up() -> None:
    hiker = load_lost_persons().category("hiker", "dry_flat")
    radius = np.arange(5.0, 6600.0, 10.0)
    density = hiker.density(radius)
    assert np.all(density > 0.0) and np.all(np.diff(density[radius < 1200.0]) < 0.0)
    assert np.sum(density * 2 * np.pi * radius * 10.0) == pytest.approx(0.75, abs=0.01)


def test_unknown_domain_takes_the_categorys_own() -> None:
    statistics = load_lost_persons()
    assert np.array_equal(
        statistics.category("climber", "dry_flat").distances, statistics.category("climber").distances
    )


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_lost_persons(tmp_path / "none.yaml")
    bad = tmp_path / "bad.yaml"
    bad.write_text("quantiles: [1, 2, 3]\n")
    with pytest.raises(UsageError, match="key"):
        load_lost_persons(bad)
