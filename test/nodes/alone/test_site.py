"""Fence, ceiling and home around the place where PX4's vehicle stands, or around PX4's home of one in the air."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from esar_ros.mission import names
from esar_ros.nodes.px4 import messages as px4_messages

pytestmark = [] if px4_messages.is_built() else [pytest.mark.full]


@pytest.fixture
def briefs(ros: Callable[..., bool]) -> Any:
    """briefs(fake, ready) -> the briefs that are told by then, of a node with a fence of 60 m."""
    import rclpy
    from rclpy.node import Node
    from rclpy.parameter import Parameter

    from esar_ros.msg import Brief
    from esar_ros.nodes.alone.site import SiteNode
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES

    px4_messages.ensure()
    from fake_node import FakeNode

    def told(fake: Any, until: Callable[[list[Any]], bool], seconds: float = 15.0) -> list[Any]:
        original, given = Node.__init__, [Parameter("fence", value=60.0), Parameter("ceiling", value=40.0)]
        Node.__init__ = lambda self, name: original(self, name, namespace="/uav1", parameter_overrides=given)  # type: ignore[method-assign]
        try:
            site = SiteNode()
        finally:
            Node.__init__ = original  # type: ignore[method-assign]
        user = rclpy.create_node("user")
        heard: list[Any] = []
        quality = PROFILES[BY_NAME[names.BRIEF].quality]
        user.create_subscription(Brief, f"/uav1/{names.BRIEF}", heard.append, quality)
        ros([FakeNode(fake), site, user], lambda: until(heard), seconds)
        return heard

    return told


def test_home_is_where_it_stands(briefs: Any) -> None:
    from fake_autopilot import FakeAutopilot

    from esar_ros.nodes.messages.convert import brief_of
    from esar_ros.safety.conditions import site_of
    from esar_ros.safety.limits import load_limits

    fake = FakeAutopilot(start=(3.0, -4.0, 0.0))
    (message,) = briefs(fake, bool)
    assert message.origin_latitude == pytest.approx(fake.reference.latitude)
    assert message.origin_altitude == pytest.approx(fake.reference.altitude)
    brief = brief_of(message)
    np.testing.assert_allclose(brief.home, [3.0, -4.0, 0.0], atol=0.6)  # as its estimator says
    site = site_of(brief, load_limits())
    assert site.ceiling == 40.0
    assert -60.0 <= site.outside(brief.home) <= -58.0, "m within the fence"


def test_in_the_air_it_waits_for_px4_s_home(briefs: Any) -> None:
    from fake_autopilot import FakeAutopilot

    fake = FakeAutopilot()
    fake.landed = False
    fake.body.position[:] = 30.0, 0.0, 20.0
    fake.armed, fake.nav_state = True, 4
    fake.home = None
    heard: list[Any] = []

    def until(told: list[Any]) -> bool:
        heard[:] = told
        if not told and fake.now > 1.0:
            fake.home, fake.changed = np.array([1.0, 2.0, 0.0]), True
        return bool(told)

    (message,) = briefs(fake, until)
    assert getattr(fake, "home", None) is not None, "nothing was told before"
    assert (message.home.x, message.home.y) == (pytest.approx(1.0), pytest.approx(2.0))


def test_what_was_said_before_a_link_broke_tells_no_home(briefs: Any) -> None:
    """A person has taken off meanwhile, and where it is comes sooner than whether it stands."""
    from fake_autopilot import FakeAutopilot
    from fake_facts import PERIODS

    FakeAutopilot(start=(0.0, 0.0, 5.0)).advance(0.1)  # compiles the dynamics before time counts
    fake, stages = FakeAutopilot(), [0.0]  # when each began, s

    def until(told: list[Any]) -> bool:
        passed = fake.now - stages[-1]
        if len(stages) == 1 and told:
            fake.mutes = set(PERIODS)
        elif len(stages) == 2 and passed > 4.0:
            fake.landed, fake.armed, fake.body.position[:] = False, True, (60.0, 0.0, 20.0)
            fake.mutes = set(PERIODS) - {"VehicleLocalPosition"}
        elif len(stages) == 3 and passed > 1.5:
            fake.mutes = set()
        else:
            return len(stages) == 4 and passed > 1.5
        stages.append(fake.now)
        return False

    (message,) = briefs(fake, until, 40.0)
    assert len(stages) == 4 and message.home.x == pytest.approx(0.0, abs=0.6)


def test_one_that_flies_without_a_home_is_told_with_what_mends_it(
    ros: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the governor alone was started again in flight: PX4 tells its home only when that is set."""
    from types import SimpleNamespace

    from esar_ros.nodes.alone.site import SiteNode
    from helpers.bridge_graph import started_with

    local = SimpleNamespace(x=0.0, y=0.0, z=-9.0, xy_valid=True, z_valid=True, xy_global=True, z_global=True)
    facts = {"VehicleLocalPosition": local, "VehicleLandDetected": SimpleNamespace(landed=False)}
    with started_with("/uav1", {}):
        site = SiteNode(facts.get)
    said: list[str] = []
    monkeypatch.setattr(site.get_logger(), "warning", lambda words, **_: said.append(words))
    assert ros([site], lambda: bool(said), 10.0)
    assert said[0].endswith("the governor holds; set home at a ground station, or land it there")


