"""Searched ground as a GIS draws it: several formats and coordinate systems, PODs stated or not, bad outlines."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import geopandas
import pandas
import pyogrio
import pytest
import shapely

from esar_ros.incident.features import AreaKind, Position
from esar_ros.incident.sources import polygons
from esar_ros.incident.sources.intake import Intake
from esar_ros.incident.sources.kinds import Kind, recognise
from esar_ros.mission.errors import UsageError

SQUARE = shapely.Polygon([(107.0, 34.0), (107.01, 34.0), (107.01, 34.01), (107.0, 34.01)])
HOLED = shapely.Polygon(SQUARE.exterior.coords, [[(107.002, 34.002), (107.004, 34.002), (107.004, 34.004)]])
NEAR = Position(34.0, 107.0)


def frame(*shapes: Any, crs: str | None = "EPSG:4326", **fields: Any) -> Any:
    return geopandas.GeoDataFrame(fields, geometry=list(shapes), crs=crs)


@pytest.mark.parametrize(
    ("name", "driver"), [("a.geojson", "GeoJSON"), ("a.gpkg", "GPKG"), ("a.kml", "LIBKML"), ("a.shp", "ESRI Shapefile")]
)
def test_polygons_of_every_format_with_a_stated_pod(tmp_path: Path, name: str, driver: str) -> None:
    frame(HOLED, name=["north slope"]).to_file(tmp_path / name, driver=driver)
    (area,) = polygons.read(tmp_path / name, Intake(NEAR), 0.7).areas
    assert (area.name, area.kind, area.pod) == ("north slope", AreaKind.SEARCHED, 0.7)
    assert area.outline.shape == (4, 2) and len(area.holes) == 1
    assert set(map(tuple, area.outline.round(9).tolist())) == set(SQUARE.exterior.coords)


def test_another_coordinate_system_is_converted(tmp_path: Path) -> None:
    frame(SQUARE, pod=[0.5]).to_crs("EPSG:32648").to_file(tmp_path / "a.gpkg", driver="GPKG")
    (area,) = polygons.read(tmp_path / "a.gpkg", Intake(NEAR)).areas
    assert area.outline.min(axis=0) == pytest.approx([107.0, 34.0], abs=1e-8)


@pytest.mark.parametrize(("stated", "pod"), [(0.6, 0.6), (60, 0.6), ("60 %", 0.6), ("0.5 %", 0.005)])
def test_a_field_states_the_pod_as_a_share_or_in_percent(tmp_path: Path, stated: Any, pod: float) -> None:
    frame(SQUARE, POD=[stated]).to_file(tmp_path / "a.geojson", driver="GeoJSON")
    assert polygons.read(tmp_path / "a.geojson", Intake(NEAR), 0.9).areas[0].pod == pytest.approx(pod)


@pytest.mark.parametrize(
    ("shape", "pod", "said"),
    [
        (SQUARE, None, "has no POD"),
        (SQUARE, 1.0, "a POD of 100%"),
        (shapely.Polygon([(107.0, 34.0), (107.01, 34.01), (107.01, 34.0), (107.0, 34.01)]), 0.5, "crosses itself"),
        (shapely.Polygon([(34.0, 107.0), (34.01, 107.0), (34.01, 107.01)]), 0.5, "swapped"),
    ],
)
def test_a_polygon_that_cannot_be_taken_is_said_and_the_others_are_taken(
    tmp_path: Path, shape: Any, pod: float | None, said: str
) -> None:
    frame(shape, SQUARE, name=["bad", "good"], pod=[pod, 0.4]).to_file(tmp_path / "a.gpkg", driver="GPKG")
    intake = Intake(NEAR)
    assert [area.name for area in polygons.read(tmp_path / "a.gpkg", intake).areas] == ["good"]
    (line,) = intake.faults
    assert said in line and "bad" in line


def test_a_walk_around_the_ground_bounds_it(tmp_path: Path) -> None:
    points = "".join(
        f'<trkpt lat="{lat}" lon="{lon}"/>' for lon, lat in [*SQUARE.exterior.coords[:-1], (107.0, 34.0002)]
    )
    text = f'<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    (tmp_path / "a.gpx").write_text(text, encoding="utf-8")
    (area,) = polygons.read(tmp_path / "a.gpx", Intake(NEAR), 0.8).areas
    assert area.pod == 0.8


def test_what_cannot_be_read_or_placed_is_refused(tmp_path: Path) -> None:
    frame(SQUARE, crs=None).to_file(tmp_path / "bare.shp")
    frame(shapely.Point(107.0, 34.0)).to_file(tmp_path / "point.geojson", driver="GeoJSON")
    (tmp_path / "cut.geojson").write_text(json.dumps({"type": "FeatureCollection"})[:20], encoding="utf-8")
    (tmp_path / "empty.kml").touch()
    refused = {
        "bare.shp": "coordinate system", "point.geojson": "no polygon", "cut.geojson": "cannot be read",
        "empty.kml": "0 bytes", "absent.kml": "No such file",
    }  # fmt: skip
    for name, said in refused.items():
        with pytest.raises(UsageError, match=said):
            polygons.read(tmp_path / name, Intake(NEAR), 0.5)


def test_points_and_lines_beside_polygons_are_said(tmp_path: Path) -> None:
    line = shapely.LineString([(107.0, 34.0), (107.01, 34.01)])
    frame(SQUARE, line, shapely.Point(107.0, 34.0)).to_file(tmp_path / "a.geojson", driver="GeoJSON")
    intake = Intake(NEAR)
    assert len(polygons.read_zones(tmp_path / "a.geojson", intake, 0.0).areas) == 1
    assert intake.faults == [
        f"{tmp_path / 'a.geojson'}: 2 points and lines bound no ground: they are left out: say how many metres around "
        "them are closed: --no-fly M"
    ]
    assert len(polygons.read_zones(tmp_path / "a.geojson", Intake(NEAR), 50.0).areas) == 3


def test_a_tracks_points_are_no_zones_of_their_own(tmp_path: Path) -> None:
    points = "".join(f'<trkpt lat="{34.0 + n * 1e-4}" lon="107.0"/>' for n in range(30))
    text = f'<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{points}</trkseg></trk></gpx>'
    (tmp_path / "a.gpx").write_text(text, encoding="utf-8")
    (zone,) = polygons.read_zones(tmp_path / "a.gpx", Intake(NEAR), 50.0).areas
    assert shapely.Polygon(zone.outline).contains(shapely.LineString([(107.0, 34.0), (107.0, 34.0029)]))


@pytest.mark.parametrize(("stated", "pod"), [("0,7", 0.7), ("70,5 %", 0.705), ("", 0.2), (None, 0.2), ("high", None)])
def test_a_pod_in_words_is_read_or_said(tmp_path: Path, stated: str | None, pod: float | None) -> None:
    frame(SQUARE, pod=[stated]).to_file(tmp_path / "a.geojson", driver="GeoJSON")
    intake = Intake(NEAR)
    found = polygons.read(tmp_path / "a.geojson", intake, 0.2).areas
    assert [area.pod for area in found] == ([] if pod is None else [pytest.approx(pod)])
    assert len(intake.faults) == (pod is None) and all("its POD 'high' is no number" in line for line in intake.faults)


def test_a_package_with_tables_beside_its_layers_is_read(tmp_path: Path) -> None:
    path = tmp_path / "team #2.gpkg"
    frame(SQUARE, pod=[0.5]).to_file(path, layer="searched", driver="GPKG")
    styles = pandas.DataFrame([{"styleName": "red"}])
    pyogrio.write_dataframe(styles, path, layer="layer_styles", driver="GPKG")
    assert recognise(path) is Kind.POLYGONS
    assert len(polygons.read(path, Intake(NEAR)).areas) == 1


def test_all_documents_of_a_kmz_are_read(tmp_path: Path) -> None:
    """GDAL by itself takes one of them, and none whose name ends in capitals."""
    (tmp_path / "zones{ü}").mkdir()
    path = tmp_path / "zones{ü}" / "zones #1.kmz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("cliffs.kml", "doc.kml", "files/HÜTTE.KML", "of Windows\\a.kml"):
            frame(SQUARE, name=[name]).to_file(tmp_path / "a.kml", driver="LIBKML")
            entry = zipfile.ZipInfo()
            entry.filename = name
            archive.writestr(entry, (tmp_path / "a.kml").read_bytes())
        archive.writestr("doc.txt", "no document")
    assert recognise(path) is Kind.POLYGONS
    found = polygons.read_zones(path, Intake(NEAR), 0.0).areas
    assert [area.name for area in found] == ["cliffs.kml", "doc.kml", "files/HÜTTE.KML", "of Windows\\a.kml"]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("cut.kml", "<kml")
    with pytest.raises(UsageError, match="cannot be read"):
        polygons.read_zones(path, Intake(NEAR), 0.0)


def test_longitudes_from_0_to_360_come_to_the_usual_ones(tmp_path: Path) -> None:
    west = shapely.Polygon([(288.6, 44.0), (288.61, 44.0), (288.61, 44.01)])
    frame(west, pod=[0.5]).to_file(tmp_path / "a.geojson", driver="GeoJSON")
    (area,) = polygons.read(tmp_path / "a.geojson", Intake(Position(44.0, -71.4))).areas
    assert area.outline[:, 0].tolist() == pytest.approx([-71.4, -71.39, -71.39])
    across = shapely.box(179.9, -17.0, 180.12, -16.9).difference(shapely.box(179.91, -16.98, 179.92, -16.92))
    frame(across, pod=[0.5]).to_file(tmp_path / "b.geojson", driver="GeoJSON")
    (area,) = polygons.read(tmp_path / "b.geojson", Intake(Position(-16.95, 179.95))).areas
    shape = shapely.Polygon(area.outline, area.holes)  # what is not part of it turns with it
    assert shape.is_valid and shape.area == pytest.approx(across.area)


def test_a_zone_around_a_long_line_is_that_around_all_of_it(tmp_path: Path) -> None:
    """It is widened piece by piece, since a long track that crosses itself takes minutes as one."""
    turns = [(107.0 + 0.003 * math.cos(n / 7.0), 34.0 + 0.003 * math.sin(n / 9.0)) for n in range(400)]
    frame(shapely.LineString(turns)).to_file(tmp_path / "a.geojson", driver="GeoJSON")
    zones = polygons.read_zones(tmp_path / "a.geojson", Intake(NEAR), 20.0).areas
    plane = "+proj=aeqd +lon_0=107 +lat_0=34 +datum=WGS84 +units=m"
    drawn = frame(*(shapely.Polygon(zone.outline, zone.holes) for zone in zones)).to_crs(plane).union_all()
    whole = frame(shapely.LineString(turns)).to_crs(plane).buffer(20.0).union_all()
    assert drawn.symmetric_difference(whole).area < 0.001 * whole.area


def test_pictures_on_the_ground_and_broken_shapes_are_told_and_the_polygon_is_taken(tmp_path: Path) -> None:
    box = "<LatLonBox><north>34.02</north><south>33.98</south><east>107.02</east><west>106.98</west></LatLonBox>"
    corners = " ".join(f"{x},{y}" for x, y in SQUARE.exterior.coords)
    ring = f"<outerBoundaryIs><LinearRing><coordinates>{corners}</coordinates></LinearRing></outerBoundaryIs>"
    point = "<Placemark><LineString><coordinates>107,34</coordinates></LineString></Placemark>"
    path = tmp_path / "a.kml"
    path.write_text(
        f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document><GroundOverlay>{box}</GroundOverlay>{point}'
        f"<Placemark><name>gully</name><Polygon>{ring}</Polygon></Placemark></Document></kml>"
    )
    intake = Intake(NEAR)
    assert [area.name for area in polygons.read(path, intake, 0.5).areas] == ["gully"]
    assert "1 of its shapes make no geometry" in intake.faults[0]
    assert "1 pictures laid on the ground bound none" in intake.faults[1]
    assert [area.name for area in polygons.read_zones(path, Intake(NEAR), 0.0).areas] == ["gully"]
    assert polygons.read_ground(path, intake := Intake(NEAR)).areas and len(intake.faults) == 1


def test_a_point_that_is_nowhere_costs_no_zone_but_its_own(tmp_path: Path) -> None:
    points = {"hut": (107.001, 34.001), "swapped": (34.0, 107.0), "grid": (500_000.0, 3_760_000.0)}
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Point", "coordinates": at}}
        for name, at in points.items()
    ]
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    intake = Intake(NEAR)
    assert [area.name for area in polygons.read_zones(tmp_path / "a.geojson", intake, 50.0).areas] == ["hut"]
    assert "swapped: its latitude and longitude are swapped" in intake.faults[0]
    assert "grid: " in intake.faults[1]
