"""`esar incident fly`: a sortie rehearsed on the map, with people who lie by the POA, and its one-line refusals."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.incident import fly
from esar_ros.incident.features import Place, PlaceKind, Position, Raster, Search, Sortie, Waypoint
from esar_ros.incident.ground import Ground, utm_zone
from esar_ros.incident.rasters import ELEVATION, POA
from esar_ros.incident.store import Incident
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.result import parse_result
from esar_ros.sim.terrain.maps import load_map

pytest.importorskip("pyogrio")
MAP = "aotai"


def made(folder: Path, sorties: bool = True) -> Path:
    """An incident on a shipped map: all POA within 20 m of a place 40 m off, and a way over it and back."""
    place = load_map(MAP)
    origin = place.origin
    crs = utm_zone(origin.latitude, origin.longitude)

    def above(x: float, y: float, height: float) -> Position:
        return Position(*origin.to_geodetic([x, y, float(place.ground_height((x, y))) + height]))

    middle, home = above(40.0, 0.0, 0.0), above(0.0, 0.0, 0.0)
    x, y = Ground(np.zeros((2, 2)), 0.0, 0.0, 1.0, crs).to_grid(middle.latitude, middle.longitude)
    poa = Raster("prior", np.full((2, 2), 0.2, np.float32), x - 20.0, y + 20.0, 20.0, crs, POA)
    heights = replace(poa, name="elevation", values=np.zeros((2, 2), np.float32), unit=ELEVATION)
    way = tuple(Waypoint(above(x, 0.0, 30.0), 30.0) for x in (20.0, 60.0, 20.0))
    planned = [Sortie("first", home, way, 4.0, 1.5, 0.4, 1.0)] if sorties else []
    search = Search("ridge", places=[Place("IPP", PlaceKind.IPP, home)], rasters=[heights, poa], sorties=planned)
    Incident.create(folder, search, {"map": MAP}, "He is on the ridge.")
    return folder


def run(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    fly.declare(parser.add_subparsers())
    return fly.run(parser.parse_args(["fly", *map(str, arguments)]))


def test_it_flies_the_way_and_tells_whom_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path / "ridge")
    before = (folder / "incident.gpkg").read_bytes()
    assert run(folder, "--people", 2, "--preset", "fast") == 0
    told = capsys.readouterr().out
    out = folder / "rehearsal" / "first"
    result = parse_result((out / "result.json").read_text(), "result")
    found = sum(victim.found for victim in result.victims)
    assert f"Found {found} of 2" in told and "50 % of those on the map should be found" in told
    assert result.planner == "route" and result.end_text in told and result.safety.collisions == 0
    assert all(abs(victim.position[0] - 40.0) < 21.0 and abs(victim.position[1]) < 21.0 for victim in result.victims)
    assert result.metrics.path_length > 80.0
    kml = (out / "flown.kml").read_text(encoding="utf-8")
    assert kml.count("person 1") and "rehearsal of first" in kml
    assert (folder / "incident.gpkg").read_bytes() == before, "a rehearsal is no search"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sortie", "frist"], "--sortie frist: did you mean first"),
        (["--people", "16"], "--people 16: 1 to 15"),
        (["--world", "px4"], "flown in the embedded simulator: fly .*plans from a ground"),
        (["--detector", "none"], "none"),
    ],
)
def test_what_cannot_be_flown_is_told_in_one_line(tmp_path: Path, arguments: list[str], told: str) -> None:
    folder = made(tmp_path / "ridge")
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
        run(made(tmp_path / "ridge", sorties=False))
