"""`esar incident rebuild`: what is derived comes back bit for bit, and follows words that changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.incident.rasters import CANOPY, OFFSET, POA, POD_ON_FOOT
from esar_ros.incident.store import Incident
from esar_ros.sim.terrain.land_cover import LandCover
from helpers.elevation import IPP, elevation_model

rasterio = pytest.importorskip("rasterio")
pytest.importorskip("geopandas")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident with all that may be given, and searched ground."""
    folder = tmp_path_factory.mktemp("rebuild")
    dem = elevation_model(folder / "hills.tif")
    with rasterio.open(dem) as model:
        profile = model.profile | {"dtype": "uint8", "nodata": 255}
    with rasterio.open(folder / "crowns.tif", "w", **profile) as crowns:
        crowns.write(np.full((400, 400), 60, np.uint8), 1)
    (folder / "trail.geojson").write_text(
        '{"type": "LineString", "coordinates": [[-71.36, 44.25], [-71.34, 44.251]]}', encoding="utf-8"
    )
    with rasterio.open(folder / "photo.tif", "w", **profile | {"count": 3}) as photo:
        photo.write(np.stack([np.full((400, 400), grey, np.uint8) for grey in (200, 90, 60)]))
    with rasterio.open(folder / "cover.tif", "w", **profile) as classes:
        classes.write(np.full((400, 400), 10, np.uint8), 1)
    (folder / "brief.txt").write_text("The drone starts at the hut. She was last seen 500 m east of the hut.")
    given = {
        "--dem": dem, "--brief": folder / "brief.txt", "--ways": folder / "trail.geojson",
        "--canopy": folder / "crowns.tif",
        "--photo": folder / "photo.tif", "--cover": folder / "cover.tif",
        "--ipp": f"{IPP},50", "--size": 1000, "--time": "2026-06-01T09:00Z",
    }  # fmt: skip
    assert main(["incident", "new", str(folder / "one"), *(f"{flag}={value}" for flag, value in given.items())]) == 0
    return folder / "one"


@pytest.fixture
def incident(begun: Path, tmp_path: Path) -> Path:
    return shutil.copytree(begun, tmp_path / "one")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_that_is_derived_comes_back_bit_for_bit(incident: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(incident)
    assert {raster.unit for raster in Incident.open(incident).search.rasters} >= {CANOPY, OFFSET, POA}
    shutil.rmtree(incident / "poa")
    for path in (incident / "map").glob("incident_*"):
        path.unlink()
    assert main(["incident", "plan", str(incident)]) == 2
    assert f"is lost: esar incident rebuild {incident}" in capsys.readouterr().err
    assert main(["incident", "rebuild", str(incident)]) == 0
    assert files(incident) == before


def test_words_that_changed_move_the_poa_and_the_rest_stays(incident: Path) -> None:
    before = Incident.open(incident)
    (incident / "brief.txt").write_text("The drone starts at the hut. She was last seen 400 m west of the hut.")
    assert main(["incident", "rebuild", str(incident)]) == 0
    after = Incident.open(incident)
    columns = [one.rasters(POA)[0].values.sum(axis=0).argmax() for one in (before, after)]
    assert columns[1] < columns[0] - 20, "from east to west of the hut"
    assert len(after.search.areas) == len(before.search.areas) and after.search.places == before.search.places


def test_a_lost_pod_is_told_and_its_file_may_be_added_again(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    track = tmp_path / "team.gpx"
    points = "".join(f'<trkpt lat="44.25" lon="{-71.352 + n * 1e-4}"/>' for n in range(40))
    track.write_text(
        f'<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    )
    adding = ["incident", "add", str(incident), str(track), "--detection-range", "25"]
    assert main(adding) == 0
    (pod,) = Incident.open(incident).rasters(POD_ON_FOOT)
    shutil.rmtree(incident / "pod")
    assert main(["incident", "rebuild", str(incident)]) == 0
    assert "the POD of team is lost: add its file again" in capsys.readouterr().out
    assert Incident.open(incident).rasters(POD_ON_FOOT) == []
    assert main(adding) == 0
    again = Incident.open(incident)
    assert np.array_equal(again.rasters(POD_ON_FOOT)[0].values, pod.values, equal_nan=True)
    assert len(again.search.tracks) == 1, "what was not lost is not taken twice"
    assert main(adding) == 0 and len(Incident.open(incident).rasters(POD_ON_FOOT)) == 1


def test_what_was_given_and_is_lost_is_asked_for(incident: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elevation,) = [path for path in (incident / "map").glob("*.tif") if path.stat().st_size == max(
        other.stat().st_size for other in (incident / "map").glob("*.tif"))]  # fmt: skip
    elevation.unlink()
    assert main(["incident", "rebuild", str(incident)]) == 2
    error = capsys.readouterr().err
    assert "has lost its raster of m above mean sea level" in error and "--dem FILE" in error


def test_the_map_looks_as_the_layers_that_were_given_and_a_layer_that_is_gone_is_told(
    incident: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = (incident / "map").glob("*.yaml")
    spec = path.read_text(encoding="utf-8")
    assert path.with_suffix(".png").is_file() and f"file: {path.stem}.png" in spec
    assert "via:" in spec, "the trail is drawn"
    with np.load(path.with_suffix(".npz")) as arrays:
        assert set(np.unique(arrays["cover"])) == {int(LandCover.FOREST)}
    opened = Incident.open(incident)
    opened.about["photo"] = str(incident / "gone.tif")
    opened.save()
    path.unlink()
    assert main(["incident", "rebuild", str(incident)]) == 0
    assert f"{incident / 'gone.tif'} is not there any more" in capsys.readouterr().out
    assert "imagery:" not in path.read_text(encoding="utf-8")
