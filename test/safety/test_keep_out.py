"""The files of keep-out zones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.geodesy import Origin
from esar_ros.mission.errors import UsageError
from esar_ros.mission.observation import Brief
from esar_ros.safety.conditions import load_keep_out, site_of
from esar_ros.safety.limits import Limits

ORIGIN = Origin(33.95, 107.75, 2800.0)


def write(folder: Path, text: str) -> Path:
    path = folder / "zones.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_corners_in_the_map_and_on_earth(tmp_path: Path) -> None:
    points = [ORIGIN.to_geodetic(np.array([x, y, 0.0]))[:2] for x, y in ((50, 20), (90, 20), (90, 60))]
    text = "zones:\n- {name: mast, corners: [[10, 0], [20, 0], [20, 10]]}\n- geodetic: " + str(
        [list(map(float, p)) for p in points]
    )
    first, second = load_keep_out(write(tmp_path, text))
    assert first.name == "mast"
    np.testing.assert_array_equal(first.polygon(ORIGIN), [[10, 0], [20, 0], [20, 10]])
    np.testing.assert_allclose(second.polygon(ORIGIN), [[50, 20], [90, 20], [90, 60]], atol=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zones: [{corners: [[0, 0], [1, 1]]}]", "key zones.0"),
        ("zones: [{corners: [[0, 0], [1, .nan], [1, 0]]}]", "key zones.0.corners.1.1"),
        ("zone: []", "key zone"),
        ("zones: [", "cannot read"),
        ("- 1", "key the file"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_keep_out(write(tmp_path, text))
    with pytest.raises(UsageError, match="cannot read keep-out zones"):
        load_keep_out(tmp_path / "absent.yaml")


def test_the_site_of_a_brief(limits: Limits, tmp_path: Path) -> None:
    brief = Brief(
        mission_id="m", map_id="aotai", prompt="p", weather="fog", local_time="2024-05-01T12:00:00", t_max=300.0,
        area=np.array([[-300.0, -300.0], [300.0, -300.0], [300.0, 300.0], [-300.0, 300.0]]), ceiling=120.0,
        home=np.zeros(3), report_cap=100, origin=(33.95, 107.75, 2800.0),
    )  # fmt: skip
    zones = load_keep_out(write(tmp_path, "zones: [{corners: [[50, 0], [90, 0], [90, 40]]}]"))
    site = site_of(brief, limits, zones)
    assert site.speed == limits.speed_poor_sight
    assert site.top == pytest.approx(limits.sea_ceiling - 2800.0)
    assert site.inside_keep_out(np.array([80.0, 10.0, 5.0])) > 0.0
