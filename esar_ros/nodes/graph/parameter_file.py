"""Check of a user's ROS parameter file before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from esar_ros.mission.errors import UsageError
from esar_ros.mission.settings_file import read_yaml

_PARAMETERS = "ros__parameters"


def read_parameter_file(path: Path) -> dict[str, Any]:
    """Content of a file in ROS's form of parameters: node -> ros__parameters -> name -> value. Raises UsageError."""
    content = read_yaml(path, "parameter file")
    if not isinstance(content, dict) or not content:
        raise UsageError(f"parameter file {path} names no node", "write 'NODE: {ros__parameters: {NAME: VALUE}}'")
    for name, node in content.items():
        if not _holds_parameters(node):
            raise UsageError(f"parameter file {path}, key {name}: no {_PARAMETERS} below it", "mend the file")
    return content


def _holds_parameters(node: Any) -> bool:
    """node: what stands below a node's name, or below a namespace with nodes in it."""
    if not isinstance(node, dict) or not node:
        return False
    if _PARAMETERS in node:
        return isinstance(node[_PARAMETERS], dict)
    return all(_holds_parameters(inner) for inner in node.values())
