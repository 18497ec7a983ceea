"""`esar incident new`, `plan`, `debrief` and the export of an incident, from an elevation model to a page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.incident.features import AreaKind, PlaceKind, Position
from esar_ros.incident.probability import stand
from esar_ros.incident.rasters import ELEVATION, POA
from esar_ros.incident.store import Incident
from helpers.elevation import IPP, elevation_model

pytest.importorskip("rasterio")
pytest.importorskip("geopandas")


@pytest.fixture(scope="module")
def dem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return elevation_model(tmp_path_factory.mktemp("dem") / "hills.tif")


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brief") / "brief.txt"
    path.write_text("The drone starts at the hut. She was last seen 500 m east of the hut. Müller saw her.")
    return path


@pytest.fixture(scope="module")
def valley(dem: Path, brief: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incidents") / "valley"
    area = folder.parent / "area.geojson"
    x, y, off = -71.35, 44.25, 0.01
    ring = [[x - off, y - off], [x + off, y - off], [x + off, y + off], [x - off, y + off], [x - off, y - off]]
    area.write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    flags = ["--ipp", f"{IPP},±50", "--size", "2000", "--time", "2026-06-01T09:00-04:00", "--area", str(area)]
    assert main(["incident", "new", str(folder), "--dem", str(dem), "--brief", str(brief), *flags]) == 0
    return folder


def test_a_new_incident_holds_its_ground_words_and_probability(valley: Path) -> None:
    incident = Incident.open(valley)
    (ipp,) = incident.search.places
    assert ipp.kind is PlaceKind.IPP and ipp.position == Position(44.25, -71.35)
    assert ipp.sigma == pytest.approx(50.0 / 2.448, rel=1e-3)  # ± is the radius of 95 %, as everywhere
    (elevation,), (poa,) = incident.rasters(ELEVATION), incident.rasters(POA)
    assert elevation.values.shape[0] * elevation.cell == pytest.approx(2100.0, abs=60.0)
    now, _ = stand(incident)
    assert now.normalised.sum() + now.normalised_rest == pytest.approx(1.0, abs=1e-9)
    _, column = np.unravel_index(now.normalised.argmax(), now.normalised.shape)
    assert (column + 0.5) * poa.cell == pytest.approx(1500.0, abs=150.0), "500 m east of the middle"
    assert incident.about["map"] == "incident_valley" and (valley / "map" / "incident_valley.yaml").is_file()
    assert any(area.kind is AreaKind.SEARCH for area in incident.search.areas)


def test_a_plan_is_kept_told_and_written_for_ground_stations(valley: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["incident", "plan", str(valley), "--vehicles", "2", "--minutes", "12", "--home", "44.249,-71.351"]) == 0
    )
    told = capsys.readouterr().out
    sorties = Incident.open(valley).search.sorties
    assert [sortie.name for sortie in sorties] == ["sortie 1", "sortie 2"] and f"POS {sorties[0].pos:.1%}" in told
    assert all(sortie.minutes <= 12.0 for sortie in sorties)
    plan = json.loads((valley / "plans" / "sortie_1.plan").read_text())
    assert plan["fileType"] == "Plan" and len(plan["mission"]["items"]) > 3
    assert main(["incident", "plan", str(valley), "--minutes", "12"]) == 0, "the home is the last one's"
    plans = sorted(path.name for path in (valley / "plans").iterdir())
    assert plans == ["plan.kml", "sortie_1.kmz", "sortie_1.plan"], "nothing of the plan before is left to be flown"
    (again,) = Incident.open(valley).search.sorties
    assert again.home.latitude == pytest.approx(44.249)
    assert main(["incident", "plan", str(valley), "--minutes", "12", "--speed", "20"]) == 0
    assert "not for DJI" in capsys.readouterr().out
    assert not list((valley / "plans").glob("*.kmz"))


def test_the_page_and_the_exports_are_made_of_it(valley: Path, tmp_path: Path) -> None:
    assert main(["incident", "debrief", str(valley)]) == 0
    page = (valley / "debrief.html").read_text(encoding="utf-8")
    assert "Müller saw her." in page and "by the words" in page
    assert main(["export", str(valley), "--to", "geojson,kml,gpx,csv,cot,geotiff,plan", "--out", str(tmp_path)]) == 0
    titles = {
        f["properties"].get("title", "") for f in json.loads((tmp_path / "search.geojson").read_text())["features"]
    }
    assert "IPP" in titles and any("C3" in title for title in titles)
    assert {path.suffix for path in (tmp_path / "rasters").iterdir()} == {".tif"}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--ipp", "-71.35,44.25"), "did you swap"),
        (("--ipp", "46.0,-71.35"), "does not reach"),
        (("--ipp", "here"), "LAT,LON"),
        (("--ipp", "44.25,-71.35,±far"), "LAT,LON"),
        (("--ipp", "44.25,-71.35,-100"), "LAT,LON"),
        (("--ipp", "44.25,-71.35,1e3"), "LAT,LON"),
        (("--time", "2026-06-01T09:00"), "has no zone: add it: 2026-06-01T09:00Z"),
        (("--time", "noon"), "ISO 8601"),
        (("--subject", "hikr"), "did you mean hiker?"),
        (("--domain", "sea"), "--domain sea of hiker"),
        (("--dem", "{empty}"), "is no elevation model"),
        (("--brief", "{empty}"), "is empty"),
        (("--size", "9000"), "does not reach"),
        (("--size", "20000"), "--size 20000: between 200 and 10000"),
        (("--size", "300"), "hills.tif is too coarse"),
        (("--size", "0"), "--size 0: between"),
        (("--size", "nan"), "--size nan: between"),
        (("--size", "inf"), "--size inf: between"),
        (("--canopy", "{empty}"), "is no raster"),
        (("--photo", "{empty}"), "is not a raster"),
        (("--cover", "{empty}"), "is not a raster"),
        (("--tracks", "{empty}"), "is empty (0 bytes)"),
        (("--ways", "{empty}"), "is empty (0 bytes)"),
    ],
)
def test_bad_input_is_told_in_one_line_and_makes_nothing(
    flags: tuple[str, str], told: str, dem: Path, brief: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").touch()
    given = {
        "--dem": str(dem),
        "--brief": str(brief),
        "--ipp": IPP,
        flags[0]: flags[1].format(empty=tmp_path / "empty"),
    }
    arguments = [f"{flag}={value}" for flag, value in given.items()]
    assert main(["incident", "new", str(tmp_path / "new"), *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1 and not (tmp_path / "new").exists()


def test_an_area_beside_the_map_is_refused(
    dem: Path, brief: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = [[-71.2, 44.1], [-71.19, 44.1], [-71.19, 44.11], [-71.2, 44.1]]
    (tmp_path / "area.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    flags = ["--dem", str(dem), "--brief", str(brief), "--ipp", IPP, "--area", str(tmp_path / "area.geojson")]
    assert main(["incident", "new", str(tmp_path / "new"), *flags, "--size", "2000"]) == 2
    assert "none of it lies on the map" in capsys.readouterr().err and not (tmp_path / "new").exists()


def test_a_flight_that_cannot_be_is_refused(valley: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["incident", "plan", str(valley), "--home", "44.9,-71.3"]) == 2
    assert "the home lies off the ground" in capsys.readouterr().err
    assert main(["incident", "plan", str(valley), "--height", "100", "--max-height", "90"]) == 2
    assert "fly below 90 m" in capsys.readouterr().err
    for flag in ("--height", "--max-height"):
        assert main(["incident", "plan", str(valley), flag, "150"]) == 2
        assert f"{flag} 150: between" in capsys.readouterr().err, "the governor would refuse it"


@pytest.mark.parametrize("flag", ["--drainages", "--ways=trails.geojson"])
def test_terrain_of_which_nothing_is_published_is_refused(
    flag: str, dem: Path, brief: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--dem", str(dem), "--brief", str(brief), "--ipp", IPP, "--subject", "camper", flag]
    assert main(["incident", "new", str(tmp_path / "new"), *given]) == 2
    assert f"{flag.partition('=')[0]} of camper" in capsys.readouterr().err and not (tmp_path / "new").exists()
