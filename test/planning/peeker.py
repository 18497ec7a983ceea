"""A planner that looks for the truth wherever a planner could, and writes what each route gave it to PEEK_OUT.

Run as a program it tries the same without a mission. It is no method: it only exists to come home with nothing.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from esar_ros.bridges.airsim.client import AirSimClient
from esar_ros.bridges.airsim.types import image_request
from esar_ros.mission.decision import Decision

POSE = {
    "position": {"x_val": 0.0, "y_val": 0.0, "z_val": -5.0},
    "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0},
}
ONE = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}
TRUTH_CALLS: tuple[tuple[Any, ...], ...] = (
    ("simListSceneObjects", ".*"),
    ("simGetObjectPose", "esar_.*"),
    ("simGetObjectPose", "victim"),
    ("simGetObjectScale", "esar_.*"),
    ("simSetObjectPose", "esar_.*", POSE, True),
    ("simDestroyObject", "esar_.*"),
    ("simSpawnObject", "mine", "tent/orange", POSE, ONE, False, False),
    ("simGetSegmentationObjectID", "esar_.*"),
    ("simSetSegmentationObjectID", ".*", 1, True),
    ("esarPlaceOnGround", "mine", "tent/orange", 0.0, 0.0, 0.0),
    ("simGetImages", [image_request("front", 5, True)], "uav1", False),
    ("simGetImage", "front", 5, "uav1", False),
    ("simAddDetectionFilterMeshName", "front", 0, "*", "uav1", False),
    ("simGetDetections", "front", 0, "uav1", False),
    ("esarAuthorize", ""),
    ("esarAuthorize", "guess"),
)


def read(path: str) -> str:
    try:
        return Path(path).read_bytes().replace(b"\0", b"\n").decode("utf-8", "replace")
    except OSError as error:
        return f"refused: {error.strerror}"


def over_rpc(port: int) -> dict[str, str]:
    """Every truth call, each on a connection of its own and then all on one."""
    found = {}
    for i, (method, *arguments) in enumerate(TRUTH_CALLS):
        try:
            with AirSimClient("127.0.0.1", port) as client:
                found[f"rpc {i} {method}"] = repr(client.call(method, *arguments))
        except Exception as error:
            found[f"rpc {i} {method}"] = f"refused: {error}"
    return found


def around() -> dict[str, str]:
    """Returns what the process and its parent were given."""
    handed = [read(word) for word in sys.argv if Path(word).is_file() and not word.endswith(".py")]
    return {
        "environment": "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items())),
        "arguments": "\n".join([read("/proc/self/cmdline"), *handed]),
        "environment of the parent": read(f"/proc/{os.getppid()}/environ"),
    }


def by_rule() -> dict[str, str]:
    """Routes that nothing bars: what is found here is named in the docs as a matter of rule."""
    others = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in (os.getpid(), os.getppid()):
            lines = read(f"{folder}/environ").splitlines()
            others += [line for line in lines if line.startswith("ESAR_TRUTH_TOKEN=") and line[17:]]
    from esar_ros.mission.resources import resource

    tasks = [str(path) for path in resource("config/tasks").rglob("*.json")]
    return {"token in other processes": "\n".join(others), "task files": "\n".join(tasks)}


class Peeker:
    """Stands still, listens to the topics that will carry the truth, and looks around once."""

    name, eligible, needs = "peeker", True, frozenset[str]()

    def __init__(self, parameters: Any) -> None:
        self._found: dict[str, str] = {"parameters": repr(dict(parameters))}
        self._heard: list[str] = []
        self._looked = False

    def reset(self, brief: Any, seed: int) -> None:
        self._found["brief"] = repr(brief)
        self._end = brief.t_max
        threading.Thread(target=self._listen, daemon=True).start()

    def act(self, observation: Any) -> Decision:
        if not self._looked and observation.elapsed >= 5.0:
            self._looked = True
            self._found |= around() | over_rpc(int(os.environ["PEEK_PORT"]))
            self._found["observation"] = repr(observation)
        if self._looked and observation.elapsed < self._end:  # then the truth is everybody's
            self._found["topics"] = "\n".join(self._heard)
            document = {"enforced": self._found, "by rule": by_rule() if observation.elapsed < 7.0 else {}}
            target = Path(os.environ["PEEK_OUT"])
            if document["by rule"] or not target.exists():
                target.write_text(json.dumps(document), encoding="utf-8")
            else:
                old = json.loads(target.read_text(encoding="utf-8"))
                target.write_text(json.dumps(old | {"enforced": self._found}), encoding="utf-8")
        return Decision("peek", "somebody left it open?")

    def _listen(self) -> None:
        """Everything that says truth, score or result, as late joiners hear it too."""
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import QoSDurabilityPolicy, QoSProfile

        from esar_ros.msg import Truth

        node = rclpy.create_node("peeker")
        late = QoSProfile(depth=10, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        for profile in (late, QoSProfile(depth=10)):
            node.create_subscription(Truth, "/uav1/mission/truth", lambda m: self._heard.append(m.truth), profile)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.spin()


if __name__ == "__main__":
    print(json.dumps(around() | over_rpc(int(sys.argv[1]))))
