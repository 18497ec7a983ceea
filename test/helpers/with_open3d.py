"""Tests that need Open3D are left out where it cannot be loaded: it is an extra, and needs libraries of the system."""

from __future__ import annotations

import pytest

from esar_ros.mapping.surface.fusion import load_open3d
from esar_ros.mission.errors import UsageError


def _trouble() -> str:
    try:
        load_open3d()
    except UsageError as error:
        return str(error)
    return ""


TROUBLE = _trouble()
needs_open3d = pytest.mark.skipif(bool(TROUBLE), reason=TROUBLE)
