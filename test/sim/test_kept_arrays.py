"""Arrays that are kept: made once, anew when their file is damaged, under another name when their makers change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esar_ros.sim.kept_arrays import Arrays, kept_arrays, kept_path


class Maker:
    """Counts how often it makes."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> Arrays:
        self.made += 1
        return {"numbers": np.arange(6.0).reshape(2, 3), "names": np.array(["turf", "snow"])}


@pytest.mark.parametrize("smaller", [True, False])
def test_arrays_are_made_once(tmp_path: Path, smaller: bool) -> None:
    make = Maker()
    made = kept_arrays(tmp_path / "a.npz", make, smaller)
    again = kept_arrays(tmp_path / "a.npz", make, smaller)
    assert make.made == 1
    assert again.keys() == made.keys()
    assert all(np.array_equal(again[name], made[name]) for name in made)


@pytest.mark.parametrize("length", [0, 40, -10])
def test_a_damaged_file_is_made_anew(tmp_path: Path, length: int) -> None:
    make, path = Maker(), tmp_path / "a.npz"
    kept_arrays(path, make)
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    kept_arrays(path, make)
    assert make.made == 2 and path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert kept_arrays(tmp_path / "file" / "a.npz", Maker())["numbers"].sum() == 15.0


def test_makers_and_what_they_are_given_decide_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESAR_CACHE", str(tmp_path / "cache"))
    for name, text in (("one", "a = 1"), ("two", "a = 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "module.py").write_text(text)
    one, two = (kept_path("tiles", "turf", (tmp_path / name,)) for name in ("one", "two"))
    assert one.parent == tmp_path / "cache" / "tiles" and one.name.startswith("turf-")
    assert len({one, two, kept_path("tiles", "turf", (tmp_path / "one",), "other heights")}) == 3
    assert one == kept_path("tiles", "turf", (tmp_path / "one" / "module.py",))
