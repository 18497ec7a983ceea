"""AirSim's and Cosys-AirSim's own clients against a real simulator process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from esar_ros.sim.airsim_api.calls.rest import REFUSED

WIDTH, HEIGHT = 160, 120  # of the simulator fixture's pictures
Drive = Callable[..., dict[str, Any]]


def test_the_official_client_flies(one_vehicle: int, drive: Drive) -> None:
    seen = drive("fly_official_client.py", str(one_vehicle))
    assert seen["vehicles"] == ["uav1"]
    assert seen["control"] and seen["armed"] and seen["disarmed"]
    assert seen["landed_before"] == 0 and seen["landed_after_takeoff"] == 1 and seen["landed_at_end"] == 0
    assert -3.5 < seen["takeoff_z"] < -2.5
    assert seen["error"] <= 0.5

    images = seen["images"]
    assert [(i["camera"], i["type"]) for i in images] == [
        (camera, kind) for kind in (0, 1, 5) for camera in ("front", "left", "right", "down")
    ]
    for image in images:
        assert (image["width"], image["height"]) == (WIDTH, HEIGHT)
        assert image["values"] == WIDTH * HEIGHT * (1 if image["type"] == 1 else 3)
    assert all(image["deviation"] > 5.0 for image in images[:4])
    down = images[7]
    assert 4.0 < down["low"] <= down["high"] < 20.0  # 9 m above its start
    assert max(image["high"] for image in images[8:]) == 128.0  # the tent in front, its id 7 in the palette
    assert seen["png"] == "89504e47"


def test_every_method_of_the_official_client_is_answered(two_vehicles: int, drive: Drive, tmp_path: Path) -> None:
    told = drive("walk_official_client.py", str(two_vehicles), str(tmp_path / "recordings"))
    assert told["left_out"] == []
    seen = told["seen"]
    refused = {name for name, word in seen.items() if word.startswith("error")}
    assert refused == (set(REFUSED) | {"simSetDistortionParams"}), {name: seen[name] for name in refused}
    assert {name: word for name, word in seen.items() if word != "ok" and name not in refused} == {}


def test_cosys_airsims_client_flies(one_vehicle: int, drive: Drive) -> None:
    seen = drive("fly_cosys_client.py", str(one_vehicle))
    assert "not supported" not in seen["greeting"] and "Server Ver:4" in seen["greeting"]
    assert seen["error"] <= 0.5
    assert seen["image"] == [WIDTH, HEIGHT, 3 * WIDTH * HEIGHT] and seen["depth"] == WIDTH * HEIGHT
    assert seen["points"] > 30 and seen["landed"] == 0
