"""A fast synchronous client of AirSim's msgpack-RPC; one thread at a time.

Requests may be pipelined: send() several, then receive() each. Images and clouds are decoded in
place: float arrays as numpy arrays, large binaries as views of the received bytes.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any, Protocol

import msgpack
import numpy as np

from esar_ros.bridges.airsim.decode import Incomplete, LargeReply

DEFAULT_PORT = 41451
_SMALL = 1 << 15  # bytes; shorter replies are left to msgpack's own decoder
_CHUNK = 1 << 16
_KERNEL_BUFFER = 4 << 20


class AirSimError(Exception):
    """The server refused a call (its own words), or cannot be reached."""


class AirSimConnectionError(AirSimError):
    """No server, a lost connection, or no answer in time."""


class Caller(Protocol):
    """Caller of AirSim's methods: a connection, or a simulator in this process. Raises AirSimError."""

    def call(self, method: str, *arguments: Any) -> Any:
        """Result of a method."""
        ...

    def notify(self, method: str, *arguments: Any) -> None:
        """Call without an answer."""
        ...

    def close(self) -> None:
        """Closes the connection."""
        ...


class AirSimClient:
    """A connection; `timeout` (s) bounds each wait for a reply. Raises AirSimError."""

    def __init__(self, host: str = "127.0.0.1", port: int = DEFAULT_PORT, timeout: float = 30.0) -> None:
        self.host, self.port, self.timeout = host, port, timeout
        self._socket: socket.socket | None = None
        self._request = 0
        self.reconnect()

    def __enter__(self) -> AirSimClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def reconnect(self) -> None:
        """Connect, dropping what the old connection still owed."""
        self.close()
        try:
            made = socket.create_connection((self.host, self.port), self.timeout)
        except (OSError, UnicodeError) as error:  # the latter of what is no name of a machine
            raise AirSimConnectionError(f"AirSim server not reached on {self.host}:{self.port}: {error}") from None
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KERNEL_BUFFER)
        made.settimeout(None)  # waits are bounded by SO_RCVTIMEO, so that one receive may fill a large buffer
        self._socket = made
        self._buffers = _Buffers()
        self._buffer = self._buffers.take(_CHUNK)
        self._have = 0
        self._waiting: set[int] = set()
        self._replies: dict[int, tuple[Any, Any]] = {}

    def close(self) -> None:
        """End the connection; calling again does no harm."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Result of a method."""
        return self.receive(self.send(method, *arguments), timeout)

    def notify(self, method: str, *arguments: Any) -> None:
        """Send without an answer: errors, too, stay unknown."""
        self._transmit([2, method, arguments])

    def send(self, method: str, *arguments: Any) -> int:
        """Send a request; its number is for receive()."""
        self._request += 1
        self._transmit([0, self._request, method, arguments])
        self._waiting.add(self._request)
        return self._request

    def receive(self, request: int, timeout: float | None = None) -> Any:
        """Result of a sent request; replies may come in any order."""
        limit = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + limit
        while request not in self._replies:
            if request not in self._waiting:
                raise ValueError(f"request {request} was not sent, or its reply was taken")
            try:
                self._read_reply(deadline)
            except BlockingIOError:
                self._waiting.discard(request)  # should it still come, it is dropped
                raise AirSimConnectionError(f"{self.host}:{self.port} did not answer within {limit:g} s") from None
            except (OSError, EOFError) as error:
                self.close()
                reason = str(error) or "closed by the server"
                raise AirSimConnectionError(f"connection to {self.host}:{self.port} lost: {reason}") from None
        self._waiting.discard(request)
        refusal, result = self._replies.pop(request)
        if refusal is not None:
            raise AirSimError(str(refusal))
        return result

    def _transmit(self, message: list[Any]) -> None:
        if self._socket is None:
            raise AirSimConnectionError(f"not connected to {self.host}:{self.port}: call reconnect()")
        try:
            self._socket.sendall(msgpack.packb(message, use_bin_type=True, default=_plain))
        except OSError as error:
            self.close()
            raise AirSimConnectionError(f"connection to {self.host}:{self.port} lost: {error}") from None

    def _read_reply(self, deadline: float) -> None:
        """Take one whole reply off the stream."""
        message, used = self._whole_reply(deadline)
        rest = bytes(memoryview(self._buffer)[used : self._have])
        if used > _SMALL:  # views of it may live on
            self._buffers.give(self._buffer)
            self._buffer = self._buffers.take(max(_CHUNK, len(rest)))
        self._buffer[: len(rest)] = rest
        self._have = len(rest)
        if not (isinstance(message, list) and len(message) == 4 and message[0] == 1):
            raise EOFError("what arrived is not msgpack-RPC")
        if message[1] in self._waiting:
            self._replies[message[1]] = (message[2], message[3])

    def _whole_reply(self, deadline: float) -> tuple[Any, int]:
        while True:
            if self._have:
                unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
                unpacker.feed(memoryview(self._buffer)[: min(self._have, _SMALL)])
                try:
                    return unpacker.unpack(), unpacker.tell()
                except msgpack.OutOfData:
                    if self._have >= _SMALL:
                        break
                except Exception as error:
                    raise EOFError(f"what arrived is not msgpack: {error}") from None
            self._fill(self._have + 1, deadline)
        reply = LargeReply()
        while True:
            try:
                return reply.decode(memoryview(self._buffer), self._have)
            except Incomplete as more:
                self._fill(more.needed, deadline)

    def _fill(self, needed: int, deadline: float) -> None:
        """Receives until `needed` bytes are there; small waits also take what comes after."""
        assert self._socket is not None
        if len(self._buffer) < needed:
            larger = self._buffers.take(max(needed, 2 * len(self._buffer)))
            larger[: self._have] = self._buffer[: self._have]
            self._buffer = larger
        while self._have < needed:
            left = max(deadline - time.monotonic(), 0.001)
            seconds = struct.pack("ll", int(left), max(int(left % 1.0 * 1e6), 1))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)
            gap = needed - self._have
            with memoryview(self._buffer) as view:
                if gap > _CHUNK:
                    got = self._socket.recv_into(view[self._have : needed], gap, socket.MSG_WAITALL)
                else:
                    got = self._socket.recv_into(view[self._have :], min(_CHUNK, len(view) - self._have))
            if got == 0:
                raise EOFError
            self._have += got
            if self._have < needed and time.monotonic() >= deadline:
                raise BlockingIOError


class _Buffers:
    """Receive buffers, reused once no view of them exists: fresh memory costs page faults."""

    def __init__(self) -> None:
        self._given: list[bytearray] = []

    def give(self, buffer: bytearray) -> None:
        """Done with it, though views may live on."""
        self._given = [*self._given[-3:], buffer]

    def take(self, size: int) -> bytearray:
        """Returns a buffer of at least `size` bytes."""
        for index, buffer in enumerate(self._given):
            if len(buffer) >= size and _is_free(buffer):
                return self._given.pop(index)
        return bytearray(size)


def _is_free(buffer: bytearray) -> bool:
    """Returns whether no view of the buffer exists: only then may a bytearray change its length."""
    try:
        buffer.pop()
    except BufferError:
        return False
    buffer.append(0)
    return True


def _plain(value: Any) -> Any:
    """numpy numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"AirSim's RPC cannot carry a {type(value).__name__}")
