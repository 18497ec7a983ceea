"""Files of a search, read back by other people's readers: places to a ten-millionth of a degree, texts unharmed."""

from __future__ import annotations

import csv
import io
import json
import socket
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import geopandas
import gpxpy
import numpy as np
import pyogrio
import pytak
import pytest
import rasterio
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from pymavlink import mavutil, mavwp

from esar_ros.incident.features import Area, AreaKind, Find, FindState, Position, Search
from esar_ros.incident.formats import cot, geojson, geotiff, gpx, kml, qgc_plan, table, words, wpml
from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.incident_files import PACKAGE
from helpers.searches import FINDS, FOLDER, NASTY, NOON, full_search, sortie

CLOSE = 1e-7  # degrees
WRITERS: dict[str, Callable[[Search, Path], None]] = {
    "geojson": geojson.write,
    "kml": kml.write,
    "gpx": gpx.write,
    "cot": cot.write,
    "csv": table.write,
}
KML = f"{{{kml.NAMESPACE}}}"


def written(kind: str, folder: Path, search: Search | None = None) -> Path:
    path = folder / f"search.{kind}"
    WRITERS[kind](full_search() if search is None else search, path)
    return path


def assert_places_of_finds(places: list[tuple[float, float]]) -> None:
    assert places == [pytest.approx(find[:2], abs=CLOSE) for find in FINDS]


# -- all ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITERS)
def test_no_folder_of_a_machine_is_told_and_controls_are_gone(kind: str, tmp_path: Path) -> None:
    data = written(kind, tmp_path).read_bytes()
    assert b"secret" not in data and b"somebody" not in data
    assert b"\x07" not in data
    assert "搜救".encode() in data and "Müller".encode() in data


@pytest.mark.parametrize("kind", WRITERS)
def test_an_empty_search_gives_a_file_that_can_be_read(kind: str, tmp_path: Path) -> None:
    text = written(kind, tmp_path, Search("nothing")).read_text(encoding="utf-8-sig")
    if kind == "geojson":
        assert json.loads(text)["features"] == []
    elif kind == "csv":
        assert text.count("\n") == 1
    else:
        assert etree.fromstring(text.encode()) is not None


