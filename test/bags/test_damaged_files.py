"""Bags whose bits were flipped or never written: what is whole of them is read, and the rest is said."""

from __future__ import annotations

import io
from binascii import crc32
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader

from esar_ros.bags.files import open_bag
from esar_ros.bags.salvage_mcap import _records
from esar_ros.bags.writer import BagWriter
from helpers.numbered_bag import STRING, TOPICS, begin_end, content, head, read, tail, write


@pytest.mark.parametrize("indexed", [True, False])
def test_flipped_bits_are_found_by_the_checksum_of_their_chunk(tmp_path: Path, indexed: bool) -> None:
    """The chunk is read all the same, and the bag says that it is damaged."""
    file = bytearray(write(tmp_path / "bag", "mcap"))
    file[file.rfind(tail(15).encode()) + 3] ^= 0x04
    (path,) = (tmp_path / "bag").glob("*.mcap")
    path.write_bytes(bytes(file) if indexed else bytes(file[:-1]))
    with open_bag(tmp_path / "bag") as bag:
        found = list(bag.messages())
        assert bag.damaged == 1 and len(found) == 60
    assert [stamp - 1000 for _, stamp, raw in found if raw != content(stamp - 1000)] == [15]


def test_a_chunk_that_flipped_bits_have_torn_is_left_out(tmp_path: Path) -> None:
    file = bytearray(write(tmp_path / "bag", "mcap"))
    at = file.find(head(12).encode())
    file[file.rfind(b"\x05", 0, at) + 3] ^= 0x40  # the length of its record
    (path,) = (tmp_path / "bag").glob("*.mcap")
    path.write_bytes(bytes(file))
    with open_bag(tmp_path / "bag") as bag:
        found = [stamp - 1000 for _, stamp, _ in bag.messages()]
        assert bag.damaged == 1 and found == [*range(10), *range(30, 60)]


