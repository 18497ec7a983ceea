"""The server as a process: it starts, serves pictures, bears bad clients and leaves nothing behind."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import psutil
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.sim.airsim_api.rpc_server import RpcServer
from esar_ros.sim.msgpack_wire import pack, pack_floats
from esar_ros.sim.server import STAGE, add_arguments, main
from helpers.simulator_process import SIZE, Process, Wire, gone


@pytest.fixture(scope="module")
def simulator() -> Iterator[Process]:
    made = Process("--paused", "--vehicles", "uav1,uav2")
    yield made
    made.end()


def request(camera: str, kind: int = 0, as_float: bool = False) -> dict[str, Any]:
    return {"camera_name": camera, "image_type": kind, "pixels_as_float": as_float, "compress": False}


def test_says_how_to_connect(simulator: Process) -> None:
    assert f'connect: airsim.MultirotorClient("127.0.0.1", {simulator.port})' in simulator.lines
    (greeting,) = (line for line in simulator.lines if line.startswith(f"{STAGE}map"))
    assert "uav1, uav2" in greeting and "truth open" in greeting


def test_serves_pictures_of_one_instant(simulator: Process) -> None:
    client = Wire(simulator.port)
    first = client.send("simGetImages", [request("front"), request("down", 1, True)], "uav1", False)
    client.send("simContinueForTime", 0.05)
    replies = {reply[1]: reply for reply in (client.receive(), client.receive())}
    scene, depth = replies[first][3]
    now = client.call("getMultirotorState", "uav1")["timestamp"]
    assert scene["time_stamp"] == depth["time_stamp"] == now - 50_000_000  # as the world was when asked
    colours = np.frombuffer(scene["image_data_uint8"], np.uint8).reshape(SIZE[1], SIZE[0], 3)
    assert colours.std() > 5.0
    metres = np.array(depth["image_data_float"], dtype=np.float32).reshape(SIZE[1], SIZE[0])
    assert 0.2 < np.median(metres) < 0.7  # standing on the ground
    again = client.call("simGetImages", [request("front")], "uav1", False)[0]
    once_more = client.call("simGetImages", [request("front")], "uav1", False)[0]
    assert again["image_data_uint8"] == once_more["image_data_uint8"]


def test_what_is_spawned_is_seen_and_gone_when_destroyed(simulator: Process) -> None:
    client = Wire(simulator.port)
    x, y, _ = (client.call("simGetCameraInfo", "front", "uav1", False)["pose"]["position"][k] for k in
               ("x_val", "y_val", "z_val"))  # fmt: skip
    client.call("esarPlaceOnGround", "seen", "tent", y, x + 6.0, 0.0)
    client.call("simSetSegmentationObjectID", "seen", 77, False)

    def pixels() -> int:
        told = client.call("simGetImages", [request("front", 5, True)], "uav1", False)[0]
        return int((np.array(told["image_data_float"]) == 77.0).sum())

    assert pixels() > 10
    client.call("simDestroyObject", "seen")
    assert pixels() == 0


def test_a_dead_renderer_is_started_again(simulator: Process) -> None:
    client = Wire(simulator.port)
    (worker,) = simulator.children()
    worker.kill()
    for _ in range(2):  # the first may be the one that notices
        client.send("simGetImages", [request("left")], "uav1", False)
        reply = client.receive()
    assert reply[2] is None and reply[3][0]["width"] == SIZE[0]
    assert client.call("ping")


def test_lockstep_is_cheap(simulator: Process) -> None:  # before the floods, whose requests it goes on answering
    """A step of two vehicles against what a machine as busy and as quick as this one needs for plain Python."""
    client, process = Wire(simulator.port), psutil.Process(simulator.process.pid)

    def spent() -> float:
        times = process.cpu_times()
        return times.user + times.system

    began, reference = spent(), 0.0
    for _ in range(200):
        client.call("simContinueForTime", 0.05)
        before = time.process_time()
        sum(number * number for number in range(10_000))
        reference += time.process_time() - before
    assert spent() - began < 2.0 * reference, "0.4 was measured"


def test_half_messages_garbage_and_silence_hurt_nobody(simulator: Process) -> None:
    silent, half = Wire(simulator.port), Wire(simulator.port)
    half.socket.sendall(msgpack.packb([0, 1, "ping", []])[:3])
    http = b"GET / HTTP/1.1\r\n\r\n"
    for garbage in (b"\xc1" * 9, http, b"\xdd\xff\xff\xff\xff", b"\x91" * 5000, b"\x93\x07\x01\x02"):
        bad = Wire(simulator.port)
        bad.socket.sendall(garbage)
        with pytest.raises((EOFError, ConnectionError)):
            bad.receive()
    client = Wire(simulator.port)
    began = time.monotonic()
    for _ in range(100):
        assert client.call("ping")
    assert time.monotonic() - began < 2.0
    silent.socket.close()
    half.socket.sendall(msgpack.packb([0, 1, "ping", []])[3:])
    assert half.receive() == [1, 1, None, True]


def test_a_flood_and_a_client_that_never_reads_leave_others_alive(simulator: Process) -> None:
    flooder, deaf = Wire(simulator.port), Wire(simulator.port)
    images = [request(camera, 1, True) for camera in ("front", "left", "right", "down")] * 4
    for _ in range(200):
        deaf.send("simGetImages", images, "uav1", False)
    flooder.socket.setblocking(False)
    state = msgpack.packb([0, 1, "getMultirotorState", [""]]) * 2000
    client = Wire(simulator.port)
    slowest = 0.0
    for _ in range(50):
        with contextlib.suppress(BlockingIOError):
            flooder.socket.send(state)
        began = time.monotonic()
        assert client.call("ping")
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 1.0
    memory = psutil.Process(simulator.process.pid).memory_info().rss
    assert memory < 900 << 20


def test_ground_truth_is_closed_without_the_token() -> None:
    made = Process("--paused", ESAR_TRUTH_TOKEN="sesame")
    try:
        client = Wire(made.port)
        client.send("simListSceneObjects", ".*")
        assert "ground truth" in client.receive()[2]
        assert client.call("esarAuthorize", "sesame")
        assert client.call("simListSceneObjects", ".*") == []
        workers = made.children()
        assert made.end(signal.SIGINT) == 0
        assert gone(workers)
    finally:
        made.process.kill()


def test_the_renderer_dies_with_a_killed_simulator() -> None:
    made = Process()
    workers = made.children()
    assert len(workers) == 1
    mapped = [Path(f"/proc/{pid}/maps").read_text() for pid in (made.process.pid, workers[0].pid)]
    segments = set(re.findall(r"(/dev/shm/\S+)$", "".join(mapped), re.M))
    made.process.kill()
    made.process.wait()
    assert gone(workers)
    assert not segments, "what has a name there would outlive a killed process"


def refused(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "esar_ros.sim.server", *arguments],
        capture_output=True,
        text=True,
        timeout=120.0,
        env=os.environ | environment,
    )
    assert done.returncode == 2, done.stderr
    assert all(line.startswith(STAGE) for line in done.stdout.splitlines())
    (line,) = done.stderr.splitlines()
    return line


def test_bad_starts_are_one_line_and_exit_2(
    simulator: Process, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first as a process, the others without starting one for each."""

    def told(*arguments: str) -> str:
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        assert main(parser.parse_args(["--port", "0", *arguments])) == 2
        out, err = capsys.readouterr()
        assert all(line.startswith(STAGE) for line in out.splitlines())
        (line,) = err.splitlines()
        return str(line)

    assert f"port {simulator.port} on 127.0.0.1 is in use" in refused("--port", str(simulator.port))
    assert "atlantis" in told("--map", "atlantis")
    broken = tmp_path / "settings.json"
    broken.write_text("{")
    assert "not JSON" in told("--settings", str(broken))
    far = tmp_path / "far.json"
    far.write_text('{"Vehicles": {"uav1": {"X": 5000}}}')
    assert "off the map" in told("--settings", str(far))
    assert "--vehicles" in told("--vehicles", ",")
    assert "--vehicles" in told("--vehicles", "a,a")
    assert "'../a' is no vehicle's name" in told("--vehicles", "../a")


