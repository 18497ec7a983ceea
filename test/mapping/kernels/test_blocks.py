"""The pool of blocks."""

from __future__ import annotations

import numpy as np

from esar_ros.mapping.kernels.blocks import NEXT_SLOT, Blocks, grown, reserve


def test_a_pool_that_grows_keeps_all_that_its_slots_hold() -> None:
    rng = np.random.default_rng(0)
    pool = reserve(np.full((2, 2, 2), -1, np.int32), 3)
    pool.counters[:] = rng.integers(5, 90, 5)
    pool.counters[NEXT_SLOT] = 3
    kept = [name for name in Blocks._fields if name not in ("table", "counters")]
    for name in kept:
        getattr(pool, name)[:] = rng.integers(1, 100, getattr(pool, name).shape)
    larger = grown(pool, 8)
    assert larger.table is pool.table and len(larger.log_odds) == 8
    np.testing.assert_array_equal(larger.counters, pool.counters)
    for name in kept:
        np.testing.assert_array_equal(getattr(larger, name)[:3], getattr(pool, name), err_msg=name)
