"""Messages to an autopilot fit PX4's definitions: publishers are stand-ins, messages of interfaces/px4_msgs."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from esar_ros.bridges.px4.commands import MODE_HOLD, take_off
from esar_ros.bridges.px4.external import NAME, CheckAnswer, ExternalMode, Registration
from esar_ros.bridges.px4.frames import velocity_setpoint
from esar_ros.bridges.px4.stream import Output
from esar_ros.bridges.px4.versions import EXTERNAL_IN, EXTERNAL_OUT, IN, OPTIONAL_OUT, OUT
from esar_ros.nodes.px4 import link as px4_link
from esar_ros.nodes.px4.link import Px4Link

FOLDER = Path(__file__).resolve().parents[3] / "interfaces" / "px4_msgs" / "msg"


def message_classes() -> dict[str, Any]:
    """Every message as a class that, as rclpy's, has defaults and refuses what is not a field."""
    store = get_typestore(Stores.EMPTY)
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.msg")}
    for name in sorted(texts, key=lambda n: n == "ArmingCheckReply"):  # it holds an Event
        store.register(get_types_from_msg(texts[name], f"px4_msgs/msg/{name}"))

    def kind(name: str) -> Any:
        fields = [field for field in store.types[f"px4_msgs/msg/{name}"].__dataclass_fields__ if field[0].islower()]
        version = getattr(store.types[f"px4_msgs/msg/{name}"], "MESSAGE_VERSION", 0)

        def make(**given: Any) -> SimpleNamespace:
            unknown = set(given) - set(fields)
            assert not unknown, f"{name} has no {unknown}"
            return SimpleNamespace(kind=name, **given)

        make.MESSAGE_VERSION = version  # type: ignore[attr-defined]
        return make

    return {name: kind(name) for name in texts}


class Wire:
    """A node that keeps what is published and subscribed to."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.sent: list[tuple[str, Any]] = []

    def create_subscription(self, kind: Any, topic: str, callback: Any, quality: Any) -> None:
        self.read.append(topic)

    def create_publisher(self, kind: Any, topic: str, quality: Any) -> Any:
        return SimpleNamespace(publish=lambda message: self.sent.append((topic, message)))


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    classes = message_classes()
    monkeypatch.setattr(px4_link, "message_class", classes.__getitem__)
    return Wire()


def link(wire: Wire, external: bool) -> Px4Link:
    return Px4Link(wire, "px4_1", 2, lambda name, message: None, external)  # type: ignore[arg-type]


def test_offboard_has_the_topics_of_the_release_and_no_others(wire: Wire) -> None:
    link(wire, external=False).send(
        Output(heartbeat=True, setpoint=velocity_setpoint(np.ones(3), 0.1), commands=(MODE_HOLD,))
    )
    assert len(wire.read) == len(OUT) + len(OPTIONAL_OUT)
    assert [topic for topic, _ in wire.sent] == [
        "/px4_1/fmu/in/trajectory_setpoint", "/px4_1/fmu/in/vehicle_command", "/px4_1/fmu/in/offboard_control_mode",
    ]  # fmt: skip
    assert wire.sent[1][1].target_system == 2


def test_a_take_off_has_no_place_and_no_heading(wire: Wire) -> None:
    link(wire, external=False).send(Output(commands=(take_off(520.0),)))
    [(_, sent)] = wire.sent
    assert (sent.command, sent.param7) == (22, 520.0)
    assert all(math.isnan(value) for value in (sent.param4, sent.param5, sent.param6)), "zeros would be flown to"


def test_an_external_mode_says_who_it_is_that_it_can_run_and_what_it_controls(wire: Wire) -> None:
    asked, _ = ExternalMode(77).step(1.0, True, True)
    assert isinstance(asked, Registration)
    output = Output(registration=asked, answer=CheckAnswer(9, 1, True), control=23)
    link(wire, external=True).send(output)
    assert {"/px4_1/fmu/out/register_ext_component_reply", "/px4_1/fmu/out/arming_check_request_v1"} <= set(wire.read)
    assert len(wire.read) == len(OUT) + len(OPTIONAL_OUT) + len(EXTERNAL_OUT) and len({*IN, *EXTERNAL_IN}) == 6
    sent = dict(wire.sent)
    request = sent["/px4_1/fmu/in/register_ext_component_request"]
    assert bytes(request.name).rstrip(b"\0") == NAME.encode() and len(request.name) == 25
    assert request.register_mode and request.register_arming_check
    reply = sent["/px4_1/fmu/in/arming_check_reply_v1"]
    assert (reply.request_id, reply.registration_id, reply.can_arm_and_run) == (9, 1, True)
    assert reply.mode_req_local_position and reply.mode_req_attitude
    control = sent["/px4_1/fmu/in/config_control_setpoints"]
    assert control.source_id == 23 and control.flag_control_velocity_enabled and control.flag_control_climb_rate_enabled
