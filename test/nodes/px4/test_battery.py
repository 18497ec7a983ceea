"""The charge that a bridge tells while its autopilot says nothing of it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from builtin_interfaces.msg import Time

from esar_ros.bridges.px4.state import AGES, Px4State
from esar_ros.mission import names
from esar_ros.nodes.ardupilot_bridge import ArdupilotBridgeNode


def test_a_gauge_that_falls_silent_is_told_as_unknown_and_not_kept() -> None:
    told: list[Any] = []
    bridge: Any = ArdupilotBridgeNode.__new__(ArdupilotBridgeNode)
    bridge._state, bridge._out = Px4State(1), {names.BATTERY: SimpleNamespace(publish=told.append)}
    bridge._publish_battery(0.0, Time())
    assert not told, "it has never spoken"
    status = SimpleNamespace(remaining=0.8, voltage_v=15.0, current_a=10.0, connected=True, warning=0)
    bridge._state.receive("BatteryStatus", status, 0.0)
    for now in (1.0, AGES["BatteryStatus"] + 0.1):
        bridge._publish_battery(now, Time())
    fresh, silent = told
    assert abs(fresh.percentage - 0.8) < 1e-6 and math.isnan(silent.percentage) and math.isnan(silent.voltage)
