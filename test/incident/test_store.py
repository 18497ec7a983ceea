"""The incident's folder: what is put in comes out, other readers open it, and a kill leaves one state or the other."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.incident.features import (
    Area,
    AreaKind,
    Find,
    FindState,
    Mover,
    Place,
    PlaceKind,
    Position,
    Raster,
    Search,
    Sortie,
    Track,
    Waypoint,
)
from esar_ros.incident.rasters import POA, POD
from esar_ros.incident.store import Incident, digest_of
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import PACKAGE

pyogrio = pytest.importorskip("pyogrio")
SQUARE = np.array([[107.0, 34.0], [107.01, 34.0], [107.01, 34.01], [107.0, 34.01]])


def whole() -> Search:
    search = Search("valley")
    search.places = [Place("hut", PlaceKind.IPP, Position(34.0, 107.0, 2800.0), 30.0, 1.6e9, "seen by a porter")]
    search.finds = [
        Find("1", "tent", Position(34.001, 107.001), np.array([[9.0, 2.0], [2.0, 4.0]]), 1.5, 0.8, 1.6e9 + 5.25,
             FindState.CONFIRMED, Path("/pictures/crop.jpg"), "bag", "orange"),
        Find("2", "person", Position(34.002, 107.002)),
    ]  # fmt: skip
    search.tracks = [
        Track("uav1", Mover.DRONE, np.array([34.0, 34.01]), np.array([107.0, 107.01]), np.array([2900.0, np.nan]),
              np.array([1.6e9, np.nan]), "log.ulg"),
        Track("dog", Mover.DOG, np.array([34.0, 34.02]), np.array([107.0, 107.03]), np.array([np.nan, np.nan]),
              np.array([np.nan, np.nan])),
    ]  # fmt: skip
    hole = 0.25 * SQUARE + 0.75 * SQUARE.mean(axis=0)
    search.areas = [
        Area("A1", AreaKind.SEGMENT, SQUARE, (), 0.25, 0.5, 1.5, "steep"),
        Area("cliff", AreaKind.DANGER, SQUARE, (hole,)),
    ]
    home = Position(34.0, 107.0, 2800.0)
    search.sorties = [Sortie("1", home, (Waypoint(Position(34.01, 107.01, 2860.0), 60.0, 2.0),), 8.0, 12.5, 0.3, 14.0)]
    values = np.array([[0.25, np.nan], [0.5, 0.0]], np.float32)
    search.rasters = [Raster("prior", values, 500000.0, 3762000.0, 20.0, "EPSG:32648", POA)]
    return search


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=True))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    return one == other


def test_what_is_put_in_comes_out(tmp_path: Path) -> None:
    Incident.create(tmp_path / "i", whole(), {"category": "hiker", "rest": "0.25"}, "Wo ist er? Am Höhenweg.")
    read = Incident.open(tmp_path / "i")
    assert same(read.search, whole())
    assert read.about == {"category": "hiker", "rest": "0.25"} and read.brief == "Wo ist er? Am Höhenweg."


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Incident.create(tmp_path / name, whole(), {}, "")
        time.sleep(0.01)
    one, two = ((tmp_path / name / PACKAGE).read_bytes() for name in ("one", "two"))
    assert one == two


def test_other_readers_open_its_layers(tmp_path: Path) -> None:
    Incident.create(tmp_path, whole(), {}, "")
    frame = pyogrio.read_dataframe(tmp_path / PACKAGE, layer="segment_areas")
    assert frame.crs.to_epsg() == 4326 and frame.poa.tolist() == [0.25]
    assert frame.geometry[0].bounds == (107.0, 34.0, 107.01, 34.01)


def draw(folder: Path, layer: str, shapes: list[Any], crs: str | None = "EPSG:4326", **columns: Any) -> None:
    """Puts a layer into the GeoPackage, as a GIS does."""
    import geopandas

    drawn = geopandas.GeoDataFrame(columns, geometry=shapes, crs=crs)
    drawn.to_file(folder / PACKAGE, layer=layer, driver="GPKG", engine="pyogrio", mode="w")


def zones(folder: Path) -> list[Area]:
    return [area for area in Incident.open(folder).search.areas if area.kind is AreaKind.NO_FLY]


def test_zones_that_a_person_draws_in_a_gis_are_read(tmp_path: Path) -> None:
    from shapely import MultiPolygon, Polygon

    Incident.create(tmp_path, whole(), {}, "")
    info = pyogrio.read_info(tmp_path / PACKAGE, layer="zones_no_fly")
    assert (info["geometry_type"], info["crs"], info["features"]) == ("Polygon", "EPSG:4326", 0), "ready to draw into"
    draw(tmp_path, "zones_no_fly", [MultiPolygon([Polygon(SQUARE), Polygon(SQUARE + 1.0)]), None], fid=[1, 2])
    assert [(zone.name, len(zone.outline)) for zone in zones(tmp_path)] == [("no-fly", 4), ("no-fly", 4)]


def test_zones_drawn_in_another_system_lie_where_they_were_drawn(tmp_path: Path) -> None:
    import geopandas
    from shapely import Polygon

    Incident.create(tmp_path, whole(), {}, "")
    in_utm = geopandas.GeoSeries([Polygon(SQUARE)], crs="EPSG:4326").to_crs("EPSG:32648")
    draw(tmp_path, "zones_no_fly", list(in_utm), "EPSG:32648", name=["hut"])
    for _ in range(2):
        (zone,) = zones(tmp_path)
        assert zone.name == "hut" and np.allclose(zone.outline, SQUARE, atol=1e-8)
        Incident.open(tmp_path).save()


def test_what_is_no_zone_is_refused_by_its_name(tmp_path: Path) -> None:
    from shapely import LineString, Polygon

    Incident.create(tmp_path, whole(), {}, "")
    draw(tmp_path, "zones_no_fly", [LineString(SQUARE)], name=["power line"])
    with pytest.raises(UsageError, match="power line in layer zones_no_fly is a LineString"):
        Incident.open(tmp_path)
    draw(tmp_path, "zones_no_fly", [Polygon(SQUARE)], None)
    with pytest.raises(UsageError, match="zones_no_fly does not say its coordinate system"):
        Incident.open(tmp_path)


def test_layers_of_somebody_else_stay(tmp_path: Path) -> None:
    import pandas
    from shapely import LineString

    Incident.create(tmp_path, whole(), {}, "")
    draw(tmp_path, "team tasks", [LineString(SQUARE)], "EPSG:32648", team=["2"])
    styles = pandas.DataFrame([{"styleName": "red"}])
    pyogrio.write_dataframe(styles, tmp_path / PACKAGE, layer="layer_styles", driver="GPKG")
    with closing(sqlite3.connect(tmp_path / PACKAGE)) as connection, connection:
        connection.execute("CREATE TABLE qgis_projects (name TEXT PRIMARY KEY, content BLOB)")
        connection.execute("INSERT INTO qgis_projects VALUES ('p', ?)", (b"PK\x03\x00\xff",))
    for _ in range(2):
        Incident.open(tmp_path).save()
    with closing(sqlite3.connect(tmp_path / PACKAGE)) as connection:
        assert list(connection.execute("SELECT * FROM qgis_projects")) == [("p", b"PK\x03\x00\xff")]
    kept = pyogrio.read_dataframe(tmp_path / PACKAGE, layer="team tasks")
    assert (kept.team[0], kept.crs.to_epsg(), kept.geometry[0].equals(LineString(SQUARE))) == ("2", 32648, True)
    assert pyogrio.read_dataframe(tmp_path / PACKAGE, layer="layer_styles").styleName[0] == "red"


EDITING = """
import sqlite3, sys
edited = sqlite3.connect(sys.argv[1], isolation_level=None)
edited.execute("PRAGMA journal_mode=WAL")
edited.execute("UPDATE about SET value = 'edited' WHERE key = 'name'")
print("open", flush=True)
sys.stdin.readline()
"""


def test_one_that_is_edited_elsewhere_is_not_written_over(tmp_path: Path) -> None:
    Incident.create(tmp_path, whole(), {}, "")
    command = [sys.executable, "-c", EDITING, str(tmp_path / PACKAGE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as gis:
        assert gis.stdout is not None and gis.stdout.readline() == b"open\n"
        incident = Incident.open(tmp_path)
        with pytest.raises(UsageError, match=r"incident\.gpkg is open in another program: save and close it there"):
            incident.add(Search("more"), "digest", "file")
        gis.communicate(b"\n")
    assert Incident.open(tmp_path).search.name == "edited" and not Incident.open(tmp_path).sources
    assert Incident.open(tmp_path).add(Search("more"), "digest", "file")
    assert Incident.open(tmp_path).search.name == "edited"
    assert sorted(path.name for path in tmp_path.glob("incident*")) == [PACKAGE]


def test_what_another_has_added_meanwhile_is_not_lost(tmp_path: Path) -> None:
    Incident.create(tmp_path, Search("valley"), {}, "")
    one, two = Incident.open(tmp_path), Incident.open(tmp_path)
    assert one.add(whole(), "1", "log")
    with pytest.raises(UsageError, match="was changed by another program meanwhile: give the command again"):
        two.add(whole(), "2", "log")
    assert one.add(Search("more"), "3", "log"), "who has written it last knows what is there"
    assert set(Incident.open(tmp_path).sources) == {"1", "3"}


def test_a_file_is_taken_once(tmp_path: Path) -> None:
    incident = Incident.create(tmp_path / "i", Search("valley"), {}, "")
    file = tmp_path / "log"
    file.write_bytes(b"log")
    assert incident.add(whole(), digest_of(file), "log")
    assert not Incident.open(tmp_path / "i").add(whole(), digest_of(file), "log")
    assert len(Incident.open(tmp_path / "i").search.finds) == 2


def test_rasters_that_nothing_names_go(tmp_path: Path) -> None:
    incident = Incident.create(tmp_path, whole(), {}, "")
    assert len(list((tmp_path / "poa").iterdir())) == 1
    incident.search.rasters = [Raster("pod", np.ones((2, 2), np.float32), 0.0, 0.0, 5.0, "EPSG:32648", POD)]
    incident.save()
    assert not list((tmp_path / "poa").iterdir()) and len(list((tmp_path / "pod").iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"no data base at all" * 300])
def test_a_damaged_one_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UsageError, match=r"holds no incident\.gpkg: make one"):
        Incident.open(tmp_path)
    (tmp_path / PACKAGE).write_bytes(content)
    with pytest.raises(UsageError, match="is damaged"):
        Incident.open(tmp_path)


def test_one_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    Incident.create(tmp_path, whole(), {}, "")
    with pytest.raises(UsageError, match="holds an incident already"):
        Incident.create(tmp_path, whole(), {}, "")


ADDING = """
import sys
from pathlib import Path
from esar_ros.incident.store import Incident
sys.path.insert(0, {here!r})
from test_store import whole
incident = Incident.open(Path({folder!r}))
for number in range(1000):
    print("adding", flush=True)
    incident.add(whole(), str(len(incident.sources)), "file")
