"""ROS domains of their own for what tests start."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def free_domain() -> int:
    """A ROS domain that no other test on this machine is likely to use.

    Domains above 101 would reach into the ports that the kernel hands out.
    """
    return random.SystemRandom().randrange(1, 102)


@contextmanager
def own_domain() -> Iterator[int]:
    """Such a domain, for what is started meanwhile."""
    number = free_domain()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(number))
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        yield number
