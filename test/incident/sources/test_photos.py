"""Photographs: what each tells of itself, and each thing that is wrong with one: withheld and said."""

from __future__ import annotations

import math
import tracemalloc
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from esar_ros.incident.features import Position
from esar_ros.incident.looks import Look
from esar_ros.incident.sources import photos
from esar_ros.incident.sources.intake import Intake
from helpers.photographs import FILM, SIZE, photograph

NEAR = Position(34.0, 107.0)


def read(folder: Path, intake: Intake) -> list[Look]:
    return [photo.look for photo in photos.read(photos.files(folder), intake)]


def one(folder: Path, intake: Intake | None = None, **told: Any) -> Look:
    photograph(folder / "DJI_1.JPG", **told)
    (look,) = read(folder, intake or Intake(NEAR))
    return look


def test_a_good_photograph_is_told_whole(tmp_path: Path) -> None:
    intake = Intake(NEAR)
    look = one(tmp_path, intake, latitude=34.00012, longitude=107.00034, LRFTargetDistance="61.5")
    assert intake.faults == [] and look.doubts == ()
    assert (look.latitude, look.longitude) == pytest.approx((34.00012, 107.00034), abs=1e-8)
    assert (look.altitude, look.above_home, look.laser) == (1560.0, 60.0, 61.5)
    assert (look.yaw, look.pitch, look.roll) == (30.1, -90.0, 0.0)
    assert look.time == datetime(2026, 5, 1, 4, tzinfo=timezone.utc).timestamp()
    assert look.camera == "DJI FC8482 6.7 mm"
    assert look.model is not None
    assert (look.model.width, look.model.height) == SIZE
    assert look.model.fx == pytest.approx(FILM / 43.267 * math.hypot(*SIZE))


def test_south_and_west_are_negative(tmp_path: Path) -> None:
    look = one(tmp_path, Intake(), latitude=-8.295, longitude=-70.25)
    assert (look.latitude, look.longitude) == pytest.approx((-8.295, -70.25), abs=1e-8)


def test_the_receivers_time_goes_before_the_cameras(tmp_path: Path) -> None:
    look = one(tmp_path, offset=None, gps_time=(4, 0, 7))
    assert look.time == datetime(2026, 5, 1, 4, 0, 7, tzinfo=timezone.utc).timestamp()


