"""The bounds that connections share: who reaches one is dropped, and nobody else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgpack
import pytest

from esar_ros.sim.airsim_api import rpc_server
from esar_ros.sim.airsim_api.rpc_server import RpcServer
from esar_ros.sim.msgpack_wire import ProtocolError, Requests
from helpers.simulator_process import Wire


class Echo:
    """Answers what it is asked, at the length asked for, or slowly."""

    def open(self) -> None:
        return None

    def is_heavy(self, method: str) -> bool:
        return False

    def call(self, session: Any, method: str, arguments: list[Any]) -> Any:
        if method == "long":
            return "x" * arguments[0]
        if method == "busy":
            end = time.monotonic() + arguments[0]
            while time.monotonic() < end:
                pass
        return arguments


def serving(test: Callable[[int], None]) -> None:
    """Run a blocking test against an Echo server in this process."""

    async def run() -> None:
        server = RpcServer()
        port = await server.bind("127.0.0.1", 0)
        await server.start(Echo())
        try:
            await asyncio.get_running_loop().run_in_executor(None, test, port)
        finally:
            await server.close()

    asyncio.run(run())


def dropped(wire: Wire, seconds: float = 3.0) -> bool:
    """Returns whether the server hangs up within a time."""
    wire.socket.settimeout(seconds)
    try:
        while wire.socket.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


HALF = msgpack.packb([0, 1, "echo", ["x" * 3000]])[:2000]


def test_half_a_message_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "STANDSTILL", 0.4)
    monkeypatch.setattr(rpc_server, "SWEEP", 0.05)

    def test(port: int) -> None:
        half, idle, slow = Wire(port), Wire(port), Wire(port)
        assert idle.call("echo", 1) == [1]
        half.socket.sendall(HALF)
        whole = msgpack.packb([0, 1, "echo", ["slowly"]])
        for byte in whole:  # slow, but it goes on
            slow.socket.sendall(bytes([byte]))
            time.sleep(0.05)
        assert slow.receive() == [1, 1, None, ["slowly"]]
        assert dropped(half)
        assert idle.call("echo", 2) == [2]  # silence is no offence

    serving(test)


def test_a_message_that_comes_byte_by_byte_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never stands still; one whose messages end is served for as long as it likes."""
    monkeypatch.setattr(rpc_server, "MESSAGE", 1.0)
    monkeypatch.setattr(rpc_server, "SWEEP", 0.05)

    def test(port: int) -> None:
        endless, steady = Wire(port), Wire(port)
        began = time.monotonic()
        with suppress(ConnectionError):
            for byte in HALF[:200]:
                endless.socket.sendall(bytes([byte]))
                assert steady.call("echo", 1) == [1]
                time.sleep(0.05)
        assert 1.0 < time.monotonic() - began < 9.0
        assert steady.call("echo", 2) == [2]

    serving(test)


def test_answers_that_nobody_reads_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "STANDSTILL", 0.4)
    monkeypatch.setattr(rpc_server, "SWEEP", 0.05)

    def test(port: int) -> None:
        deaf, good = Wire(port), Wire(port)
        for _ in range(30):
            deaf.send("long", 1 << 20)
        time.sleep(1.5)
        assert good.call("echo", 1) == [1]
        read = 0
        deaf.socket.settimeout(3.0)
        try:
            while data := deaf.socket.recv(1 << 20):
                read += len(data)
        except ConnectionError:
            pass
        assert read < 30 << 20

    serving(test)


@pytest.mark.parametrize("bound", ["UNREAD_BY_ALL", "UNFINISHED_BY_ALL"])
def test_who_holds_most_of_what_all_may_hold_is_dropped(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(rpc_server, bound, 20_000 if bound == "UNFINISHED_BY_ALL" else 8 << 20)
    monkeypatch.setattr(rpc_server, "SWEEP", 0.05)

    def test(port: int) -> None:
        greedy, modest, good = Wire(port), Wire(port), Wire(port)
        if bound == "UNFINISHED_BY_ALL":
            modest.socket.sendall(HALF)
            greedy.socket.sendall(msgpack.packb([0, 1, "echo", ["x" * 100_000]])[:90_000])
        else:
            for _ in range(20):
                greedy.send("long", 1 << 20)
        time.sleep(0.5)
        assert dropped(greedy)
        if bound == "UNFINISHED_BY_ALL":
            modest.socket.sendall(msgpack.packb([0, 1, "echo", ["x" * 3000]])[2000:])
            assert modest.receive()[1] == 1
        assert good.call("echo", 1) == [1]

    serving(test)


def test_those_that_never_ask_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "CONNECTIONS", 4)
    monkeypatch.setattr(rpc_server, "NEW", 0.2)

    def test(port: int) -> None:
        good = Wire(port)
        assert good.call("echo", 1) == [1]
        mute = [Wire(port) for _ in range(3)]
        time.sleep(0.4)
        late = Wire(port)
        assert late.call("echo", 2) == [2] and good.call("echo", 3) == [3]
        assert dropped(mute[0]) and not dropped(mute[1], 0.3)

    serving(test)


def test_turns_are_short_whatever_others_ask() -> None:
    def test(port: int) -> None:
        greedy, good = [Wire(port) for _ in range(5)], Wire(port)
        for wire in greedy:
            wire.socket.sendall(msgpack.packb([0, 1, "busy", [0.001]]) * 400)
        slowest = 0.0
        for n in range(20):
            began = time.monotonic()
            assert good.call("echo", n) == [n]
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < 1.0  # 2 s of work lie before it; the machine may be shared

    serving(test)


def test_what_is_unfinished_is_counted() -> None:
    requests = Requests()
    whole = msgpack.packb([0, 7, "ping", []])
    requests.feed(whole + whole[:3])
    assert list(requests) == [(7, "ping", [])]
    assert requests.received == len(whole) + 3 and requests.unfinished == 3
    requests.feed(whole[3:])
    assert list(requests) == [(7, "ping", [])] and requests.unfinished == 0
    with pytest.raises(ProtocolError):
        for _ in range(40):
            requests.feed(b"\xdb\x00\x0f\xff\xff" + b"x" * 60_000)


def test_a_server_is_deserted_when_nobody_has_been_connected_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "SWEEP", 0.05)

    async def run() -> None:
        server = RpcServer()
        port = await server.bind("127.0.0.1", 0)
        await server.start(Echo())
        wire = await asyncio.to_thread(Wire, port)
        left = asyncio.ensure_future(server.deserted(0.5))
        assert not (await asyncio.wait({left}, timeout=1.0))[0], "somebody is connected, and silent"
        wire.socket.close()
        began = time.monotonic()
        await asyncio.wait_for(left, 20.0)
        assert time.monotonic() - began >= 0.4
        await server.close()

    asyncio.run(run())
