"""Chat completions over HTTP: one request to any OpenAI-compatible server, with the standard library alone.

The key goes into the request's header and nowhere else: not into messages, logs or other hosts (redirects are refused).
Error messages hold nothing that the server sent.
"""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_MAX_BYTES = 1 << 20  # bytes of an answer
_AGAIN = (408, 409, 429)  # and every 5xx: asking again may help


class NoAnswer(Exception):
    """No usable answer came, and why; again: whether asking again may help."""

    def __init__(self, reason: str, again: bool = True) -> None:
        super().__init__(reason)
        self.again = again


@dataclass(frozen=True)
class Completion:
    """A model's words and what the server counted; tokens are 0 where it counts none."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class ChatServer:
    """An endpoint that ends before /chat/completions, e.g. http://localhost:8000/v1; timeout in s, as a whole."""

    def __init__(self, url: str, key: str | None = None, timeout: float = 60.0) -> None:
        """Raises ValueError when url is no http address."""
        if not re.match(r"https?://[^/]", url):
            raise ValueError(f"'{url}' is no http address")
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._timeout = timeout
        # Redirects would carry the key to another host.
        self._open = urllib.request.build_opener(_NoRedirect)

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Ask once. Raises NoAnswer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode("utf-8"), headers)
        late = NoAnswer(f"no answer within {self._timeout:g} s")
        try:
            return _completion(json.loads(self._read(request)))
        except urllib.error.HTTPError as error:
            error.close()
            raise NoAnswer(f"HTTP {error.code}", again=error.code in _AGAIN or error.code >= 500) from None
        except TimeoutError:
            raise late from None
        except (OSError, http.client.HTTPException) as error:
            if isinstance(getattr(error, "reason", error), TimeoutError):
                raise late from None
            raise NoAnswer("connection lost or refused") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise NoAnswer("the server's answer is no chat completion") from None

    def _read(self, request: urllib.request.Request) -> bytes:
        """The body, within the time-out as a whole: a server that sends a byte now and then does not hold us up."""
        deadline = time.monotonic() + self._timeout
        parts: list[bytes] = []
        with self._open.open(request, timeout=self._timeout) as response:
            while part := response.read1(1 << 16):
                parts.append(part)
                if time.monotonic() > deadline:
                    raise TimeoutError
                if sum(map(len, parts)) > _MAX_BYTES:
                    raise NoAnswer("the answer is too long")
            if response.length:
                raise http.client.IncompleteRead(b"".join(parts), response.length)
        return b"".join(parts)


def _completion(answer: Any) -> Completion:
    message = answer["choices"][0]["message"]
    if message.get("refusal"):
        raise NoAnswer("the model refused")
    text = message["content"]
    if not isinstance(text, str):
        raise NoAnswer("the model said nothing")
    usage = answer.get("usage") or {}
    return Completion(text, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int:
    return min(value, 1 << 31) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
