"""Archives of arrays: what they hold comes back, what they claim is checked before it is unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.unpacking import read_arrays
from esar_ros.perception.text import prompt_table


def test_arrays_come_back(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", one=np.arange(5), words=["a", "b"])
    found = read_arrays(tmp_path / "a.npz", 10_000)
    assert found["one"].tolist() == [0, 1, 2, 3, 4] and found["words"].tolist() == ["a", "b"]


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_small_file_does_not_become_a_huge_array(tmp_path: Path, packing: int) -> None:
    np.save(tmp_path / "a.npy", np.zeros(1_000_000))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", packing) as parts:
        parts.write(tmp_path / "a.npy", "a.npy")
    assert (tmp_path / "a.npz").stat().st_size < 100_000
    with pytest.raises(ValueError, match="its compressed data hold more than 1 MB"):
        read_arrays(tmp_path / "a.npz", 1_000_000)


def lying(path: Path) -> None:
    """An array whose header tells of a million times as many numbers."""
    np.save(path.with_suffix(".npy"), np.zeros(1000))
    data = path.with_suffix(".npy").read_bytes().replace(b"(1000,), }             ", b"(1000000000000000,), } ", 1)
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("a.npy", data)


def torn(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04")


def objects(path: Path) -> None:
    np.savez(path, a=np.array([{}], dtype=object))


@pytest.mark.parametrize(
    "make",
    [lying, objects, lambda path: path.write_bytes(b"PK\x03\x04"), lambda path: path.write_bytes(b""), Path.mkdir],
)
def test_what_is_no_archive_of_arrays_is_one_error(tmp_path: Path, make: object) -> None:
    make(tmp_path / "a.npz")  # type: ignore[operator]
    with pytest.raises(ValueError) as error:
        read_arrays(tmp_path / "a.npz", 1_000_000)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("make", [lying, objects])
def test_a_table_of_embeddings_that_is_none_is_told(tmp_path: Path, make: object) -> None:
    make(tmp_path / "a.npz")  # type: ignore[operator]
    with pytest.raises(UsageError, match="is no table of text embeddings"):
        prompt_table.load_table(tmp_path / "a.npz")


def test_a_table_of_embeddings_that_is_too_large_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt_table.save_table(tmp_path / "a.npz", {"tent": np.ones(512, np.float32)}, "test")
    assert list(prompt_table.load_table(tmp_path / "a.npz")) == ["tent"]
    monkeypatch.setattr(prompt_table, "_LARGEST", 1000)
    with pytest.raises(UsageError, match="is no table of text embeddings: its compressed data hold"):
        prompt_table.load_table(tmp_path / "a.npz")
