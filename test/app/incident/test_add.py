"""`esar incident add`: several files of an incident, each once, the bad ones named and the others taken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.geometry.geodesy import Origin
from esar_ros.incident.features import AreaKind, Place, PlaceKind, Position, Raster, Search
from esar_ros.incident.rasters import ELEVATION, POD, POD_ON_FOOT
from esar_ros.incident.sources.intake import distance
from esar_ros.incident.store import Incident
from helpers.hills import LATITUDE, LONGITUDE, hills
from helpers.photographs import photograph

GROUND = hills(relief=8.0)
FRAME = Origin(LATITUDE, LONGITUDE, 0.0)


@pytest.fixture
def incident(tmp_path: Path) -> Path:
    heights = Raster(
        "dem", GROUND.heights.astype(np.float32), GROUND.west, GROUND.north, GROUND.cell, GROUND.crs, ELEVATION
    )
    place = Place("IPP", PlaceKind.IPP, Position(LATITUDE, LONGITUDE))
    Incident.create(tmp_path / "valley", Search("valley", places=[place], rasters=[heights]), {}, "A hiker is missing.")
    return tmp_path / "valley"


def walk(path: Path, north: float = 0.0) -> Path:
    points = [FRAME.to_geodetic([x, north, 0.0]) for x in (0.0, 100.0, 200.0)]
    text = "".join(f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}"/>' for lat, lon, _ in points)
    path.write_text(f'<gpx version="1.1" creator="t"><trk><name>Team</name><trkseg>{text}</trkseg></trk></gpx>')
    return path


def card(folder: Path, count: int) -> Path:
    home = GROUND.height(*GROUND.to_grid(LATITUDE, LONGITUDE))
    folder.mkdir(exist_ok=True)
    for number in range(count):
        latitude, longitude, _ = FRAME.to_geodetic([15.0 * number, 0.0, 0.0])
        photograph(
            folder / f"DJI_{number}.JPG", latitude, longitude, altitude=home + 40.0,
            time=f"2026:05:01 12:00:{number:02d}", pixels=np.zeros((480, 640, 3), np.uint8), RelativeAltitude="+40.00",
        )  # fmt: skip
    return folder


def add(*arguments: object) -> int:
    return main(["incident", "add", *map(str, arguments)])


def test_files_are_taken_once_and_bad_ones_are_named(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.ulg"
    empty.touch()
    assert add(incident, walk(tmp_path / "a.gpx"), empty, "--detection-range", 20) == 1
    told = capsys.readouterr()
    assert "1 track" in told.out and "mean POD" in told.out
    assert told.err.splitlines() == [f"esar: {empty} is empty (0 bytes): copy it again from where it was recorded"]
    assert add(incident, tmp_path / "a.gpx") == 0
    assert "taken in before" in capsys.readouterr().out
    search = Incident.open(incident).search
    assert [track.name for track in search.tracks] == ["Team"]
    assert len(Incident.open(incident).rasters(POD_ON_FOOT)) == 1


def test_a_card_goes_on_where_it_was(incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--detector", "none", "--recall", "0.8", "--home", f"{LATITUDE},{LONGITUDE}")
    assert add(incident, card(tmp_path / "card", 3), *options) == 0
    assert add(incident, card(tmp_path / "card", 5), *options) == 0
    assert add(incident, tmp_path / "card", *options) == 0
    assert "nothing new" in capsys.readouterr().out.splitlines()[-1]
    found = Incident.open(incident)
    assert [len(track.latitude) for track in found.search.tracks] == [3, 2]
    assert len(found.rasters(POD)) == 2


def test_what_is_left_out_is_said(incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(incident, walk(tmp_path / "far.gpx", 400_000.0)) == 1
    assert "left out or in doubt" in (out := capsys.readouterr().out) and "more than 50 km from the search" in out
    assert Incident.open(incident).sources == {}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--home", "107.0,34.0"), "did you swap"),
        (("--home", "here"), "LAT,LON in degrees"),
        (("--home", "35.0,107.0"), "lies beside the elevation model"),
        (("--pod", "1.0"), "0 to 0.99"),
        (("--recall", "80"), "0 to 0.99"),
        (("--detector", "segmentation_oracle"), "has not been measured"),
        (("--detection-range", "-3"), "above 0"),
        (("--topic", "fixx=/a"), "did you mean fix"),
        (("--camera", "down"), "PITCH,FOV,WIDTH"),
        (("--no-fly", "-5"), "0 to 5000"),
        (("--utc-offset", "120"), "hours, -14 to 14"),
        (("--utc-offset", "nan"), "hours, -14 to 14"),
        (("--geoid", "-500"), "metres, -110 to 90"),
        (("--camera=30,70,3840",), "a pitch of -90 to 0"),
        (("--detector", "esar_yol"), "esar_yolo"),
    ],
)
def test_bad_flags_are_refused_in_a_line(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, str], said: str
) -> None:
    assert add(incident, walk(tmp_path / "a.gpx"), *flags) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert add(tmp_path, tmp_path / "a.gpx") == 2


def test_a_range_that_is_known_later_gives_a_track_its_pod_once(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = walk(tmp_path / "team.gpx")
    assert add(incident, path) == 0
    assert "it has no POD" in capsys.readouterr().out
    for said in ("mean POD", "taken in before"):
        assert add(incident, path, "--detection-range", "25") == 0
        assert said in capsys.readouterr().out
    found = Incident.open(incident)
    assert len(found.search.tracks) == 1 and len(found.rasters(POD_ON_FOOT)) == 1


def test_what_a_file_lacked_is_said_afterwards_and_taken_then(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ring(east: float) -> list[list[float]]:
        corners = ((0.0, 0.0), (50.0, 0.0), (50.0, 50.0), (0.0, 0.0))
        return [[float(x) for x in FRAME.to_geodetic([east + a, b, 0.0])[1::-1]] for a, b in corners]

    path = tmp_path / "searched.geojson"
    features = [
        {"type": "Feature", "properties": {"name": name, **told},
         "geometry": {"type": "Polygon", "coordinates": [ring(x)]}}
        for name, x, told in (("A", 0.0, {"pod": 0.5}), ("B", 80.0, {}))
    ]  # fmt: skip
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert add(incident, path) == 0
    assert "B has no POD: say it: --pod 0.7" in capsys.readouterr().out
    for said in ("taken in before, which stays; beside it 1 area", "taken in before"):
        assert add(incident, path, "--pod", "0.7") == 0
        assert said in capsys.readouterr().out
    assert [(area.name, area.pod) for area in Incident.open(incident).search.areas] == [("A", 0.5), ("B", 0.7)]
    assert add(incident, path, "--pod", "0.9") == 0
    assert [area.pod for area in Incident.open(incident).search.areas] == [0.5, 0.7], "no ground is searched twice"
    assert add(incident, path, "--no-fly") == 0
    kinds = [area.kind for area in Incident.open(incident).search.areas]
    assert kinds.count(AreaKind.NO_FLY) == 2 and kinds.count(AreaKind.SEARCHED) == 2


def test_what_else_lies_beside_photographs_is_said(
    incident: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = card(tmp_path / "DCIM", 2)
    (folder / "DJI_1.SRT").touch()
    (folder / "DJI_1.DNG").touch()
    assert add(incident, folder, "--detector", "none") == 0
    assert "2 other files are not read (.dng, .srt): give each by itself" in capsys.readouterr().out


def test_points_are_zones_or_finds_where_that_is_said(incident: Path, tmp_path: Path) -> None:
    point = '<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">{}</gpx>'
    mark = f'<wpt lat="{LATITUDE}" lon="{LONGITUDE}"><name>grey glove</name></wpt>'
    for name, flags in (("zone", ("--no-fly", "200")), ("find", ("--finds",))):
        path = tmp_path / f"{name}.gpx"
        path.write_text(point.format(mark + f"<!-- {name} -->"))
        assert add(incident, path, *flags) == 0
    search = Incident.open(incident).search
    (zone,) = [area for area in search.areas if area.kind is AreaKind.NO_FLY]
    away = [distance((latitude, longitude), Position(LATITUDE, LONGITUDE)) for longitude, latitude in zone.outline]
    assert away == pytest.approx([200.0] * len(away), rel=0.01)
    assert [(find.kind, find.source) for find in search.finds] == [("grey glove", "find.gpx")]


def test_two_teams_whose_files_have_one_name_each_get_their_pod(incident: Path, tmp_path: Path) -> None:
    paths = []
    for north, team in ((0.0, "a"), (60.0, "b")):
        (tmp_path / team).mkdir()
        paths.append(walk(tmp_path / team / "track.gpx", north))
    assert add(incident, paths[0], "--detection-range", "25") == 0
    assert add(incident, paths[1]) == 0
    for _ in range(2):
        assert add(incident, paths[1], "--detection-range", "25") == 0
    found = Incident.open(incident)
    assert len(found.search.tracks) == 2 and len(found.rasters(POD_ON_FOOT)) == 2
