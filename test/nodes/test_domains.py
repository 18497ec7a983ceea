"""Tests on DDS get a domain in which nobody lives."""

from __future__ import annotations

import os
from typing import Any

from helpers.ros_domain import claim_domain, is_silent


def test_a_domain_with_a_node_in_it_is_not_silent(ros: Any, domain: int) -> None:
    from rclpy.node import Node

    node = Node("somebody")
    assert ros([node], lambda: not is_silent(domain), 10.0)
    other, lock = claim_domain()
    os.close(lock)
    assert other != domain and is_silent(other)
