"""The scene server on the wire: what it answers, what it starts and ends, and what bad clients get."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import psutil
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.sim.airsim_api.rpc_server import RpcServer
from esar_ros.suites.uav_on.protocol_server import scene_server
from esar_ros.suites.uav_on.protocol_server.scene_server import OFFSET, SceneServer, scene_here
from esar_ros.suites.uav_on.scenes import SETS
from helpers.simulator_process import Wire
from helpers.steps import SETTINGS

IP = "127.0.0.1"


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulators that only say that they are ready; every name is a scene."""
    monkeypatch.setattr(scene_server, "_SIMULATOR", "helpers.fake_scene")
    monkeypatch.setattr(scene_server, "scene_here", lambda name, settings: name.removesuffix("_test"))
    tests = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))


def children() -> list[int]:
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # ended meanwhile, waited for or not
            if "helpers.fake_scene" in child.cmdline():
                found.append(child.pid)
    return found


def serving(test: Callable[[int, list[str]], None]) -> list[str]:
    """Runs a blocking test with the server's port and what it says; returns that."""
    said: list[str] = []

    async def run() -> None:
        server = RpcServer()
        port = await server.bind(IP, 0)
        scenes = SceneServer(IP, port, said.append)
        await server.start(scenes)
        try:
            await asyncio.get_running_loop().run_in_executor(None, test, port, said)
        finally:
            await server.close()
            await scenes.close()

    asyncio.run(run())
    assert children() == []
    return said


def test_scenes_open_on_ports_of_their_own_and_close() -> None:
    def check(port: int, said: list[str]) -> None:
        wire = Wire(port)
        assert wire.call("ping") is True
        done, (ip, ports) = wire.call("reopen_scenes", IP, [["park", 0], ["street", 1], [None, 0]])
        assert (done, ip) == (True, IP)
        assert len(set(ports)) == 3 and min(ports) >= port + OFFSET
        first = children()
        assert len(first) == 2
        wire.call("reopen_scenes", IP, [["park_test", 0]])
        again = children()
        assert len(again) == 1 and not set(first) & set(again)
        assert wire.call("close_scenes", IP) is True
        assert children() == []

    said = serving(check)
    assert any("park_test is not here: park stands in" in line for line in said)
    assert any(line.endswith("ready on 127.0.0.1") or "ready on 127.0.0.1:" in line for line in said)


def test_bytes_of_reopen_scenes_as_the_official_client_sends_and_reads_them() -> None:
    """Its msgpack is of 2013: text is raw in both directions, lists may be tuples, and there is no str8."""

    def check(port: int, said: list[str]) -> None:
        with socket.create_connection((IP, port), 60.0) as connection:
            name, long = b"park_test", b"x" * 40
            request = b"\x94\x00\x07\xadreopen_scenes\x92\xa9127.0.0.1\x92"
            request += b"\x92" + bytes([0xA0 + len(name)]) + name + b"\x00"
            request += b"\x92\xda" + struct.pack(">H", len(long)) + long + b"\x00"
            connection.sendall(request)
            data = b""
            while len(data) < 24:  # ports are of three bytes
                data += connection.recv(4096)
        ports = msgpack.unpackb(data, raw=True)[3][1][1]
        expected = b"\x94\x01\x07\xc0\x92\xc3\x92\xa9127.0.0.1\x92" + b"".join(msgpack.packb(port) for port in ports)
        assert data == expected

    serving(check)


def test_a_scene_that_cannot_be_opened_leaves_nothing() -> None:
    def check(port: int, said: list[str]) -> None:
        wire = Wire(port)
        assert wire.call("reopen_scenes", IP, [["park", 0], ["broken", 0]]) == [False, None]
        assert children() == []

    assert any("no OpenGL" in line for line in serving(check))


def test_a_scene_that_gets_never_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_server, "PATIENCE", 0.5)

    def check(port: int, said: list[str]) -> None:
        assert Wire(port).call("reopen_scenes", IP, [["slow", 0]]) == [False, None]
        assert children() == []

    assert any("not ready within 0.5 s" in line for line in serving(check))


def test_a_client_that_dies_while_it_waits_leaves_nothing() -> None:
    def check(port: int, said: list[str]) -> None:
        wire = Wire(port)
        wire.send("reopen_scenes", IP, [["slow", 0]])
        until = time.monotonic() + 20.0
        while not any("opening" in line for line in said) and time.monotonic() < until:
            time.sleep(0.05)
        assert len(children()) == 1
        wire.socket.close()
        while children() and time.monotonic() < until:
            time.sleep(0.05)
        assert children() == []
        assert Wire(port).call("ping") is True

    serving(check)


HOSTILE: list[tuple[str, list[Any]]] = [
    ("ping", [1]), ("close_scenes", []), ("close_scenes", [7]), ("reopen_scenes", []), ("reopen_scenes", [IP]),
    ("reopen_scenes", [IP, "park"]), ("reopen_scenes", [IP, []]), ("reopen_scenes", [IP, ["park"]]),
    ("reopen_scenes", [IP, [[]]]), ("reopen_scenes", [IP, [[7, 0]]]), ("reopen_scenes", [IP, [["x" * 81, 0]]]),
    ("reopen_scenes", [IP, [["park", 0]] * 17]), ("reopen_scenes", [{"a": 1}, [["park", 0]]]), ("listVehicles", []),
    ("__class__", []), ("x" * 5000, []),
]  # fmt: skip


def test_hostile_calls_get_an_error_and_start_nothing() -> None:
    def check(port: int, said: list[str]) -> None:
        wire = Wire(port)
        for method, arguments in HOSTILE:
            wire.send(method, *arguments)
            reply = wire.receive()
            assert reply[2] and reply[3] is None, (method, reply)
            assert len(reply[2]) < 300
        garbage = Wire(port)
        garbage.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert wire.call("ping") is True
        assert children() == []

    serving(check)


def test_ports_that_are_taken_are_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind((IP, 0))
        taken.listen()
        first = taken.getsockname()[1]
        ports = scene_server._free_ports(IP, first, 2)
        assert len(ports) == 2 and first not in ports


def test_the_authors_scenes_are_flown_in_stand_ins_and_others_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SETS, "smoke")  # it is made, not read
    assert scene_here("CityPark_test", SETTINGS) == scene_here("CityPark", SETTINGS) == "standin_park"
    assert scene_here("standin_street_mini", SETTINGS) == "standin_street_mini"
    with pytest.raises(UsageError, match="unknown scene 'Atlantis'"):
        scene_here("Atlantis", SETTINGS)
    assert len(SETTINGS.stand_ins) == 14
