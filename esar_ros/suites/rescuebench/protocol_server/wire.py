"""UnrealCV's wire: frames of a magic number, a length and a payload; a request's payload is `<id>:<command>`."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

MAGIC = 0x9E2B83C1
LARGEST = 4096  # bytes of a request's payload; the longest command that clients send has some 200
_HEADER = struct.Struct("<II")
_REQUEST = re.compile(rb"(\d{1,10}):(.*)", re.DOTALL)


class ProtocolError(Exception):
    """A message that is no request: nothing after it can be trusted."""


def framed(payload: bytes) -> bytes:
    """Returns a payload as it goes over the wire."""
    return _HEADER.pack(MAGIC, len(payload)) + payload


class Requests:
    """The requests of one connection, in whatever parts they come; their ids count up from 0.

    Iterating takes those that are whole. Raises ProtocolError as soon as one cannot be right.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._id = 0

    def feed(self, data: bytes) -> None:
        """Take bytes in."""
        self._data += data

    @property
    def unfinished(self) -> bool:
        """True while there is a part of a request."""
        return bool(self._data)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        while (payload := self._payload()) is not None:
            match = _REQUEST.fullmatch(payload)
            if match is None:
                raise ProtocolError(f"'{_shown(payload)}' is no request: <id>:<command>")
            if int(match[1]) != self._id:
                raise ProtocolError(f"request {int(match[1])} where {self._id} was due")
            self._id += 1
            yield int(match[1]), match[2].decode("utf-8", errors="replace")

    def _payload(self) -> bytes | None:
        """Takes the next whole payload, None while there is none."""
        if len(self._data) < _HEADER.size:
            return None
        magic, length = _HEADER.unpack_from(self._data)
        if magic != MAGIC:
            raise ProtocolError(f"a frame begins with {magic:#010x}, not {MAGIC:#010x}")
        if length > LARGEST:
            raise ProtocolError(f"a request of {length} bytes: at most {LARGEST}")
        end = _HEADER.size + length
        if len(self._data) < end:
            return None
        payload = bytes(self._data[_HEADER.size : end])
        del self._data[:end]
        return payload


def _shown(payload: bytes) -> str:
    return payload[:40].decode("ascii", errors="replace")
