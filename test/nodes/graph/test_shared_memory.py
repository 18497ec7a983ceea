"""Segments of killed processes are found and removed, those in use are not touched."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from esar_ros.nodes.graph.shared_memory import stale_segments, sweep


@pytest.fixture
def shm(tmp_path: Path) -> Path:
    folder = tmp_path / "shm"
    folder.mkdir()
    return folder


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A /proc with one process that has nothing mapped."""
    process = tmp_path / "proc" / "17"
    (process / "fd").mkdir(parents=True)
    (process / "maps").write_text("55d0-55d1 r-xp 00000000 00:1f 12 /usr/bin/python3\n")
    (tmp_path / "proc" / "meminfo").write_text("")
    return process.parent


def segment(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(b"\0" * mmap.PAGESIZE)
    return path


def test_what_nobody_uses_is_stale(shm: Path, proc: Path) -> None:
    paths = {segment(shm, name) for name in ("fastrtps_ab12", "fastrtps_ab12_el", "sem.fastdds_port7410_mutex")}
    assert set(stale_segments(shm, proc)) == paths


def test_files_of_others_are_none_of_ours(shm: Path, proc: Path) -> None:
    segment(shm, "pulse-shm-1")
    segment(shm, "my_fastrtps_notes")
    assert stale_segments(shm, proc) == []


def test_a_mapped_segment_and_its_lock_are_in_use(shm: Path, proc: Path) -> None:
    path = segment(shm, "fastrtps_ab12")
    segment(shm, "fastrtps_ab12_el")
    stale = segment(shm, "fastrtps_cd34")
    (proc / "17" / "maps").write_text(f"7f00-7f01 rw-s 00000000 00:19 5          {path}\n")
    assert stale_segments(shm, proc) == [stale]


def test_an_open_segment_is_in_use(shm: Path, proc: Path) -> None:
    path = segment(shm, "fastdds_ab12")
    (proc / "17" / "fd" / "3").symlink_to(path)
    assert stale_segments(shm, proc) == []


def test_a_descriptor_that_closes_meanwhile_does_not_hide_the_others(shm: Path, proc: Path) -> None:
    opened, mapped = segment(shm, "fastrtps_ab12"), segment(shm, "fastrtps_cd34")
    (proc / "17" / "fd" / "3").write_text("reading this as a link fails, as that of a closed one does")
    (proc / "17" / "fd" / "4").symlink_to(opened)
    (proc / "17" / "maps").write_text(f"7f00-7f01 rw-s 00000000 00:19 5 {mapped}\n")
    assert stale_segments(shm, proc) == []


def test_a_process_that_ends_meanwhile_is_passed_over(shm: Path, proc: Path) -> None:
    stale = segment(shm, "fastrtps_ab12")
    (proc / "18").mkdir()
    assert stale_segments(shm, proc) == [stale]


def test_a_living_process_keeps_its_segment_and_loses_it_when_it_lets_go(shm: Path) -> None:
    path = segment(shm, "fastrtps_ab12")
    handle = os.open(path, os.O_RDWR)
    memory = mmap.mmap(handle, mmap.PAGESIZE)
    os.close(handle)
    assert sweep(shm) == 0
    assert path.exists()
    memory.close()
    assert sweep(shm) == 1
    assert not path.exists()


def test_a_machine_without_shared_memory_has_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep(tmp_path / "none") == 0
