"""simSetTimeOfDay: the hour is set, goes on with simulation time, and comes back."""

from __future__ import annotations

from datetime import datetime

import pytest

from esar_ros.sim.airsim_api.values import ApiError
from helpers.api_bench import Bench


def test_the_sun_moves_at_the_pace_asked_for() -> None:
    bench = Bench()
    before = bench.simulation.world.environment.local_time
    bench("simSetTimeOfDay", True, "2024-07-01 09:00:00", False, 60.0, 1.0, True)
    seen = set()
    for _ in range(40):
        bench("simContinueForTime", 0.1)
        seen.add(bench.simulation.world.environment.local_time)
    assert datetime(2024, 7, 1, 9, 0) in seen and len(seen) == 5  # every second of four
    assert max(seen) == datetime(2024, 7, 1, 9, 4)
    bench("simSetTimeOfDay", False, "", False, 1.0, 60.0, True)
    assert bench.simulation.world.environment.local_time == before
    bench("simContinueForTime", 0.2)
    assert bench.simulation.world.environment.local_time == before


def test_it_stands_still_when_asked_and_knows_summer_time() -> None:
    bench = Bench()
    bench("simSetTimeOfDay", True, "2024-07-01 09:00:00", True, 60.0, 1.0, False)
    bench("simContinueForTime", 0.2)
    assert bench.simulation.world.environment.local_time == datetime(2024, 7, 1, 8, 0)


def test_the_end_of_the_calendar_is_survived() -> None:
    bench = Bench()
    bench("simSetTimeOfDay", True, "9999-12-31 23:00:00", False, 1e6, 0.05, True)
    for _ in range(10):
        bench("simContinueForTime", 0.1)
    assert bench.simulation.world.environment.local_time.year == 9999


@pytest.mark.parametrize("words", ["noon", "2024-13-01 00:00:00", "2024-07-01"])
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(ApiError, match="must look like"):
        Bench()("simSetTimeOfDay", True, words, False, 1.0, 60.0, True)
