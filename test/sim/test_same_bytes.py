"""Same seed, same bytes: every sensor of two flights in gusts and bad weather."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from helpers.api_bench import YAW, Bench

SENSORS = (
    "getImuData", "getGpsData", "getBarometerData", "getMagnetometerData", "getDistanceSensorData", "getLidarData",
)  # fmt: skip


def flight(cut: float) -> dict[str, str]:
    """Digests of everything the sensors say on one flight; time is advanced in pieces of `cut` s."""

    async def fly() -> dict[str, str]:
        bench = Bench()
        bench("simSetWind", {"x_val": 6.0, "y_val": -3.0, "z_val": 0.0})
        bench("esarSetWeather", "blizzard")
        bench.ready()
        digests = {name: hashlib.sha256() for name in SENSORS}
        for name, arguments in (
            ("takeoff", (20.0, "")),
            ("moveToPosition", (12.0, -7.0, -9.0, 5.0, 60.0, 0, YAW, -1.0, 1.0, "")),
        ):
            moving = bench.begin(name, *arguments)
            await asyncio.sleep(0)
            for _ in range(20):
                for _ in range(round(0.2 / cut)):
                    bench("simContinueForTime", cut)
                await asyncio.sleep(0)
                for sensor in SENSORS:
                    digests[sensor].update(msgpack.packb(bench(sensor, "", "")))
            moving.cancel()
        return {name: digest.hexdigest() for name, digest in digests.items()}

    return asyncio.run(fly())


def test_two_flights_of_one_seed_read_the_same() -> None:
    assert flight(0.05) == flight(0.05)


def test_how_time_is_cut_changes_nothing() -> None:
    assert flight(0.05) == flight(0.2)


@pytest.mark.full
def test_another_process_reads_the_same() -> None:
    code = "from test_same_bytes import flight; print(flight(0.05))"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(flight(0.05))
