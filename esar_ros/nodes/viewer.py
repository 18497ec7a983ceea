"""Viewer node: passes topics on to a view, and the viewer's requests on to the graph.

It takes no part in steps and delays no node. Until the mission runs it reads latched topics alone: publishers count
their readers before the first step, and a viewer must not be taken for a reader that is needed. Without a reader of the
page it subscribes to what comes once a second and to nothing else; fast topics are kept as bytes and read at the page's
rate.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any, Protocol

from geometry_msgs.msg import Point
from rcl_interfaces.msg import ParameterEvent, ParameterType
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from std_srvs.srv import Trigger

from esar_ros.mission import names
from esar_ros.mission.modes import Order as Ordered
from esar_ros.msg import MissionState, Report, StandingOrder
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.parameters import declare
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.steps import LOCKSTEP, REALTIME
from esar_ros.nodes.core.types import message_class
from esar_ros.srv import Order, Sighting

RATE = 5.0  # Hz, at which what is watched is refreshed
NODE_RATE = 10.0  # Hz, at which orders go out

# Latched, read from the start; about once a second or less, read once the mission runs; read while somebody looks.
ALWAYS = (names.BRIEF, names.MISSION_STATE, names.SCORE, names.TRUTH, names.TF_STATIC, names.OPERATOR_ORDER)
RUNNING = (names.DECISION, names.REPORTS)
LOOKED_AT = (
    names.ODOMETRY, names.PILOT_STATE, names.SAFETY_STATUS, names.BATTERY, names.GOAL, names.PATH, names.CLUES,
    names.DETECTIONS, names.MAP_STATUS, names.MAP_COVERAGE, names.BELIEF,
)  # fmt: skip
FAST = (names.ODOMETRY, names.PILOT_STATE)  # every control step: only the newest counts


class View(Protocol):
    """Display of the mission. Called from the node's thread."""

    def take(self, vehicle: str, topic: str, message: Any) -> None:
        """One message."""
        ...

    def take_clock(self, paused: bool, speed: float) -> None:
        """Takes the state of the simulator's time: paused, and speed (times real time)."""
        ...

    def take_refusal(self, vehicle: str, why: str) -> None:
        """Takes the reason for which a person's request was refused; vehicle: empty where it was the mission's."""
        ...

    def wanted(self) -> frozenset[str]:
        """Vehicles shown on an open page."""
        ...


