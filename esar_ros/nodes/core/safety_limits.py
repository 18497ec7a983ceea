"""The governor's limits as ROS parameters: described, bounded, read-only, by default as in the settings file."""

from __future__ import annotations

from rcl_interfaces.msg import Parameter, ParameterEvent, ParameterType, ParameterValue
from rclpy.node import Node

from esar_ros.mission.settings_file import validated
from esar_ros.nodes.core.parameters import declare
from esar_ros.safety.limits import GROUP, Limits, load_limits


def declare_limits(node: Node) -> Limits:
    """Declare `limits.<key>` for each key of config/safety.yaml and return the values in force.

    Pilot and governor both declare them: a limit that only the governor knows it would enforce against the pilot.
    Raises UsageError for a value that its range or another limit forbids.
    """
    usual = load_limits()
    values = {}
    for key, field in Limits.model_fields.items():
        low, high = bounds(key)
        values[key] = declare(node, f"{GROUP}.{key}", getattr(usual, key), field.description or "", low, high)
    where = f"{node.get_fully_qualified_name()} parameters {GROUP}"
    return validated(Limits, values, where, cure="mend the parameter file or argument")


def bounds(key: str) -> tuple[float, float]:
    """Minimum and maximum of a limit; a bound that the value must not reach is given as if it might."""
    found = {}
    for constraint in Limits.model_fields[key].metadata:
        for sign, end in (("ge", 0), ("gt", 0), ("le", 1), ("lt", 1)):
            if getattr(constraint, sign, None) is not None:
                found[end] = float(getattr(constraint, sign))
    return found[0], found[1]


def changed(limits: Limits) -> dict[str, float]:
    """Limits that differ from the settings file."""
    usual = load_limits()
    return {key: value for key, value in limits if value != getattr(usual, key)}


def changed_message(node: Node, limits: dict[str, float]) -> ParameterEvent:
    """A governor's parameters of these limits, as set at its start."""
    value = lambda limit: ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=limit)  # noqa: E731
    parameters = [Parameter(name=f"{GROUP}.{key}", value=value(limit)) for key, limit in sorted(limits.items())]
    stamp = node.get_clock().now().to_msg()
    return ParameterEvent(stamp=stamp, node=node.get_fully_qualified_name(), new_parameters=parameters)