@pytest.fixture(scope="module")
def compressed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a bag of 60 messages in three chunks of 20, compressed by zstd."""
    path = tmp_path_factory.mktemp("compressed") / "bag"
    writer = BagWriter(path, compressed=True)
    for topic in TOPICS:
        writer.add_topic(topic, STRING)
    for number in range(60):
        writer.write(TOPICS[number % 2], 1000 + number, content(number))
        if number % 20 == 19:
            writer.flush()
    writer.close()
    return (path / "bag.mcap").read_bytes()


@pytest.mark.parametrize("indexed", [True, False])
@given(number=st.integers(0, 2), share=st.floats(0.0, 1.0), bit=st.integers(0, 7))
@settings(deadline=None, max_examples=30)
def test_of_compressed_chunks_a_damaged_one_alone_is_lost(
    tmp_path_factory: pytest.TempPathFactory, compressed: bytes, indexed: bool, number: int, share: float, bit: int
) -> None:
    records = [(opcode, len(body)) for opcode, body, _ in _records(io.BytesIO(compressed[8:]))]
    place = [i for i, (opcode, _) in enumerate(records) if opcode == 0x06][number]
    front = 9 + 44  # bytes of a chunk's record before its data
    begin = 8 + sum(9 + size for _, size in records[:place]) + front
    data = bytearray(compressed)
    data[begin + round(share * (records[place][1] - 44 - 1))] ^= 1 << bit
    file = tmp_path_factory.mktemp("damaged") / "bag.mcap"
    file.write_bytes(bytes(data) if indexed else bytes(data[:-1]))
    with open_bag(file) as bag:
        found = [(stamp - 1000, raw) for _, stamp, raw in bag.messages()]
        assert bag.damaged == 1 or found == [(n, content(n)) for n in range(60)]
    if indexed or number > 0:  # without an index the topics are told by the first chunk alone
        # What a damaged chunk still holds may have another time or content.
        assert {(n, content(n)) for n in range(60) if n // 20 != number} <= set(found)


@pytest.mark.parametrize("stated", [True, False], ids=["checksum", "no checksum"])
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_flipped_bit_of_the_index_hides_no_message(
    whole: dict[str, tuple[Path, bytes]], stated: bool, data: st.DataObject
) -> None:
    source, told = whole["mcap"]
    begin = int.from_bytes(told[-28:-20], "little")
    assert crc32(told[begin:-12]) == int.from_bytes(told[-12:-8], "little") != 0
    file = bytearray(told) if stated else bytearray(told[:-12] + bytes(4) + told[-8:])
    records = list(_records(io.BytesIO(told[begin:-37])))
    ends = [begin + sum(9 + len(body) for _, body, _ in records[: i + 1]) for i in range(len(records))]
    # Without the checksum a topic's name may be wrong, and nothing tells.
    kinds = range(256) if stated else (0x08, 0x0B)
    ranges = [(end - len(body), end) for end, (kind, body, _) in zip(ends, records, strict=True) if kind in kinds]
    first, last = data.draw(st.sampled_from(ranges))
    file[data.draw(st.integers(first, last - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = source.parent / "flipped.mcap"
    path.write_bytes(bytes(file))
    found, cut = read(path)
    assert len(found) == 60 and not cut


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_where_the_reader_fails_on_its_way_the_rest_is_scanned(
    tmp_path: Path, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "bag", storage)
    messages = AnyReader.messages

    def failing(self: AnyReader, connections: list[Any]) -> Iterator[Any]:
        yield from islice(messages(self, connections), 31)
        raise ValueError("database disk image is malformed")

    monkeypatch.setattr(AnyReader, "messages", failing)
    with open_bag(tmp_path / "bag") as bag:
        for topics in (TOPICS, TOPICS[:1]):
            chosen = [connection for connection in bag.connections if connection.topic in topics]
            found = [(stamp - 1000, raw) for _, stamp, raw in bag.messages(chosen)]
            assert found == [(n, content(n)) for n in range(60) if TOPICS[n % 2] in topics]


@pytest.mark.parametrize("length", [b"\xff" * 8, (1 << 40).to_bytes(8, "little")])
def test_a_length_that_no_file_has_takes_no_memory(tmp_path: Path, length: bytes) -> None:
    """As of a record header that was being written when the power went."""
    data = write(tmp_path / "bag", "mcap")
    file = tmp_path / "cut.mcap"
    end = data.rfind(tail(49).encode())
    file.write_bytes(data[: data.find(b"\x07", end)] + b"\x06" + length + bytes(200))
    found, cut = read(file)
    assert len(found) == 50 and cut


def test_a_file_of_sqlite_whose_end_is_zeros_counts_as_cut(tmp_path: Path) -> None:
    """As a file system leaves it that had the file's size, but not yet all of its pages, when the power went."""
    data = write(tmp_path / "bag", "sqlite3")
    file = tmp_path / "zeros.db3"
    file.write_bytes(data[: len(data) * 7 // 10] + bytes(len(data) - len(data) * 7 // 10))
    found, cut = read(file)
    assert 0 < len(found) < 60 and cut


def test_of_a_cut_file_of_sqlite_a_message_that_ends_with_a_zero_is_whole_with_it(tmp_path: Path) -> None:
    """As each text does; and so does the file that is cut behind it."""
    data = write(tmp_path / "bag", "sqlite3")
    file = tmp_path / "cut.db3"
    ends = {number: data.rfind(tail(number).encode()) + len(tail(number)) + 1 for number in range(0, 60, 5)}
    for number, end in ends.items():
        if begin_end(data, number) > end:
            continue  # a long one, whose end lies before its beginning
        file.write_bytes(data[:end])
        found, cut = read(file)
        assert found[number] == content(number) and cut


def test_a_whole_bag_is_not_damaged(whole: dict[str, tuple[Path, bytes]]) -> None:
    for path, _ in whole.values():
        with open_bag(path) as bag:
            assert len(list(bag.messages())) == 60 and bag.damaged == 0
