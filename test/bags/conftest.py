"""Bags that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.numbered_bag import write


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, bytes]]:
    folder = tmp_path_factory.mktemp("whole")
    return {storage: (folder / storage, write(folder / storage, storage)) for storage in ("mcap", "sqlite3")}
