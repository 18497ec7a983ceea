"""A simulator as a process, and the plainest client there is."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import Any

import msgpack
import psutil

SIZE = (64, 48)


class Wire:
    """The plainest client there is."""

    def __init__(self, port: int, timeout: float = 120.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.unpacker = msgpack.Unpacker(raw=False)
        self.request = 0

    def send(self, method: str, *arguments: Any) -> int:
        self.request += 1
        self.socket.sendall(msgpack.packb([0, self.request, method, arguments]))
        return self.request

    def receive(self) -> list[Any]:
        while True:
            for reply in self.unpacker:
                return list(reply)
            data = self.socket.recv(1 << 20)
            if not data:
                raise EOFError
            self.unpacker.feed(data)

    def call(self, method: str, *arguments: Any) -> Any:
        wanted = self.send(method, *arguments)
        reply = self.receive()
        assert reply[:2] == [1, wanted], reply
        assert reply[2] is None, reply[2]
        return reply[3]


class Process:
    """A simulator process and its port."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        command = [sys.executable, "-m", "esar_ros.sim.server", "--port", "0", "--image", f"{SIZE[0]}x{SIZE[1]}"]
        self.process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )
        assert self.process.stdout is not None
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if line.startswith("ready on "):
                break
        self.port = int(self.lines[-1].rsplit(":", 1)[1])

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60.0)


def gone(processes: list[psutil.Process], seconds: float = 5.0) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
