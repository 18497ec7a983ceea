"""The graph as data: what is chosen decides which processes run, where, and with which parameters."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.system.truth_token import VARIABLE
from esar_ros.nodes.core import node_names
from esar_ros.nodes.core.node_names import REFEREE_RECORDER, SENSING, SIMULATOR
from esar_ros.nodes.graph.mission import TRUTH_DETECTOR, MissionOptions, NodeSpec, mission_graph, vehicle_names

DEFAULT = MissionOptions(map="aotai", seed=7, detector=TRUTH_DETECTOR)


def by_label(options: MissionOptions) -> dict[str, NodeSpec]:
    specs = mission_graph(options)
    labels = {spec.label: spec for spec in specs}
    assert len(labels) == len(specs), "two processes would share a log"
    return labels


def test_processes_of_a_mission() -> None:
    assert set(by_label(DEFAULT)) == {
        SIMULATOR,
        REFEREE_RECORDER,
        node_names.AIRSIM_BRIDGE,
        "uav1-safety_governor",
        "uav1-pilot",
        "uav1-sensing",
        "uav1-planner",
    }


def test_what_ends_and_what_is_restarted() -> None:
    graph = by_label(DEFAULT)
    assert [label for label, spec in graph.items() if spec.ends_mission] == [REFEREE_RECORDER]
    assert {label for label, spec in graph.items() if not spec.restart} == {SIMULATOR, REFEREE_RECORDER}
    assert [label for label, spec in graph.items() if not spec.ros] == [SIMULATOR]
    assert [label for label, spec in graph.items() if spec.images] == ["uav1-sensing"]


def test_two_vehicles_have_nodes_of_their_own_and_share_the_others() -> None:
    graph = by_label(replace(DEFAULT, vehicles=("uav1", "uav2")))
    assert len(graph) == 3 + 1 + 2 * 3
    for vehicle in ("uav1", "uav2"):
        for executable in (node_names.SAFETY_GOVERNOR, node_names.PILOT, node_names.PLANNER):
            assert graph[f"{vehicle}-{executable}"].namespace == f"/{vehicle}"
        other = {"uav1": "uav2", "uav2": "uav1"}[vehicle]
        for executable in (node_names.SAFETY_GOVERNOR, node_names.PLANNER):
            assert graph[f"{vehicle}-{executable}"].parameters["others"] == [other]
    assert graph[SENSING].parameters["team"] == ["/uav1", "/uav2"]
    assert graph[SENSING].namespace == "", "one given to the process would be forced on all of its nodes"
    assert graph[SENSING].images and graph[SENSING].truth
    for shared in (REFEREE_RECORDER, node_names.AIRSIM_BRIDGE):
        assert graph[shared].namespace == ""
        assert graph[shared].parameters["vehicles"] == ["uav1", "uav2"]
    assert "uav1,uav2" in graph[SIMULATOR].arguments


@pytest.mark.parametrize("namespace", ["team", "/team", "team/", "/team/"])
def test_a_namespace_holds_the_whole_graph(namespace: str) -> None:
    graph = mission_graph(replace(DEFAULT, namespace=namespace))
    spaces = {spec.executable: spec.namespace for spec in graph if spec.ros}
    assert spaces == {
        REFEREE_RECORDER: "/team",
        node_names.AIRSIM_BRIDGE: "/team",
        node_names.SAFETY_GOVERNOR: "/team/uav1",
        node_names.PILOT: "/team/uav1",
        SENSING: "/team/uav1",
        node_names.PLANNER: "/team/uav1",
    }


def test_only_the_embedded_world_starts_a_simulator() -> None:
    remote = by_label(replace(DEFAULT, world="airsim", host="192.0.2.1", port=4000))
    assert SIMULATOR not in remote
    for label in (REFEREE_RECORDER, node_names.AIRSIM_BRIDGE, "uav1-sensing"):
        assert remote[label].parameters["host"] == "192.0.2.1"
        assert remote[label].parameters["port"] == 4000


def test_in_world_ardupilot_it_is_ardupilots_and_all_else_is_as_in_world_px4() -> None:
    graphs = {}
    for world in ("px4", "ardupilot"):
        options = replace(DEFAULT, world=world, pace="realtime", vehicles=("uav1", "uav2"))
        graphs[world] = {
            label.replace("ardupilot_bridge", "px4_bridge"): {**spec.parameters, "world": ""}
            for label, spec in by_label(options).items()
        }
    assert graphs["px4"] == graphs["ardupilot"]
    assert f"uav2-{node_names.ARDUPILOT_BRIDGE}" in by_label(options)
    with pytest.raises(UsageError, match="ardupilot flies in real time only"):
        mission_graph(replace(DEFAULT, world="ardupilot", pace="lockstep"))


def test_in_world_px4_every_vehicle_has_a_bridge_of_its_own_on_system_time() -> None:
    graph = by_label(replace(DEFAULT, world="px4", pace="realtime", vehicles=("uav1", "uav2")))
    assert node_names.AIRSIM_BRIDGE not in graph and SIMULATOR not in graph
    for index, vehicle in enumerate(("uav1", "uav2")):
        bridge = graph[f"{vehicle}-{node_names.PX4_BRIDGE}"]
        assert (bridge.namespace, bridge.parameters["index"], bridge.restart) == (f"/{vehicle}", index, True)
        assert graph[f"{vehicle}-{SENSING}"].parameters["stamps"] == "arrival"
    assert not any(spec.parameters["use_sim_time"] for spec in graph.values())


def test_who_only_watches_is_started_when_asked_for_and_may_be_lost() -> None:
    graph = by_label(replace(DEFAULT, view=8643, foxglove=0, vehicles=("uav1", "uav2"), namespace="team"))
    viewer, foxglove = graph["team-viewer"], graph["team-foxglove_bridge"]
    assert viewer.main_module == "esar_ros.app.view.viewer"
    assert foxglove.main_module == "esar_ros.nodes.tools.foxglove_bridge"
    assert {spec.executable for spec in graph.values() if spec.optional} == {"viewer", "foxglove_bridge"}
    vehicles = ["uav1", "uav2"]
    assert viewer.parameters == {"pace": "lockstep", "vehicles": vehicles, "port": 8643}
    assert foxglove.parameters == {"vehicles": vehicles, "port": 0}
    for spec in (viewer, foxglove):
        assert not spec.truth


def test_the_page_shows_the_incident_that_is_flown() -> None:
    shown = by_label(replace(DEFAULT, view=0, incident="/valley"))["viewer"]
    assert shown.parameters["incident"] == "/valley"


def test_a_host_is_told_of_the_flight_only_where_it_is_named() -> None:
    assert not any("cot" in label for label in by_label(DEFAULT))
    bridge = by_label(replace(DEFAULT, cot="239.2.3.1:6969", vehicles=("uav1", "uav2")))["cot_bridge"]
    assert bridge.parameters == {"vehicles": ["uav1", "uav2"], "to": "239.2.3.1:6969"}
    assert bridge.optional and not bridge.truth and bridge.main_module == "esar_ros.nodes.tools.cot_bridge"
    for wrong in ("239.2.3.1", ":6969", "host:port", "host:70000"):
        with pytest.raises(UsageError, match="HOST:PORT"):
            replace(DEFAULT, cot=wrong).check()


def test_sensing_may_be_a_process_for_each_node() -> None:
    composed = by_label(replace(DEFAULT, detector="other"))
    separate = by_label(replace(DEFAULT, detector="other", sensing="separate", preset="fast"))
    three = {f"uav1-{name}": name for name in ("camera_driver", "clue_detector", "voxel_mapper")}
    assert set(separate) == set(composed) - {"uav1-sensing"} | set(three)
    driver = separate["uav1-camera_driver"].parameters
    assert driver["readers"] == ["clue_detector", "voxel_mapper"] and driver["image_width"] == 320
    assert separate["uav1-clue_detector"].parameters["detector"] == "other"
    assert all(separate[label].namespace == "/uav1" and separate[label].images for label in three)


def test_lockstep_begins_paused_and_real_time_does_not() -> None:
    assert "--paused" in by_label(DEFAULT)[SIMULATOR].arguments
    assert "--paused" not in by_label(replace(DEFAULT, pace="realtime"))[SIMULATOR].arguments


def test_the_seed_of_the_task_is_meant_by_minus_one() -> None:
    graph = by_label(replace(DEFAULT, seed=-1))
    assert graph[REFEREE_RECORDER].parameters["seed"] == -1
    assert "-1" not in graph[SIMULATOR].arguments


# What changes when a person chooses otherwise. These alone do not change the processes' own data: the supervisor
# and the launch file pass them to every process, start RViz beside them, or write the task of a search of one's own.
ELSEWHERE = {"params_file", "log_level", "rviz", "brief", "start", "t_max", "incident"}
OTHERWISE: dict[str, Any] = {
    "task": "aotai-second",
    "planner": "random",
    "map": "other",
    "seed": 8,
    "out": "there",
    "world": "airsim",
    "pace": "realtime",
    "preset": "fast",
    "quality": "low",
    "vehicles": ("uav9",),
    "namespace": "team",
    "use_sim_time": False,
    "record": "full",
    "detector": "other",
    "governor": False,
    "end": "return_land",
    "host": "192.0.2.1",
    "port": 4000,
    "progress": True,
    "odometry": "true",
    "sensing": "separate",
    "keep_out": "/zones.yaml",
    "fault": "/faults.yaml",
    "view": 8643,
    "foxglove": 0,
    "cot": "239.2.3.1:6969",
}


def test_every_option_is_covered_here() -> None:
    assert {field.name for field in fields(MissionOptions)} == set(OTHERWISE) | ELSEWHERE


@pytest.mark.parametrize("name", OTHERWISE)
def test_every_option_changes_the_graph(name: str) -> None:
    usual = replace(DEFAULT, detector="any")  # one that every sensing has
    assert mission_graph(replace(usual, **{name: OTHERWISE[name]})) != mission_graph(usual)


@pytest.mark.parametrize(
    ("name", "parameter", "labels"),
    [
        ("task", "task", (REFEREE_RECORDER,)),
        ("out", "out", (REFEREE_RECORDER,)),
        ("planner", "method", ("uav1-planner",)),
        ("planner", "planner", (REFEREE_RECORDER,)),
        ("seed", "seed", ("uav1-planner", REFEREE_RECORDER)),
        ("detector", "detector", ("uav1-sensing", REFEREE_RECORDER)),
        ("governor", "enabled", ("uav1-safety_governor",)),
        ("keep_out", "keep_out", ("uav1-safety_governor",)),
        ("fault", "faults", ("uav1-planner", "uav1-safety_governor", REFEREE_RECORDER)),
        ("odometry", "odometry", ("airsim_bridge", REFEREE_RECORDER)),
        ("end", "end", ("uav1-pilot",)),
        ("progress", "progress", (REFEREE_RECORDER,)),
    ],
)
def test_an_option_reaches_the_node_that_acts_on_it(name: str, parameter: str, labels: tuple[str, ...]) -> None:
    graph = by_label(replace(DEFAULT, **{name: OTHERWISE[name]}))
    for label in labels:
        assert graph[label].parameters[parameter] == OTHERWISE[name]


def test_pace_record_and_clock_reach_every_node() -> None:
    graph = mission_graph(replace(DEFAULT, pace="realtime", record="full", use_sim_time=False))
    for spec in graph:
        if spec.ros:
            assert spec.parameters["pace"] == "realtime"
            assert spec.parameters["record"] == "full"
            assert spec.parameters["use_sim_time"] is False


def test_the_simulator_draws_in_the_quality_that_the_referee_records() -> None:
    graph = by_label(replace(DEFAULT, quality="low"))
    arguments = graph[SIMULATOR].arguments
    assert arguments[arguments.index("--quality") + 1] == graph[REFEREE_RECORDER].parameters["quality"] == "low"


@pytest.mark.parametrize(("preset", "size"), [("paper", (640, 480)), ("fast", (320, 240))])
def test_simulator_and_sensing_agree_on_the_pictures_size(preset: str, size: tuple[int, int]) -> None:
    graph = by_label(replace(DEFAULT, preset=preset))
    parameters = graph["uav1-sensing"].parameters
    assert (parameters["image_width"], parameters["image_height"]) == size
    assert f"{size[0]}x{size[1]}" in graph[SIMULATOR].arguments


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"world": "moon"}, ("world 'moon'", "embedded")),
        ({"pace": "slow"}, ("pace 'slow'", "lockstep")),
        ({"quality": "huge"}, ("quality 'huge'", "low, high")),
        ({"quality": "low", "world": "airsim"}, ("quality low in world airsim", "embedded")),
        ({"preset": "huge"}, ("preset 'huge'", "paper")),
        ({"record": "all"}, ("record 'all'", "view")),
        ({"end": "crash"}, ("end 'crash'", "hold")),
        ({"log_level": "loud"}, ("log_level 'loud'", "warn")),
        ({"world": "px4"}, ("px4", "real time")),
        ({"vehicles": ()}, ("vehicles",)),
        ({"vehicles": ("uav1", "uav1")}, ("vehicles", "different")),
        ({"vehicles": ("u v",)}, ("'u v'", "ROS name")),
        ({"port": 0}, ("port 0", "1..65535")),
        ({"port": 65536}, ("port 65536", "1..65535")),
        ({"view": -2}, ("view -2", "free one")),
        ({"foxglove": 65536}, ("foxglove 65536", "free one")),
        ({"sensing": "apart"}, ("sensing 'apart'", "separate")),
        ({"sensing": "separate", "detector": TRUTH_DETECTOR}, ("object ids", "composed")),
        ({"sensing": "separate", "detector": "other", "vehicles": ("a", "b")}, ("share a map", "composed")),
    ],
    ids=str,
)
def test_what_does_not_exist_is_refused(wrong: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refusal:
        mission_graph(replace(DEFAULT, **wrong))
    assert all(word in str(refusal.value) for word in words)


def test_only_who_may_know_the_truth_gets_the_token() -> None:
    graph = by_label(DEFAULT)
    knowing = {label for label, spec in graph.items() if spec.truth_environment("sesame")[VARIABLE] == "sesame"}
    assert knowing == {SIMULATOR, REFEREE_RECORDER, "uav1-sensing"}
    honest = by_label(replace(DEFAULT, detector="another"))
    assert {label for label, spec in honest.items() if spec.truth} == {SIMULATOR, REFEREE_RECORDER}
    unasked = by_label(MissionOptions(map="aotai"))
    assert {label for label, spec in unasked.items() if spec.truth} == {SIMULATOR, REFEREE_RECORDER}
    assert graph["uav1-planner"].truth_environment("sesame") == {VARIABLE: ""}


def test_vehicles_are_given_by_names_or_by_number() -> None:
    assert vehicle_names("2") == ("uav1", "uav2")
    assert vehicle_names(" left , right ") == ("left", "right")
    assert vehicle_names("uav1") == ("uav1",)
    for nonsense in ("0", "17"):
        with pytest.raises(UsageError, match="vehicles"):
            vehicle_names(nonsense)