def test_a_local_clock_is_not_guessed(tmp_path: Path) -> None:
    intake = Intake(NEAR)
    assert one(tmp_path, intake, offset=None).time is None
    assert "--utc-offset" in intake.faults[0]
    told = one(tmp_path, Intake(NEAR, utc_offset=8.0), offset=None)
    assert told.time == datetime(2026, 5, 1, 4, tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize("zone", ["+00:00", "-00:00", "Z"])
def test_a_clock_in_utc_is_believed(tmp_path: Path, zone: str) -> None:
    look = one(tmp_path, Intake(NEAR, utc_offset=2.0), offset=zone)
    assert look.time == datetime(2026, 5, 1, 12, tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("told", "said", "withheld"),
    [
        ({"GimbalYawDegree": "+0.00", "FlightYawDegree": "+0.00"}, "its yaw is 0 throughout", "yaw"),
        ({"GimbalYawDegree": None}, "attitude is not told", "yaw"),
        ({"exif_width": 4000}, "resized", "model"),
        ({"film": 0.0}, "focal length is not told", "model"),
        ({"AltitudeType": "RtkAlt"}, "above the ellipsoid", "altitude"),
    ],
)
def test_what_is_wrong_is_withheld_and_said(tmp_path: Path, told: dict[str, Any], said: str, withheld: str) -> None:
    intake = Intake(NEAR)
    look = one(tmp_path, intake, **told)
    assert getattr(look, withheld) is None
    assert said in look.doubts[0] and said in intake.faults[0]


def test_the_size_of_a_thermal_picture_lies_behind_its_readings(tmp_path: Path) -> None:
    """As of a Zenmuse H20T or an M3T: some 700 kB of readings come before the size, and EXIF need not tell it."""
    path = photograph(tmp_path / "DJI_1_T.JPG")
    plain = path.read_bytes()
    readings = b"\xff\xe3\xff\xff" + bytes(0xFFFD)
    at = plain.index(b"\xff\xdb")
    path.write_bytes(plain[:at] + 12 * readings + plain[at:])
    intake = Intake(NEAR)
    (look,) = read(tmp_path, intake)
    assert look.model is not None and (look.model.width, look.model.height) == SIZE
    photograph(path, exif_width=4000)
    plain = path.read_bytes()
    path.write_bytes(plain[:at] + 12 * readings + plain[at:])
    assert read(tmp_path, intake)[0].model is None and "resized from 4000 px" in intake.faults[-1]
    path.write_bytes(path.read_bytes()[:500_000])
    assert read(tmp_path, intake)[0].model is None and "cut before its size" in intake.faults[-1]


def test_the_zenmuse_xt_s_has_a_prefix_of_its_own_in_its_xmp(tmp_path: Path) -> None:
    photograph(tmp_path / "DJI_1_R.JPG", prefix="DJI", GimbalPitchDegree="-44.00")
    (look,) = read(tmp_path, Intake(NEAR))
    assert (look.yaw, look.pitch, look.above_home) == (30.1, -44.0, 60.0)


@pytest.mark.parametrize("datum", ["WGS 1984", "WGS-84", "wgs84"])
def test_wgs_84_has_many_names(tmp_path: Path, datum: str) -> None:
    assert one(tmp_path, datum=datum).latitude == pytest.approx(34.0)


def test_a_yaw_of_zero_beside_a_moving_nose_is_a_yaw(tmp_path: Path) -> None:
    assert one(tmp_path, GimbalYawDegree="+0.00", FlightYawDegree="+2.10").yaw == 0.0


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"datum": "TOKYO"}, "its datum is TOKYO"),
        ({"latitude": None}, "it has no position"),
        ({"latitude": 0.0, "longitude": 0.0}, "it has no position"),
        ({"latitude": 51.0, "longitude": 12.0}, "more than 50 km"),
        ({"latitude": 107.0, "longitude": 34.0}, "swapped"),
    ],
)
def test_a_wrong_place_is_withheld_and_the_rest_is_taken(tmp_path: Path, told: dict[str, Any], said: str) -> None:
    photograph(tmp_path / "bad.JPG", **told)
    photograph(tmp_path / "good.JPG")
    (tmp_path / "empty.JPG").touch()
    (tmp_path / "text.jpg").write_text("no picture", encoding="utf-8")
    intake = Intake(NEAR)
    assert [look.source for look in read(tmp_path, intake)] == ["good.JPG"]
    assert [line for line in intake.faults if said in line and "bad.JPG" in line]
    assert len(intake.faults) == 3


def test_heights_by_rtk_are_brought_to_the_sea(tmp_path: Path) -> None:
    look = one(tmp_path, Intake(NEAR, undulation=-20.0), RtkFlag="50", AltitudeType="RtkAlt")
    assert look.altitude == 1580.0
    assert look.errors.horizontal < 1.0


def test_two_cameras_are_told_apart(tmp_path: Path) -> None:
    photograph(tmp_path / "a.JPG", model="M30T", ImageSource="WideCamera")
    photograph(tmp_path / "b.JPG", model="M30T", ImageSource="InfraredCamera")
    intake = Intake(NEAR)
    assert len({look.camera for look in read(tmp_path, intake)}) == 2
    assert "two cameras" in intake.faults[0]


@pytest.mark.parametrize("length", [100, 400, 900])
def test_a_cut_photograph_never_fails(tmp_path: Path, length: int) -> None:
    path = photograph(tmp_path / "a.JPG")
    path.write_bytes(path.read_bytes()[:length])
    intake = Intake(NEAR)
    assert all(look.model is None for look in read(tmp_path, intake))
    assert intake.faults


def test_a_card_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    for number in range(4):
        photograph(tmp_path / f"{number}.JPG", latitude=34.0 + 1e-4 * number)
    paths, seen = photos.files(tmp_path), list[None]()
    first = [photo.digest for photo, _ in zip(photos.read(paths, Intake(NEAR)), range(2), strict=False)]
    rest = photos.read(paths, Intake(NEAR), first, lambda: seen.append(None))
    assert [photo.look.source for photo in rest] == ["2.JPG", "3.JPG"]
    assert len(seen) == 4


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = photograph(tmp_path / "a.JPG", datum="TOKYO")
    good = photograph(tmp_path / "b.JPG")

    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in photos.read([path, good] * count, Intake(NEAR)):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(5)  # imports
    assert peak(500) < 1.2 * peak(50) + 100_000