"""


@pytest.mark.full
def test_a_kill_at_any_moment_leaves_the_state_before_or_after(tmp_path: Path) -> None:
    Incident.create(tmp_path, Search("valley"), {}, "")
    chance, seen = random.Random(1), set()
    code = ADDING.format(here=str(Path(__file__).parent), folder=str(tmp_path))
    for _ in range(10):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 3)):
                assert process.stdout.readline() == b"adding\n"
            time.sleep(chance.uniform(0.0, 0.5))  # an addition takes about as long
            os.kill(process.pid, signal.SIGKILL)
        left = Incident.open(tmp_path)
        assert len(left.search.finds) == 2 * len(left.sources) and len(left.search.rasters) == len(left.sources)
        seen.add(len(left.sources))
    assert max(seen) > 3


def change(folder: Path, *statements: str) -> None:
    """Changes rows, as a GIS does."""
    with closing(sqlite3.connect(folder / PACKAGE)) as connection, connection:
        for table in ("finds", "places", "tracks", "sorties"):
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
            ).fetchall()
            for (name,) in rows:
                connection.execute(f'DROP TRIGGER "{name}"')  # they call functions of a GIS
        for statement in statements:
            connection.execute(statement)


def test_a_track_deleted_in_a_gis_leaves_the_others_their_points(tmp_path: Path) -> None:
    search = whole()
    Incident.create(tmp_path, search, {}, "")
    first, second = search.tracks
    change(tmp_path, f"DELETE FROM tracks WHERE name = '{first.name}'")
    (left,) = Incident.open(tmp_path).search.tracks
    assert left.name == second.name
    np.testing.assert_allclose(left.latitude, second.latitude)


def test_finds_and_places_that_a_person_has_written_are_read_or_refused_by_their_row(tmp_path: Path) -> None:
    Incident.create(tmp_path, whole(), {}, "")
    change(
        tmp_path,
        "UPDATE finds SET state = 'Confirmed', kind = NULL, id = NULL WHERE fid = 2",
        "UPDATE places SET kind = NULL, name = NULL WHERE fid = 1",
    )
    search = Incident.open(tmp_path).search
    assert (search.finds[1].state, search.finds[1].kind, search.finds[1].id) == (
        FindState.CONFIRMED, "find", "by-hand-2",
    )  # fmt: skip
    assert (search.places[0].kind, search.places[0].name) == (PlaceKind.LANDMARK, "landmark")
    change(tmp_path, "UPDATE finds SET state = 'perhaps' WHERE fid = 1")
    with pytest.raises(UsageError, match="row 1 of layer finds: 'perhaps' is unknown: one of new"):
        Incident.open(tmp_path)


def test_numbers_and_times_that_nobody_has_told_yet_are_such_fields_in_a_gis(tmp_path: Path) -> None:
    search = Search("valley", finds=[Find("2", "person", Position(34.0, 107.0))])
    search.areas = [Area("A1", AreaKind.SEGMENT, SQUARE)]
    search.places = [Place("hut", PlaceKind.LANDMARK, Position(34.0, 107.0))]
    Incident.create(tmp_path, search, {}, "")
    for layer, names in (
        ("segment_areas", ("poa", "pod", "hours")), ("places", ("sigma_m",)), ("finds", ("probability", "var_east")),
    ):  # fmt: skip
        types = pyogrio.read_dataframe(tmp_path / PACKAGE, layer=layer).dtypes
        assert {types[name].kind for name in names} == {"f"}
        assert "time" not in types or types["time"].kind == "M"
    assert same(Incident.open(tmp_path).search, search)


@pytest.mark.parametrize(
    ("layer", "field", "written", "read"),
    [
        ("finds", "probability", " 0,5 ", 0.5),
        ("finds", "probability", "", None),
        ("finds", "time", "2026-11-30T09:00:00+01:00", 1_796_025_600.0),
        ("finds", "time", "2026-11-30 08:00", 1_796_025_600.0),
        ("finds", "time", " ", None),
        ("finds", "probability", "high", "row 2 of layer finds: 'high' is no number: mend it"),
        ("finds", "time", "noon", "row 2 of layer finds: "),
        ("segment_areas", "poa", "a third", "row 1 of layer segment_areas: 'a third' is no number: mend it"),
    ],
)
def test_words_in_fields_of_numbers_and_times_are_read_or_refused_by_their_row(
    tmp_path: Path, layer: str, field: str, written: str, read: float | str | None
) -> None:
    """As in a package of an earlier release, which made fields of text of those that were all empty."""
    Incident.create(tmp_path, whole(), {}, "")
    frame = pyogrio.read_dataframe(tmp_path / PACKAGE, layer=layer)
    frame[field] = [*[None] * (len(frame) - 1), written]
    pyogrio.write_dataframe(frame, tmp_path / PACKAGE, layer=layer, driver="GPKG")
    if isinstance(read, str):
        with pytest.raises(UsageError, match=read):
            Incident.open(tmp_path)
    else:
        assert getattr(Incident.open(tmp_path).search.finds[1], field) == read


def test_a_picture_outside_of_the_folder_is_found_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "card").mkdir()
    (tmp_path / "card" / "1.jpg").write_bytes(b"jpeg")
    monkeypatch.chdir(tmp_path)
    search = whole()
    search.finds[0] = replace(search.finds[0], picture=Path("card/1.jpg"))
    Incident.create(tmp_path / "valley", search, {}, "")
    monkeypatch.chdir("/")
    picture = Incident.open(tmp_path / "valley").search.finds[0].picture
    assert picture is not None and picture.is_file()


def test_a_brief_of_another_encoding_is_one_line(tmp_path: Path) -> None:
    incident = Incident.create(tmp_path, whole(), {}, "Anna is missing")
    (tmp_path / "brief.txt").write_bytes("Anna fährt".encode("cp1252"))
    with pytest.raises(UsageError, match="brief"):
        incident.brief  # noqa: B018
