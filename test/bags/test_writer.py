"""Bags written: metadata, a writer that is killed, what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from binascii import crc32
from pathlib import Path

import pytest
import yaml

from esar_ros.bags.files import open_bag
from esar_ros.bags.salvage_mcap import _records
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.mission.errors import UsageError
from helpers.small_mission import mission, write


def test_metadata_names_latched_topics(tmp_path: Path) -> None:
    write(tmp_path / "bag", mission("truth"))
    meta = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    topics = {t["topic_metadata"]["name"]: t["topic_metadata"] for t in meta["topics_with_message_count"]}
    assert meta["storage_identifier"] == "mcap"
    (truth,) = topics["/uav1/mission/truth"]["offered_qos_profiles"]
    assert (truth["durability"], truth["depth"]) == ("transient_local", 1)
    assert topics["/uav1/odometry"]["offered_qos_profiles"][0]["durability"] == "volatile"
    assert topics["/uav1/reports"]["type_description_hash"].startswith("RIHS01_")


def test_a_killed_writer_leaves_a_readable_bag(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        import esar_ros.bags.writer as bag
        bag.FLUSH_PERIOD = 0.0
        writer = bag.BagWriter(Path(sys.argv[1]))
        writer.add_topic("/uav1/mission/truth", "std_msgs/msg/String")
        store = bag.typestore()
        text = store.types["std_msgs/msg/String"](data="hello")
        for i in range(50):
            writer.write("/uav1/mission/truth", i, bytes(store.serialize_cdr(text, "std_msgs/msg/String")))
        print("written", flush=True)
        time.sleep(60)
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "bag")], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with open_bag(tmp_path / "bag") as bag:
        said = {bag.deserialize(raw, connection.msgtype).data for connection, _, raw in bag.messages()}
    assert said == {"hello"}


def test_writing_over_a_bag_or_an_unknown_type_is_refused(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag")
    with pytest.raises(UsageError, match="exists already"):
        BagWriter(tmp_path / "bag")
    with pytest.raises(UsageError, match="unknown"):
        writer.add_topic("/x", "foo_msgs/msg/Bar")
    writer.close()


def test_every_chunk_states_its_checksum(tmp_path: Path) -> None:
    writer = BagWriter(tmp_path / "bag")
    writer.add_topic("/a", "std_msgs/msg/String")
    store = typestore()
    for number in range(6):
        text = store.types["std_msgs/msg/String"](data=f"{number}" * 50)
        writer.write("/a", number, bytes(store.serialize_cdr(text, "std_msgs/msg/String")))
        if number % 2:
            writer.flush()
    writer.close()
    (file,) = (tmp_path / "bag").glob("*.mcap")
    with file.open("rb") as stream:
        stream.seek(8)
        chunks = [content for opcode, content, _ in _records(stream) if opcode == 0x06]
    sums = [int.from_bytes(chunk[24:28], "little") for chunk in chunks]
    assert len(sums) == 3 and sums == [crc32(chunk[40:]) for chunk in chunks]
