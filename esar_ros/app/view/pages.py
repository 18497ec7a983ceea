"""A small page server: one page, JSON, images, motion pictures and commands; for one machine's own browser.

Only the standard library. Commands need the token that the page itself holds, so that no other page that a
browser has open can give them.
"""

from __future__ import annotations

import json
import math
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

from esar_ros.mission.errors import UsageError

BOUNDARY = "frame"
IDLE = 2.0  # s an image stays wanted after it was last asked for
LARGEST_COMMAND = 4096  # bytes
CONNECTIONS = 64  # at a time; a browser opens six
REQUEST = 10.0  # s for the whole of a request, from the first byte or the answer before it
_HEADERS = {  # of every answer: nothing but what this server sends runs in the page or is shown in it
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PERIOD = 0.2  # s between events
_PAUSE = 0.03  # s between looks for a new image
_SILENCE = 5.0  # s without news after which a comment keeps the connection
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

# What is new to a reader: (what it has, to be moved on; the address's query) -> sections
Changes = Callable[[dict[str, int], Mapping[str, str]], Mapping[str, Any]]


class Source(Protocol):
    """Source of a page's content. Called from the server's threads."""

    def state(self) -> Mapping[str, Any]:
        """Numbers and words, for JSON."""
        ...

    def image(self, name: str) -> tuple[bytes, int] | None:
        """Newest JPEG or PNG of a name and its serial number; None: there is none."""
        ...

    def command(self, words: Mapping[str, Any]) -> Mapping[str, Any]:
        """Executes a command and returns its outcome. Raises ValueError on an invalid one."""
        ...


def read_assets(folder: Path) -> dict[str, bytes]:
    """Scripts and styles of a page's folder by file name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in _KINDS}


class _Server(ThreadingHTTPServer):
    """A thread a connection, for CONNECTIONS of them; one that takes too long over a request is hung up."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._reading: dict[socket.socket, float] = {}  # connections with no whole request, and since when
        self._open: set[socket.socket] = set()
        self._lock = threading.RLock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Gives a connection its thread, in place of the one that keeps its own waiting longest where all are taken."""
        with self._lock:
            if len(self._open) >= CONNECTIONS:
                longest = min(self._reading, key=self._reading.__getitem__, default=None)
                if longest is None:
                    self.shutdown_request(request)
                    return
                self._hang_up(longest)
            self._open.add(request)
        self.await_request(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forgets a connection that has ended."""
        with self._lock:
            self._open.discard(request)
            self._reading.pop(request, None)
        super().shutdown_request(request)

    def await_request(self, connection: socket.socket) -> None:
        """Begins the time that a connection has for its next request."""
        with self._lock:
            self._reading[connection] = time.monotonic()

    def got_request(self, connection: socket.socket) -> None:
        """Ends it: the answer may take as long as it takes."""
        with self._lock:
            self._reading.pop(connection, None)

    def service_actions(self) -> None:
        """Hangs up those whose time is over; called twice a second."""
        late = time.monotonic() - REQUEST
        with self._lock:
            for connection, since in list(self._reading.items()):
                if since < late:
                    self._hang_up(connection)

    def _hang_up(self, connection: socket.socket) -> None:
        self._reading.pop(connection, None)
        self._open.discard(connection)
        with suppress(OSError):  # it has left by itself
            connection.shutdown(socket.SHUT_RDWR)


class PageServer:
    """Serves a source on the loopback address until closed."""

    def __init__(
        self,
        page: str,
        source: Source,
        port: int = 0,
        assets: Mapping[str, bytes] | None = None,
        changes: Changes | None = None,
    ) -> None:
        """page: HTML, in which {{token}} becomes the token. Raises UsageError when the port is taken.

        assets: further files by name, also all scripts and styles: none within the page is run. changes: what is sent
        as server-sent events at /events.
        """
        self.token = secrets.token_urlsafe(16)
        self.assets = assets or {}
        self.changes = changes
        handler = _handler(page.replace("{{token}}", self.token).encode(), source, self)
        self.closing = threading.Event()
        try:
            self._server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            cure = "choose another, or 0 for a free one"
            raise UsageError(f"port {port} for the page: {error.strerror}", cure) from None
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="page", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The page's URL."""
        return f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """Stop serving."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(page: bytes, source: Source, owner: PageServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = REQUEST
        timeout = 30  # s that a reader may take nothing of an answer
        server: _Server

        def handle_one_request(self) -> None:
            self.server.await_request(self.connection)
            with suppress(ConnectionError):  # hung up, by either side
                super().handle_one_request()

        def log_message(self, format: str, *args: Any) -> None:
            """Suppresses the log of requests."""

        def end_headers(self) -> None:
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            super().end_headers()

        def do_GET(self) -> None:
            self.server.got_request(self.connection)
            if not self._from_here():
                return
            path = urlsplit(self.path).path
            if path == "/":
                self._send(page, "text/html; charset=utf-8")
            elif path == "/state":
                self._send(json.dumps(dict(source.state())).encode(), "application/json")
            elif path.startswith("/picture/"):
                self._image(path.removeprefix("/picture/"))
            elif path.startswith("/stream/"):
                self._stream(path.removeprefix("/stream/"))
            elif path == "/events" and owner.changes is not None:
                self._events(owner.changes)
            elif path[1:] in owner.assets:
                self._send(owner.assets[path[1:]], f"{_KINDS[PurePosixPath(path).suffix]}; charset=utf-8")
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "no such page")

        def do_POST(self) -> None:
            if not self._from_here():
                return
            # As bytes: of other texts than ASCII the comparison knows nothing.
            if not secrets.compare_digest(self.headers.get("X-Token", "").encode(), owner.token.encode()):
                self._refuse(HTTPStatus.FORBIDDEN, "the page's token is missing")
                return
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > LARGEST_COMMAND:
                self._refuse(HTTPStatus.BAD_REQUEST, "no command of this length")
                return
            try:
                body = self.rfile.read(int(length))
                self.server.got_request(self.connection)
                words = json.loads(body)
                if not isinstance(words, dict):
                    raise ValueError("a command is an object")
                answer = source.command(words)
            except (ValueError, RecursionError) as error:
                self._refuse(HTTPStatus.BAD_REQUEST, str(error))
                return
            self._send(json.dumps(dict(answer)).encode(), "application/json")

        def _from_here(self) -> bool:
            """Refuse names that are not this machine's own: a page elsewhere may have made them point here."""
            host = self.headers.get("Host", "").rsplit(":", 1)[0]
            if host in ("127.0.0.1", "localhost"):
                return True
            self._refuse(HTTPStatus.FORBIDDEN, "for this machine only")
            return False

        def _image(self, name: str) -> None:
            found = source.image(name)
            if found is None:
                self._refuse(HTTPStatus.NOT_FOUND, "no such picture")
                return
            self._send(found[0], _kind(found[0]))

        def _stream(self, name: str) -> None:
            """Motion JPEG: each new image as one part of an endless answer."""
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.close_connection = True
            last = -1
            while not owner.closing.is_set():
                found = source.image(name)
                if found is None or found[1] == last:
                    if self._has_left():
                        return
                    time.sleep(_PAUSE)
                    continue
                data, last = found
                head = f"--{BOUNDARY}\r\nContent-Type: {_kind(data)}\r\nContent-Length: {len(data)}\r\n\r\n"
                try:
                    self.wfile.write(head.encode() + data + b"\r\n")
                except OSError:
                    return

        def _has_left(self) -> bool:
            """Returns whether the reader has hung up, which a thread that has nothing to send would never notice."""
            try:
                ready, _, _ = select.select([self.connection], [], [], 0)
                return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
            except OSError:
                return True

        def _events(self, changes: Changes) -> None:
            """Server-sent events: what has changed, as JSON, at most once a PERIOD; the last word before closing."""
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.close_connection = True
            query = dict(parse_qsl(urlsplit(self.path).query))
            cursor: dict[str, int] = {}
            sent = time.monotonic()
            last = False
            while not last:
                last = owner.closing.wait(PERIOD)
                news = changes(cursor, query)
                now = time.monotonic()
                if not news and now - sent < _SILENCE:
                    continue
                sent = now
                text = f"data: {json.dumps(news, allow_nan=False, separators=(',', ':'))}\n\n" if news else ":\n\n"
                try:
                    self.wfile.write(text.encode())
                except OSError:
                    return

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            with suppress(ConnectionError):  # a browser that has left is nobody's news either
                self.wfile.write(body)

        def _refuse(self, status: HTTPStatus, why: str) -> None:
            body = json.dumps({"error": why}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

    return Handler


def _kind(data: bytes) -> str:
    return "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"


def number(
    words: Mapping[str, Any],
    key: str,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    default: float | None = None,
) -> float:
    """A finite number of a command. Raises ValueError on anything else and outside the bounds."""
    value = words.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{key} {value!r} is no number")
    if not minimum <= value <= maximum:
        raise ValueError(f"{key} {value:g} is not between {minimum:g} and {maximum:g}")
    return float(value)


class Wanted:
    """Images that a reader looks at now: others are not made."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked: dict[str, float] = {}
        self._lock = threading.Lock()

    def ask(self, name: str) -> None:
        """Somebody looks."""
        with self._lock:
            self._asked[name] = self._now()

    def names(self) -> list[str]:
        """Returns the names requested within the last IDLE s, sorted."""
        with self._lock:
            return sorted(name for name, at in self._asked.items() if self._now() - at <= IDLE)
