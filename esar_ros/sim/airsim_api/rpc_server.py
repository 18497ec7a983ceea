"""An asyncio msgpack-RPC server: each connection is read, answered and throttled by itself.

A client that hangs, floods, sends garbage or half a message only stops its own connection: turns are short, the
unanswered and unread data of one connection is bounded, and so is that of all together. When a common bound is reached
the connection that holds most of it is dropped, and so is one that stands still too long.
"""

from __future__ import annotations

import asyncio
import errno
import inspect
import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from esar_ros.mission.errors import UsageError
from esar_ros.sim.msgpack_wire import ProtocolError, Requests, pack_reply

LOG = logging.getLogger(__name__)
READ_SIZE = 1 << 16
TURN = 0.002  # s of one connection's requests before the others get theirs
PENDING = 256  # unanswered requests a connection may have; reading stops meanwhile
CONNECTIONS = 256
UNREAD = 32 << 20  # bytes of answers a client may leave unread; no more requests are taken meanwhile
UNREAD_BY_ALL = 256 << 20  # bytes; beyond, the connection with most is dropped
UNFINISHED_BY_ALL = 4 << 20  # bytes of half messages; beyond, the connection with most is dropped
STANDSTILL = 30.0  # s that a half message, or answers nobody reads, may stay as they are
MESSAGE = 60.0  # s that a message may take to come, however steadily its bytes do
SWEEP = 1.0  # s between looks for connections that stand still
NEW = 5.0  # s that a connection may take before its first request, when places are short


class Service(Protocol):
    """Service behind a server: one session a connection."""

    def open(self) -> Any:
        """State of a new connection."""
        ...

    def call(self, session: Any, method: str, arguments: list[Any]) -> Any:
        """Result or coroutine; raises to answer an error."""
        ...

    def is_heavy(self, method: str) -> bool:
        """Returns whether a method's answers are so large that a connection may have one at a time."""
        ...


class RpcServer:
    """Listens on one address and serves until closed."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[_Connection, asyncio.Task[None]] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._alone_since = time.monotonic()

    async def bind(self, host: str, port: int) -> int:
        """Take an address; returns the port (chosen by the system for 0). Raises UsageError when it cannot."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=READ_SIZE, start_serving=False)
        except UnicodeError:
            raise UsageError(f"'{host[:60]}' is no name of a machine", "give another --host") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UsageError(f"port {port} on {host} is in use", "end the other simulator or give --port") from None
            reason = error.strerror or str(error)
            raise UsageError(f"cannot listen on {host}:{port}: {reason}", "give another --host or --port") from None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self, service: Service) -> None:
        """Accept connections on the bound address."""
        assert self._server is not None, "bind first"
        self._service = service
        self._alone_since = time.monotonic()
        self._sweeper = asyncio.ensure_future(self._sweep())
        await self._server.start_serving()

    async def deserted(self, seconds: float) -> None:
        """Returns when nobody has been connected for a time (s)."""
        while time.monotonic() - self._alone_since < seconds:
            await asyncio.sleep(SWEEP)
            if self._connections:
                self._alone_since = time.monotonic()

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        tasks = list(self._connections.values())
        if self._sweeper is not None:
            tasks.append(self._sweeper)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        assert self._service is not None
        if len(self._connections) >= CONNECTIONS and not self._make_room():
            writer.transport.abort()
            return
        connection = _Connection(self._service, reader, writer)
        self._connections[connection] = task
        try:
            await connection.run()
        except (ConnectionError, TimeoutError):
            pass
        except ProtocolError as error:
            LOG.info("a client was dropped: %s", error)
        except asyncio.CancelledError:
            pass  # the server closes
        finally:
            connection.end()
            del self._connections[connection]

    def _make_room(self) -> bool:
        """Drop the connection that has waited longest without ever asking anything, if one has waited long enough."""
        now = time.monotonic()
        mute = [c for c in self._connections if not c.spoken and now - c.opened > NEW]
        if not mute:
            return False
        self._drop(min(mute, key=lambda c: c.opened), "places are short and it never asked anything")
        return True

    async def _sweep(self) -> None:
        """Keep the bounds that all connections share, and end those that stand still."""
        while True:
            await asyncio.sleep(SWEEP)
            now = time.monotonic()
            for connection in list(self._connections):
                if connection.stands_still(now) > STANDSTILL:
                    self._drop(connection, "half a message, or answers that nobody reads")
                elif connection.keeps_waiting(now) > MESSAGE:
                    self._drop(connection, "a message that does not end")
            self._bound(lambda c: c.unread, UNREAD_BY_ALL, "unread answers")
            self._bound(lambda c: c.unfinished, UNFINISHED_BY_ALL, "half messages")

    def _bound(self, held: Callable[[_Connection], int], limit: int, what: str) -> None:
        """Drop the connections that hold most until all together hold no more than allowed."""
        sizes = {connection: held(connection) for connection in self._connections}
        excess = sum(sizes.values()) - limit
        for connection in sorted(sizes, key=sizes.__getitem__, reverse=True):
            if excess <= 0:
                break
            excess -= sizes[connection]
            self._drop(connection, f"too many bytes of {what}")

    def _drop(self, connection: _Connection, why: str) -> None:
        LOG.info("a client was dropped: %s", why)
        self._connections[connection].cancel()


