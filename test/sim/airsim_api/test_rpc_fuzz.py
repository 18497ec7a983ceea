"""Malformed calls against a simulator process: nothing breaks, nothing leaks, others do not notice."""

from __future__ import annotations

import random
import time
from typing import Any

import msgpack
import psutil
import pytest

from helpers.api_bench import Bench
from helpers.simulator_process import Process, Wire


class Storm:
    """A stream of bad messages, the same for the same seed."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self._rng = random.Random(seed)
        self._names = names

    def message(self) -> bytes:
        """A call with random arguments, a mangled one, half of one, or noise."""
        rng, kind = self._rng, self._rng.random()
        if kind < 0.1:
            return rng.randbytes(rng.randrange(1, 400))
        call = [rng.choice([0, 0, 0, 0, 2, 1, 7]), rng.randrange(1 << rng.choice([8, 32, 63])), self._name()]
        call.append([self._value(3) for _ in range(rng.randrange(8))])
        if kind < 0.15:
            call = call[: rng.randrange(5)] + [self._value(2)] * rng.randrange(2)
        data = bytearray(msgpack.packb(call))
        if kind < 0.3:
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        if kind < 0.2:
            del data[rng.randrange(1, len(data) + 1) :]
        return bytes(data)

    def _name(self) -> str:
        rng = self._rng
        if rng.random() < 0.05:
            return "".join(chr(rng.randrange(32, 0x2FFF)) for _ in range(rng.randrange(40)))
        return rng.choice(self._names)

    def _value(self, depth: int) -> Any:
        rng = self._rng
        match rng.randrange(11 if depth else 8):
            case 0:
                return None
            case 1:
                return rng.random() < 0.5
            case 2:
                return rng.choice([0, 1, -1, 255, 256, 1 << 31, (1 << 64) - 1, -(1 << 63)])
            case 3:
                return rng.choice([0.0, -0.0, 1.5, 1e-300, 1e300, 3e38, float("nan"), float("inf"), -float("inf")])
            case 4:
                return rng.choice(["", "uav1", "uav2", "front", "0", ".*", "(a+)+$", "tent", "lidar", "\0", "é" * 300])
            case 5:
                return rng.randbytes(rng.randrange(30))
            case 6:
                return {"x_val": rng.uniform(-99, 99), "y_val": rng.uniform(-99, 99), "z_val": rng.uniform(-99, 9)}
            case 7:
                return "x" * rng.choice([10, 600, 5000])
            case 8:
                return [self._value(depth - 1) for _ in range(rng.randrange(6))]
            case 9:
                return {self._name(): self._value(depth - 1) for _ in range(rng.randrange(4))}
        return {"position": self._value(0), "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0}}


# Left out: pictures and the passing of time are slow by what they do, and a recording writes to the disk.
SLOW = {"simGetImages", "simGetImage", "simGetDetections", "simContinueForTime", "simContinueForFrames"}
SLOW |= {"startRecording", "simPause"}


def storm(simulator: Process, count: int, seed: int) -> dict[str, float]:
    """Sends `count` bad messages over many connections, while a good client asks; returns what was measured."""
    good = Wire(simulator.port)
    bad: list[Wire] = []
    rain = Storm(seed, sorted(set(Bench().api.names) - SLOW))
    rng = random.Random(seed + 1)
    process = psutil.Process(simulator.process.pid)
    slowest, first = 0.0, 0
    for n in range(count):
        if not bad or (len(bad) < 30 and rng.random() < 0.2):
            bad.append(Wire(simulator.port))
            bad[-1].socket.setblocking(False)
        wire = rng.choice(bad)
        try:
            wire.socket.send(rain.message())
            if rng.random() < 0.7:  # some never read
                wire.socket.recv(1 << 16)
        except BlockingIOError:
            pass
        except OSError:
            bad.remove(wire)
            wire.socket.close()
        if len(bad) > 1 and rng.random() < 0.01:
            bad.pop(rng.randrange(len(bad))).socket.close()
        if n % 20 == 0:
            began = time.monotonic()
            assert good.call("ping") is True
            slowest = max(slowest, time.monotonic() - began)
        if n == count // 5:
            first = process.memory_info().rss
    for wire in bad:
        wire.socket.close()
    state = good.call("getMultirotorState", "uav1")
    assert state["kinematics_estimated"]["position"]["x_val"] == state["kinematics_estimated"]["position"]["x_val"]
    return {"slowest": slowest, "first": first, "grown": process.memory_info().rss - first}


def test_some_thousand_malformed_calls_hurt_nobody() -> None:
    simulator = Process("--paused", "--vehicles", "uav1,uav2")
    try:
        seen = storm(simulator, 4000, seed=3)
        assert seen["slowest"] < 2.0
        assert seen["grown"] < 60 << 20
        assert simulator.process.poll() is None
    finally:
        assert simulator.end() == 0


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_a_hundred_thousand_malformed_calls_hurt_nobody() -> None:
    simulator = Process("--paused", "--vehicles", "uav1,uav2")
    try:
        seen = storm(simulator, 100_000, seed=4)
        print(seen)
        assert seen["slowest"] < 2.0
        assert seen["grown"] < 60 << 20  # from the first fifth on
    finally:
        assert simulator.end() == 0
