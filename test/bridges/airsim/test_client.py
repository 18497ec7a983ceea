"""The client against a scripted server: decoding, order, timeouts, lost connections."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from esar_ros.bridges.airsim.client import AirSimClient, AirSimConnectionError, AirSimError
from esar_ros.bridges.airsim.decode import Incomplete, LargeReply
from esar_ros.bridges.airsim.types import image_pixels, image_request, lidar_points

Answer = Callable[[socket.socket, list[Any]], None]


class Server:
    """Answers each message by a function, on connections one after another."""

    def __init__(self, answer: Answer) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer = answer
        self.heard: list[list[Any]] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            unpacker = msgpack.Unpacker(raw=False)
            with connection:
                try:
                    while data := connection.recv(65536):
                        unpacker.feed(data)
                        for message in unpacker:
                            self.heard.append(message)
                            self.answer(connection, message)
                except OSError:
                    continue

    def close(self) -> None:
        self.listener.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], Server]]:
    made: list[Server] = []

    def start(answer: Answer) -> Server:
        made.append(Server(answer))
        return made[-1]

    yield start
    for server in made:
        server.close()


def reply(connection: socket.socket, request: int, result: Any, error: Any = None) -> None:
    connection.sendall(msgpack.packb([1, request, error, result], use_bin_type=True))


def echo(connection: socket.socket, message: list[Any]) -> None:
    if message[0] == 0:
        reply(connection, message[1], [message[2], message[3]])


def floats(values: np.ndarray) -> bytes:
    """Packed one by one, by msgpack itself."""
    packer = msgpack.Packer(use_single_float=True)
    return b"\xdd" + struct.pack(">I", values.size) + b"".join(packer.pack(float(v)) for v in values)


def test_calls_carry_arguments_and_numpy_numbers(serve: Any) -> None:
    server = serve(echo)
    with AirSimClient("127.0.0.1", server.port) as client:
        got = client.call("f", 1, "two", np.float32(0.5), np.int64(3), np.array([1.0, 2.0]), {"a": None})
    assert got == ["f", [1, "two", 0.5, 3, [1.0, 2.0], {"a": None}]]
    with pytest.raises(AirSimConnectionError, match="not connected"):
        client.call("f")


def test_errors_are_the_servers_words(serve: Any) -> None:
    server = serve(lambda c, m: reply(c, m[1], None, "rpclib: no"))
    client = AirSimClient("127.0.0.1", server.port)
    with pytest.raises(AirSimError, match="rpclib: no"):
        client.call("f")
    with pytest.raises(AirSimError, match="rpclib: no"):  # still usable
        client.call("g")


def test_pipelined_replies_may_come_in_any_order(serve: Any) -> None:
    held: list[int] = []

    def backwards(connection: socket.socket, message: list[Any]) -> None:
        held.append(message[1])
        if len(held) == 3:
            for request in reversed(held):
                reply(connection, request, request * 10)

    client = AirSimClient("127.0.0.1", serve(backwards).port)
    requests = [client.send("f") for _ in range(3)]
    assert [client.receive(r) for r in requests] == [10 * r for r in requests]
    with pytest.raises(ValueError, match="not sent, or its reply was taken"):
        client.receive(requests[0])


def test_notifications_have_no_number(serve: Any) -> None:
    server = serve(echo)
    client = AirSimClient("127.0.0.1", server.port)
    client.notify("go", 1)
    client.call("ping")
    assert server.heard[0] == [2, "go", [1]]


def test_a_late_reply_is_not_taken_for_another(serve: Any) -> None:
    def late(connection: socket.socket, message: list[Any]) -> None:
        time.sleep(0.3 if message[2] == "slow" else 0.0)
        reply(connection, message[1], message[2])

    client = AirSimClient("127.0.0.1", serve(late).port)
    began = time.monotonic()
    with pytest.raises(AirSimConnectionError, match=r"did not answer within 0\.1 s"):
        client.call("slow", timeout=0.1)
    assert time.monotonic() - began < 0.25
    assert client.call("quick") == "quick"


def test_a_lost_connection_is_said_and_can_be_made_again(serve: Any) -> None:
    def once(connection: socket.socket, message: list[Any]) -> None:
        if message[2] == "die":
            connection.shutdown(socket.SHUT_RDWR)
        else:
            reply(connection, message[1], "alive")

    client = AirSimClient("127.0.0.1", serve(once).port)
    with pytest.raises(AirSimConnectionError, match="lost: closed by the server"):
        client.call("die")
    with pytest.raises(AirSimConnectionError, match=r"call reconnect\(\)"):
        client.call("ping")
    client.reconnect()
    assert client.call("ping") == "alive"


def test_no_server_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(AirSimConnectionError, match=f"AirSim server not reached on 127.0.0.1:{port}"):
        AirSimClient("127.0.0.1", port)


@pytest.mark.parametrize("garbage", [b"\xc1" * 10, b"\x05", msgpack.packb([2, "hello", []]), b"HTTP/1.1 400 Bad"])
def test_garbage_is_a_connection_error(serve: Any, garbage: bytes) -> None:
    client = AirSimClient("127.0.0.1", serve(lambda c, m: c.sendall(garbage)).port, timeout=2.0)
    with pytest.raises(AirSimConnectionError):
        client.call("f")


def image(seed: int, as_float: bool, height: int = 60, width: int = 80) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(seed)
    pixels = (
        rng.random((height, width), dtype=np.float32) * 50.0
        if as_float
        else rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    )
    vector = {"x_val": 1.0, "y_val": 2.0, "z_val": -3.0}
    told = {
        "camera_name": "front", "image_type": 1 if as_float else 0, "time_stamp": 5_000_000_000 + seed,
        "camera_position": vector, "camera_orientation": vector | {"w_val": 1.0}, "message": "",
        "pixels_as_float": as_float, "compress": False, "width": width, "height": height,
    }  # fmt: skip
    return told, pixels


def test_pictures_arrive_whole_in_any_pieces(serve: Any) -> None:
    made = [image(k, k % 2 == 1) for k in range(8)]

    def images(connection: socket.socket, message: list[Any]) -> None:
        parts = [b"\x94\x01", msgpack.packb(message[1]), b"\xc0\x98"]
        for told, pixels in made:
            packer = msgpack.Packer()
            parts += [packer.pack_map_header(len(told) + 2), msgpack.packb("image_data_uint8")]
            parts.append(msgpack.packb(b"\0" if told["pixels_as_float"] else pixels.tobytes()))
            parts.append(msgpack.packb("image_data_float"))
            parts.append(floats(pixels.ravel()) if told["pixels_as_float"] else msgpack.packb([0.0]))
            parts += [msgpack.packb(key) + msgpack.packb(value) for key, value in told.items()]
        data = b"".join(parts) + msgpack.packb([1, 999, None, "stray"])
        sizes = np.random.default_rng(message[1]).integers(1, 40_000, 1000)
        at = 0
        for size in sizes:
            connection.sendall(data[at : at + size])
            at += size
            if at >= len(data):
                break

    client = AirSimClient("127.0.0.1", serve(images).port)
    kept: list[NDArray[Any]] = []
    for _ in range(4):  # buffers are used again, but not while pictures are held
        answers = client.call("simGetImages", [image_request("front", 0)])
        for got, (told, pixels) in zip(answers, made, strict=True):
            assert image_pixels(got).dtype == pixels.dtype and (image_pixels(got) == pixels).all()
            assert got["time_stamp"] == told["time_stamp"] and got["camera_position"] == told["camera_position"]
        kept.append(image_pixels(answers[0]))
    for held in kept:
        assert (held == made[0][1]).all()


def test_clouds_are_points(serve: Any) -> None:
    cloud = np.arange(30_000, dtype=np.float32)

    def scan(connection: socket.socket, message: list[Any]) -> None:
        data = floats(cloud) if message[2] == "many" else msgpack.packb([0.0])
        connection.sendall(b"\x94\x01" + msgpack.packb(message[1]) + b"\xc0\x81" + msgpack.packb("point_cloud") + data)

    client = AirSimClient("127.0.0.1", serve(scan).port)
    assert (lidar_points(client.call("many")) == cloud.reshape(-1, 3)).all()
    assert lidar_points(client.call("none")).shape == (0, 3)


objects = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=300)
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=20),
    max_leaves=40,
)


def plain(value: Any) -> Any:
    """Views as bytes, arrays as lists."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