def test_home_is_told_anew_where_it_stands_disarmed_elsewhere_and_not_in_flight(ros: Callable[..., bool]) -> None:
    """As by somebody who starts it at the car and walks on, and by a receiver that settles."""
    from types import SimpleNamespace

    import rclpy

    from esar_ros.geometry.geodesy import Origin
    from esar_ros.msg import Brief
    from esar_ros.nodes.alone.site import SiteNode
    from esar_ros.nodes.core.interface import BY_NAME
    from esar_ros.nodes.core.qos import PROFILES
    from helpers.bridge_graph import started_with

    local = SimpleNamespace(
        x=0.0, y=0.0, z=0.0, xy_valid=True, z_valid=True, xy_global=True, z_global=True,
        ref_lat=34.0, ref_lon=107.0, ref_alt=900.0,
    )  # fmt: skip
    land = SimpleNamespace(landed=True)
    status = SimpleNamespace(arming_state=1)
    facts = {"VehicleLocalPosition": local, "VehicleLandDetected": land, "VehicleStatus": status}
    with started_with("/uav1", {"fence": 60.0, "ceiling": 40.0}):
        site = SiteNode(facts.get)
    user = rclpy.create_node("user")
    heard: list[Any] = []
    user.create_subscription(Brief, f"/uav1/{names.BRIEF}", heard.append, PROFILES[BY_NAME[names.BRIEF].quality])

    def homes(count: int, seconds: float) -> list[float]:
        ros([site, user], lambda: len(heard) >= count, seconds)
        return [message.home.y for message in heard]

    assert homes(1, 10.0) == [0.0]
    local.x = 1.0  # m north
    assert homes(2, 1.5) == [0.0], "a receiver wanders"
    local.x = 60.0
    assert homes(2, 10.0) == [0.0, 60.0]
    land.landed, status.arming_state = False, 2
    assert homes(3, 1.0) == [0.0, 60.0]
    local.x, land.landed = 90.0, True
    assert homes(3, 1.5) == [0.0, 60.0], "one that stands armed may be in the middle of a flight"
    status.arming_state = 1
    assert homes(3, 10.0) == [0.0, 60.0, 90.0], "the next flight begins here"
    # Started again 80 m farther on: at 0 of a local frame of another origin.
    place = Origin(34.0, 107.0, 900.0).to_geodetic([0.0, 170.0, 0.0])
    local.x, (local.ref_lat, local.ref_lon, local.ref_alt) = 90.0, place
    assert homes(4, 10.0)[-1] == 90.0 and heard[-1].origin_latitude == pytest.approx(place[0])
