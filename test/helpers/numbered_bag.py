"""A bag of numbered messages on two topics, of which a cut or damaged file shows what is missing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from esar_ros.bags.files import open_bag
from esar_ros.bags.writer import typestore
from helpers.sqlite_bag import bag_writer

STRING = "std_msgs/msg/String"
TOPICS = ("/a", "/b/c")


def head(number: int) -> str:
    """Returns the text at the beginning of message number, in no other message."""
    return f">>{number:06d}<<"


def tail(number: int) -> str:
    """Returns the text at the end of message number, in no other message."""
    return f"<<{number:06d}>>"


def begin_end(file: bytes, number: int) -> int:
    """Returns the offset in a file at which the contiguous beginning of message number ends."""
    at = file.rfind(head(number).encode()) + len(head(number))
    return len(file) - len(file[at:].lstrip(b"x")) + 4


@cache
def content(number: int) -> bytes:
    """A serialised message; every seventh is longer than a page of sqlite."""
    text = head(number) + "x" * (9000 if number % 7 == 3 else 20 + 13 * (number % 5)) + tail(number)
    return bytes(typestore().serialize_cdr(typestore().types[STRING](data=text), STRING))


def write(path: Path, storage: str, count: int = 60) -> bytes:
    """A bag of count messages on two topics; content of its one file."""
    writer = bag_writer(path, storage)
    for topic in TOPICS:
        writer.add_topic(topic, STRING)
    for number in range(count):
        writer.write(TOPICS[number % 2], 1000 + number, content(number))
        if number % 20 == 9:
            writer.flush()
    writer.close()
    return next(file for file in path.iterdir() if file.suffix in (".mcap", ".db3")).read_bytes()


def read(path: Path) -> tuple[dict[int, bytes], bool]:
    """Messages by number, and whether the bag is cut; each must be the one that was written."""
    with open_bag(path) as bag:
        found = {}
        for connection, stamp, raw in bag.messages():
            number = stamp - 1000
            assert number not in found
            assert connection.topic == TOPICS[number % 2] and connection.msgtype == STRING
            assert raw == content(number)
            found[number] = raw
        assert list(found) == sorted(found)
        return found, bag.cut
