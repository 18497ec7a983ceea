"""Bags cut at any byte, and bags as rosbag2 itself and other people leave them."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import lz4.frame
import pytest
import yaml
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer, storage_mcap

from esar_ros.bags.files import open_bag
from esar_ros.bags.inflate import inflate
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission import unpacking
from esar_ros.mission.errors import UsageError
from esar_ros.scoring.bag import read_bag
from helpers.numbered_bag import STRING, TOPICS, begin_end, content, read, tail, write


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@given(data=st.data(), metadata=st.booleans())
@settings(deadline=None, max_examples=40)
def test_a_bag_cut_at_any_byte_is_read_up_to_the_cut(
    whole: dict[str, tuple[Path, bytes]], storage: str, data: st.DataObject, metadata: bool
) -> None:
    """Whatever has its last byte before the cut is there; nothing is there that was not written."""
    source, content_whole = whole[storage]
    size = data.draw(st.integers(0, len(content_whole)))
    cut = content_whole[:size]
    folder = source.parent / "cut"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    name = "bag.mcap" if storage == "mcap" else "bag.db3"
    (folder / name).write_bytes(cut)
    if metadata:
        text = (source / "metadata.yaml").read_text().replace(f"{source.name}{Path(name).suffix}", name)
        assert name in text
        (folder / "metadata.yaml").write_text(text)
    # Without its terminating zero a text is not a whole message. Sqlite may hold a long one's end before its beginning,
    # which is whole with all that lies there: a page's share of the text, and the page (4 bytes) on which it goes on.
    ends = {number: content_whole.rfind(tail(number).encode()) + len(tail(number)) + 1 for number in range(60)}
    begun = {number: begin_end(content_whole, number) for number in range(60)}
    expected = {number for number in range(60) if max(begun[number], ends[number]) <= size}
    try:
        found, is_cut = read(folder)
    except UsageError as error:
        assert "\n" not in str(error)
        assert not expected, "there was something to be read"
        return
    assert expected <= set(found)
    assert all(ends[number] <= size for number in found)
    if len(found) < 60:
        assert is_cut
    if size == len(content_whole):
        assert len(found) == 60 and not is_cut


@pytest.mark.parametrize(
    ("plugin", "mode"),
    [
        (StoragePlugin.MCAP, CompressionMode.FILE),
        (StoragePlugin.MCAP, CompressionMode.MESSAGE),
        (StoragePlugin.MCAP, CompressionMode.STORAGE),
        (StoragePlugin.SQLITE3, CompressionMode.FILE),
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),  # it has no compression of its own
    ],
)
def test_zstd_bags_are_read_whole_and_cut(tmp_path: Path, plugin: StoragePlugin, mode: CompressionMode) -> None:
    writer = Writer(tmp_path / "bag", version=9, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        topics = [writer.add_connection(topic, STRING, typestore=typestore()) for topic in TOPICS]
        for number in range(60):
            writer.write(topics[number % 2], 1000 + number, content(number))
    found, cut = read(tmp_path / "bag")
    assert len(found) == 60 and not cut
    file = next(file for file in (tmp_path / "bag").iterdir() if file.name != "metadata.yaml")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    try:
        found, cut = read(tmp_path / "bag")
    except UsageError as error:  # a single block of zstd opens whole or not at all
        assert "\n" not in str(error) and mode is CompressionMode.FILE
    else:
        assert len(found) == 60 or cut


def test_a_split_bag_lacks_only_what_was_cut_off_its_last_file(tmp_path: Path) -> None:
    write(tmp_path / "one", "mcap", 30)
    shutil.copytree(tmp_path / "one", tmp_path / "bag")
    (tmp_path / "bag" / "one.mcap").rename(tmp_path / "bag" / "bag_0.mcap")
    (tmp_path / "bag" / "metadata.yaml").unlink()
    stream = BagWriter(tmp_path / "rest")
    for topic in TOPICS:
        stream.add_topic(topic, STRING)
    for number in range(30, 60):
        stream.write(TOPICS[number % 2], 1000 + number, content(number))
    stream.close()
    rest = (tmp_path / "rest" / "rest.mcap").read_bytes()
    (tmp_path / "bag" / "bag_1.mcap").write_bytes(rest)
    assert len(read(tmp_path / "bag")[0]) == 60
    (tmp_path / "bag" / "bag_1.mcap").write_bytes(rest[: len(rest) // 2])
    found, cut = read(tmp_path / "bag")
    assert cut and set(range(30)) < set(found) and len(found) < 60


def test_metadata_cut_with_the_bag_is_no_obstacle(tmp_path: Path) -> None:
    write(tmp_path / "bag", "mcap")
    file = tmp_path / "bag" / "metadata.yaml"
    file.write_text(file.read_text()[:40])
    assert len(read(tmp_path / "bag")[0]) == 60


def test_a_log_that_sqlite_left_beside_the_file_is_read(tmp_path: Path) -> None:
    """As rosbag2's resilient profile leaves it when it is killed."""
    write(tmp_path / "bag", "sqlite3", 20)
    file = tmp_path / "bag" / "bag.db3"
    (tmp_path / "bag" / "metadata.yaml").unlink()
    script = textwrap.dedent(
        """
        import os, signal, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1])
        connection.execute("PRAGMA journal_mode=WAL")
        for number, data in enumerate(sys.argv[2:], 20):
            connection.execute(
                "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)",
                (1 + number % 2, 1000 + number, bytes.fromhex(data)),
            )
            connection.commit()
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    more = [content(number).hex() for number in range(20, 40)]
    done = subprocess.run([sys.executable, "-c", script, str(file), *more], env=dict(os.environ), check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.with_name("bag.db3-wal").stat().st_size > 0
    found, cut = read(tmp_path / "bag")
    assert len(found) == 40 and not cut
    assert file.with_name("bag.db3-wal").stat().st_size > 0, "the original is left as it was"


# --- Bags that rosbag2 itself wrote ---------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_metadata_may_word_the_quality_of_service_otherwise_than_the_file(tmp_path: Path, storage: str) -> None:
    """As rosbag2 has done in some versions: it must not hide a message."""
    write(tmp_path / "bag", storage)
    metadata = tmp_path / "bag" / "metadata.yaml"
    content = yaml.safe_load(metadata.read_text())
    for topic in content["rosbag2_bagfile_information"]["topics_with_message_count"]:
        for profile in topic["topic_metadata"]["offered_qos_profiles"]:
            profile.update(depth=0, durability="transient_local", history="unknown")
    metadata.write_text(yaml.safe_dump(content))
    found, cut = read(tmp_path / "bag")
    assert len(found) == 60 and not cut


def test_definitions_that_cannot_be_parsed_hide_no_other_topic(tmp_path: Path) -> None:
    """As those of service events, which rosbag2 records with the service's own text."""
    write(tmp_path / "bag", "sqlite3")
    connection = sqlite3.connect(tmp_path / "bag" / "bag.db3")
    connection.execute("INSERT INTO topics VALUES (9, '/s/_service_event', 'p/srv/S_Event', 'cdr', '', '')")
    connection.execute("INSERT INTO message_definitions VALUES (9, 'p/srv/S_Event', 'ros2msg', 'int64 a\n---\nb', '')")
    connection.commit()
    connection.close()
    found, cut = read(tmp_path / "bag")
    assert len(found) == 60 and not cut


def test_a_foreign_bag_holds_no_mission(tmp_path: Path) -> None:
    write(tmp_path / "bag", "mcap")
    record = read_bag(tmp_path / "bag")
    assert record.vehicles == () and record.truth_text is None


def heavy(size: int) -> bytes:
    """A serialised message of a text of so many equal letters."""
    return bytes(typestore().serialize_cdr(typestore().types[STRING](data="x" * size), STRING))


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("mode", list(CompressionMode)[1:])
def test_a_small_bag_does_not_become_a_huge_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: CompressionMode, cut: bool
) -> None:
    monkeypatch.setattr(unpacking, "FLOOR", 1 << 20)
    writer = Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        topic = writer.add_connection("/a", STRING, typestore=typestore())
        for number in range(12):
            writer.write(topic, 1000 + number, heavy(1 << 20))
    file = next(file for file in (tmp_path / "bag").iterdir() if file.name != "metadata.yaml")
    assert file.stat().st_size < 20_000
    if cut:
        file.write_bytes(file.read_bytes()[:-60])
    with (
        pytest.raises(UsageError, match="its compressed data hold more than") as error,
        open_bag(tmp_path / "bag") as bag,
    ):
        for _ in bag.messages():
            pass
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_chunk_that_lies_about_its_size_is_not_unpacked(kind: str) -> None:
    packed = (zstd.compress if kind == "zstd" else lz4.frame.compress)(bytes(1 << 24))
    assert inflate(kind, packed) == bytes(1 << 24)
    with pytest.raises(unpacking.TooLarge):
        storage_mcap.DECOMPRESSORS[kind](packed, 1000)
    with pytest.raises(EOFError):
        inflate(kind, packed[:-20])


def test_a_bag_of_ros_1_is_told_how_to_be_converted(tmp_path: Path) -> None:
    path = tmp_path / "walk.bag"
    path.write_bytes(b"#ROSBAG V2.0\n" + bytes(100))
    with pytest.raises(UsageError, match=r"bag of ROS 1: convert it: .*rosbags-convert --src .*walk.bag --dst"):
        open_bag(path).__enter__()
