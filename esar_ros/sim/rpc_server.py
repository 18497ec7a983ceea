"""An asyncio msgpack-RPC server: each connection is read, answered and throttled by itself.

A client that hangs, floods, sends garbage or half a message only stops its own connection.
"""

from __future__ import annotations

import asyncio
import errno
import inspect
import logging
from collections.abc import Callable
from typing import Any, Protocol

from esar_ros.mission.errors import UsageError
from esar_ros.sim.msgpack_wire import ProtocolError, Requests, pack_reply

LOG = logging.getLogger(__name__)
READ_SIZE = 1 << 16
TURN = 16  # requests of one connection before the others get theirs
PENDING = 256  # unanswered requests a connection may have; reading stops meanwhile
CONNECTIONS = 256
UNREAD = 32 << 20  # bytes of answers a client may leave unread; no more requests are taken meanwhile


class Service(Protocol):
    """What a server serves: one session a connection."""

    def open(self) -> Any:
        """State of a new connection."""
        ...

    def call(self, session: Any, method: str, arguments: list[Any]) -> Any:
        """Result or coroutine; raises to answer an error."""
        ...

    def is_heavy(self, method: str) -> bool:
        """Whether its answers are so large that a connection may have one at a time."""
        ...


class RpcServer:
    """Listens on one address and serves until closed."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def bind(self, host: str, port: int) -> int:
        """Take an address; returns the port (chosen by the system for 0). Raises UsageError when it cannot."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=READ_SIZE, start_serving=False)
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
        await self._server.start_serving()

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        assert self._service is not None
        if len(self._connections) >= CONNECTIONS:
            writer.transport.abort()
            return
        self._connections.add(task)
        connection = _Connection(self._service, reader, writer)
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
            self._connections.discard(task)


class _Connection:
    def __init__(self, service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._service, self._reader, self._writer = service, reader, writer
        self._session = service.open()
        self._requests = Requests()
        self._tasks: set[asyncio.Task[None]] = set()
        self._heavy = asyncio.Lock()

    async def run(self) -> None:
        """Read and answer until the client leaves."""
        served = 0
        while data := await self._reader.read(READ_SIZE):
            self._requests.feed(data)
            for request, method, arguments in self._requests:
                self._dispatch(request, method, arguments)
                served += 1
                if served % TURN == 0:
                    await asyncio.sleep(0)
                if self._writer.transport.get_write_buffer_size() > UNREAD:
                    await self._writer.drain()
                while len(self._tasks) >= PENDING:
                    await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)

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
            self._writer.write(pack_reply(request, error, result))


_FAILED = object()
