"""Recordings have AirSim's folder, table and pictures, and never hold up the flight."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from esar_ros.sim.airsim_api.recording import HEADER, WAITING
from esar_ros.sim.settings import RecordedImage, RecordingSettings
from helpers.api_bench import Bench

IMAGES = {
    "uav1": (
        RecordedImage(),
        RecordedImage("down", 1, as_float=True),
        RecordedImage("front", 0, compress=False),
    ),
    "uav2": (RecordedImage("0"),),
}


def bench_into(folder: Path, **changes: object) -> Bench:
    bench = Bench()
    settings = RecordingSettings(interval=0.1, folder=str(folder), images=IMAGES)
    bench.context.settings = replace(bench.context.settings, recording=replace(settings, **changes))  # type: ignore[arg-type]
    return bench


async def passing(bench: Bench, seconds: float) -> None:
    for _ in range(round(seconds / 0.05)):
        bench("simContinueForTime", 0.05)
        await asyncio.sleep(0.01)


def test_a_recording_is_airsims(tmp_path: Path) -> None:
    async def record() -> None:
        bench = bench_into(tmp_path)
        bench("startRecording")
        bench("startRecording")  # while one runs: nothing
        assert bench("isRecording") is True
        await passing(bench, 1.0)
        bench("stopRecording")
        assert bench("isRecording") is False
        await asyncio.sleep(0.2)

    asyncio.run(record())
    (folder,) = tmp_path.iterdir()
    lines = (folder / "airsim_rec.txt").read_text().splitlines(keepends=True)
    assert lines[0] == HEADER
    rows = [line.rstrip("\n").split("\t") for line in lines[1:]]
    own = [row for row in rows if row[0] == "uav1"]
    assert len(own) == len([row for row in rows if row[0] == "uav2"]) == 10
    stamps = [int(row[1]) for row in own]
    assert all(later - earlier == 100 for earlier, later in pairwise(stamps))
    assert all(len(row) == 10 for row in rows)
    names = own[0][9].split(";")
    assert [Path(name).suffix for name in names] == [".png", ".pfm", ".ppm"]
    assert names[0].startswith("img_uav1_0_0_")
    named = {name for row in rows for name in row[9].split(";")}
    assert named == {path.name for path in (folder / "images").iterdir()}
    png, pfm, ppm = (cv2.imread(str(folder / "images" / name), cv2.IMREAD_UNCHANGED) for name in names)
    assert png.shape == ppm.shape == (24, 32, 3) and (ppm == 9).all()
    assert pfm.dtype == np.float32 and (pfm == 7.0).all()


def test_a_standing_vehicle_is_recorded_once_on_move(tmp_path: Path) -> None:
    async def record() -> None:
        bench = bench_into(tmp_path, on_move=True)
        bench("startRecording")
        await passing(bench, 1.0)
        bench("stopRecording")
        await asyncio.sleep(0.1)

    asyncio.run(record())
    (folder,) = tmp_path.iterdir()
    assert len((folder / "airsim_rec.txt").read_text().splitlines()) == 3


def test_a_slow_renderer_costs_samples_and_not_time(tmp_path: Path) -> None:
    async def record() -> None:
        bench = bench_into(tmp_path)
        bench("startRecording")
        for _ in range(400):
            bench("simContinueForTime", 0.05)  # without a breath for the writer
        assert bench.simulation.clock.now == pytest.approx(20.0)
        assert bench.recorder.left_out == 2 * 200 - WAITING
        bench("stopRecording")
        await asyncio.sleep(0.3)

    asyncio.run(record())
    (folder,) = tmp_path.iterdir()
    assert len((folder / "airsim_rec.txt").read_text().splitlines()) == 1 + WAITING


def test_where_nothing_can_be_written_the_call_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    bench = bench_into(blocked / "below")
    with pytest.raises(Exception, match="cannot record"):
        bench("startRecording")
    assert bench("isRecording") is False
