"""Each complaint made real, in a bag, a running graph or a file, and found by the doctor with its cure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from esar_ros.app import doctor
from esar_ros.app.checks.files import declared_parameters, examine_path
from esar_ros.app.checks.symptoms import SYMPTOMS, examine, unmatched
from esar_ros.bags.facts import Endpoint, Facts, parse_facts
from esar_ros.bags.writer import BagWriter, typestore
from esar_ros.benchmark.runner.job import Settings
from esar_ros.benchmark.runner.store import MANIFEST, Store
from esar_ros.mission.errors import UsageError
from esar_ros.mission.thresholds import load_thresholds
from helpers.bench_maker import make_bench, write_lines
from helpers.built_messages import SECOND, START, build, header

ODOMETRY, IMU, IMAGE = "/uav1/odometry", "/uav1/imu", "/uav1/camera/front/image/compressed"
COMMAND, TF, CLOCK = "/uav1/cmd_vel_safe", "/tf", "/clock"
TYPES = {
    ODOMETRY: "nav_msgs/msg/Odometry",
    IMU: "sensor_msgs/msg/Imu",
    IMAGE: "sensor_msgs/msg/CompressedImage",
    COMMAND: "geometry_msgs/msg/TwistStamped",
    TF: "tf2_msgs/msg/TFMessage",
    CLOCK: "rosgraph_msgs/msg/Clock",
}
Message = tuple[str, str, float, Any]  # topic, type, s, message


def vector(x: float, y: float, z: float) -> Any:
    return build("geometry_msgs/msg/Vector3", x=x, y=y, z=z)


def odometry(t: float, x: float, speed: float) -> Message:
    pose = build("geometry_msgs/msg/Pose", position=build("geometry_msgs/msg/Point", x=x, y=0.0, z=20.0))
    twist = build("geometry_msgs/msg/Twist", linear=vector(speed, 0.0, 0.0))
    message = build(
        TYPES[ODOMETRY],
        header=header(t, "uav1/odom"),
        pose=build("geometry_msgs/msg/PoseWithCovariance", pose=pose),
        twist=build("geometry_msgs/msg/TwistWithCovariance", twist=twist),
    )
    return ODOMETRY, TYPES[ODOMETRY], t, message


def imu(t: float, down: float = 9.81, late: float = 0.0, topic: str = IMU, frame: str = "uav1/base_link") -> Message:
    stamped = header(t + late, frame)
    return topic, TYPES[IMU], t, build(TYPES[IMU], header=stamped, linear_acceleration=vector(0.0, 0.0, down))


def image(t: float) -> Message:
    return IMAGE, TYPES[IMAGE], t, build(TYPES[IMAGE], header=header(t), format="jpeg")


def command(t: float, speed: float) -> Message:
    twist = build("geometry_msgs/msg/Twist", linear=vector(speed, 0.0, 0.0))
    return COMMAND, TYPES[COMMAND], t, build(TYPES[COMMAND], header=header(t), twist=twist)


def transform(t: float, stamp: float) -> Message:
    moment = build("geometry_msgs/msg/TransformStamped", header=header(stamp), child_frame_id="uav1/base_link")
    return TF, TYPES[TF], t, build(TYPES[TF], transforms=[moment])


def clock(t: float, topic: str = CLOCK) -> Message:
    return topic, TYPES[CLOCK], t, build(TYPES[CLOCK], clock=header(t).stamp)


def flight(
    camera_period: float = 1.0,
    speed: float = 2.0,
    asked: float = 2.0,
    commands_until: float = 20.0,
    more: Callable[[float], list[Message]] | None = None,
    without: tuple[str, ...] = (),
) -> list[Message]:
    """20 s eastwards, as it should be."""
    out: list[Message] = []
    for i in range(400):
        t = i / 20
        out += [odometry(t, speed * t, speed), imu(t), transform(t, t), clock(t)]
        if t < commands_until:
            out.append(command(t, asked))
        if more is not None:
            out += more(t)
    out += [image(camera_period * i) for i in range(int(20 / camera_period))]
    return [message for message in out if message[0] not in without]


def write(path: Path, messages: list[Message]) -> Path:
    writer = BagWriter(path)
    for topic, kind, t, message in messages:
        writer.add_topic(topic, kind)
        raw = bytes(typestore().serialize_cdr(message, kind))
        writer.write(topic, START + round(t * SECOND), raw)
    writer.close()
    return path


COMPLAINTS: dict[str, tuple[str, list[Message], str]] = {
    "cameras at 0.5 Hz": ("camera rate", flight(camera_period=2.0), "0.50 Hz"),
    "IMU on another clock": (
        "one clock", [*flight(without=(IMU,)), *(imu(i / 20, late=1.7e9) for i in range(400))], "s off",
    ),
    "ENU data on a topic called ned": (
        "ENU and FLU", flight(more=lambda t: [imu(t, topic="/uav1/odom_local_ned")]), "odom_local_ned",
    ),
    "an IMU that reads gravity downwards": (
        "ENU and FLU", [*flight(without=(IMU,)), *(imu(i / 20, down=-9.81) for i in range(400))], "gravity",
    ),
    "the clock below a node": ("clock", flight(more=lambda t: [clock(t, "/bridge/clock")]), "/bridge/clock"),
    "commands without effect": ("commands obeyed", flight(speed=0.0), "the vehicle stood"),
    "a vehicle that flies on without commands": ("holds when orphaned", flight(commands_until=8.0), "did 2.0 m/s"),
    "a bag in a loop": (
        "time goes on", flight(without=(TF,)) + [transform(i / 20, i / 20 % 5.0) for i in range(400)], "/tf",
    ),
}  # fmt: skip


def test_a_healthy_flight_has_no_complaint(tmp_path: Path) -> None:
    checks = examine_path(write(tmp_path / "bag", flight()))
    assert [check.name for check in checks if not check.ok] == ["quality of service"], "a bag has no readers"
    assert len(checks) == len(SYMPTOMS)


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_a_complaint_made_real_is_found_alone_and_its_cure_named(tmp_path: Path, complaint: str) -> None:
    name, messages, words = COMPLAINTS[complaint]
    checks = examine_path(write(tmp_path / "bag", messages))
    (wrong,) = [check for check in checks if check.needed and not check.ok]
    assert wrong.name == name
    assert words in wrong.detail and "\n" not in wrong.detail
    assert wrong.cure


@pytest.mark.parametrize(
    ("writer", "reader", "words"),
    [
        ((False, False), (True, False), "reliable asked"),
        ((True, False), (True, True), "transient local asked"),
        ((True, True), (False, False), ""),
    ],
)
def test_listed_but_silent(writer: tuple[bool, bool], reader: tuple[bool, bool], words: str) -> None:
    ends = [Endpoint("/x", "t", "/a", True, *writer), Endpoint("/x", "t", "/b", False, *reader)]
    check = unmatched(parse_facts(Facts(endpoints=ends).dump()))
    assert check.ok == (not words) and words in check.detail
    assert not unmatched(Facts(endpoints=[ends[0], Endpoint("/x", "u", "/b", False, False, False)])).ok


def test_complaints_of_a_running_graph_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed but silent, a hidden clock, a slow camera and sensors on two clocks, live on DDS."""
    import threading

    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import Image, Imu
    from std_msgs.msg import String

    from esar_ros.nodes.core.stamps import to_stamp

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("patient", context=context)
    node.create_publisher(String, "/word", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
    node.create_subscription(String, "/word", lambda m: None, 1)
    outputs = {
        kind: node.create_publisher(kind, topic, 10)
        for kind, topic in ((Clock, "~/clock"), (Odometry, ODOMETRY), (Imu, IMU), (Image, "/uav1/camera/front/image"))
    }
    stop = threading.Event()

    def ail() -> None:
        for i in range(10_000):
            if stop.wait(0.05):
                return
            now = to_stamp(i * 50_000_000)
            outputs[Clock].publish(Clock(clock=now))
            for kind, stamp in (
                (Odometry, now),
                (Imu, to_stamp(time.time_ns())),
                (Image, to_stamp(i // 20 * 4 * SECOND)),
            ):
                message = kind()
                message.header.stamp = stamp
                outputs[kind].publish(message)

    thread = threading.Thread(target=ail)
    thread.start()
    try:
        checks = {check.name: check for check in doctor.live(6.0)}
    finally:
        stop.set()
        thread.join()
        node.destroy_node()
        context.try_shutdown()
    assert "/patient/clock" in checks["clock"].detail
    assert "/word from /patient to /patient: reliable asked" in checks["quality of service"].detail
    assert IMU in checks["one clock"].detail
    assert "camera/front/image at 0.25 Hz" in checks["camera rate"].detail


def test_without_a_graph_the_doctor_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_run_python", lambda *_: (True, Facts().dump()))
    with pytest.raises(UsageError, match="no graph runs in ROS domain"):
        doctor.live(1.0)
    with pytest.raises(UsageError, match="1 to 600"):
        doctor.live(0.0)


# --- Machine and files ----------------------------------------------------------------------------------------------


def test_images_filled_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """rclpy's own check of every byte."""
    from sensor_msgs.msg import Image

    from esar_ros.nodes.tools.image_check import fill_time

    def assign(image: Any, *_: Any) -> Any:
        message = Image()
        message.data = image.reshape(-1)
        return message

    slow = fill_time(assign)
    assert slow > doctor.SLOW_IMAGE > fill_time()
    monkeypatch.setattr(doctor, "_run_python", lambda *_: (True, f"{slow:.2f}"))
    check = doctor.images()
    assert not check.ok and "messages/image.py" in check.cure


def test_messages_of_another_px4_are_found_before_the_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("px4_msgs")
    assert doctor.px4_messages().ok
    monkeypatch.setattr(doctor, "read_yaml", lambda *_: {"release": "1.18"})
    check = doctor.px4_messages()
    assert not check.ok and "VehicleStatus is version 1, not 4" in check.detail and "1.17" in check.cure


def test_a_network_that_would_have_to_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def about(name: str) -> dict[str, str]:
        raise UsageError("there is no file clip.onnx", "get it")

    monkeypatch.setattr(doctor.backend, "about", about)
    check = doctor.detectors()
    assert not check.ok and not check.needed and "clip.onnx" in check.detail and "esar models" in check.cure


def test_a_small_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISK_NEEDED", 1 << 60)
    check = doctor.disk()
    assert not check.ok and check.needed and "ESAR_CACHE" in check.cure


def names(path: Path) -> dict[str, Any]:
    return {check.name: check for check in examine_path(path)}


def test_results_that_hold_no_numbers(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_text('{"a": 1.0}\n{"a": NaN}\n')
    check = names(file)["finite numbers"]
    assert not check.ok and "document 2 holds NaN" in check.detail
    file.write_text('{"a": 1.0}\n')
    assert names(file)["finite numbers"].ok


def test_success_criteria_that_differ(tmp_path: Path) -> None:
    ours = load_thresholds().model_dump(mode="json")
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"thresholds": ours}))
    assert names(file)["success criteria"].ok
    file.write_text(json.dumps({"thresholds": ours | {"error_threshold": 20.0}}))
    check = names(file)["success criteria"]
    assert not check.ok and "error_threshold 20.0 (here 10.0)" in check.detail and "--error-m" in check.cure


def test_a_benchmark_that_one_crash_ended(tmp_path: Path) -> None:
    first, second = make_bench(tmp_path / "made", {"fbe": 0.5}, events=1, snapshots=1)
    Store(tmp_path, Settings("esarbench", ("a",), ("digest",), ("fbe",), 2, ())).close()
    manifest = (tmp_path / MANIFEST).read_bytes()
    for lines, ok, told in (
        ([first], False, "1 of 2 flown"),
        ([first, second | {"status": "infrastructure_error"}], False, "1 failed"),
        ([first, second | {"status": "agent_error"}], True, "2 of 2 flown"),
        ([first, second | {"status": "lost"}], False, "key status"),
    ):
        write_lines(tmp_path, lines)
        (tmp_path / MANIFEST).write_bytes(manifest)
        check = names(tmp_path)["episodes"]
        assert check.ok == ok and told in check.detail
    write_lines(tmp_path, [first])
    (tmp_path / MANIFEST).write_bytes(manifest)
    assert "goes on" in names(tmp_path)["episodes"].cure
    content = json.loads(manifest)
    content["settings"]["tasks"] = "a"
    broken: dict[str, Any]
    for broken in (content, {}):
        (tmp_path / MANIFEST).write_text(json.dumps(broken))
        assert "bench.json is missing or broken" in names(tmp_path)["episodes"].detail


def test_parameters_that_would_be_ignored(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump({"/**": {"ros__parameters": {"resolution": 0.5}}}))
    assert names(file)["parameters obeyed"].ok
    file.write_text(yaml.safe_dump({"uav1": {"voxel_mapper": {"ros__parameters": {"resolutoin": 0.5}}}}))
    check = names(file)["parameters obeyed"]
    assert not check.ok and "resolutoin" in check.detail and "parameters.md" in check.cure
    assert {"pace", "record", "keep_out", "map_file", "method"} <= declared_parameters()


def test_a_path_that_is_nothing_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing at"):
        examine_path(tmp_path / "x")
    with pytest.raises(UsageError, match="no bag, mission"):
        examine_path(tmp_path)


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = write(tmp_path / "bag", flight(speed=0.0))
    assert doctor.main([str(bag), "--json", str(tmp_path / "x.json")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "wrong: commands obeyed; not checked: quality of service"
    assert not json.loads((tmp_path / "x.json").read_text())["ready"]
    assert doctor.main([str(write(tmp_path / "good", flight()))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing wrong was found; not checked: quality of service"


def test_of_what_a_bag_does_not_hold_nothing_is_said_to_be_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write(tmp_path / "bag", flight(without=(IMAGE, COMMAND, TF, CLOCK)))
    assert doctor.main([str(bag)]) == 0
    *found, verdict = capsys.readouterr().out.splitlines()
    lines = {line[6:27].strip(): line for line in found}
    for name in ("camera rate", "commands obeyed", "holds when orphaned", "time goes on", "quality of service"):
        assert lines[name].startswith("-   ") and "not checked: there is " in lines[name]
        assert name in verdict
    assert lines["one clock"].startswith("ok")
    assert verdict.startswith("nothing wrong was found; not checked: camera rate, ")
    text = "std_msgs/msg/String"
    strange = write(tmp_path / "strange", [("/chatter", text, 0.0, build(text, data="hello"))])
    assert doctor.main([str(strange)]) == 0
    found = capsys.readouterr().out.splitlines()
    assert "neither nav_msgs/msg/Odometry nor sensor_msgs/msg/NavSatFix; there is /chatter" in found[0]
    assert not [line for line in found if line.startswith("ok")]
    assert not [check.name for check in examine(Facts()) if check.ok]
