"""Quality-of-service profiles behind the names in interface.py."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.nodes.interface import Quality


def _profile(reliable: bool, latched: bool, depth: int) -> QoSProfile:
    return QoSProfile(
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
    )


PROFILES: dict[Quality, QoSProfile] = {
    Quality.STEP: _profile(reliable=True, latched=False, depth=200),
    Quality.LATCHED: _profile(reliable=True, latched=True, depth=1),
    Quality.SENSOR: _profile(reliable=True, latched=False, depth=5),
    Quality.CLOCK: _profile(reliable=False, latched=False, depth=1),
    Quality.TF_STATIC: _profile(reliable=True, latched=True, depth=100),
}
