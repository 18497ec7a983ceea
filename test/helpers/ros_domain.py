"""ROS domains of their own for what tests start."""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# Domains above 101 would reach into the ports that the kernel hands out.
DOMAINS = range(1, 102)
# What a test has started may live longer than a few more that are started beside it; all workers share the domains.
KEPT = max(2, 72 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
_LAST: deque[int] = deque()  # locks


def claim_domain() -> tuple[int, int]:
    """Claims a ROS domain that no other test of this machine has; returns it and the lock's descriptor.

    It is this process's until the descriptor is closed, at the latest when the process ends. The one that was used
    longest ago comes first: for some seconds a domain still knows the nodes of a process that was killed.
    """
    anyhow = random.SystemRandom().sample(DOMAINS, len(DOMAINS))
    for number in sorted(anyhow, key=_last_use):
        lock = os.open(_path(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        if not is_silent(number):  # of a test that has ended, and whose processes have not
            os.close(lock)
            continue
        os.utime(lock)
        return number, lock
    raise RuntimeError("every ROS domain is claimed by another test")


def is_silent(number: int) -> bool:
    """Returns whether no process of this machine listens on a domain's ports (RTPS 2.2, section 9.6.1.1)."""
    first = 7400 + 250 * number
    sockets = Path("/proc/net/udp")
    lines = sockets.read_text(encoding="ascii").splitlines()[1:] if sockets.is_file() else []
    ports = (int(line.split()[1].partition(":")[2], 16) for line in lines)
    return not any(first <= port < first + 250 for port in ports)


def _path(number: int) -> Path:
    return Path(tempfile.gettempdir(), f"esar-test-domain-{os.getuid()}-{number}.lock")


def _last_use(number: int) -> float:
    """Returns when (s) a domain was claimed or released last; 0: never."""
    try:
        return _path(number).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def free_domain() -> int:
    """Returns a ROS domain that no other test has, for a process that a test starts; the last few stay claimed."""
    number, lock = claim_domain()
    _LAST.append(lock)
    while len(_LAST) > KEPT:
        done = _LAST.popleft()
        os.utime(done)
        os.close(done)
    return number


@contextmanager
def own_domain() -> Iterator[int]:
    """Such a domain, for what is started meanwhile."""
    number, lock = claim_domain()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROS_DOMAIN_ID", str(number))
            patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            yield number
    finally:
        os.utime(lock)
        os.close(lock)
