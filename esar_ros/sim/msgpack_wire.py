"""msgpack-RPC on the wire: requests in, replies out, float arrays packed without a loop.

Request [0, id, method, [args]], notification [2, method, [args]], reply [1, id, error, result].
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import msgpack
import numpy as np
from numpy.typing import ArrayLike, NDArray

# A peer may announce huge containers that it never sends: bound what an unpacker allocates ahead.
MAX_MESSAGE = 1 << 20  # bytes; an empty list is one byte on the wire and 60 in memory
MAX_ITEMS = 4096

FLOAT_ELEMENT = np.dtype([("tag", "u1"), ("value", ">f4")])  # one msgpack float32
FLOAT_TAG = 0xCA


class ProtocolError(Exception):
    """The peer violates msgpack-RPC; the connection is of no more use."""


class Encoded(bytes):
    """A result that is already msgpack."""


def pack(value: Any) -> bytes:
    """One object; floats as float64, bytes as bin, text as str."""
    return bytes(msgpack.packb(value, use_bin_type=True))


def pack_floats(values: ArrayLike) -> bytes:
    """A flat array of float32 as AirSim sends depth: array32 of single floats."""
    array = np.asarray(values, dtype=np.float32).reshape(-1)
    out: NDArray[Any] = np.empty(array.size, dtype=FLOAT_ELEMENT)
    out["tag"] = FLOAT_TAG
    out["value"] = array
    return b"\xdd" + struct.pack(">I", array.size) + out.tobytes()


def bin_header(size: int) -> bytes:
    """Returns the header of `size` raw bytes."""
    return b"\xc6" + struct.pack(">I", size)


def pack_map(items: Mapping[str, Any]) -> bytes:
    """A map whose values may already be Encoded, or arrays of floats."""
    packer = msgpack.Packer(use_bin_type=True)
    parts = [packer.pack_map_header(len(items))]
    for key, value in items.items():
        parts.append(packer.pack(key))
        if isinstance(value, Encoded):
            parts.append(value)
        else:
            parts.append(pack_floats(value) if isinstance(value, np.ndarray) else packer.pack(value))
    return b"".join(parts)


def pack_list(items: Iterable[bytes]) -> Encoded:
    """A list of objects that are msgpack already."""
    parts = list(items)
    return Encoded(b"".join([msgpack.Packer().pack_array_header(len(parts)), *parts]))


def pack_reply(request: int, error: str | None, result: Any) -> bytes:
    """The answer to a request."""
    head = b"\x94\x01" + pack(request) + pack(error)
    if isinstance(result, dict):
        return head + pack_map(result)
    return head + (result if isinstance(result, Encoded) else pack(result))


class Requests:
    """Turns received bytes into (id or None, method, arguments)."""

    def __init__(self) -> None:
        self.received = 0  # bytes
        self._whole = 0  # bytes up to the end of the last whole message
        self._unpacker = msgpack.Unpacker(
            raw=False,
            strict_map_key=False,
            unicode_errors="replace",
            max_buffer_size=MAX_MESSAGE,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
            max_str_len=MAX_MESSAGE,
            max_bin_len=MAX_MESSAGE,
            max_ext_len=0,
        )

    def feed(self, data: bytes) -> None:
        """Take bytes in. Raises ProtocolError when the message grows too long."""
        try:
            self._unpacker.feed(data)
            self.received += len(data)
        except (ValueError, msgpack.exceptions.UnpackException) as error:
            raise ProtocolError(f"message too long: {error}") from None

    @property
    def unfinished(self) -> int:
        """Bytes of the message that has not come to its end."""
        return self.received - self._whole

    def __iter__(self) -> Requests:
        return self

    def __next__(self) -> tuple[int | None, str, list[Any]]:
        try:
            message = next(self._unpacker)
            self._whole = int(self._unpacker.tell())
        except StopIteration:
            raise
        except Exception as error:  # the unpacker raises its own, ValueError, TypeError, RecursionError
            raise ProtocolError(f"not msgpack: {error}") from None
        match message:
            case [0, int(request), str(method), list(arguments)] if 0 <= request < 1 << 63:
                return request, method, arguments
            case [2, str(method), list(arguments)]:
                return None, method, arguments
        raise ProtocolError("not a msgpack-RPC request")
