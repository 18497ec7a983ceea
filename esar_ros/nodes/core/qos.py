"""Quality-of-service profiles behind the names in interface.py."""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from esar_ros.nodes.core.topic import Profile, Quality


def _of_ros(profile: Profile) -> QoSProfile:
    return QoSProfile(
        reliability=ReliabilityPolicy.RELIABLE if profile.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if profile.latched else DurabilityPolicy.VOLATILE,
        history=HistoryPolicy.KEEP_LAST,
        depth=profile.depth,
    )


PROFILES: dict[Quality, QoSProfile] = {quality: _of_ros(quality.value) for quality in Quality}