class ViewerNode(Node):
    """Subscribes to what a view shows while somebody looks, and sends a person's orders."""

    def __init__(self) -> None:
        super().__init__(node_names.VIEWER)
        pace = declare(self, "pace", LOCKSTEP, "who moves time", choices=(LOCKSTEP, REALTIME))
        self.lockstep = pace == LOCKSTEP
        self.vehicles = tuple(declare(self, "vehicles", ["uav1"], "names of the vehicles"))
        self.port = int(
            declare(self, "port", 0, "TCP port of the page on the loopback; 0: a free one", minimum=0, maximum=65535)
        )
        about = "folder of an incident whose segments and finds are shown; empty: none"
        self.incident = str(declare(self, "incident", "", about))
        self._view: View | None = None
        self._on_close: Callable[[], None] | None = None
        self._subscriptions_of: dict[tuple[str, str], Subscription] = {}
        self._newest: dict[tuple[str, str], bytes] = {}
        self._running = False
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._turn = 0
        orders, sightings = f"{node_names.PILOT}/{names.ORDER}", f"{node_names.PLANNER}/{names.SIGHTING}"
        self._order_clients = {v: self.create_client(Order, f"{v}/{orders}") for v in self.vehicles}
        self._sighting_clients = {v: self.create_client(Sighting, f"{v}/{sightings}") for v in self.vehicles}
        self._standing: dict[str, Ordered] = {}  # orders in force, whoever gave them
        self._step_client = self.create_client(Trigger, names.SIM_STEP)
        self._get_client = self.create_client(GetParameters, f"{node_names.AIRSIM_BRIDGE}/get_parameters")
        self._set_client = self.create_client(SetParameters, f"{node_names.AIRSIM_BRIDGE}/set_parameters")
        self._sim_clock = {"paused": False, "speed": 0.0}
        self._clock_known = not self.lockstep
        if self.lockstep:
            self.create_subscription(ParameterEvent, "/parameter_events", self._on_parameters, 10)

    def show(self, view: View, on_close: Callable[[], None]) -> None:
        """Begin to show the mission."""
        self._view, self._on_close = view, on_close
        for vehicle in self.vehicles:
            for topic in ALWAYS:
                self._subscribe(vehicle, topic)
        self.create_timer(1.0 / NODE_RATE, self._on_time, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # -- what is asked for, from any thread ---------------------------------------------------------

    def order(self, vehicle: str, what: str) -> None:
        """Orders a vehicle's pilot to search, to hold or to return."""
        order = Ordered[what.upper()]

        def send() -> None:
            self._standing[vehicle] = order
            self._call(self._order_clients[vehicle], Order.Request(order=order), vehicle)

        self._asked.put(send)

    def report(self, vehicle: str, kind: str, victim: bool, text: str, position: tuple[float, float, float]) -> None:
        """Have a vehicle's planner report what a person has seen; position in m, map frame."""
        message = Report(type=Report.VICTIM if victim else Report.CLUE, kind=kind, text=text, confidence=1.0)
        message.header.frame_id = names.MAP
        message.position = Point(x=position[0], y=position[1], z=position[2])
        request = Sighting.Request(report=message)
        self._asked.put(lambda: self._call(self._sighting_clients[vehicle], request, vehicle))

    def set_clock(self, **changes: bool | float) -> None:
        """Change `paused` or `speed` of the bridge."""
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in changes.items()]
        request = SetParameters.Request(parameters=parameters)
        self._asked.put(lambda: self._call(self._set_client, request))

    def step(self) -> None:
        """Let a paused simulator go on to the next frame."""
        self._asked.put(lambda: self._call(self._step_client, Trigger.Request()))

    def _call(self, client: Any, request: Any, vehicle: str = "") -> None:
        if client.service_is_ready():
            client.call_async(request).add_done_callback(lambda future: self._on_answer(vehicle, future.result()))
        else:
            self._refuse(vehicle, f"{client.srv_name} is not there")

    def _on_answer(self, vehicle: str, answer: Any) -> None:
        """Tells the view of a request that was refused."""
        if isinstance(answer, SetParameters.Response):
            refusals = [result.reason for result in answer.results if not result.successful]
        else:
            refusals = [] if answer is None or answer.success else [answer.message]
        for why in refusals:
            self._refuse(vehicle, why)

    def _refuse(self, vehicle: str, why: str) -> None:
        self.get_logger().warning(why)
        if self._view is not None:
            self._view.take_refusal(vehicle, why)

    # -- messages -------------------------------------------------------------------------------

    def _subscribe(self, vehicle: str, topic: str) -> None:
        entry = BY_NAME.get(topic)
        name = topic if topic.startswith("/") else f"{vehicle}/{topic}"
        key = (self.vehicles[0], topic) if topic.startswith("/") else (vehicle, topic)
        if entry is None or key in self._subscriptions_of:
            return
        fast = topic in FAST

        def take(message: Any) -> None:
            if fast:
                self._newest[key] = message
            elif self._view is not None:
                self._view.take(vehicle, topic, message)
                if topic == names.MISSION_STATE and message.phase != MissionState.PREPARING:
                    self._running = True
                elif topic == names.OPERATOR_ORDER:
                    self._on_standing_order(vehicle, message)

        self._subscriptions_of[key] = self.create_subscription(
            message_class(entry.type), name, take, PROFILES[entry.quality], raw=fast
        )

    def _unsubscribe(self, vehicle: str, topic: str) -> None:
        self._newest.pop((vehicle, topic), None)
        subscription = self._subscriptions_of.pop((vehicle, topic), None)
        if subscription is not None:
            self.destroy_subscription(subscription)

    def _on_time(self) -> None:
        while not self._asked.empty():
            self._asked.get()()
        self._turn += 1
        if self._turn % round(NODE_RATE) == 0:
            self._repeat_orders()
        if self._turn % round(NODE_RATE / RATE) or self._view is None:
            return
        if self._running:
            self._follow(self._view.wanted())
        for (vehicle, topic), raw in self._newest.items():
            self._view.take(vehicle, topic, deserialize_message(raw, message_class(BY_NAME[topic].type)))
        self._newest.clear()
        if not self._clock_known and self._get_client.service_is_ready():
            self._clock_known = True
            self._get_client.call_async(GetParameters.Request(names=list(self._sim_clock))).add_done_callback(
                self._on_clock
            )

    def _on_standing_order(self, vehicle: str, message: StandingOrder) -> None:
        """Takes over the order that a pilot obeys: one of a terminal or another tool ends the page's."""
        if message.order in set(Ordered):
            self._standing[vehicle] = Ordered(message.order)

    def _repeat_orders(self) -> None:
        """A pilot that was started again must not fly on against an order."""
        for vehicle, order in self._standing.items():
            if order is not Ordered.SEARCH:
                self._call(self._order_clients[vehicle], Order.Request(order=order), vehicle)

    def _follow(self, wanted: frozenset[str]) -> None:
        """Subscribes to the topics of open pages alone. All vehicles are on the map, one's cameras beside it."""
        cameras = [names.camera_compressed(camera) for camera in names.EYES]
        for vehicle in self.vehicles:
            for topic in RUNNING:
                self._subscribe(vehicle, topic)
            for topics, looked_at in ((LOOKED_AT, bool(wanted)), (cameras, vehicle in wanted)):
                for topic in topics:
                    (self._subscribe if looked_at else self._unsubscribe)(vehicle, topic)

    # -- time -----------------------------------------------------------------------------------

    def _on_clock(self, future: Any) -> None:
        answer = future.result()
        if answer is not None and len(answer.values) == len(self._sim_clock):
            self._tell_clock(dict(zip(self._sim_clock, answer.values, strict=True)))

    def _on_parameters(self, event: ParameterEvent) -> None:
        if event.node.rsplit("/", 1)[-1] == node_names.AIRSIM_BRIDGE:
            self._tell_clock({p.name: p.value for p in event.changed_parameters if p.name in self._sim_clock})

    def _tell_clock(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            truth = value.type == ParameterType.PARAMETER_BOOL
            self._sim_clock[name] = value.bool_value if truth else value.double_value
        if self._view is not None:
            self._view.take_clock(bool(self._sim_clock["paused"]), float(self._sim_clock["speed"]))

    def close(self) -> None:
        """Stop showing."""
        if self._on_close is not None:
            self._on_close()
