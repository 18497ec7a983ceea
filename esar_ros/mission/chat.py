"""Chat completions over HTTP: one request to any OpenAI-compatible server, with the standard library alone.

The key goes into the request's header and nowhere else: not into messages, logs or other hosts (redirects are refused),
nor in clear over a network. Error messages hold nothing that the server sent; its own words are kept apart from them,
without the key, for logs and for whoever can mend the request.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from esar_ros.mission.decision import writable
from esar_ros.mission.errors import UsageError

DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_MAX_BYTES = 1 << 20  # bytes of an answer
_MAX_WORDS = 2000  # bytes of an error's body that are read
_TOKEN_BYTES, _IMAGE_TOKENS = 3, 1000
_AGAIN = (408, 409, 429)  # and every 5xx: asking again may help


@dataclass(frozen=True)
class Completion:
    """A model's words and what the server counted; tokens are 0 where it counts none (estimated_tokens).

    finish: the server's finish_reason ("length": cut at max_tokens); model: its name for the model. '' where it says
    neither.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    finish: str = ""
    model: str = ""


class NoAnswer(Exception):
    """No usable answer came, and why.

    again: whether asking again may help; status: HTTP's, 0 where the server gave none; words: the server's own;
    completion: what came from a server that answered in order where the model said nothing or refused, else None.
    """

    def __init__(
        self, reason: str, again: bool = True, status: int = 0, words: str = "", completion: Completion | None = None
    ) -> None:
        super().__init__(reason)
        self.again, self.status, self.words, self.completion = again, status, words, completion


class ChatServer:
    """An endpoint that ends before /chat/completions, e.g. http://localhost:8000/v1; timeout in s, as a whole."""

    def __init__(self, url: str, key: str | None = None, timeout: float = 60.0) -> None:
        """Raises ValueError when url is no http address, UsageError when the key would go in clear (check_key)."""
        check_address(url)
        check_key(url, key)
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._timeout = timeout
        # Redirects would carry the key to another host, and so would a proxy on the way to this machine.
        proxies = urllib.request.ProxyHandler({} if _is_loopback(url) else None)
        # Without a context of its own each request would read all certificates of this machine again: 20 ms.
        https = _Https(context=_tls()) if url.startswith("https:") else _Https()
        self._open = urllib.request.build_opener(_NoRedirect, _Http, https, proxies)

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Ask once. Raises NoAnswer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode("utf-8"), headers)
        late = NoAnswer(f"no answer within {self._timeout:g} s")
        try:
            answer = json.loads(self._read(request))
            if isinstance(answer, dict) and answer.get("error") and not answer.get("choices"):
                words = self._shown(json.dumps(answer["error"], ensure_ascii=False)[:_MAX_WORDS])
                raise NoAnswer("the server answered with an error", words=words)
            return _completion(answer)
        except urllib.error.HTTPError as error:
            again = error.code in _AGAIN or error.code >= 500
            raise NoAnswer(f"HTTP {error.code}", again, error.code, self._words(error)) from None
        except TimeoutError:
            raise late from None
        except (OSError, http.client.HTTPException) as error:
            if isinstance(getattr(error, "reason", error), TimeoutError):
                raise late from None
            raise NoAnswer("connection lost or refused") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise NoAnswer("the server's answer is no chat completion") from None

    def _words(self, error: urllib.error.HTTPError) -> str:
        """Returns the server's own words about an error on one line, the key taken out."""
        try:
            with error:
                body = error.read(_MAX_WORDS).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return ""
        return self._shown(body)

    def _shown(self, words: str) -> str:
        if self._key:
            words = words.replace(self._key, "[key]")
        return " ".join("".join(c if c.isprintable() else " " for c in words).split())

    def _read(self, request: urllib.request.Request) -> bytes:
        """The body, within the time-out as a whole: a server that sends a byte now and then does not hold us up."""
        with self._open.open(request, timeout=self._timeout) as response:
            body: bytes = response.read(_MAX_BYTES + 1)
            if len(body) > _MAX_BYTES:
                raise NoAnswer("the answer is too long")
            if response.length:
                raise http.client.IncompleteRead(body, response.length)
        return body


