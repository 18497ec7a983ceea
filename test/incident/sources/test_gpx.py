"""GPX: tracks by segment, waypoints, times in UTC, and files that are none."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from esar_ros.incident.features import Mover, Position
from esar_ros.incident.sources import gpx
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError

HEAD = '<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">'
WALK = (
    HEAD
    + """
<wpt lat="34.0005" lon="107.0"><ele>1502</ele><name>glove</name><desc>left hand</desc></wpt>
<trk><name>Team 2</name>
<trkseg><trkpt lat="34.0" lon="107.0"><ele>1500</ele><time>2026-05-01T08:00:00Z</time></trkpt>
<trkpt lat="34.001" lon="107.0"><time>2026-05-01T10:00:10+02:00</time></trkpt></trkseg>
<trkseg><trkpt lat="34.002" lon="107.0"/><trkpt lat="34.003" lon="107.0"/></trkseg></trk></gpx>"""
)


def written(folder: Path, text: str) -> Path:
    (folder / "team.gpx").write_text(text, encoding="utf-8")
    return folder / "team.gpx"


def test_segments_are_tracks_of_their_own_and_times_are_utc(tmp_path: Path) -> None:
    search = gpx.read(written(tmp_path, WALK), Intake(Position(34.0, 107.0)), Mover.DOG)
    first, second = search.tracks
    assert (first.name, second.name, first.mover) == ("Team 2 (1)", "Team 2 (2)", Mover.DOG)
    begin = datetime(2026, 5, 1, 8, tzinfo=timezone.utc).timestamp()
    assert first.time.tolist() == [begin, begin + 10.0]
    assert first.altitude[0] == 1500.0
    assert np.isnan(first.altitude[1]) and np.isnan(second.time).all()
    (place,) = search.places
    assert (place.name, place.position, place.note) == ("glove", Position(34.0005, 107.0, 1502.0), "left hand")


def test_a_time_without_a_zone_is_utc_wherever_this_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    text = WALK.replace("08:00:00Z", "08:00:00").replace("10:00:10+02:00", "08:00:10")
    search = gpx.read(written(tmp_path, text), Intake())
    monkeypatch.undo()
    time.tzset()
    assert search.tracks[0].time[0] == datetime(2026, 5, 1, 8, tzinfo=timezone.utc).timestamp()


def test_a_waypoint_of_another_place_is_left_out(tmp_path: Path) -> None:
    intake = Intake(Position(34.0, 107.0))
    assert gpx.read(written(tmp_path, WALK.replace('"34.0005"', '"-34.0005"')), intake).places == []
    assert "waypoint glove" in intake.faults[0]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "utf-8-sig", "utf-8"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    named = WALK.replace("<name>Team 2</name>", "<name>Höhe</name>")
    body = named[named.index("<gpx") :]
    text = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n{body}'
    (tmp_path / "team.gpx").write_bytes(text.encode(encoding))
    assert gpx.read(tmp_path / "team.gpx", Intake()).tracks[0].name == "Höhe (1)"


@pytest.mark.parametrize("text", ["", WALK[:300], HEAD + "</gpx>", "<html/>", WALK.replace('"34.001"', '"north"')])
def test_what_is_no_track_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"team\.gpx") as caught:
        gpx.read(written(tmp_path, text), Intake())
    assert "\n" not in str(caught.value)


def test_a_comment_is_kept_and_times_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "team.gpx"
    point = '<trkpt lat="34.00{0}" lon="107.0"><time>2026-11-24T10:0{0}:00{1}</time></trkpt>'
    points = "".join(point.format(n, "Z" if n else "z z") for n in range(3))
    path.write_text(
        '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">'
        '<wpt lat="34.0" lon="107.0"><name>001</name><cmt>blood stain on rock</cmt></wpt>'
        f"<trk><trkseg>{points}</trkseg></trk></gpx>"
    )
    intake = Intake()
    search = gpx.read(path, intake)
    assert search.places[0].note == "blood stain on rock"
    assert any("1 of its 3 times cannot be read" in line for line in intake.faults)
