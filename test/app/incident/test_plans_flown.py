"""Plans of random valleys are flown in still air without a step that the governor changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.scoring.result import parse_result
from helpers.elevation import IPP, elevation_model

pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(20))
def test_the_governor_changes_no_step_of_a_planned_sortie(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    dem = elevation_model(tmp_path / "hills.tif", relief=float(random.uniform(40.0, 250.0)), seed=seed)
    brief = tmp_path / "brief.txt"
    way = random.choice(["north", "east", "south-west", "west"])
    brief.write_text(f"The drone starts at the hut. She was last seen {random.integers(2, 5)}00 m {way} of the hut.")
    folder = tmp_path / f"valley{seed}"
    begin = ["incident", "new", str(folder), "--dem", str(dem), "--brief", str(brief), "--ipp", IPP, "--size", "1000"]
    assert main(begin) == 0
    height = str(random.integers(35, 70))
    assert main(["incident", "plan", str(folder), "--minutes", "8", "--height", height, "--speed", "4"]) == 0
    assert main(["incident", "fly", str(folder), "--people", "1", "--preset", "fast"]) == 0
    (path,) = (folder / "rehearsal").glob("*/result.json")
    safety = parse_result(path.read_text(encoding="utf-8"), str(path)).safety
    assert not safety.interventions and safety.collisions == 0