class _Connection:
    def __init__(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened = time.monotonic()
        self.spoken = False  # whether it ever sent a whole request
        self._written, self._progress, self._since = 0, (0, 0), self.opened
        self._whole, self._half_since = 0, self.opened
        self._service, self._reader, self._writer = service, reader, writer
        self._session = service.open()
        self._requests = Requests()
        self._tasks: set[asyncio.Task[None]] = set()
        self._heavy = asyncio.Lock()

    @property
    def unread(self) -> int:
        """Bytes of answers that the client has not taken."""
        return self._writer.transport.get_write_buffer_size()

    @property
    def unfinished(self) -> int:
        """Bytes of a message that has not come to its end."""
        return self._requests.unfinished

    def stands_still(self, now: float) -> float:
        """s since the last byte came or went, while a half message or unread answers are held; else 0."""
        progress = (self._requests.received, self._written - self.unread)
        if progress != self._progress or not (self.unread or self.unfinished):
            self._progress, self._since = progress, now
        return now - self._since

    def keeps_waiting(self, now: float) -> float:
        """s since the last whole message, while half of one is held; else 0."""
        whole = self._requests.received - self.unfinished
        if whole != self._whole or not self.unfinished:
            self._whole, self._half_since = whole, now
        return now - self._half_since

    async def run(self) -> None:
        """Read and answer until the client leaves."""
        while data := await self._reader.read(READ_SIZE):
            self._requests.feed(data)
            turn_ends = time.monotonic() + TURN
            for request, method, arguments in self._requests:
                self.spoken = True
                self._dispatch(request, method, arguments)
                if self.unread > UNREAD:
                    await self._writer.drain()
                while len(self._tasks) >= PENDING:
                    await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                if time.monotonic() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = time.monotonic() + TURN
            await asyncio.sleep(0)

    def end(self) -> None:
        """Forget what is still running for this client."""
        for task in list(self._tasks):
            task.cancel()
        self._writer.transport.abort()

    def _dispatch(self, request: int | None, method: str, arguments: list[Any]) -> None:
        result = self._attempt(request, lambda: self._service.call(self._session, method, arguments))
        if not inspect.isawaitable(result):
            if result is not _FAILED:
                self._answer(request, None, result)
            return
        task = asyncio.ensure_future(self._later(request, result, self._service.is_heavy(method)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _later(self, request: int | None, result: Any, heavy: bool) -> None:
        try:
            if not heavy:
                self._answer(request, None, await result)
                return
            async with self._heavy:
                self._answer(request, None, await result)
                await self._writer.drain()
        except ConnectionError:
            pass
        except Exception as error:
            LOG.debug("a call failed", exc_info=True)
            self._answer(request, str(error) or type(error).__name__, None)
        finally:
            if inspect.iscoroutine(result):
                result.close()  # cancelled before it began

    def _attempt(self, request: int | None, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            LOG.debug("a call failed", exc_info=True)
            self._answer(request, str(error) or type(error).__name__, None)
            return _FAILED

    def _answer(self, request: int | None, error: str | None, result: Any) -> None:
        if request is not None and not self._writer.transport.is_closing():
            reply = pack_reply(request, error, result)
            self._written += len(reply)
            self._writer.write(reply)


_FAILED = object()
