"""A plain client of UnrealCV's wire."""

from __future__ import annotations

import socket
import struct
from types import TracebackType

from esar_ros.suites.rescuebench.protocol_server.wire import MAGIC, framed


class UnrealCvWire:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10.0)
        self._asked = self._answered = 0
        self.greeting = self._frame()

    def __enter__(self) -> UnrealCvWire:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.socket.close()

    def send(self, *commands: str) -> None:
        """Ask without waiting."""
        frames = []
        for command in commands:
            frames.append(framed(b"%d:%b" % (self._asked, command.encode())))
            self._asked += 1
        self.socket.sendall(b"".join(frames))

    def take(self, count: int) -> list[bytes]:
        """Returns the next answers."""
        answers = []
        for _ in range(count):
            number, _, body = self._frame().partition(b":")
            assert int(number) == self._answered
            self._answered += 1
            answers.append(body)
        return answers

    def ask(self, command: str) -> bytes:
        """Returns the answer to a command."""
        self.send(command)
        return self.take(1)[0]

    def closed(self) -> bool:
        """Waits for the other side; returns whether it has closed the connection."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _frame(self) -> bytes:
        magic, length = struct.unpack("<II", self._exactly(8))
        assert magic == MAGIC
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data
