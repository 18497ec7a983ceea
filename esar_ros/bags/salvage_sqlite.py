"""Recovery of a damaged sqlite3 bag: every message whose bytes lie before the place where the file was cut.

SQLite itself stops at the first missing page. So the pages are read here: those that the table's tree still reaches,
and those whose parent page is missing. Source: the SQLite file format (sqlite.org/fileformat2.html).
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from rosbags.interfaces import Connection

from esar_ros.bags.salvage_topic import NO_DEFINITION, connection_of, definition_of
from esar_ros.mission.errors import UsageError

MAGIC = b"SQLite format 3\x00"
_LEAF, _INTERIOR = 0x0D, 0x05  # pages of a table
_SECTOR = 512  # bytes, which a disk writes all or none of; a page has a whole number of them
_MESSAGE_COLUMNS = 4  # id, topic_id, timestamp, data: no other table of a bag has as many

Value = int | float | str | bytes | None
Row = list[Value]


class _Gone(Exception):
    """Bytes that lie beyond the cut, or that make no sense."""


class SalvageSqlite:
    """Messages of a file in the order of writing."""

    def __init__(self, file: Path, whole: bool = True) -> None:
        """whole: nothing of it is missing; else sectors of zeros at its end are taken for what was never written.

        Raises UsageError where there is no sqlite3 bag, or not even its list of tables.
        """
        self._data = file.read_bytes()
        if not whole:  # a message may end with zeros of its own
            self._data = self._data[: -(-len(self._data.rstrip(b"\0")) // _SECTOR) * _SECTOR]
        if not self._data.startswith(MAGIC) or len(self._data) < 100:
            raise UsageError(f"{file} is no sqlite3 bag", "give a rosbag2 of a mission")
        size = int.from_bytes(self._data[16:18], "big")
        self._page = 65536 if size == 1 else size
        self._usable = self._page - self._data[20]
        roots = {str(row[1]): row[3] for _, row in self._table(1) if row[0] == "table" and len(row) == 5}
        if "messages" not in roots or "topics" not in roots:
            raise UsageError(f"{file} is no sqlite3 bag: it lacks its tables", "give a rosbag2 of a mission")
        self._roots = {name: int(root) for name, root in roots.items() if isinstance(root, int)}
        self.connections = self._topics()

    def messages(self) -> Iterator[tuple[Connection, int, bytes]]:
        """(connection, stamp in ns, serialised message)."""
        rows = dict(self._orphans())
        rows.update(self._table(self._roots["messages"]))
        for number in sorted(rows):
            row = rows[number]
            if len(row) != _MESSAGE_COLUMNS:
                continue
            _, topic, stamp, data = row
            if isinstance(topic, int) and isinstance(stamp, int) and isinstance(data, bytes):
                connection = self.connections.get(topic)
                if connection is not None:
                    yield connection, stamp, data

    def _topics(self) -> dict[int, Connection]:
        definitions = {
            str(row[1]): definition_of(str(row[2]), str(row[3]))
            for _, row in self._table(self._roots.get("message_definitions", 0))
            if len(row) >= 4
        }
        found = {}
        for number, row in self._table(self._roots["topics"]):
            name, kind, encoding = (str(value) for value in row[1:4])
            offered = str(row[4]) if len(row) > 4 and row[4] else ""
            definition = definitions.get(kind, NO_DEFINITION)
            found[number] = connection_of(number, name, kind, encoding, definition, offered)
        return found

    # -- pages ----------------------------------------------------------------------------------

    def _bytes(self, start: int, count: int) -> bytes:
        if start < 0 or count < 0 or start + count > len(self._data):
            raise _Gone
        return self._data[start : start + count]

    def _start(self, page: int) -> int:
        """Returns the offset of a page's header; the first page's follows the file's header (100 bytes)."""
        return 100 if page == 1 else (page - 1) * self._page

    def _cells(self, page: int) -> Iterator[int]:
        """Offsets in the file of a page's cells, as far as their list is there."""
        header = self._start(page)
        try:
            kind = self._bytes(header, 1)[0]
            count = int.from_bytes(self._bytes(header + 3, 2), "big")
            pointers = header + (12 if kind == _INTERIOR else 8)
            for i in range(count):
                yield (page - 1) * self._page + int.from_bytes(self._bytes(pointers + 2 * i, 2), "big")
        except _Gone:
            return

    def _leaves(self, root: int) -> Iterator[int]:
        """Leaf pages of a table's tree, without the branches that are gone."""
        waiting, seen = [root], set()
        while waiting:
            page = waiting.pop()
            header = self._start(page)
            if page < 1 or page in seen or header >= len(self._data):
                continue
            seen.add(page)
            kind = self._data[header]
            if kind == _LEAF:
                yield page
            elif kind == _INTERIOR:
                try:
                    children = [int.from_bytes(self._bytes(at, 4), "big") for at in self._cells(page)]
                    children.append(int.from_bytes(self._bytes(header + 8, 4), "big"))
                except _Gone:
                    children = []
                waiting.extend(reversed(children))

    def _table(self, root: int) -> Iterator[tuple[int, Row]]:
        for page in self._leaves(root):
            yield from self._rows(page)

    def _orphans(self) -> Iterator[tuple[int, Row]]:
        """Rows of messages on leaf pages that no tree reaches. A page that continues a long message begins with 0."""
        reached = {page for root in (1, *self._roots.values()) for page in self._leaves(root)}
        for page in range(2, -(-len(self._data) // self._page) + 1):
            if page not in reached and self._data[self._start(page)] == _LEAF:
                yield from (pair for pair in self._rows(page) if len(pair[1]) == _MESSAGE_COLUMNS)

    def _rows(self, page: int) -> Iterator[tuple[int, Row]]:
        for at in self._cells(page):
            try:
                length, at = self._varint(at)
                number, at = self._varint(at)
                yield number, _record(self._payload(at, length))
            except (_Gone, IndexError, struct.error, UnicodeDecodeError):
                continue

    def _payload(self, at: int, length: int) -> bytes:
        """A cell's content with what overflowed to other pages."""
        max_local = self._usable - 35
        if length <= max_local:
            return self._bytes(at, length)
        min_local = (self._usable - 12) * 32 // 255 - 23
        local = min_local + (length - min_local) % (self._usable - 4)
        local = local if local <= max_local else min_local
        parts = [self._bytes(at, local)]
        page = int.from_bytes(self._bytes(at + local, 4), "big")
        left = length - local
        while left > 0:
            if page < 2:
                raise _Gone
            start = (page - 1) * self._page
            here = min(left, self._usable - 4)
            page = int.from_bytes(self._bytes(start, 4), "big")
            parts.append(self._bytes(start + 4, here))
            left -= here
        return b"".join(parts)

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for i in range(9):
            byte = self._bytes(at + i, 1)[0]
            if i == 8:
                return value << 8 | byte, at + 9
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value, at + i + 1
        raise _Gone


def is_whole(file: Path) -> bool:
    """Returns whether a file has all the pages that its header counts, and no transaction was left unfinished."""
    with file.open("rb") as stream:
        head = stream.read(100)
        size = stream.seek(0, 2)
    if len(head) < 100 or not head.startswith(MAGIC):
        return False
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    journal = file.with_name(file.name + "-journal")
    unfinished = journal.is_file() and journal.stat().st_size > 0
    return size >= page * int.from_bytes(head[28:32], "big") and not unfinished


def is_sound(file: Path) -> bool:
    """Returns whether SQLite finds no damage within a file, whose size tells nothing of pages that are all zeros."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection,
    ):
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    return False


def _record(payload: bytes) -> Row:
    """Values of a row."""
    size, at = _short_varint(payload, 0)
    kinds = []
    while at < size:
        kind, at = _short_varint(payload, at)
        kinds.append(kind)
    values: Row = []
    for kind in kinds:
        if kind >= 12:
            end = at + (kind - 12) // 2
            content = payload[at:end]
            values.append(content.decode("utf-8") if kind % 2 else content)
        elif kind in (8, 9, 0):
            end = at
            values.append({8: 0, 9: 1}.get(kind))
        elif kind == 7:
            end = at + 8
            values.append(struct.unpack_from(">d", payload, at)[0])
        else:
            end = at + (0, 1, 2, 3, 4, 6, 8)[kind]
            values.append(int.from_bytes(payload[at:end], "big", signed=True))
        if end > len(payload):
            raise _Gone
        at = end
    return values


def _short_varint(payload: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(9):
        byte = payload[at + i]
        if i == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at + i + 1