@settings(deadline=None)
@given(objects)
def test_the_decoder_agrees_with_msgpack_at_every_cut(value: Any) -> None:
    data = msgpack.packb(value, use_bin_type=True)
    view = memoryview(data + b"more")
    decoder, size, rounds = LargeReply(), 0, 0
    while True:
        try:
            got, end = decoder.decode(view, size)
            break
        except Incomplete as more:
            assert size < more.needed <= len(data)
            size = more.needed
            rounds += 1
    assert end == len(data) and plain(got) == value


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=65, max_size=80), st.integers(0, 64))
def test_mixed_number_arrays_are_read_one_by_one(values: list[float], at: int) -> None:
    single = msgpack.Packer(use_single_float=True)
    elements = [single.pack(v) for v in values]
    array = b"\xdc" + struct.pack(">H", len(values))
    got, _ = LargeReply().decode(memoryview(array + b"".join(elements)), len(array) + 5 * len(values))
    assert isinstance(got, np.ndarray) and got.tolist() == values
    elements[at] = msgpack.packb(7)
    data = array + b"".join(elements) + b"\xc0" * 8
    mixed, end = LargeReply().decode(memoryview(data), len(data))
    expected = [*values[:at], 7, *values[at + 1 :]]
    assert list(mixed) == expected and end == len(data) - 8
