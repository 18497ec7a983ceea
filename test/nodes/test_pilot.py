"""The pilot's node and a person's orders: obeyed or refused in an answer, and on record."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node

from esar_ros.flight.pilot import PilotInput
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.decision import GoalType
from esar_ros.mission.modes import Order as Ordered
from esar_ros.mission.modes import order_name
from esar_ros.msg import Brief, Forecast, VehicleState
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import Step
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.pilot import PilotNode
from esar_ros.srv import Order

Spin = Callable[..., bool]
HOLD, RETURN, SEARCH = Order.Request.ORDER_HOLD, Order.Request.ORDER_RETURN, Order.Request.ORDER_SEARCH


class Person:
    """Calls the service of a pilot, and reads the record of what was ordered."""

    def __init__(self, spin: Spin) -> None:
        self._spin, self.pilot, world = spin, PilotNode(), Node("person")
        self.record: list[Any] = []
        entry = BY_NAME[names.OPERATOR_ORDER]
        world.create_subscription(message_class(entry.type), entry.name, self.record.append, PROFILES[entry.quality])
        self._client = world.create_client(Order, "pilot/order")
        assert spin([world, self.pilot], self._client.service_is_ready)

    def order(self, number: int) -> Order.Response:
        future = self._client.call_async(Order.Request(order=number))
        assert self._spin([], future.done)
        return future.result()

    def recorded(self, *words: str) -> bool:
        return self._spin([], lambda: [order_name(message.order) for message in self.record] == list(words), 5.0)


@pytest.fixture
def person(ros: Spin) -> Person:
    return Person(ros)


def test_an_order_replaces_the_planners_goal_until_the_next(person: Person) -> None:
    goals = []
    for number in (HOLD, RETURN, SEARCH):
        assert person.order(number).success
        goal = person.pilot._newest_goal()
        goals.append(goal and goal.type)
        assert person.recorded(*("hold", "return", "search")[: len(goals)])
    assert goals == [GoalType.HOLD, GoalType.RETURN, None]


def test_orders_are_numbered_as_the_service_has_them() -> None:
    assert [getattr(Order.Request, f"ORDER_{order.name}") for order in Ordered] == list(Ordered)


@pytest.mark.parametrize("number", [0, 7])
def test_a_mistyped_order_is_refused_in_the_answer_and_changes_nothing(person: Person, number: int) -> None:
    assert person.order(HOLD).success and person.recorded("hold")
    answer = person.order(number)
    assert not answer.success and answer.message == f"order {number} is none of 1 (search), 2 (hold), 3 (return)"
    goal = person.pilot._newest_goal()
    assert goal is not None and goal.type is GoalType.HOLD and person.recorded("hold")


def test_an_order_repeated_is_recorded_once_and_one_that_changes_nothing_never(person: Person) -> None:
    assert person.order(SEARCH).success and person.order(HOLD).success and person.order(HOLD).success
    assert person.recorded("hold")


def test_the_pilot_slows_by_the_forecast_and_the_missions_clock(ros: Spin) -> None:
    pilot: Any = PilotNode()
    pilot.send = lambda name, message, vehicle=None: None
    told = Brief(weather="clear", local_time="2024-05-01T12:00:00", mission_id="one", ceiling=120.0)
    told.forecast = [Forecast(earliest=100.0, latest=400.0, weather="fog", wind_speed=math.nan)]
    pilot._on_brief(told)
    up = Pose(np.array([0.0, 0.0, 20.0]))
    pilot._see = lambda step: PilotInput(step.seconds, up, np.zeros(3), True, False, True, False, np.zeros(3))
    speeds = []
    for seconds in (10, 109, 110, 2000):
        pilot.on_step(Step(seconds * 10**9, seconds, 0, 0.05, seconds * 10**9, frozenset()))
        speeds.append(pilot._pilot.limits.speed)
    slow = pilot._limits.speed_poor_sight
    assert speeds == [speeds[0], speeds[0], slow, slow] and speeds[0] > slow
    pilot.destroy_node()


def test_home_is_not_moved_in_flight(person: Person) -> None:
    def brief(east: float) -> None:
        message = Brief(ceiling=100.0)
        message.home.x = east
        person.pilot._on_brief(message)

    box = person.pilot.inbox(names.VEHICLE_STATE)
    brief(0.0)
    brief(5.0)
    assert person.pilot._home is not None and person.pilot._home[0] == 5.0, "on the ground it may be told anew"
    box.put(1, VehicleState(armed=True, landed=VehicleState.LANDED_FLYING))
    brief(300.0)
    assert person.pilot._home[0] == 5.0
