"""An incident's folder is read for a mission with the standard library alone, or refused in a line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import planned_flight
from helpers.little_incident import little_incident


def test_the_first_sortie_or_the_one_that_is_named_is_a_missions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MAPS", "/others")
    folder = little_incident(tmp_path / "valley")
    first, second = planned_flight(folder), planned_flight(folder, "sortie 2")
    assert (first.sortie, first.map, first.t_max) == ("sortie 1", "incident_valley", 1080.0)
    assert first.start == "46.5000000,9.0000000" and first.planner == f"route:{folder}/plans/sortie_1.plan"
    assert second.start == "46.5000000,10.0000000" and second.t_max == 540.0
    assert first.brief == str(folder / "brief.txt")
    assert os.environ["ESAR_MAPS"].split(os.pathsep) == [str(folder / "map"), "/others"], "once, before others"


def test_what_is_no_incident_or_has_nothing_planned_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no incident\.gpkg"):
        planned_flight(tmp_path)
    folder = little_incident(tmp_path / "valley")
    with pytest.raises(UsageError, match="sortie 3: did you mean sortie"):
        planned_flight(folder, "sortie 3")
    plan = folder / "plans" / "sortie_1.plan"
    for broken in ('{"mission": {}}', '{"mission": {"plannedHomePosition": [null, 1]}}', "[]"):
        plan.write_text(broken, encoding="utf-8")
        with pytest.raises(UsageError, match=r"no home|no JSON object"):
            planned_flight(folder)
    plan.unlink()
    with pytest.raises(UsageError, match="cannot read plan"):
        planned_flight(folder)
    with pytest.raises(UsageError, match="nothing is planned in"):
        planned_flight(little_incident(tmp_path / "bare", planned=False))
    (tmp_path / "bare" / "incident.gpkg").write_bytes(b"no data base at all, but long enough to be looked at")
    with pytest.raises(UsageError, match="is damaged"):
        planned_flight(tmp_path / "bare")
