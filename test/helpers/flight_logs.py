"""Flight logs as autopilots write them: PX4's ULog and ArduPilot's DataFlash, of a few topics."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ULOG_HEAD = b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0)
_ULOG_CODES = {"uint64_t": "Q", "int32_t": "i", "double": "d", "float": "f", "uint8_t": "B", "float[4]": "4f"}
_DATAFLASH_CODES = {"B": "B", "Q": "Q", "L": "i", "f": "f", "H": "H", "I": "I", "d": "d"}
_FMT = 0x80


def ulog(path: Path, topics: Mapping[str, tuple[str, Any]]) -> Path:
    """Writes a .ulg. topics: name -> fields, e.g. "uint64_t timestamp;double lat", and their rows."""
    body = b"".join(_ulog_message("F", f"{name}:{fields};".encode()) for name, (fields, _) in topics.items())
    for number, (name, (fields, rows)) in enumerate(topics.items()):
        body += _ulog_message("A", struct.pack("<BH", 0, number) + name.encode())
        form = "<H" + "".join(_ULOG_CODES[field.split()[0]] for field in fields.split(";"))
        body += b"".join(_ulog_message("D", struct.pack(form, number, *row)) for row in rows)
    path.write_bytes(_ULOG_HEAD + _ulog_message("B", bytes(40)) + body)
    return path


def _ulog_message(kind: str, data: bytes) -> bytes:
    return struct.pack("<HB", len(data), ord(kind)) + data


def dataflash(path: Path, topics: Mapping[str, tuple[str, str, Any]]) -> Path:
    """Writes a .bin. topics: name -> codes of the fields, their names by commas, and their rows."""
    out = _dataflash_format(_FMT, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns", 89)
    for number, (name, (codes, columns, rows)) in enumerate(topics.items(), start=1):
        form = "<" + "".join(_DATAFLASH_CODES[code] for code in codes)
        out += _dataflash_format(number, name, codes, columns, 3 + struct.calcsize(form))
        out += b"".join(b"\xa3\x95" + bytes([number]) + struct.pack(form, *row) for row in rows)
    path.write_bytes(out)
    return path


def _dataflash_format(kind: int, name: str, codes: str, columns: str, length: int) -> bytes:
    fields = struct.pack("<BB4s16s64s", kind, length, name.encode(), codes.encode(), columns.encode())
    return b"\xa3\x95" + bytes([_FMT]) + fields