@settings(deadline=None, max_examples=40)
@given(st.floats(-90.0, 90.0), st.floats(-180.0, 180.0), st.text(max_size=20))
@pytest.mark.parametrize("kind", WRITERS)
def test_any_place_and_text_come_back(
    kind: str, tmp_path_factory: pytest.TempPathFactory, latitude: float, longitude: float, text: str
) -> None:
    path = written(
        kind, tmp_path_factory.mktemp("any"), Search(text, finds=[Find(text, text, Position(latitude, longitude))])
    )
    place: Any
    if kind == "csv":
        row = next(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
        place = float(row["latitude"]), float(row["longitude"])
    elif kind == "geojson":
        feature = json.loads(path.read_text(encoding="utf-8"))["features"][1]
        place = tuple(reversed(feature["geometry"]["coordinates"]))
    elif kind == "gpx":
        waypoint = gpxpy.parse(path.read_text(encoding="utf-8")).waypoints[0]
        place = waypoint.latitude, waypoint.longitude
    else:
        root = etree.parse(path).getroot()
        if kind == "cot":
            place = float(root[0][0].get("lat")), float(root[0][0].get("lon"))
        else:
            place = tuple(reversed([float(x) for x in root.findtext(f".//{KML}coordinates").split(",")]))
    assert place == pytest.approx((latitude, longitude), abs=CLOSE)


# -- GeoJSON -----------------------------------------------------------------------------------


def test_geojson_is_read_by_gdal_with_its_places_and_classes(tmp_path: Path) -> None:
    frame = geopandas.read_file(written("geojson", tmp_path))
    assert frame.crs.to_epsg() == 4326
    finds = frame[frame["find"].notna()]
    assert_places_of_finds([(point.y, point.x) for point in finds.geometry])
    assert set(frame["class"]) == {"Folder", "Marker", "Shape"}
    assert finds.iloc[0]["title"] == "person 87 % (confirmed)"
    assert finds.iloc[0]["altitude_msl"] == FINDS[0][2]
    assert finds.iloc[0]["mgrs"] == "48SYC1335364698"


def test_geojson_puts_every_feature_into_a_folder_that_is_there(tmp_path: Path) -> None:
    features = json.loads(written("geojson", tmp_path).read_text(encoding="utf-8"))["features"]
    folders = {feature["id"] for feature in features if feature["properties"]["class"] == "Folder"}
    assert {f["properties"]["folderId"] for f in features if f["properties"]["class"] != "Folder"} == folders
    assert len({feature["id"] for feature in features}) == len(features)


def test_geojson_turns_outer_rings_left_and_holes_right(tmp_path: Path) -> None:
    areas = geopandas.read_file(written("geojson", tmp_path)).set_index("title").geometry
    assert areas["search area"].exterior.is_ccw and not areas["search area"].interiors[0].is_ccw
    assert areas["range"].exterior.is_ccw


def test_an_ellipse_is_drawn_as_large_as_it_is(tmp_path: Path) -> None:
    frame = geopandas.read_file(written("geojson", tmp_path)).set_index("title")
    outline = frame.geometry[["person 87 % (confirmed): error, 95 %"]].set_crs(4326).to_crs(32648).iloc[0]
    ellipse = full_search().finds[0].ellipse()
    assert ellipse is not None
    assert outline.area == pytest.approx(np.pi * ellipse.major * ellipse.minor, rel=0.01)
    corners = np.array(outline.minimum_rotated_rectangle.exterior.coords)
    sides = sorted(np.linalg.norm(np.diff(corners[:3], axis=0), axis=1))
    assert sides == pytest.approx([2 * ellipse.minor, 2 * ellipse.major], rel=0.01)


# -- KML ---------------------------------------------------------------------------------------


def test_kml_is_read_by_gdal(tmp_path: Path) -> None:
    path = written("kml", tmp_path)
    assert {name for name, _ in pyogrio.list_layers(path)} == {"Finds", "Places", "Tracks", "Areas", "Sorties"}
    finds = pyogrio.read_dataframe(path, layer="Finds")
    points = finds[finds.geometry.type == "Point"].geometry
    assert_places_of_finds([(point.y, point.x) for point in points])
    assert points.iloc[0].z == pytest.approx(FINDS[0][2])
    track = pyogrio.read_dataframe(path, layer="Tracks").geometry.iloc[0]
    assert np.array(track.coords)[:, 2] == pytest.approx(2600.0 + np.arange(5.0))


def test_kml_escapes_what_a_balloon_would_read_as_html(tmp_path: Path) -> None:
    root = etree.parse(written("kml", tmp_path)).getroot()
    description = root.findtext(f".//{KML}Folder/{KML}Placemark/{KML}description")
    assert "&lt;b&gt;" in description and "<b>&quot;" not in description


def test_kml_without_an_altitude_lies_on_the_ground(tmp_path: Path) -> None:
    root = etree.parse(written("kml", tmp_path)).getroot()
    modes = {
        mark.findtext(f"{KML}name"): mark.findtext(f".//{KML}altitudeMode")
        for mark in root.iter(f"{KML}Placemark")
        if mark.find(f"{KML}Polygon") is None
    }
    assert (modes["uav1"], modes["on foot"], modes["person 87 % (confirmed)"]) == (
        "absolute",
        "clampToGround",
        "absolute",
    )


# -- GPX ---------------------------------------------------------------------------------------


def test_gpx_is_read_by_gpxpy_and_gdal(tmp_path: Path) -> None:
    path = written("gpx", tmp_path)
    document = gpxpy.parse(path.read_text(encoding="utf-8"))
    assert document.version == "1.1"
    assert_places_of_finds([(point.latitude, point.longitude) for point in document.waypoints[:2]])
    assert document.waypoints[0].elevation == FINDS[0][2] and document.waypoints[1].elevation is None
    assert document.waypoints[0].time is not None
    assert document.waypoints[0].time.timestamp() == NOON and document.waypoints[1].time is None
    points = document.tracks[0].segments[0].points
    assert [point.elevation for point in points] == [2600.0, 2601.0, 2602.0, 2603.0, 2604.0]
    assert document.tracks[1].segments[0].points[0].elevation is None
    assert len(document.routes[0].points) == 5  # three waypoints, from home and back
    assert len(pyogrio.read_dataframe(path, layer="waypoints")) == 4


# -- CoT ---------------------------------------------------------------------------------------


def test_cot_events_hold_places_and_errors_and_no_height_that_is_not_known(tmp_path: Path) -> None:
    root: Any = ET.parse(written("cot", tmp_path)).getroot()
    found = [event for event in root if event.get("type") == cot.SPOT]
    points = [event.find("point") for event in found]
    assert_places_of_finds([(float(point.get("lat")), float(point.get("lon"))) for point in points[:2]])
    assert {point.get("hae") for point in points} == {"9999999.0"}
    assert float(points[0].get("ce")) == pytest.approx(np.sqrt(9.193), abs=0.01)  # the ellipse's greater half axis
    assert points[0].get("le") == "1.50"
    assert (points[1].get("ce"), points[1].get("le")) == ("9999999.0", "9999999.0")
    assert found[0].find("detail/contact").get("callsign") == "person 87 % (confirmed)"
    assert "2710.5 m above mean sea level" in found[0].findtext("detail/remarks")


def test_cot_events_are_of_the_form_of_pytaks(tmp_path: Path) -> None:
    theirs = pytak.cot_event(lat=1.0, lon=2.0)
    root: Any = ET.parse(written("cot", tmp_path)).getroot()
    assert len({event.get("uid") for event in root}) == len(root) == 10
    for event in root:
        assert event.attrib.keys() == theirs.attrib.keys()
        assert event.find("point").attrib.keys() == theirs.find("point").attrib.keys()
        sent, stale = (datetime.strptime(event.get(name), pytak.W3C_XML_DATETIME) for name in ("time", "stale"))
        assert stale - sent == cot.VALID


def test_holes_of_an_area_are_drawings_of_their_own_in_cot() -> None:
    square = np.array([[107.0, 34.0], [107.01, 34.0], [107.01, 34.01], [107.0, 34.01]])
    hole = 0.25 * square + 0.75 * square.mean(axis=0)
    area, inside = cot.events(Search("s", areas=[Area("A", AreaKind.SEARCHED, square, (hole,), pod=0.8)]))
    assert "not part of it: 1 areas within" in (area.findtext("detail/remarks") or "")
    points = [link.get("point", "").split(",") for link in inside.iter("link")]
    assert np.allclose([(float(lon), float(lat)) for lat, lon in points[:-1]], hole)
    named: Any = inside.find("detail/contact")
    assert inside.get("uid") != area.get("uid") and named.get("callsign") == "not part of A"


def test_each_cot_event_is_sent_as_a_datagram_of_its_own() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        client.settimeout(10.0)
        count = cot.send(full_search(), "127.0.0.1", client.getsockname()[1])
        sent = [ET.fromstring(client.recv(65_536)) for _ in range(count)]
    assert count == len(cot.events(full_search())) > 3 and {event.tag for event in sent} == {"event"}
    assert {event.get("uid") for event in sent} == {event.get("uid") for event in cot.events(full_search())}


def test_a_vehicle_moves_by_events_of_one_uid_that_grow_stale_soon() -> None:
    at = datetime(2026, 5, 1, tzinfo=timezone.utc)
    one = cot.vehicle_event("s", "uav1", Position(46.6, 8.0, 1520.4), 90.0, 4.96, 0.5, at)
    two = cot.vehicle_event("s", "uav1", Position(46.7, 8.0), 91.0, 5.0, None, at + timedelta(seconds=1))
    assert one.attrib.keys() == pytak.cot_event(lat=1.0, lon=2.0).attrib.keys()
    assert one.get("uid") == two.get("uid") and one.get("type") == cot.DRONE
    sent, stale = (datetime.strptime(one.get(name, ""), pytak.W3C_XML_DATETIME) for name in ("time", "stale"))
    assert stale - sent == cot.UNHEARD
    track: Any = one.find("detail/track")
    assert (track.get("course"), track.get("speed")) == ("90.0", "5.0")
    assert one.findtext("detail/remarks") == "altitude: 1520 m above mean sea level; battery: 50%"
    assert cot.vehicle_event("s", "uav2", Position(46.6, 8.0), 0.0, 0.0, None, at).get("uid") != one.get("uid")


def test_a_host_that_is_none_is_told() -> None:
    with pytest.raises(UsageError, match="cannot send to"):
        cot.send(full_search(), "no.such.host.invalid", 6969)


def test_a_search_that_is_sent_again_replaces_itself() -> None:
    first, again = (cot.events(full_search(), datetime(2026, 5, day, tzinfo=timezone.utc)) for day in (1, 2))
    assert [event.get("uid") for event in first] == [event.get("uid") for event in again]
    assert first[0].get("stale") == again[0].get("time")


# -- table -------------------------------------------------------------------------------------


def test_a_table_holds_a_row_a_point_and_no_formula(tmp_path: Path) -> None:
    data = written("csv", tmp_path).read_bytes()
    assert data.startswith("\ufeff".encode())
    finds = Search("s", finds=[Find("1", "=cmd|' /C calc'!A0", Position(1.0, -2.0))])
    risky = written("csv", tmp_path, finds).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert_places_of_finds([(float(row["latitude"]), float(row["longitude"])) for row in rows[:2]])
    assert (rows[0]["utm"], rows[0]["mgrs"]) == ("48S 713353 3764698", "48SYC1335364698")
    assert (rows[0]["error_95_m"], rows[1]["error_95_m"]) == ("7.4", "")
    assert rows[0]["time_utc"] == "2026-05-28T20:26:40Z"
    assert next(csv.DictReader(io.StringIO(risky)))["name"].startswith("'=")


# -- GeoTIFF -----------------------------------------------------------------------------------


def test_rasters_are_cloud_optimised_in_their_zone(tmp_path: Path) -> None:
    geotiff.write(full_search(), tmp_path)
    (path,) = tmp_path.iterdir()
    with rasterio.open(path) as file:
        assert file.crs.to_epsg() == 32648
        assert file.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert tuple(file.bounds) == (713000.0, 3764970.0, 713040.0, 3765000.0)
        np.testing.assert_array_equal(file.read(1), full_search().rasters[0].values)
        assert file.units == ("probability of detection",)


# -- sorties -----------------------------------------------------------------------------------


def test_a_plan_is_a_mission_of_mavlink(tmp_path: Path) -> None:
    qgc_plan.write(full_search(), tmp_path)
    (path,) = tmp_path.iterdir()
    plan = json.loads(path.read_text(encoding="utf-8"))
    assert plan["mission"]["plannedHomePosition"] == [34.0, 107.3, 2600.0]
    assert len(plan["geoFence"]["polygons"]) == 1 and not plan["geoFence"]["polygons"][0]["inclusion"]
    loader = mavwp.MAVWPLoader()
    for item in plan["mission"]["items"]:
        numbers = [float("nan") if value is None else value for value in item["params"]]
        loader.add(
            mavutil.mavlink.MAVLink_mission_item_message(
                1, 1, item["doJumpId"] - 1, item["frame"], item["command"], 0, 1, *numbers
            )
        )
    assert [loader.wp(i).command for i in range(loader.count())] == [22, 178, 16, 16, 16, 20]
    flown = [loader.wp(i) for i in range(2, 5)]
    expected = [(w.position.latitude, w.position.longitude) for w in sortie().waypoints]
    assert [(w.x, w.y) for w in flown] == [pytest.approx(place, abs=CLOSE) for place in expected]
    assert [w.z for w in flown] == [2660.0, 2670.25, 2655.0]
    assert flown[1].param1 == 5.0
    assert {w.frame for w in flown} == {mavutil.mavlink.MAV_FRAME_GLOBAL}


def test_a_wayline_is_a_kmz_with_heights_above_the_start(tmp_path: Path) -> None:
    wpml.write(full_search(), tmp_path)
    (path,) = tmp_path.iterdir()
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["wpmz/template.kml", "wpmz/waylines.wpml"]
        lines = etree.fromstring(archive.read("wpmz/waylines.wpml"))
        template = etree.fromstring(archive.read("wpmz/template.kml"))
    space = {"k": kml.NAMESPACE, "w": wpml.WPML}
    heights = [float(e.text) for e in lines.iterfind(".//w:executeHeight", space)]
    assert heights == [60.0, 70.25, 55.0]
    assert lines.findtext(".//w:executeHeightMode", namespaces=space) == "relativeToStartPoint"
    places = [e.text.split(",") for e in template.iterfind(".//k:coordinates", space)]
    expected = [(w.position.latitude, w.position.longitude) for w in sortie().waypoints]
    assert [(float(y), float(x)) for x, y in places] == [pytest.approx(place, abs=CLOSE) for place in expected]
    assert [e.text for e in lines.iterfind(".//w:hoverTime", space)] == ["5"]
    assert 0.0 < float(lines.findtext(".//w:distance", namespaces=space)) < 400.0


@pytest.mark.parametrize("module", [qgc_plan, wpml])
def test_a_sortie_without_altitudes_is_refused(module: Any, tmp_path: Path) -> None:
    search = full_search()
    search.sorties = [type(sortie())("s", Position(1.0, 2.0), sortie().waypoints, 8.0, 1.0)]
    with pytest.raises(UsageError, match="without an altitude"):
        module.write(search, tmp_path)


def test_sorties_of_one_name_get_files_of_their_own(tmp_path: Path) -> None:
    search = full_search()
    search.sorties *= 2
    qgc_plan.write(search, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sortie_1_α.plan", "sortie_1_α_2.plan"]


def test_names_hold_no_more_than_a_line() -> None:
    root: Any = cot.events(full_search())
    callsigns = [event.find("detail/contact").get("callsign") for event in root]
    assert 'Müller & <b>"Söhne"</b> 搜救 ]]> =1+1' in callsigns
    assert NASTY not in callsigns and FOLDER not in "".join(callsigns)


def test_what_is_less_probable_than_not_is_grey_apart_and_not_carried(tmp_path: Path) -> None:
    here = Position(34.0, 107.3)
    finds = [Find("1", "tent", here, probability=0.2), Find("2", "person", here, probability=0.3)]
    finds += [
        Find("3", "rope", here, probability=0.2, state=FindState.CONFIRMED),
        Find("4", "rope", here, probability=0.8),
    ]
    search = Search("s", finds=finds)
    features = json.loads(written("geojson", tmp_path, search).read_text(encoding="utf-8"))["features"]
    titles = {f["id"]: f["properties"]["title"] for f in features if f["properties"]["class"] == "Folder"}
    where = {
        f["properties"]["find"]: (titles[f["properties"]["folderId"]], f["properties"]["marker-color"])
        for f in features
        if f["properties"]["class"] == "Marker"
    }
    faint = ("Dismissed or improbable", "#808080")
    assert where["1"] == where["2"] == faint
    assert where["3"][0] == where["4"][0] == "Finds"
    carried = gpxpy.parse(written("gpx", tmp_path, search).read_text(encoding="utf-8")).waypoints
    assert [waypoint.name for waypoint in carried] == ["person 30 %", "rope 20 % (confirmed)", "rope 80 %"]
    root = etree.parse(written("kml", tmp_path, search)).getroot()
    hidden = [
        mark.findtext(f"{KML}name")
        for mark in root.iter(f"{KML}Placemark")
        if mark.find(f"{KML}visibility") is not None
    ]
    assert hidden == ["tent 20 %", "person 30 %"]


def test_a_picture_is_linked_from_the_folder_of_exports_beside_its_own(tmp_path: Path) -> None:
    find = Find("1", "tent", Position(34.0, 107.0), picture=tmp_path / "finds" / "1.jpg")
    assert words.picture_link(find, tmp_path / "export" / "search.kml") == "", "no folder beside an incident's is told"
    (tmp_path / PACKAGE).touch()
    assert words.picture_link(find, tmp_path / "export" / "search.kml") == "../finds/1.jpg"
    assert words.picture_link(find, tmp_path / "search.kml") == "finds/1.jpg"
    assert words.picture_link(find, tmp_path / "somewhere" / "else" / "search.kml") == ""
