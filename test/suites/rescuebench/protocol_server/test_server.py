"""The server: one client at a time, answered in order, whatever others send."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.protocol_server import server as module
from esar_ros.suites.rescuebench.protocol_server.server import UnrealCvServer
from esar_ros.suites.rescuebench.protocol_server.wire import MAGIC, framed
from helpers.unrealcv_wire import UnrealCvWire


@pytest.fixture
def port() -> Iterator[int]:
    """Port of a server that answers a command with itself in capitals."""
    server, told = UnrealCvServer(), threading.Event()
    loop, ports = asyncio.new_event_loop(), []

    async def serve() -> None:
        ports.append(server.bind("127.0.0.1", 0))
        await server.start(lambda text: text.upper().encode())
        told.set()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    assert told.wait(10.0)
    yield ports[0]
    asyncio.run_coroutine_threadsafe(server.close(), loop).result(10.0)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10.0)
    loop.close()


def test_every_request_is_answered_in_its_order(port: int) -> None:
    with UnrealCvWire(port) as wire:
        assert wire.greeting.startswith(b"connected to ")
        wire.send(*(f"move {n}" for n in range(1000)))
        assert wire.take(1000) == [f"MOVE {n}".encode() for n in range(1000)]


def test_a_second_client_is_turned_away_and_the_first_stays(port: int) -> None:
    with UnrealCvWire(port) as first:
        first.ask("a")
        with pytest.raises((ConnectionError, EOFError)):
            UnrealCvWire(port)
        assert first.ask("b") == b"B"
    with UnrealCvWire(port) as next_one:
        assert next_one.ask("c") == b"C"


def test_a_client_that_never_asks_makes_room(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEW", 0.0)
    with UnrealCvWire(port), UnrealCvWire(port) as second:
        assert second.ask("b") == b"B"


def test_half_a_request_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STANDSTILL", 0.2)
    with UnrealCvWire(port) as wire:
        wire.socket.sendall(framed(b"0:vget /cameras")[:9])
        assert wire.closed()
    with UnrealCvWire(port) as wire:
        wire.ask("a")
        time.sleep(0.4)  # thinking is no standstill
        assert wire.ask("b") == b"B"


def test_a_client_that_takes_no_answers_is_dropped(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STANDSTILL", 0.2)
    with UnrealCvWire(port) as deaf:
        deaf.socket.settimeout(5.0)
        with pytest.raises((ConnectionError, TimeoutError)):
            deaf.send(*(["x" * 4000] * 20_000))
    with UnrealCvWire(port) as wire:
        assert wire.ask("b") == b"B"


def test_a_thousand_hostile_messages_hurt_nobody(port: int) -> None:
    rng = random.Random(5)
    for _ in range(1000):
        with UnrealCvWire(port) as hostile:
            data = bytearray(framed(b"%d:%b" % (rng.choice([0, 0, 1, 7, 1 << 31]), rng.randbytes(rng.randrange(60)))))
            match rng.randrange(4):
                case 0:
                    data = bytearray(rng.randbytes(rng.randrange(1, 200)))
                case 1:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                case 2:
                    del data[rng.randrange(1, len(data)) :]
                case _:
                    data = bytearray(struct.pack("<II", MAGIC, rng.randrange(1 << 32))) + data
            hostile.socket.sendall(data)
            hostile.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", rng.randrange(2), 0))
    with UnrealCvWire(port) as wire:
        assert wire.ask("still there") == b"STILL THERE"


def test_a_port_that_is_taken_is_one_line(port: int) -> None:
    with pytest.raises(UsageError, match=f"port {port} on 127.0.0.1 is in use"):
        UnrealCvServer().bind("127.0.0.1", port)


def test_clients_wait_on_a_port_that_is_not_served_yet() -> None:
    async def late() -> bytes:
        server = UnrealCvServer()
        bound = server.bind("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", bound)
        await asyncio.sleep(0.05)
        await server.start(str.encode)
        greeting = await asyncio.wait_for(reader.readexactly(8 + len(module.GREETING)), 5.0)
        writer.close()
        await server.close()
        return greeting

    assert asyncio.run(late()) == framed(module.GREETING)


def test_a_deserted_server_says_so_after_its_last_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SWEEP", 0.02)

    async def left_alone() -> float:
        server = UnrealCvServer()
        bound = server.bind("127.0.0.1", 0)
        await server.start(str.encode)
        _, writer = await asyncio.open_connection("127.0.0.1", bound)
        began = time.monotonic()
        ends = asyncio.ensure_future(server.deserted(0.2))
        await asyncio.sleep(0.4)
        assert not ends.done(), "somebody is connected"
        writer.close()
        await asyncio.wait_for(ends, 5.0)
        await server.close()
        return time.monotonic() - began

    assert asyncio.run(left_alone()) >= 0.6 - 0.05
