"""Every test process: the graph's environment, a DDS domain of its own, nothing written into the home folder."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import pytest

from esar_ros.mission.system.environment import graph_environment

# What tests of several parts share is imported by its own name.
from helpers.ros_domain import claim_domain
from helpers.tally import STEPS

os.environ.update(graph_environment())
# A worker is given the first process's domain: not its own.
if "ROS_DOMAIN_ID" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain()[0])

# A shell starts what it puts into the background with interrupts ignored, and the processes that tests interrupt
# would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests here start graphs and commands and measure wall time: one after the other, whoever runs the rest.
ONE_BY_ONE = (
    "test/app/checks/", "test/app/incident/test_fly.py", "test/app/test_interrupt.py", "test/app/test_launcher.py",
    "test/app/test_mission_command.py", "test/app/test_view.py", "test/app/vehicle/",
    "test/conformance/", "test/docs/test_commands.py", "test/launch/", "test/nodes/",
)  # fmt: skip
COMPUTES = 5  # niceness of the workers that run the rest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With several workers (-n) a file's tests share what they made, and never do two graphs fly beside each other."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(ONE_BY_ONE):
                return "one by one"
            # Larger units begin earlier: a linter is one test and takes long.
            return "package" if nodeid.startswith("test/package/") else nodeid.split("::", 1)[0]

    return Scheduling(config, log)


gc.disable()  # while fourteen thousand tests are collected: what they are made of stays to the end


def pytest_collection_finish(session: pytest.Session) -> None:
    """Sets what was collected aside: the collector would look it all through again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lets graphs go first: a worker that computes (and so never flies one) uses what their waiting leaves."""
    if "PYTEST_XDIST_WORKER" in os.environ and not item.nodeid.startswith(ONE_BY_ONE) and os.nice(0) < COMPUTES:
        os.nice(COMPUTES - os.nice(0))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Sends a worker's count to the process that prints it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["steps"] = dict(STEPS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Adds the count of a worker that has ended; one that died has sent none."""
    STEPS.update(getattr(node, "workeroutput", {}).get("steps", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was tried of what is tried at random."""
    if STEPS:
        parts = ", ".join(f"{count} in {kind}" for kind, count in sorted(STEPS.items()))
        terminalreporter.write_line(f"governor: {STEPS.total()} random steps held against its promises ({parts})")
