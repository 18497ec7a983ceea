"""Drawings of others: what GDAL makes wrong of a KML is kept from it, and one bad shape costs no more than itself."""

from __future__ import annotations

import itertools
import json
import time
import zipfile
from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.sim.terrain.drawings import Drawing, projection, read_drawing

pytest.importorskip("pyogrio")

CORNERS = "7.0,46.0 7.1,46.0 7.1,46.1 7.0,46.0"
RING = f"<LinearRing><coordinates>{CORNERS}</coordinates></LinearRing>"
POLYGON = f"<Placemark><name>a</name><Polygon><outerBoundaryIs>{RING}</outerBoundaryIs></Polygon></Placemark>"
BOX = "<LatLonBox><north>47</north><south>46</south><east>8</east><west>7</west></LatLonBox>"


def kml(path: Path, body: str, encoding: str = "utf-8") -> Path:
    head = f'<?xml version="1.0" encoding="{encoding.upper()}"?>'
    path.write_text(f'{head}<kml xmlns="http://www.opengis.net/kml/2.2">{body}</kml>', encoding=encoding)
    return path


def geojson(path: Path, *shapes: tuple[str, object]) -> Path:
    features = [
        {
            "type": "Feature",
            "properties": {"told": "9999999-01-01T00:00:00Z"},
            "geometry": {"type": kind, "coordinates": at},
        }
        for kind, at in shapes
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def kinds(drawing: Drawing) -> list[str | None]:
    return [getattr(shape, "geom_type", None) for layer in drawing.layers for shape in layer.shapes]


@pytest.mark.parametrize("id_", ["", ' id="x"'])
def test_a_picture_laid_on_the_ground_is_no_polygon(tmp_path: Path, id_: str) -> None:
    overlay = f"<GroundOverlay{id_}><Icon><href>map.png</href></Icon>{BOX}</GroundOverlay>"
    drawing = read_drawing(kml(tmp_path / "a.kml", f"<Document>{overlay}{POLYGON}{overlay}<GroundOverlay/></Document>"))
    assert kinds(drawing) == ["Polygon"] and drawing.overlays == 3


def test_a_model_within_a_geometry_ends_nothing(tmp_path: Path) -> None:
    both = f"<Placemark><MultiGeometry><Model><Link/></Model><Model/>{RING}</MultiGeometry></Placemark>"
    drawing = read_drawing(kml(tmp_path / "a.kml", f"<Document>{both}{POLYGON}</Document>"))
    assert kinds(drawing) == ["MultiLineString", "Polygon"] and not drawing.broken


def test_a_ring_that_bounds_no_polygon_is_a_closed_line(tmp_path: Path) -> None:
    body = f"<Document><Placemark>{RING}</Placemark>{POLYGON}</Document>"
    assert kinds(read_drawing(kml(tmp_path / "a.kml", body))) == ["LineString", "Polygon"]


def test_what_stands_in_a_comment_or_in_words_is_left_as_it_is(tmp_path: Path) -> None:
    words = "<description><![CDATA[a <GroundOverlay> is <!-- none]]></description>"
    said = f"<Placemark>{words}{RING}</Placemark>"
    body = f"<Document><!-- <GroundOverlay> -->{said}{POLYGON}<GroundOverlay>{BOX}</GroundOverlay></Document>"
    drawing = read_drawing(kml(tmp_path / "a.kml", body))
    assert kinds(drawing) == ["LineString", "Polygon"] and drawing.overlays == 1
    assert drawing.layers[0].fields["description"][0] == "a <GroundOverlay> is <!-- none"


def test_a_kml_of_two_bytes_a_letter_is_read(tmp_path: Path) -> None:
    assert kinds(read_drawing(kml(tmp_path / "a.kml", POLYGON, "utf-16"))) == ["Polygon"]


def test_every_kml_of_a_kmz_is_read(tmp_path: Path) -> None:
    """GDAL refuses one whose placemark lies in no document, and one whose first file links to the others."""
    link = kml(tmp_path / "doc.kml", "<NetworkLink><Link><href>b.kml</href></Link></NetworkLink>")
    with zipfile.ZipFile(tmp_path / "a.kmz", "w") as archive:
        archive.write(link, "doc.kml")
        archive.write(kml(tmp_path / "b.kml", POLYGON), "files/b.kml")
        archive.writestr("files/c.kml", f'<?xml version="1.0"?>\n{POLYGON}')
        archive.writestr("files/d.kml", POLYGON)
        archive.writestr("__MACOSX/files/._b.kml", b"\0\5\x16\7 not a drawing")
        archive.writestr("files/b.png", b"")
    assert kinds(read_drawing(tmp_path / "a.kmz")) == ["Polygon"] * 3
    assert kinds(read_drawing(link)) == []
    (tmp_path / "cut.kmz").write_bytes((tmp_path / "a.kmz").read_bytes()[:-40])
    with pytest.raises(UsageError, match=r"cut.kmz cannot be read: File is not a zip file: export it again"):
        read_drawing(tmp_path / "cut.kmz")


def test_a_shape_that_makes_no_geometry_costs_no_more_than_itself(tmp_path: Path) -> None:
    square = [[[7.0, 46.0], [7.1, 46.0], [7.1, 46.1], [7.0, 46.0]]]
    path = geojson(
        tmp_path / "a.geojson",
        ("LineString", [[7.0, 46.0]]),
        ("Polygon", [[[7.0, 46.0], [7.1, 46.0], [7.1, 46.1], [7.2, 46.2]]]),
        ("Polygon", square),
    )
    drawing = read_drawing(path)
    assert kinds(drawing) == [None, None, "Polygon"] and drawing.broken == 2


def test_what_is_no_drawing_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_text('{"fileType": "Plan", "type": "x"}')
    with pytest.raises(UsageError, match=r"a.plan cannot be read: it is no drawing of a GIS: give GeoJSON, KML"):
        read_drawing(tmp_path / "a.plan")
    broken = kml(tmp_path / "b.kml", "<Document><Placemark></Document>")
    with pytest.raises(UsageError, match=r"b.kml cannot be read: ERROR parsing mismatched tag on line") as caught:
        read_drawing(broken)
    assert "esar-drawing" not in str(caught.value)


@pytest.mark.parametrize("part", ["<Model>", "<![CDATA[", "<!--", "<outerBoundaryIs>", "<GroundOverlay "])
def test_what_is_begun_again_and_again_and_never_ended_is_refused_at_once(tmp_path: Path, part: str) -> None:
    began = time.process_time()
    with pytest.raises(UsageError, match=r"a.kml cannot be read: ERROR parsing .* on line 1"):
        read_drawing(kml(tmp_path / "a.kml", part * 100_000))
    assert time.process_time() - began < 10.0  # seconds; searched for an end from each anew it takes an hour


def test_entities_within_entities_fill_no_memory(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghijkl"))
    head = f'<?xml version="1.0"?><!DOCTYPE kml [<!ENTITY a "aaaaaaaaaa">{entities}]>'
    (tmp_path / "a.kml").write_text(f"{head}<kml><Document><name>&l;</name>{POLYGON}</Document></kml>")
    with pytest.raises(UsageError, match=r"a.kml cannot be read: ERROR parsing limit on input amplification"):
        read_drawing(tmp_path / "a.kml")


def test_a_datum_that_nothing_converts_is_named(tmp_path: Path) -> None:
    unknown = (
        'GEOGCS["Carta 1932",DATUM["unknown",SPHEROID["intl",6378388,297]],PRIMEM["Greenwich",0],'
        'UNIT["degree",0.0174532925199433]]'
    )
    with pytest.raises(UsageError, match=r"a.shp: nothing here converts its coordinate system 'Carta 1932': write it"):
        projection(tmp_path / "a.shp", unknown)
    assert projection(tmp_path / "a.shp", "EPSG:32632")(500_000.0, 0.0) == pytest.approx((9.0, 0.0))
