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
from esar_ros.mission.unpacking import bound

MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x03, 0x04, 0x05, 0x06, 0x0F
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
                    self.damaged += whole and _is_damaged(content)
                    for inner, body in _inside(content):
                        yield from self._take(inner, body)
                elif whole:
                    yield from self._take(opcode, content)

    def _take(self, opcode: int, body: bytes) -> Iterator[tuple[Connection, int, bytes]]:
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


def ends_well(file: Path) -> bool:
    """Returns whether a file has the end of an MCAP file with an index, so that nothing of it is missing."""
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 2 * len(MAGIC) + 29:
            return False
        stream.seek(size - len(MAGIC) - 29)
        footer = stream.read()
        return footer[0] == 0x02 and footer[9:17] != bytes(8) and footer.endswith(MAGIC)


def _records(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """(opcode, content, whether all of it is there); only the last record can be cut."""
    while len(head := stream.read(9)) == 9:
        length = int.from_bytes(head[1:], "little")
        content = stream.read(length)
        yield head[0], content, len(content) == length
        if len(content) < length:
            return


def _inside(chunk: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole records in a chunk that may itself be cut."""
    records = _unpacked(chunk)
    at = 0
    while at + 9 <= len(records):
        end = at + 9 + int.from_bytes(records[at + 1 : at + 9], "little")
        if end > len(records):
            return
        yield records[at], records[at + 9 : end]
        at = end


def hangs_together(records: bytes) -> bool:
    """Returns whether each record of a chunk ends where the next begins, and the last with the chunk."""
    at = 0
    while at + 9 <= len(records):
        at += 9 + int.from_bytes(records[at + 1 : at + 9], "little")
    return at == len(records)


def _is_damaged(chunk: bytes) -> bool:
    checksum = int.from_bytes(chunk[24:28], "little")
    return checksum != 0 and crc32(_unpacked(chunk)) != checksum


def _unpacked(chunk: bytes) -> bytes:
    """The records of a chunk, as far as they are there."""
    if len(chunk) < 32:
        return b""
    size = 32 + int.from_bytes(chunk[28:32], "little")
    return _decompressed(chunk[32:size].decode("utf-8", "replace"), chunk[size + 8 :])


def _decompressed(compression: str, data: bytes) -> bytes:
    """As much as can be decompressed of data that may end too early."""
    if not compression:
        return data
    decompressor = MAKERS["zstd" if compression == "zstd" else "lz4"]()
    parts = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
    out = bytearray()
    try:
        for piece in pieces(decompressor, parts, bound(len(data))):
            out += piece
    except (EOFError, RuntimeError, zstd.ZstdError):
        return bytes(out)
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
