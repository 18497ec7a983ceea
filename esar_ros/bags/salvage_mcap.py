"""Recovery of a damaged MCAP file: every message that lies whole before the place where it was cut.

Source: the MCAP specification, version 0 (mcap.dev/spec): records of one byte (opcode), eight bytes (length) and
content, most of them inside chunks, which may be compressed.
"""

from __future__ import annotations

import struct
from binascii import crc32
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from backports import zstd
from rosbags.interfaces import Connection, MessageDefinition

from esar_ros.bags.inflate import MAKERS, pieces
from esar_ros.bags.salvage_topic import NO_DEFINITION, connection_of, definition_of
from esar_ros.mission.errors import UsageError
from esar_ros.mission.unpacking import TooLarge, bound

MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x03, 0x04, 0x05, 0x06, 0x0F
_FRONT = {_SCHEMA: 2, _CHANNEL: 4, _MESSAGE: 22}  # bytes before a record's texts or data
_PIECE = 1 << 16  # bytes given to it at once, so that a damaged end costs no more than itself


class SalvageMcap:
    """Messages of a file in the order of writing.

    Afterwards `complete` says whether its data ended where it should, `damaged` how many of its whole chunks are not
    what their checksums say.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._schemas: dict[int, MessageDefinition] = {}
        self._names: dict[int, str] = {}
        self.connections: dict[int, Connection] = {}
        self.complete = False
        self.damaged = 0

    def messages(self) -> Iterator[tuple[Connection, int, bytes]]:
        """(connection, log time in ns, serialised message). Raises UsageError where there is no MCAP file."""
        with self._file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise UsageError(f"{self._file} is no MCAP file", "give a rosbag2 of a mission")
            for opcode, content, whole in _records(stream):
                if opcode == _DATA_END:
                    self.complete = whole
                    return
                if opcode == _CHUNK:
                    records, is_sound = _unpacked(content)
                    self.damaged += whole and not is_sound
                    for inner, body in _inside(records):
                        yield from self._take(inner, body)
                elif whole:
                    yield from self._take(opcode, content)

    def _take(self, opcode: int, body: bytes) -> Iterator[tuple[Connection, int, bytes]]:
        if len(body) < _FRONT.get(opcode, 0):
            return  # bytes that make no sense
        if opcode == _SCHEMA:
            number, rest = struct.unpack_from("<H", body)[0], body[2:]
            name, rest = _text(rest)
            encoding, rest = _text(rest)
            text, _ = _text(rest)
            self._names[number] = name
            self._schemas[number] = definition_of(encoding, text)
        elif opcode == _CHANNEL:
            number, schema = struct.unpack_from("<HH", body)
            topic, rest = _text(body[4:])
            encoding, rest = _text(rest)
            definition = self._schemas.get(schema, NO_DEFINITION)
            kind = self._names.get(schema, "")
            self.connections[number] = connection_of(number, topic, kind, encoding, definition, _offered(rest))
        elif opcode == _MESSAGE:
            number, _, stamp, _ = struct.unpack_from("<HIQQ", body)
            if number in self.connections:
                yield self.connections[number], stamp, body[22:]


def _records(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """(opcode, content, whether all of it is there); only the last record can be cut."""
    begin = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(begin)
    while len(head := stream.read(9)) == 9:
        length = int.from_bytes(head[1:], "little")
        content = stream.read(min(length, size))
        yield head[0], content, len(content) == length
        if len(content) < length:
            return


def _inside(records: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole records of a chunk that may itself be cut."""
    at = 0
    while at + 9 <= len(records):
        end = at + 9 + int.from_bytes(records[at + 1 : at + 9], "little")
        if end > len(records):
            return
        yield records[at], records[at + 9 : end]
        at = end


def hangs_together(records: bytes) -> bool:
    """Returns whether each record of a chunk ends where the next begins, the last with the chunk, none too early."""
    at = 0
    while at + 9 <= len(records):
        length = int.from_bytes(records[at + 1 : at + 9], "little")
        if length < _FRONT.get(records[at], 0):
            return False
        at += 9 + length
    return at == len(records)


def _unpacked(chunk: bytes) -> tuple[bytes, bool]:
    """The records of a chunk, as far as they are there, and whether they are what the chunk says that it holds."""
    if len(chunk) < 32:
        return b"", False
    size, checksum, length = struct.unpack_from("<QII", chunk, 16)
    begin = 32 + length
    records = _decompressed(chunk[32:begin].decode("utf-8", "replace"), chunk[begin + 8 :], size)
    fits = crc32(records) == checksum if checksum else hangs_together(records)
    return records, len(records) == size and fits


def _decompressed(compression: str, data: bytes, size: int) -> bytes:
    """As much as can be decompressed of data that may end too early; no more than the size that is stated."""
    if not compression:
        return data
    decompressor = MAKERS["zstd" if compression == "zstd" else "lz4"]()
    parts = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    out, most = bytearray(), bound(len(data))
    try:
        for piece in pieces(decompressor, parts, min(most, size)):
            out += piece
    except TooLarge:
        if size >= most:
            raise
    except (EOFError, RuntimeError, zstd.ZstdError):
        pass
    return bytes(out)


def _text(data: bytes) -> tuple[str, bytes]:
    """A text with its length before it, and what follows."""
    end = 4 + int.from_bytes(data[:4], "little")
    return data[4:end].decode("utf-8", "replace"), data[end:]


def _offered(metadata: bytes) -> str:
    """Qualities of service in a channel's metadata, a map of texts with its length before it."""
    rest = metadata[4 : 4 + int.from_bytes(metadata[:4], "little")]
    while rest:
        key, rest = _text(rest)
        value, rest = _text(rest)
        if key == "offered_qos_profiles":
            return value
    return ""
