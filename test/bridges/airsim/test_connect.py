"""Waiting for a server that starts, and giving up on one that never will."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgpack
import pytest

from esar_ros.bridges.airsim.connect import PATIENCE, connect
from esar_ros.mission.errors import UsageError

Answer = Callable[[socket.socket], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer, int], int]]:
    """serve(answer, port): a server that treats every connection so; returns its port."""
    servers: list[socket.socket] = []

    def start(answer: Answer, port: int = 0) -> int:
        server = socket.create_server(("127.0.0.1", port))
        servers.append(server)

        def accept() -> None:
            with suppress(OSError):  # closed at the end of the test
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        answer(connection)

        threading.Thread(target=accept, daemon=True).start()
        return int(server.getsockname()[1])

    yield start
    for server in servers:
        server.close()


def web_server(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.0 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def other_rpc(connection: socket.socket) -> None:
    """Speaks msgpack-RPC, and knows no ping."""
    connection.recv(4096)
    connection.sendall(msgpack.packb([1, 1, "unknown method ping", None]))


def airsim(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(msgpack.packb([1, 1, None, True]))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def refusal(port: int, patience: float = 0.6) -> str:
    began = time.monotonic()
    with pytest.raises(UsageError) as refused:
        connect("127.0.0.1", port, patience)
    assert patience <= time.monotonic() - began < patience + 3.0
    text = str(refused.value)
    assert "\n" not in text
    assert text.endswith("start the simulator, or check host and port")
    return text


def test_nobody_there() -> None:
    port = free_port()
    assert f"AirSim server not reached on 127.0.0.1:{port}" in refusal(port)


def test_a_name_that_no_host_has_is_not_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"no host is called 'no-such-host\.invalid'"):
        connect("no-such-host.invalid", 41451, 60.0)
    assert time.monotonic() - began < 30.0


@pytest.mark.parametrize("answer", [web_server, lambda connection: None], ids=["web server", "hangs up"])
def test_a_server_of_something_else(serve: Callable[..., int], answer: Answer) -> None:
    port = serve(answer)
    assert f"127.0.0.1:{port}" in refusal(port)


def test_a_server_s_own_refusal_is_told(serve: Callable[..., int]) -> None:
    assert "unknown method ping" in refusal(serve(other_rpc))


def test_a_server_that_starts_late_is_waited_for(serve: Callable[..., int]) -> None:
    port = free_port()
    timer = threading.Timer(0.7, serve, (airsim, port))
    timer.start()
    began = time.monotonic()
    with connect("127.0.0.1", port, 10.0) as client:
        assert client.port == port
    assert time.monotonic() - began > 0.5
    timer.join()


def test_a_map_may_be_made_first() -> None:
    assert PATIENCE >= 60.0