def check_address(url: str) -> None:
    """Raises ValueError for what is no address of an http server."""
    try:
        parts = urlsplit(url)
        is_server = bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number, or brackets
        is_server = False
    if not is_server or not url.startswith(("http://", "https://")) or not url.isprintable() or " " in url:
        raise ValueError(f"'{url}' is no http address")


def key_of(variable: str, environment: Mapping[str, str]) -> str | None:
    """Returns the key that a variable of the environment holds, without white space around it; None: there is none.

    Raises UsageError, which does not show it, where no request's header can carry it.
    """
    key = environment.get(variable, "").strip()
    if not all(c.isprintable() and ord(c) < 256 for c in key):
        raise UsageError(f"{variable} holds a character that is in no key", "copy the key again")
    return key or None


def check_key(url: str, key: str | None) -> None:
    """Raises UsageError when a key would be sent unencrypted to another machine."""
    if key and url.startswith("http://") and not _is_loopback(url):
        raise UsageError(
            f"the key would be sent in clear to {urlsplit(url).hostname}",
            "give an https address, a tunnel that ends at http://localhost, or no key",
        )


def without_fence(text: str) -> str:
    """A model's text without white space and the code fence around it."""
    bare = text.strip()
    if len(bare) < 6 or not (bare.startswith("```") and bare.endswith("```")):
        return bare
    return bare[3:-3].removeprefix("json").strip()


def estimated_tokens(content: str | list[dict[str, Any]]) -> int:
    """Tokens of a text, or of a message's content, for a server that counts none.

    Three bytes of UTF-8 a token (English has four to five, Chinese three to four), and 1000 an image: rather too many.
    """
    if isinstance(content, str):
        return -(-len(content.encode("utf-8", "surrogatepass")) // _TOKEN_BYTES)
    return sum(estimated_tokens(part["text"]) if "text" in part else _IMAGE_TOKENS for part in content)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _completion(answer: Any) -> Completion:
    choice = answer["choices"][0]
    message = choice["message"]
    usage = answer.get("usage") or {}
    counts = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    named = _short(choice.get("finish_reason")), _short(answer.get("model"))
    if message.get("refusal"):
        raise NoAnswer("the model refused", completion=Completion("", *counts, *named))
    text = message["content"]
    if not isinstance(text, str):
        raise NoAnswer("the model said nothing", completion=Completion("", *counts, *named))
    return Completion(writable(text), *counts, *named)


def _short(value: Any) -> str:
    return writable(value[:200]) if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return min(value, 1 << 31) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _InTime(urllib.request.AbstractHTTPHandler):
    """A handler of requests whose answer, headers included, must be there when the time-out is over."""

    def do_open(self, http_class: Any, req: Any, **http_conn_args: Any) -> Any:
        deadline = time.monotonic() + req.timeout

        def connection(*args: Any, **more: Any) -> Any:
            made = http_class(*args, **more)
            made.response_class = partial(_Response, deadline)
            return made

        return super().do_open(connection, req, **http_conn_args)


class _Http(_InTime, urllib.request.HTTPHandler):
    pass


class _Https(_InTime, urllib.request.HTTPSHandler):
    pass


def _tls() -> ssl.SSLContext:
    """A context that checks certificates and names, as http.client makes one for each connection that has none."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Response(http.client.HTTPResponse):
    def __init__(self, deadline: float, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Until(deadline, sock, self.fp.detach()))


class _Until(io.RawIOBase):
    """A socket's bytes until a deadline (s of time.monotonic)."""

    def __init__(self, deadline: float, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._deadline, self._socket, self._raw = deadline, sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
