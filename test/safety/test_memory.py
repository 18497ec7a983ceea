"""The memory between two decisions: a part is exchanged, the others stay, and what it has not is no part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from esar_ros.safety.memory import Memory


def test_a_part_is_exchanged_as_by_dataclasses() -> None:
    before = Memory(last_output=np.ones(3), interventions=2)
    after = before.replaced(interventions=3, deaf_since=1.5)
    assert after == replace(before, interventions=3, deaf_since=1.5)
    assert (before.interventions, before.deaf_since) == (2, None)
    with pytest.raises(TypeError, match="no interventionss"):
        before.replaced(interventionss=3)