def test_without_a_driver_it_says_so() -> None:
    line = refused("--port", "0", __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent.json")
    assert "EGL" in line or "OpenGL" in line


class Echo:
    """A service for the transport alone."""

    def open(self) -> None:
        return None

    def is_heavy(self, method: str) -> bool:
        return method == "heavy"

    def call(self, session: Any, method: str, arguments: list[Any]) -> Any:
        if method == "later":
            return asyncio.sleep(arguments[0], "later")
        if method == "fail":
            raise ValueError("it failed")
        return arguments


def serving(test: Callable[[int], None]) -> None:
    """Run a blocking test against an Echo server in this process."""

    async def run() -> None:
        server = RpcServer()
        port = await server.bind("127.0.0.1", 0)
        await server.start(Echo())
        with pytest.raises(UsageError, match="in use"):
            await RpcServer().bind("127.0.0.1", port)
        try:
            await asyncio.get_running_loop().run_in_executor(None, test, port)
        finally:
            await server.close()

    asyncio.run(run())


def test_replies_come_when_ready_and_errors_are_text() -> None:
    def test(port: int) -> None:
        client = Wire(port)
        slow, fast, bad = client.send("later", 0.2), client.send("echo", 5), client.send("fail")
        replies = [client.receive() for _ in range(3)]
        assert replies == [[1, fast, None, [5]], [1, bad, "it failed", None], [1, slow, None, "later"]]
        client.socket.sendall(msgpack.packb([2, "fail", []]))  # a notification gets no answer
        assert client.call("echo", 1) == [1]

    serving(test)


def fuzz(count: int) -> None:
    """Random bytes and mangled requests on many connections; one good client keeps asking."""

    def test(port: int) -> None:
        rng = random.Random(7)
        good = Wire(port)
        bad: list[Wire] = []
        for n in range(count):
            if not bad or rng.random() < 0.3:
                bad.append(Wire(port))
            wire = rng.choice(bad)
            message = bytearray(msgpack.packb([rng.randrange(4), rng.randrange(1 << 32), "echo", [rng.random()]]))
            for _ in range(rng.randrange(4)):
                message[rng.randrange(len(message))] = rng.randrange(256)
            data = bytes(message[: rng.randrange(1, len(message) + 1)]) if rng.random() < 0.5 else rng.randbytes(40)
            try:
                wire.socket.send(data, socket.MSG_DONTWAIT)
            except OSError:
                bad.remove(wire)
            if len(bad) > 40:
                bad.pop(0).socket.close()
            if n % 50 == 0:
                assert good.call("echo", n) == [n]

    serving(test)


def test_malformed_messages_are_survived() -> None:
    fuzz(3000)


@pytest.mark.full
def test_a_hundred_thousand_malformed_messages_are_survived() -> None:
    before = psutil.Process().memory_info().rss
    fuzz(100_000)
    assert psutil.Process().memory_info().rss - before < 100 << 20


def test_float_arrays_are_packed_as_msgpack_packs_them() -> None:
    values = np.array([0.0, 1.5, -2.25, np.inf, 65504.0], dtype=np.float32)
    assert msgpack.unpackb(pack_floats(values)) == values.tolist()
    assert pack_floats(values)[5:] == b"".join(msgpack.packb(float(v), use_single_float=True) for v in values)
    assert msgpack.unpackb(pack({"a": b"\x00", "b": "x"})) == {"a": b"\x00", "b": "x"}
