"""The live page's state: what is told when, once, in JSON; nothing of the truth before the end."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esar_ros.app.view.live import LiveView
from esar_ros.app.view.live_crops import SIDE, Crops, cut_box
from esar_ros.app.view.live_layers import PALETTES, Layer
from esar_ros.app.view.live_state import LiveState, ellipse, rounded
from esar_ros.mission import names
from helpers.live_messages import Told, grid, message, state_of


@pytest.fixture
def state() -> LiveState:
    made = LiveState(("uav1",))
    frame = message("geometry_msgs/msg/TransformStamped", child_frame_id="uav1/odom")
    frame.transform.translation.x, frame.transform.rotation.w = 10.0, 1.0
    made.take("uav1", names.TF_STATIC, SimpleNamespace(transforms=[frame]))
    made.take("uav1", names.MISSION_STATE, state_of(2, 0.0))
    return made


def fly(state: LiveState, x: float, stamp: float) -> None:
    odometry = message("nav_msgs/msg/Odometry", stamp, pose__pose__position__x=x, pose__pose__orientation__w=1.0)
    odometry.pose.covariance = [0.25] * 36
    odometry.twist.twist.linear.x = 3.0
    state.take("uav1", names.ODOMETRY, odometry)


def test_a_reader_is_told_what_it_does_not_have(state: LiveState) -> None:
    cursor: dict[str, int] = {}
    assert state.changes(cursor)["mission"]["phase"] == "running"
    assert state.changes(cursor) == {}
    fly(state, 0.0, 101.0)
    fly(state, 0.4, 101.1)
    told = state.changes(cursor)
    assert told["craft/uav1"]["position"] == [10.4, 0.0, 0.0]
    assert told["craft/uav1"]["heading"] == 90.0, "yaw 0 is east"
    assert told["craft/uav1"]["speed"] == 3.0
    assert told["track/uav1"] == {"from": 0, "items": [[10.0, 0.0, 0.0]]}, "half a metre is no new point"
    fly(state, 5.0, 102.0)
    assert state.changes(cursor)["track/uav1"] == {"from": 1, "items": [[15.0, 0.0, 0.0]]}
    assert state.changes({})["track/uav1"]["items"] == [[10.0, 0.0, 0.0], [15.0, 0.0, 0.0]]


def test_everything_told_is_json_even_where_numbers_are_none(state: LiveState) -> None:
    nothing = message("sensor_msgs/msg/BatteryState", 101.0, percentage=math.nan)
    state.take("uav1", names.BATTERY, nothing)
    safety = message("esar_ros/msg/SafetyStatus", 101.0, mode=3, reasons=[8], has_clearance=True, clearance=math.inf)
    state.take("uav1", names.SAFETY_STATUS, safety)
    told = json.loads(json.dumps(state.changes({}), allow_nan=False))
    assert told["battery/uav1"] is None
    assert told["governor/uav1"]["mode"] == "hold"
    assert told["governor/uav1"]["reasons"] == ["obstacle"]
    assert told["governor/uav1"]["clearance"] is None


def test_the_log_keeps_what_changes_and_not_what_only_counts(state: LiveState) -> None:
    for second, (action, why) in enumerate(
        [("frontier", "13 m away"), ("frontier", "8.5 m away"), ("continue", "8 m"), ("frontier", "20 m away")]
    ):
        decision = message("esar_ros/msg/Decision", 101.0 + second, status=1, action=action, why=why)
        state.take("uav1", names.DECISION, decision)
    log = state.changes({})["log"]["items"]
    assert [(entry["t"], entry["title"]) for entry in log] == [(1.0, "frontier"), (4.0, "frontier")]
    assert state.get("planner/uav1")["why"] == "20 m away"


def test_the_governor_is_logged_when_it_begins_and_when_it_ends(state: LiveState) -> None:
    for second, (mode, reasons) in enumerate([(1, []), (2, [8]), (2, [8]), (1, [])]):
        status = message("esar_ros/msg/SafetyStatus", 101.0 + second, mode=mode, reasons=reasons)
        state.take("uav1", names.SAFETY_STATUS, status)
    log = state.changes({})["log"]["items"]
    assert [(entry["title"], entry["text"]) for entry in log] == [("slow", "obstacle"), ("normal", "")]


def test_a_report_sent_again_is_one_report(state: LiveState) -> None:
    report = message("esar_ros/msg/Report", 105.0, seq=1, type=2, kind="person", text="red jacket", confidence=0.9)
    for _ in range(2):
        state.take("uav1", names.REPORTS, report)
    (told,) = state.changes({})["reports"]["items"]
    assert (told["type"], told["kind"], told["t"]) == ("victim", "person", 5.0)


def test_a_report_heard_late_is_logged_at_its_own_time(state: LiveState) -> None:
    state.take("uav1", names.DECISION, message("esar_ros/msg/Decision", 130.0, status=1, action="frontier", why=""))
    state.take("uav1", names.REPORTS, message("esar_ros/msg/Report", 101.0, seq=1, type=1, kind="tent", text="a tent"))
    log = state.changes({})["log"]["items"]
    assert [(entry["kind"], entry["t"]) for entry in log] == [("planner", 30.0), ("report", 1.0)]


def test_a_report_heard_before_the_mission_s_start_gets_its_time_with_it() -> None:
    early = LiveState(("uav1",))
    early.take("uav1", names.REPORTS, message("esar_ros/msg/Report", 100.0, seq=1, type=1, kind="tent", text="a tent"))
    early.take("uav1", names.MISSION_STATE, state_of(2, 1.0))
    told = early.changes({})
    assert [entry["t"] for entry in (*told["reports"]["items"], *told["log"]["items"])] == [0.0, 0.0]


def test_the_truth_is_told_after_the_end_and_not_before(state: LiveState) -> None:
    secret = {
        "victims": [{"name": "Wu", "position": [1.0, 2.0, 3.0]}],
        "clues": [{"kind": "sleeping_bag", "position": [4, 5, 6]}],
    }
    state.take("uav1", names.TRUTH, message("esar_ros/msg/Truth", truth=json.dumps(secret)))
    assert "Wu" not in json.dumps(state.changes({}))
    state.take("uav1", names.MISSION_STATE, state_of(3, 20.0, end=2))
    told = state.changes({})
    assert told["mission"]["end"] == "timeout"
    assert [thing["kind"] for thing in told["truth"]] == ["victim", "sleeping bag"]


@pytest.mark.parametrize(("order", "word"), [(1, "search"), (2, "hold"), (3, "return"), (9, "9")])
def test_the_order_in_force_is_shown_in_words(state: LiveState, order: int, word: str) -> None:
    state.take("uav1", names.OPERATOR_ORDER, message("esar_ros/msg/StandingOrder", order=order))
    told = state.changes({})
    assert told["order/uav1"] == word and told["log"]["items"][-1]["title"] == f"operator: {word}"


@settings(deadline=None)
@given(st.floats(0.1, 20.0), st.floats(0.1, 20.0), st.floats(0.0, math.pi))
def test_an_ellipse_is_the_covariance_turned(a: float, b: float, angle: float) -> None:
    major, minor = max(a, b), min(a, b)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    covariance = np.zeros((3, 3))
    covariance[:2, :2] = turn @ np.diag([major**2, minor**2]) @ turn.T
    found = ellipse(covariance)
    assert found[:2] == pytest.approx((major, minor), rel=1e-6, abs=1e-5)
    along = np.array([math.cos(math.radians(found[2])), math.sin(math.radians(found[2]))])
    assert along @ covariance[:2, :2] @ along == pytest.approx(major**2, rel=1e-6)


def test_an_ellipse_of_nothing_known_is_told_as_none() -> None:
    assert [rounded(v) for v in ellipse([math.inf] * 9)[:2]] == [None, None]


def test_a_grid_lies_where_its_message_says_north_up_and_clear_where_nothing_is_known() -> None:
    cells = np.array([[-1, 0], [100, 50], [1, -1]], dtype=np.int8)  # south first
    layer = Layer.of(names.BELIEF, 1, grid(cells))
    assert layer.extent == (-10.0, 0.0, 0.0, 15.0)
    image = cv2.imdecode(np.frombuffer(layer.image(), np.uint8), cv2.IMREAD_UNCHANGED)
    assert image.shape == (3, 2, 4)
    assert (image[2, :, 3] == 0).all() and image[0, 1, 3] == 0
    assert image[1, 0, 3] > image[1, 1, 3] > image[0, 0, 3] > 0, "more belief is denser"
    assert set(PALETTES) == {names.BELIEF, names.MAP_COVERAGE}


def image_with_box() -> bytes:
    pixels = np.zeros((120, 160, 3), np.uint8)
    pixels[50:70, 100:120] = (0, 0, 255)
    return bytes(cv2.imencode(".jpg", pixels)[1])


def seen(size: int, kind: str = "tent", x: float = 0.0) -> Any:
    box = {"camera": "front", "kind": kind, "has_position": True, "x": 100, "y": 50, "width": size, "height": size}
    return SimpleNamespace(**box, position=SimpleNamespace(x=x, y=0.0, z=0.0))


def clue(number: int, kind: str = "tent", x: float = 2.0) -> Any:
    return SimpleNamespace(id=number, kind=kind, position=SimpleNamespace(x=x, y=0.0, z=0.0))


@pytest.mark.parametrize("order", [("picture", "seen"), ("seen", "picture")])
def test_a_clue_gets_the_part_of_the_picture_that_shows_it(order: tuple[str, str]) -> None:
    crops = Crops()
    for what in order:
        if what == "picture":
            crops.image(7, "front", image_with_box())
        else:
            crops.detections(7, [seen(20)])
        assert crops.cut([clue(3), clue(4, x=90.0), clue(5, kind="rope")]) == (what == order[1])
    crop = crops.get(3)
    assert crop is not None and crops.get(4) is None and crops.get(5) is None
    pixels = cv2.imdecode(np.frombuffer(crop.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert pixels.shape == (SIDE, SIDE, 3)
    assert pixels[SIDE // 2, SIDE // 2, 2] > 200 and pixels[2, 2].max() < 60


def test_a_clue_s_picture_is_replaced_by_a_clearly_better_one_alone() -> None:
    crops = Crops()
    serials = []
    for ns, size in enumerate((20, 22, 40)):
        crops.image(ns, "front", image_with_box())
        crops.detections(ns, [seen(size)])
        crops.cut([clue(1)])
        crop = crops.get(1)
        assert crop is not None
        serials.append(crop.serial)
    assert serials == [1, 1, 2]


def test_a_box_at_the_edge_is_cut_inside_the_picture() -> None:
    box = SimpleNamespace(x=150, y=110, width=30, height=30)
    assert cv2.imdecode(np.frombuffer(cut_box(image_with_box(), box), np.uint8), 1).shape == (SIDE, SIDE, 3)


def test_an_image_that_is_none_is_no_crop_and_the_next_one_is() -> None:
    crops = Crops()
    for ns, jpeg in enumerate((b"", b"\x01\x02", image_with_box())):
        crops.image(ns, "front", jpeg)
        crops.detections(ns, [seen(20)])
        assert crops.cut([clue(1)]) == (ns == 2)


def spoilt_odometry(**values: Any) -> Any:
    """An odometry message, of no rotation but for values."""
    return message("nav_msgs/msg/Odometry", 101.0, **values)


@pytest.mark.parametrize(
    ("topic", "content", "is_told"),
    [
        (names.ODOMETRY, spoilt_odometry(pose__pose__orientation__w=1.0, pose__pose__position__x=math.nan), False),
        (names.ODOMETRY, spoilt_odometry(), False),
        (names.SCORE, message("esar_ros/msg/Score", 101.0), True),
        (names.SCORE, message("esar_ros/msg/Score", 101.0, result='{"metrics": {}}'), True),
        (names.BELIEF, message("nav_msgs/msg/OccupancyGrid", 101.0, info__width=3, info__height=2, data=[1] * 4), True),
        (names.BELIEF, message("nav_msgs/msg/OccupancyGrid", 101.0), True),
        (names.camera_compressed("front"), message("sensor_msgs/msg/CompressedImage", 101.0), False),
    ],
)
def test_a_message_that_makes_no_sense_ends_nothing_and_is_told_once(topic: str, content: Any, is_told: bool) -> None:
    view = LiveView(("uav1",), None)
    frame = message("geometry_msgs/msg/TransformStamped", child_frame_id="uav1/odom", transform__rotation__w=1.0)
    view.take("uav1", names.TF_STATIC, SimpleNamespace(transforms=[frame]))
    if isinstance(getattr(content, "data", None), list):
        content.data = np.array(content.data, dtype=np.int8)
    for _ in range(2):
        view.take("uav1", topic, content)
    told = json.loads(json.dumps(view.state(), allow_nan=False))
    assert "craft/uav1" not in told and "score" not in told and f"layer/{topic}/uav1" not in told
    log = [entry["title"] for entry in told.get("log", {"items": []})["items"]]
    assert log == ([f"{topic} cannot be shown"] if is_told else [])


def test_what_a_person_asks_reaches_the_graph() -> None:
    graph = Told()
    view = LiveView(("uav1",), graph)
    for words in (
        {"do": "hold", "vehicle": "uav1"},
        {"do": "pause"},
        {"do": "go"},
        {"do": "step"},
        {"do": "speed", "speed": 2},
        {"do": "report", "vehicle": "uav1", "kind": "person", "text": " red ", "x": 1, "y": 2.0, "z": 3},
    ):
        assert view.command(words) == {"done": words["do"]}
    assert graph.asked == [
        ("order", "uav1", "hold"),
        ("clock", {"paused": True}),
        ("clock", {"paused": False}),
        ("step",),
        ("clock", {"speed": 2.0}),
        ("report", "uav1", "person", True, "red", (1.0, 2.0, 3.0)),
    ]


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"do": "land", "vehicle": "uav1"},
        {"do": "hold", "vehicle": "uav9"},
        {"do": "hold"},
        {"do": "speed", "speed": -1},
        {"do": "speed", "speed": "fast"},
        {"do": "speed", "speed": True},
        {"do": "report", "vehicle": "uav1", "kind": "yeti", "x": 0, "y": 0, "z": 0},
        {"do": "report", "vehicle": "uav1", "kind": "tent", "x": math.nan, "y": 0, "z": 0},
        {"do": "report", "vehicle": "uav1", "kind": "tent", "x": 0, "y": 0},
        {"do": "report", "vehicle": "uav1", "kind": "tent", "text": "x" * 201, "x": 0, "y": 0, "z": 0},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_reaches_nobody(words: dict[str, Any]) -> None:
    graph = Told()
    with pytest.raises(ValueError, match=r".+"):
        LiveView(("uav1",), graph).command(words)
    assert graph.asked == []


def test_real_time_cannot_be_stopped() -> None:
    graph = Told()
    graph.lockstep = False
    with pytest.raises(ValueError, match="lockstep only"):
        LiveView(("uav1",), graph).command({"do": "pause"})


def test_who_looks_is_wanted_for_a_moment() -> None:
    now = [0.0]
    view = LiveView(("uav1", "uav2"), Told(), lambda: now[0])
    assert view.wanted() == frozenset()
    view.changes({}, {"vehicle": "uav2"})
    view.changes({}, {"vehicle": "nobody"})
    assert view.wanted() == {"uav1", "uav2"}
    now[0] = 10.0
    assert view.wanted() == frozenset()


def test_a_report_is_told_with_its_coordinates_and_the_error_of_its_clue(state: LiveState) -> None:
    place = {"origin_latitude": 33.95, "origin_longitude": 107.75, "origin_altitude": 2800.0}
    state.take("uav1", names.BRIEF, message("esar_ros/msg/Brief", **place))
    clue = message("esar_ros/msg/Clue", id=1, kind="person", covariance=[4.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0])
    state.take("uav1", names.CLUES, message("esar_ros/msg/Clues", 104.0, clues=[clue]))
    state.take("uav1", names.REPORTS, message("esar_ros/msg/Report", 105.0, seq=1, type=2, kind="person"))
    (told,) = state.changes({})["reports"]["items"]
    assert told["where"] == "33.95000, 107.75000 ±5 m · 48S 754142 3760019 · MGRS 48SYC5414260019"


def test_a_report_on_a_map_without_a_place_has_no_coordinates(state: LiveState) -> None:
    state.take("uav1", names.BRIEF, message("esar_ros/msg/Brief"))
    state.take("uav1", names.REPORTS, message("esar_ros/msg/Report", 105.0, seq=1, type=1, kind="tent"))
    assert state.changes({})["reports"]["items"][0]["where"] == ""
