"""The authors' own script on logs that are written here: the same numbers.

Skipped unless ESAR_UAV_ON names a checkout of their code, which has no licence and is not part of this project.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.frames import Pose
from esar_ros.scoring.object_goal import TOTAL, UAV_ON, Rules
from esar_ros.suites.uav_on.episodes import entry_from
from esar_ros.suites.uav_on.logs import Frame, write_flight
from esar_ros.suites.uav_on.score import LogScore
from helpers.uav_on_golden import CASES, document, write_cases

CHECKOUT = os.environ.get("ESAR_UAV_ON", "")
NUMBER = r"(-?[\d.]+)"

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="ESAR_UAV_ON names no checkout of the authors' code")


def theirs(logs: Path) -> dict[str, list[float]]:
    """Numbers that their script prints: of each size class, of all, and of terminations."""
    script = Path(CHECKOUT) / "utils" / "classify_metric.py"
    command = [sys.executable, str(script), "--base_root", str(logs)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    parts = re.split(r"=+ Size Category: (\w+) =+", text)
    blocks = {TOTAL: parts[0], **{name.lower(): block for name, block in zip(parts[1::2], parts[2::2], strict=True)}}
    found = {}
    for name, block in blocks.items():
        patterns = (
            rf"Total Tasks\s*: {NUMBER}",
            rf"Success Rate \(SR\): {NUMBER}%",
            rf"Oracle\s+Rate \(OSR\): {NUMBER}%",
            rf"(?:- All\s*|Distance to Success \(DTS\)): {NUMBER}",
            rf"SPL.*: {NUMBER}%",
        )
        found[name] = [float(re.search(pattern, block)[1]) for pattern in patterns]  # type: ignore[index]
    flight = [rf"^{ending}\s*: {NUMBER}%" for ending in ("stop", "step_limit", "collision")]
    flight += [rf"Frame Number\s*: {NUMBER}", rf"Move Distance\s*: {NUMBER}"]
    found["flight"] = [float(re.search(pattern, text, re.M)[1]) for pattern in flight]  # type: ignore[index]
    return found


def ours(run: Path) -> dict[str, list[float]]:
    """The same numbers, rounded as they print them."""
    scores = LogScore(run, Rules.CODE).scores
    found = {}
    for name, row in scores.items():
        # What they print as "Oracle Rate" of all leaves out the successes in its count alone, not in its share.
        rates = [round(100.0 * row.sr, 2), round(100.0 * row.osr, 2), round(row.dts, 3), round(100.0 * row.spl, 3)]
        found[name] = [row.episodes, *rates]
    total = scores[TOTAL]
    shares = [round(100.0 * share, 2) for share in (total.stop, total.step_limit, total.collision)]
    found["flight"] = [*shares, round(total.steps, 2), round(total.path, 2)]
    return found


def assert_same(run: Path) -> None:
    expected, found = theirs(run / "logs"), ours(run)
    assert found.keys() == expected.keys()
    for name, numbers in expected.items():
        # They add up in no fixed order: the last digit printed may differ.
        assert found[name] == pytest.approx(numbers, abs=0.0011 if name != "flight" else 0.011), name


def test_hand_made_logs(tmp_path: Path) -> None:
    write_cases(tmp_path)
    assert_same(tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_flights_at_random(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for id in range(120):
        ending = chance.choice(("stop", "stop", "contact", "limit"))
        steps = UAV_ON.actions if ending == "limit" else chance.choice((0, 3, 20, 149))
        steps = max(steps, 1) if ending == "contact" else steps
        start = np.array([chance.uniform(-40.0, 40.0), chance.uniform(-40.0, 40.0), 10.0])
        moves = [[chance.gauss(0.0, 3.0) for _ in range(3)] for _ in range(steps)]
        track = np.vstack([start, start + np.cumsum(np.array(moves).reshape(-1, 3), axis=0)])
        size = chance.choice(("small(1)", " mid(5)", "big", "unknown"))
        targets = [[chance.uniform(-5.0, 5.0) for _ in range(3)] for _ in range(chance.choice((1, 1, 2)))]
        scene = chance.choice(("one", "two"))
        entry = entry_from(document(id, CASES[0]) | {"pose": targets, "size": size, "map_name": scene}, "")
        frames = [Frame(Pose(point), ending == "contact" and t == steps) for t, point in enumerate(track)]
        stop = ending == "stop"
        write_flight(tmp_path, entry, frames, stop, stop and chance.random() < 0.3)
    assert_same(tmp_path)
