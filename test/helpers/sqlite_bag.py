"""Bags of the storage that ROS 2 had before MCAP."""

from __future__ import annotations

from pathlib import Path

from rosbags.rosbag2 import StoragePlugin

from esar_ros.bags.writer import BagWriter

STORAGES = ("mcap", "sqlite3")


class SqliteBagWriter(BagWriter):
    """Writes a sqlite3 bag, as `ros2 bag record --storage sqlite3` does."""

    _STORAGE = StoragePlugin.SQLITE3


def bag_writer(path: Path, storage: str) -> BagWriter:
    return SqliteBagWriter(path) if storage == "sqlite3" else BagWriter(path)
