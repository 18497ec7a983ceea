"""Check of a user's ROS parameter file before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from esar_ros.mission.errors import UsageError

_PARAMETERS = "ros__parameters"


def check_parameter_file(path: Path) -> None:
    """Raises UsageError unless a file has ROS's form of parameters: node -> ros__parameters -> name -> value."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read parameter file: {error}", "check the path") from None
    except yaml.YAMLError as error:
        raise UsageError(f"parameter file {path} is not YAML: {error}", "mend the file") from None
    if not isinstance(content, dict) or not content:
        raise UsageError(f"parameter file {path} names no node", "write 'NODE: {ros__parameters: {NAME: VALUE}}'")
    for name, node in content.items():
        if not _holds_parameters(node):
            raise UsageError(f"parameter file {path}, key {name}: no {_PARAMETERS} below it", "mend the file")


def _holds_parameters(node: Any) -> bool:
    """node: what stands below a node's name, or below a namespace with nodes in it."""
    if not isinstance(node, dict) or not node:
        return False
    if _PARAMETERS in node:
        return isinstance(node[_PARAMETERS], dict)
    return all(_holds_parameters(inner) for inner in node.values())
