"""A video's telemetry in the forms that drones write, and what none of them tells."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from esar_ros.geometry.camera import CameraModel
from esar_ros.incident.features import Position
from esar_ros.incident.sources import srt
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError

NAMED = (
    '<font size="28">FrameCnt: {n}, DiffTime: 33ms\n2026-05-01 12:00:{n:02d}.500\n[iso: 100] [shutter: 1/640.0] '
    "[focal_len: 24.00] [latitude: {lat:.6f}] [longitude: {lon:.6f}] [rel_alt: 1.300 abs_alt: 1561.000] </font>"
)
OLD = "[iso : 100] [latitude : {lat:.6f}] [longtitude : {lon:.6f}] [altitude: 1500.0]"
PAIRED = "GPS({lon:.6f},{lat:.6f},18) BAROMETER(91.2) HOME({lon:.6f},{lat:.6f})"
SHORT = "F/2.8, SS 500, ISO 100, EV 0, GPS ({lon:.4f}, {lat:.4f}, 15), D 5.3m, H 10.2m"


def video(folder: Path, form: str, lat: float = 34.0, lon: float = 107.0, frames: int = 4) -> Path:
    cues = [
        f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},033\n" + form.format(n=n, lat=lat + 1e-3 * (n // 2 == 1), lon=lon)
        for n in range(frames)
    ]
    (folder / "DJI_1.SRT").write_text("\n\n".join(cues), encoding="utf-8")
    return folder / "DJI_1.SRT"


@pytest.mark.parametrize("form", [NAMED, OLD, PAIRED, SHORT])
def test_the_different_positions_are_the_track_in_every_form(tmp_path: Path, form: str) -> None:
    (track,) = srt.read(video(tmp_path, form), Intake(Position(34.0, 107.0), utc_offset=8.0)).tracks
    assert track.latitude.tolist() == pytest.approx([34.0, 34.001, 34.001])
    assert set(track.longitude) == {107.0}


def test_height_and_time_are_told_where_the_zone_is(tmp_path: Path) -> None:
    (track,) = srt.read(video(tmp_path, NAMED), Intake(utc_offset=8.0)).tracks
    assert track.time[0] == datetime(2026, 5, 1, 4, 0, 0, 500_000, timezone.utc).timestamp()
    assert track.altitude[0] == 1561.0
    intake = Intake()
    assert np.isnan(srt.read(video(tmp_path, NAMED), intake).tracks[0].time).all()
    assert "--utc-offset" in intake.faults[0]


def test_which_number_is_the_latitude_is_not_guessed(tmp_path: Path) -> None:
    path = video(tmp_path, PAIRED, lat=46.0, lon=7.0)
    intake = Intake()
    assert srt.read(path, intake).tracks == []
    assert "which coordinate is the latitude" in intake.faults[0]
    search = srt.read(path, Intake(Position(46.0, 7.0)))
    assert search.tracks[0].latitude[0] == 46.0
    assert search.places[0].position == Position(46.0, 7.0)


def test_a_video_indoors_has_no_track(tmp_path: Path) -> None:
    intake = Intake()
    assert srt.read(video(tmp_path, NAMED, lat=-0.0004, lon=0.0, frames=2), intake).tracks == []
    assert any("fewer than two positions" in line for line in intake.faults)


@pytest.mark.parametrize("text", ["", "1\n00:00:01,000 --> 00:00:02,000\nHello\n", "no subtitles"])
def test_what_tells_no_position_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.srt").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"a\.srt"):
        srt.read(tmp_path / "a.srt", Intake())


GIMBAL = NAMED.replace("</font>", "[gb_yaw: -25.5 gb_pitch: -70.0 gb_roll: 0.5] </font>")
MODEL = CameraModel.from_horizontal_fov(1920, 1080, 1.2)


def test_where_the_gimbal_points_is_read_where_it_is_told(tmp_path: Path) -> None:
    path = video(tmp_path, GIMBAL, frames=5)
    assert srt.tells_gimbal(path)
    looks = list(srt.looks(path, Intake(utc_offset=8.0), MODEL))
    assert [look.time for look in looks] == [
        datetime(2026, 5, 1, 4, 0, n, 500_000, timezone.utc).timestamp() for n in (0, 2, 4)
    ], "one in two seconds"
    look = looks[0]
    assert (look.yaw, look.pitch, look.roll) == (334.5, -70.0, 0.5) and look.model is MODEL
    assert (look.latitude, look.longitude, look.altitude, look.above_home) == (34.0, 107.0, 1561.0, 1.3)
    assert not srt.tells_gimbal(video(tmp_path, NAMED)) and not list(srt.looks(path, Intake(), MODEL))


def test_a_video_without_a_clock_looks_once_from_each_place(tmp_path: Path) -> None:
    clockless = GIMBAL.replace("2026-05-01 12:00:{n:02d}.500\n", "")
    looks = list(srt.looks(video(tmp_path, clockless), Intake(), MODEL))
    assert [look.latitude for look in looks] == pytest.approx([34.0, 34.001])
    assert looks[0].time is None


def test_pairs_beside_named_coordinates_are_left_out_since_their_order_may_differ(tmp_path: Path) -> None:
    path = video(tmp_path, OLD, lat=-34.65, lon=-59.41)
    mixed = (
        path.read_text(encoding="utf-8") + "\n\n4\n00:00:04,000 --> 00:00:05,000\nGPS (-59.410000, -34.650000, 16)\n"
    )
    path.write_text(mixed, encoding="utf-8")
    intake = Intake()
    (track,) = srt.read(path, intake).tracks
    assert set(track.longitude) == {-59.41}
    assert "have no position" in intake.faults[1]


def test_a_date_without_zeros_is_a_date(tmp_path: Path) -> None:
    form = "HOME(149.0251,-20.2532) 2017.8.5 14:11:51\nGPS({lon:.4f},{lat:.4f},16) Hb:1.9 Hs:1.9"
    path = video(tmp_path, form, lat=-20.2533, lon=149.0251)
    (track,) = srt.read(path, Intake(utc_offset=10.0)).tracks
    assert track.time[0] == datetime(2017, 8, 5, 4, 11, 51, tzinfo=timezone.utc).timestamp()
