"""msgpack decoding of large replies: arrays of single floats without a loop, binaries without a copy.

A float array is n elements of five bytes, 0xCA and a big-endian float32; numpy reads it as a
strided record array.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

FLOAT_ELEMENT = np.dtype([("tag", "u1"), ("value", ">f4")])
FLOAT_TAG = 0xCA
_LARGE = 64  # elements; shorter arrays are not worth numpy
_SCALARS = {
    code: struct.Struct(form)
    for code, form in {
        0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
        0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
    }.items()
}  # fmt: skip
_LENGTH_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


class Incomplete(Exception):
    """More bytes are needed, at least `needed` in all."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


class LargeReply:
    """Decodes one message that is still arriving; finished parts are kept between attempts."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, int]] = {}  # by offset: value, end

    def decode(self, data: memoryview, size: int) -> tuple[Any, int]:
        """The message at the start of data, of which size bytes have arrived, and where it ends.

        float32 arrays are ndarrays (n,), binaries memoryviews of data. Raises Incomplete, EOFError for bad data.
        """
        self._data, self._size = data, size
        return self._value(0)

    def _value(self, at: int) -> tuple[Any, int]:
        self._need(at + 1)
        code = self._data[at]
        if code < 0x80:
            return code, at + 1
        if code >= 0xE0:
            return code - 256, at + 1
        if code < 0x90:
            return self._map(code & 15, at + 1)
        if code < 0xA0:
            return self._array(code & 15, at + 1)
        if code < 0xC0:
            return self._text(code & 31, at + 1)
        if code in _CONSTANTS:
            return _CONSTANTS[code], at + 1
        scalar = _SCALARS.get(code)
        if scalar is not None:
            self._need(at + 1 + scalar.size)
            return scalar.unpack_from(self._data, at + 1)[0], at + 1 + scalar.size
        width = _LENGTH_BYTES.get(code)
        if width is None:
            raise EOFError(f"what arrived is not AirSim's msgpack: type {code:#x}")
        self._need(at + 1 + width)
        length = int.from_bytes(self._data[at + 1 : at + 1 + width], "big")
        start = at + 1 + width
        if code >= 0xDE:
            return self._map(length, start)
        if code >= 0xDC:
            return self._array(length, start)
        if code >= 0xD9:
            return self._text(length, start)
        self._need(start + length)
        return self._data[start : start + length], start + length

    def _text(self, length: int, at: int) -> tuple[str, int]:
        self._need(at + length)
        return str(self._data[at : at + length], "utf-8", "replace"), at + length

    def _map(self, length: int, at: int) -> tuple[dict[Any, Any], int]:
        out = {}
        for _ in range(length):
            key, at = self._value(at)
            out[key], at = self._kept(at)
        return out, at

    def _array(self, length: int, at: int) -> tuple[Any, int]:
        if length > _LARGE:
            self._need(at + 1)
            if self._data[at] == FLOAT_TAG:
                end = at + FLOAT_ELEMENT.itemsize * length
                self._need(end)
                elements = np.frombuffer(self._data, dtype=FLOAT_ELEMENT, count=length, offset=at)
                if (elements["tag"] == FLOAT_TAG).all():
                    return elements["value"].astype(np.float32), end
        out = []
        for _ in range(length):
            value, at = self._kept(at)
            out.append(value)
        return out, at

    def _kept(self, at: int) -> tuple[Any, int]:
        """A value inside a container; containers and arrays that are complete are not decoded twice."""
        known = self._done.get(at)
        if known is not None:
            return known
        answer = self._value(at)
        if isinstance(answer[0], (dict, np.ndarray)):
            self._done[at] = answer
        return answer

    def _need(self, size: int) -> None:
        if size > self._size:
            raise Incomplete(size)
