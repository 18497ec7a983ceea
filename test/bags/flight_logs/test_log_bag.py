"""Logs read as bags: where, how turned, armed and charged the vehicle was, scored, copied and compared like a bag."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esar_ros.app.cli import main
from esar_ros.bags.files import open_bag
from esar_ros.bags.topics import odometry_frames, read_last, vehicle_messages
from esar_ros.geometry.frames import yaw_from_quaternion
from esar_ros.geometry.geodesy import Origin
from esar_ros.mission import names
from esar_ros.mission.errors import UsageError
from esar_ros.mission.modes import Landed
from esar_ros.mission.stamps import nanoseconds
from esar_ros.scoring.bag import score_bag
from helpers import flight_logs

UTC = 1_777_622_400  # 2026-05-01 08:00:00
SECOND = 1_000_000  # us
N = 30  # s of flight to the north-east at some 14 m/s, 20 m above home
HOME = Origin(34.0, 107.0, 1500.0)
WAY = [HOME.to_geodetic(np.array([10.0 * i, 10.0 * i, 20.0])) for i in range(N)]
LEAN, HEADING = math.radians(10.0), math.radians(45.0)  # nose down, from north over east


def px4(path: Path) -> Path:
    half = HEADING / 2
    turn = (
        math.cos(half) * math.cos(LEAN / 2), math.sin(half) * math.sin(LEAN / 2),
        -math.cos(half) * math.sin(LEAN / 2), math.sin(half) * math.cos(LEAN / 2),
    )  # fmt: skip
    return flight_logs.ulog(
        path,
        {
            "vehicle_global_position": (
                "uint64_t timestamp;double lat;double lon;float alt",
                [(i * SECOND, *WAY[i]) for i in range(N)],
            ),
            "vehicle_gps_position": (
                "uint64_t timestamp;uint64_t time_utc_usec;int32_t lat;int32_t lon;int32_t alt;uint8_t fix_type",
                [(i * SECOND, (UTC + i) * SECOND, 340_000_000, 1_070_000_000, 1_500_000, 3) for i in range(N)],
            ),
            "vehicle_status": ("uint64_t timestamp;uint8_t arming_state", [(0, 1), (5 * SECOND, 2), (25 * SECOND, 1)]),
            "vehicle_attitude": (
                "uint64_t timestamp;float[4] q",
                [(i * SECOND // 2, *turn) for i in range(2 * N)],
            ),
            "battery_status": ("uint64_t timestamp;float remaining", [(0, -1.0), (SECOND, 0.9), (20 * SECOND, 0.6)]),
            "home_position": ("uint64_t timestamp;double lat;double lon;float alt", [(0, 34.0, 107.0, 1500.0)]),
        },
    )  # fmt: skip


def ardupilot(path: Path) -> Path:
    return flight_logs.dataflash(
        path,
        {
            "POS": (
                "QLLf", "TimeUS,Lat,Lng,Alt",
                [(i * SECOND, round(WAY[i][0] * 1e7), round(WAY[i][1] * 1e7), WAY[i][2]) for i in range(N)],
            ),
            "ATT": ("Qfff", "TimeUS,Roll,Pitch,Yaw", [(i * SECOND, 0.0, -10.0, 45.0) for i in range(N)]),
            "BAT": ("QBB", "TimeUS,Inst,RemPct", [(SECOND, 0, 90), (SECOND, 1, 10), (20 * SECOND, 0, 60)]),
            "ARM": ("QB", "TimeUS,ArmState", [(5 * SECOND, 1), (25 * SECOND, 0)]),
            "ORGN": ("QBLLf", "TimeUS,Type,Lat,Lng,Alt", [(0, 1, 340_000_000, 1_070_000_000, 1500.0)]),
        },
    )  # fmt: skip


LOGS = {"a.ulg": px4, "a.bin": ardupilot}


def told(path: Path, topic: str) -> list[Any]:
    with open_bag(path) as bag:
        return [message for _, _, message in vehicle_messages(bag, [topic])]


@pytest.mark.parametrize("name", LOGS)
def test_a_log_tells_place_attitude_velocity_state_and_charge(tmp_path: Path, name: str) -> None:
    path = LOGS[name](tmp_path / name)
    flown = told(path, names.ODOMETRY)
    places = np.array([[m.pose.pose.position.x, m.pose.pose.position.y, m.pose.pose.position.z] for m in flown])
    np.testing.assert_allclose(places, [[10.0 * i, 10.0 * i, 20.0] for i in range(N)], atol=0.02)
    for message in flown:
        q, v = message.pose.pose.orientation, message.twist.twist.linear
        assert yaw_from_quaternion([q.w, q.x, q.y, q.z]) == pytest.approx(HEADING, abs=1e-4)
        # It flies where it heads, and its nose is down: along its axes it flies ahead and up.
        expected = [math.hypot(10, 10) * math.cos(LEAN), 0.0, math.hypot(10, 10) * math.sin(LEAN)]
        np.testing.assert_allclose([v.x, v.y, v.z], expected, atol=0.05)
    state = told(path, names.VEHICLE_STATE)
    assert [m.armed for m in state] == [5 <= i < 25 for i in range(N)]
    assert {m.landed for m in state if m.armed} == {int(Landed.FLYING)}
    assert [m.percentage for m in told(path, names.BATTERY)] == pytest.approx([0.9, 0.6])
    assert odometry_frames(path) == {"uav1": (0.0, 0.0, 0.0)}
    brief = read_last(path, names.BRIEF)["uav1"]
    assert (brief.origin_latitude, brief.origin_longitude, brief.origin_altitude) == (34.0, 107.0, 1500.0)


def test_stamps_are_utc_where_the_log_knows_it_and_its_own_clock_elsewhere(tmp_path: Path) -> None:
    starts = [nanoseconds(told(LOGS[name](tmp_path / name), names.ODOMETRY)[0].header.stamp) * 1e-9 for name in LOGS]
    assert starts == pytest.approx([UTC, 0.0], abs=1e-3)


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_scored_against_places_on_earth_without_a_stated_origin(tmp_path: Path, name: str) -> None:
    latitude, longitude, altitude = HOME.to_geodetic(np.array([100.0, 100.0, 0.0]))
    truth = tmp_path / "truth.yaml"
    truth.write_text(
        "schema: esar-flight-truth/1\n"
        f"victims: [{{id: v1, geodetic: [{latitude}, {longitude}, {altitude}]}}]\n"
        "clues: [{id: c1, kind: tent, description: orange tent, position: [0, 0, 0]}]\n"
    )
    result = score_bag(LOGS[name](tmp_path / name), truth=truth)
    assert result.victims[0].closest_approach == pytest.approx(20.0, abs=0.1)  # straight above
    assert result.metrics.path_length == pytest.approx((N - 1) * math.hypot(10, 10), rel=0.06)


@pytest.mark.parametrize("name", LOGS)
def test_replay_into_makes_a_bag_of_a_log(tmp_path: Path, name: str) -> None:
    assert main(["replay", str(LOGS[name](tmp_path / name)), "--into", str(tmp_path / "bag")]) == 0
    assert len(told(tmp_path / "bag", names.ODOMETRY)) == N


def test_of_a_cut_log_what_lies_before_is_read_and_of_a_damaged_one_it_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = LOGS["a.bin"](tmp_path / "a.bin")
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"ATT") // 2])
    assert 2 <= len(told(path, names.ODOMETRY)) < N
    said = False
    for at in range(600, len(whole) - 100, 150):  # wherever: formats of messages among it
        path.write_bytes(whole[:at] + bytes(50) + whole[at + 50 :])
        with open_bag(path) as bag:
            said |= bag.cut  # no log has checksums: zeros within a row are numbers
    assert said and "bad header" not in "".join(capfd.readouterr())


def test_a_log_that_was_nowhere_is_refused_in_one_line(tmp_path: Path) -> None:
    rows = [(0, 34.0, 107.0, 1500.0)]
    fields = "uint64_t timestamp;double lat;double lon;float alt"
    path = flight_logs.ulog(tmp_path / "a.ulg", {"vehicle_global_position": (fields, rows)})
    with pytest.raises(UsageError, match="fewer than two positions"), open_bag(path):
        pass
