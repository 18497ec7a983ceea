"""An UnrealCV server: one client at a time, each request answered in its order.

Whoever comes while a client is served is turned away after a second, unless that client has never asked anything. A
client that sends what is no request, leaves half of one lying or does not take its answers is dropped; the next one
finds all as it was.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from esar_ros.mission.errors import UsageError
from esar_ros.suites.rescuebench.protocol_server.wire import ProtocolError, Requests, framed

LOG = logging.getLogger(__name__)
GREETING = b"connected to esar_ros"
READ_SIZE = 1 << 14
STANDSTILL = 30.0  # s that half a request, or answers nobody takes, may stay as they are
NEW = 5.0  # s that a client may take before its first request, when another waits
PATIENCE = 1.0  # s that whoever comes waits for the client before to be gone
WAITING = 16  # clients at a time that wait so
_SWEEP = 1.0  # s between looks whether nobody is there


class UnrealCvServer:
    """Listens on one address and serves until closed."""

    def __init__(self) -> None:
        self._answer: Callable[[str], bytes] | None = None
        self._listening: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._client: _Client | None = None
        self._waiting = 0  # clients
        self._alone_since = time.monotonic()

    def bind(self, host: str, port: int) -> int:
        """Take an address; returns the port (chosen by the system for 0). Raises UsageError when it cannot.

        Clients can connect from then on, and wait for `start`.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listening = socket.create_server((host, port), family=family)
        except UnicodeError:
            raise UsageError(f"'{host[:60]}' is no name of a machine", "give another --host") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UsageError(f"port {port} on {host} is in use", "end the other server or give --port") from None
            reason = error.strerror or str(error)
            raise UsageError(f"cannot listen on {host}:{port}: {reason}", "give another --host or --port") from None
        return int(self._listening.getsockname()[1])

    async def start(self, answer: Callable[[str], bytes]) -> None:
        """Serve clients on the bound address; answer: returns the reply to a command."""
        assert self._listening is not None, "bind first"
        self._answer = answer
        self._alone_since = time.monotonic()
        self._server = await asyncio.start_server(self._serve, sock=self._listening, limit=READ_SIZE)

    async def deserted(self, seconds: float) -> None:
        """Returns when nobody has been connected for a time (s)."""
        while time.monotonic() - self._alone_since < seconds:
            await asyncio.sleep(_SWEEP)
            if self._client is not None:
                self._alone_since = time.monotonic()

    async def close(self) -> None:
        """Stop listening and drop the client."""
        if self._server is not None:
            self._server.close()
        if self._client is not None:
            self._client.task.cancel()
            await asyncio.gather(self._client.task, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None and self._answer is not None
        if not await self._its_turn():
            writer.transport.abort()
            return
        client = self._client = _Client(task)
        try:
            await client.run(reader, writer, self._answer)
        except (ConnectionError, asyncio.TimeoutError, asyncio.CancelledError):
            pass  # it left, stands still, or makes room
        except ProtocolError as error:
            LOG.info("a client was dropped: %s", error)
        finally:
            writer.transport.abort()
            self._client = None
            client.gone.set()

    async def _its_turn(self) -> bool:
        """Waits a little for the client that is served to leave; returns whether it has, or has been made to."""
        if self._waiting >= WAITING:
            return False
        self._waiting += 1
        try:
            if (served := self._client) is not None:
                if not served.spoken and time.monotonic() - served.opened > NEW:
                    served.task.cancel()
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(served.gone.wait(), PATIENCE)
            return self._client is None
        finally:
            self._waiting -= 1


class _Client:
    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.gone = asyncio.Event()
        self.opened = time.monotonic()
        self.spoken = False  # whether it ever sent a whole request

    async def run(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Callable[[str], bytes]
    ) -> None:
        """Read and answer until the client leaves."""
        requests = Requests()
        writer.write(framed(GREETING))
        while data := await asyncio.wait_for(reader.read(READ_SIZE), STANDSTILL if requests.unfinished else None):
            requests.feed(data)
            for number, command in requests:
                self.spoken = True
                writer.write(framed(b"%d:%b" % (number, answer(command))))
                await asyncio.wait_for(writer.drain(), STANDSTILL)
                await asyncio.sleep(0)  # others are turned away meanwhile
