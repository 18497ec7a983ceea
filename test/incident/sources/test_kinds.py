"""The kind of a file, by its content alone."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from esar_ros.incident.sources.kinds import Kind, recognise
from esar_ros.mission.errors import UsageError

BEGINNINGS = {
    Kind.GPX: b'\xef\xbb\xbf<?xml version="1.0"?>\n<gpx version="1.1">',
    Kind.ULOG: b"ULog\x01\x12\x35\x01",
    Kind.ARDUPILOT: b"\xa3\x95\x80",
    Kind.PHOTOS: b"\xff\xd8\xff\xe1",
    Kind.SRT: b"1\r\n00:00:00,000 --> 00:00:00,033\r\n",
    Kind.POLYGONS: b'{"type": "FeatureCollection"',
    Kind.BAG: b"\x89MCAP0\r\n",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_ending_does_not_matter(tmp_path: Path, kind: Kind) -> None:
    path = tmp_path / "file.dat"
    path.write_bytes(BEGINNINGS[kind])
    assert recognise(path) is kind


@pytest.mark.parametrize(("table", "kind"), [("gpkg_contents", Kind.POLYGONS), ("topics", Kind.BAG)])
def test_a_database_is_told_by_its_tables(tmp_path: Path, table: str, kind: Kind) -> None:
    with sqlite3.connect(tmp_path / "a") as connection:
        connection.execute(f"CREATE TABLE {table} (id)")
    assert recognise(tmp_path / "a") is kind


def test_an_archive_of_kml_holds_polygons(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.kmz", "w") as archive:
        archive.writestr("doc.kml", "<kml/>")
    assert recognise(tmp_path / "a.kmz") is Kind.POLYGONS


def test_a_folder_is_a_bag_or_a_card(tmp_path: Path) -> None:
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "metadata.yaml").touch()
    (tmp_path / "card" / "DCIM").mkdir(parents=True)
    (tmp_path / "card" / "DCIM" / "DJI_1.JPG").touch()
    assert recognise(tmp_path / "bag") is Kind.BAG
    assert recognise(tmp_path / "card") is Kind.PHOTOS


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "0 bytes"), (b"\x00\x00\x00\x20ftypmp42", "a video"), (b"hello", "no kind"), (b"PK\x03\x04cut", "no kind")],
)
def test_what_is_not_read_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UsageError, match=said):
        recognise(tmp_path / "file")
    with pytest.raises(UsageError, match="check the path"):
        recognise(tmp_path / "absent")


def test_geojson_whose_type_comes_late_is_read(tmp_path: Path) -> None:
    ring = [[107.0 + 0.001 * n, 34.0] for n in range(400)]
    text = json.dumps({"features": [{"geometry": {"coordinates": [ring]}}], "type": "FeatureCollection"})
    assert text.index('"type"') > 4096
    (tmp_path / "area").write_text(text)
    assert recognise(tmp_path / "area") is Kind.POLYGONS
