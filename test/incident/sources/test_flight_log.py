"""Logs of PX4 and ArduPilot: the flown part of the track, its times by GNSS, and logs that are cut or hold nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.bags.flight_logs.ardupilot import MAGIC, read_dataflash
from esar_ros.bags.flight_logs.ulog import MAGIC as ULOG_MAGIC
from esar_ros.bags.flight_logs.ulog import read_ulog
from esar_ros.incident.features import Mover, PlaceKind, Position, Search
from esar_ros.incident.sources.flight_log import search_of
from esar_ros.incident.sources.intake import Intake
from esar_ros.mission.errors import UsageError
from helpers import flight_logs

UTC = 1_777_622_400  # 2026-05-01 08:00:00
N = 20  # s of flight, one position each
SECOND = 1_000_000  # us

PX4 = {
    "vehicle_global_position": (
        "uint64_t timestamp;double lat;double lon;float alt",
        [(i * SECOND, 34.0 + 1e-5 * i, 107.0, 1500.0 + i) for i in range(N)],
    ),
    "vehicle_gps_position": (
        "uint64_t timestamp;uint64_t time_utc_usec;int32_t lat;int32_t lon;int32_t alt;uint8_t fix_type",
        [
            (i * SECOND, (UTC + i) * SECOND, 340_000_000 + 100 * i, 1_070_000_000, 1_500_000, 3 * (i > 2))
            for i in range(N)
        ],
    ),
    "vehicle_status": ("uint64_t timestamp;uint8_t arming_state", [(0, 1), (5 * SECOND, 2), (15 * SECOND, 1)]),
    "home_position": ("uint64_t timestamp;double lat;double lon;float alt", [(0, 34.0, 107.0, 1500.0)]),
}
GPS_WEEK, GPS_MS = divmod((UTC - 315_964_800 + 18) * 1000, 604_800_000)
ARDUPILOT = {
    "GPS": (
        "QBBIHLLf", "TimeUS,I,Status,GMS,GWk,Lat,Lng,Alt",
        [(i * SECOND, 0, 3, GPS_MS + 1000 * i, GPS_WEEK, 340_000_000, 1_070_000_000, 1500.0) for i in range(N)],
    ),
    "POS": (
        "QLLf", "TimeUS,Lat,Lng,Alt",
        [(i * SECOND, 340_000_000 + 100 * i, 1_070_000_000, 1500.0 + i) for i in range(N)],
    ),
    "ARM": ("QBI", "TimeUS,ArmState,ArmChecks", [(5 * SECOND, 1, 0), (15 * SECOND, 0, 0)]),
}  # fmt: skip


def _px4(path: Path, intake: Intake) -> Search:
    return search_of(read_ulog(path), path, intake)


def _ardupilot(path: Path, intake: Intake) -> Search:
    return search_of(read_dataflash(path), path, intake)


def test_px4_tells_the_flown_track_its_times_and_home(tmp_path: Path) -> None:
    intake = Intake(Position(34.0, 107.0))
    search = _px4(flight_logs.ulog(tmp_path / "a.ulg", PX4), intake)
    (track,) = search.tracks
    assert track.mover is Mover.DRONE
    np.testing.assert_allclose(track.time, UTC + np.arange(5, 15))
    np.testing.assert_allclose(track.latitude, 34.0 + 1e-5 * np.arange(5, 15))
    np.testing.assert_allclose(track.altitude, 1500.0 + np.arange(5, 15))
    assert search.places[0].kind is PlaceKind.HOME
    assert intake.faults == []


def test_px4_without_an_estimate_is_placed_by_its_receiver_once_it_has_a_fix(tmp_path: Path) -> None:
    intake = Intake()
    search = _px4(flight_logs.ulog(tmp_path / "a.ulg", {k: PX4[k] for k in ("vehicle_gps_position",)}), intake)
    np.testing.assert_allclose(search.tracks[0].latitude, 34.0 + 1e-5 * np.arange(3, N))
    assert "3 of 20 points have no position" in intake.faults[0]


def test_px4_in_metres_and_degrees_of_later_firmware(tmp_path: Path) -> None:
    fields = "uint64_t timestamp;uint64_t time_utc_usec;double latitude_deg;double longitude_deg;double altitude_msl_m"
    rows = [(i * SECOND, (UTC + i) * SECOND, 34.0, 107.0 + 1e-5 * i, 1499.5) for i in range(N)]
    search = _px4(flight_logs.ulog(tmp_path / "a.ulg", {"sensor_gps": (fields, rows)}), Intake())
    assert search.tracks[0].altitude.tolist() == [1499.5] * N


def test_ardupilot_tells_the_flown_track_and_its_times(tmp_path: Path) -> None:
    intake = Intake(Position(34.0, 107.0))
    search = _ardupilot(flight_logs.dataflash(tmp_path / "a.bin", ARDUPILOT), intake)
    (track,) = search.tracks
    np.testing.assert_allclose(track.time, UTC + np.arange(5, 15))
    np.testing.assert_allclose(track.latitude, 34.0 + 1e-5 * np.arange(5, 15))
    np.testing.assert_allclose(track.altitude, 1500.0 + np.arange(5, 15))
    assert intake.faults == []


def test_ardupilot_of_old_counts_in_milliseconds(tmp_path: Path) -> None:
    rows = [(3, GPS_MS + 1000 * i, GPS_WEEK, 340_000_000, 1_070_000_000 + 100 * i, 1500.0, 1000 * i) for i in range(N)]
    topics = {"GPS": ("BIHLLfI", "Status,TimeMS,Week,Lat,Lng,Alt,T", rows)}
    (track,) = _ardupilot(flight_logs.dataflash(tmp_path / "a.bin", topics), Intake()).tracks
    np.testing.assert_allclose(track.time, UTC + np.arange(N))
    np.testing.assert_allclose(track.longitude, 107.0 + 1e-5 * np.arange(N))


def test_a_log_without_arming_or_time_says_so(tmp_path: Path) -> None:
    told = {
        "vehicle_global_position": PX4["vehicle_global_position"],
        "vehicle_status": (PX4["vehicle_status"][0], [(0, 1)]),
    }
    intake = Intake()
    (track,) = _px4(flight_logs.ulog(tmp_path / "a.ulg", told), intake).tracks
    assert len(track.time) == N and np.isnan(track.time).all()
    assert any("never armed" in line for line in intake.faults)
    assert any("knows no UTC" in line for line in intake.faults)


@pytest.mark.parametrize("share", [0.5, 0.6])
def test_a_cut_log_gives_what_lies_before_and_says_so(tmp_path: Path, share: float) -> None:
    # Time by time, as a vehicle writes.
    px4 = {
        "vehicle_status": (PX4["vehicle_status"][0], [(0, 2)]),
        "vehicle_global_position": PX4["vehicle_global_position"],
    }
    for read, path in (
        (_px4, flight_logs.ulog(tmp_path / "a.ulg", px4)),
        (
            _ardupilot,
            flight_logs.dataflash(
                tmp_path / "a.bin", {"ARM": ("QB", "TimeUS,ArmState", [(0, 1)]), "POS": ARDUPILOT["POS"]}
            ),
        ),
    ):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(share * len(whole))])
        intake = Intake()
        (track,) = read(path, intake).tracks
        assert 2 <= len(track.latitude) < N
        assert any("it ends in flight" in line for line in intake.faults)


@pytest.mark.parametrize("data", [b"", b"no log", ULOG_MAGIC, MAGIC])
def test_what_holds_no_position_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(data)
    for read in (_px4, _ardupilot):
        with pytest.raises(UsageError, match=r"a\.log") as caught:
            read(path, Intake())
        assert "\n" not in str(caught.value)
