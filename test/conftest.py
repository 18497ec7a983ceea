"""Every test process: the graph's environment, a DDS domain of its own, nothing written into the home folder."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from esar_ros.mission.environment import graph_environment

os.environ.update(graph_environment())
# Domains above 101 would reach into the ports that the kernel hands out.
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 101))

# A shell starts what it puts into the background with interrupts ignored, and the processes that tests interrupt
# would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests of several parts share is imported by its own name.
sys.path.append(str(Path(__file__).with_name("helpers")))
