"""A file of faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def to_file(*faults: str) -> Path:
        path = tmp_path / "faults.yaml"
        path.write_text("faults:\n" + "".join(f"  - {{{fault}}}\n" for fault in faults), encoding="utf-8")
        return path

    return to_file
