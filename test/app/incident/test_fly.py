"""`esar incident fly`: a sortie rehearsed on the map, with people who lie by the POA, and its one-line refusals."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from esar_ros.app import mission
from esar_ros.app.incident import fly
from esar_ros.incident.formats import qgc_plan
from esar_ros.incident.rehearsal import REHEARSAL, rehearsed
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import parse_result
from helpers.ridge import ridge

pytest.importorskip("pyogrio")


def run(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    fly.declare(parser.add_subparsers())
    return fly.run(parser.parse_args(["fly", *map(str, arguments)]))


def test_it_flies_the_way_and_tells_whom_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ridge(tmp_path / "ridge")
    before = (folder / "incident.gpkg").read_bytes()
    assert run(folder, "--people", 2, "--preset", "fast") == 0
    told = capsys.readouterr().out
    out = folder / "rehearsal" / "first"
    result = parse_result((out / "result.json").read_text(), "result")
    found = sum(victim.found for victim in result.victims)
    assert (
        f"Found {found} of 2" in told
        and "50 % of those on the map should be found, in pictures 640 px wide; these are 320 px" in told
    )
    assert result.planner == "route" and result.end_text in told and result.safety.collisions == 0
    assert all(abs(victim.position[0] - 40.0) < 21.0 and abs(victim.position[1]) < 21.0 for victim in result.victims)
    assert result.metrics.path_length > 80.0
    (sortie,) = Incident.open(folder).search.sorties
    assert rehearsed(folder / REHEARSAL, sortie).startswith(f"found {found} of 2 simulated; contacts 0, ")
    assert rehearsed(folder / REHEARSAL, replace(sortie, speed=3.0)) == "", "another flight is planned now"
    kml = (out / "flown.kml").read_text(encoding="utf-8")
    assert kml.count("person 1") and "rehearsal of first" in kml
    assert (folder / "incident.gpkg").read_bytes() == before, "a rehearsal is no search"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sortie", "frist"], "--sortie frist: did you mean first"),
        (["--people", "16"], "--people 16: 1 to 15"),
        (["--world", "px4"], "cannot read plan .*first.plan: no file"),
        (["--detector", "none"], "none"),
    ],
)
def test_what_cannot_be_flown_is_told_in_one_line(tmp_path: Path, arguments: list[str], told: str) -> None:
    folder = ridge(tmp_path / "ridge")
    with pytest.raises(UsageError, match=told) as error:
        run(folder, *arguments)
    assert len(str(error.value).splitlines()) == 1


def test_without_a_plan_it_plans_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Planned(Exception):
        pass

    def plan(folder: Path) -> None:
        raise Planned(folder.name)

    monkeypatch.setattr(fly, "plan_as_by_default", plan)
    with pytest.raises(Planned, match="ridge"):
        run(ridge(tmp_path / "ridge", sorties=False))


def test_the_graph_returns_and_lands_and_keeps_the_flight_with_the_incident_unless_it_is_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESAR_MAPS", "")
    folder = ridge(tmp_path / "ridge")
    qgc_plan.write(Incident.open(folder).search, folder / "plans")
    flying, words = argparse.ArgumentParser(), argparse.ArgumentParser()
    fly.declare(flying.add_subparsers())
    mission.add_arguments(words)
    by_incident = fly.mission_of(flying.parse_args(["fly", str(folder), "--world", "px4"]))
    for given in (["--incident", str(folder)], by_incident):
        options, _ = mission.options_from(words.parse_args(given))
        assert (options.end, options.out) == ("return_land", str(folder / "flights" / "first"))
        options, _ = mission.options_from(words.parse_args([*given, "--end", "hold", "--out", str(tmp_path)]))
        assert (options.end, options.out) == ("hold", str(tmp_path))
    elsewhere = fly.mission_of(flying.parse_args(["fly", str(folder), "--world", "px4", "--out", str(tmp_path)]))
    assert mission.options_from(words.parse_args(elsewhere))[0].out == str(tmp_path)
    options, _ = mission.options_from(words.parse_args([]))
    assert (options.end, Path(options.out)) == ("hold", Path("out").resolve())
