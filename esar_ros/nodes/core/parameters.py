"""Parameters with type, unit, range and description, refused when bad."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from esar_ros.mission.errors import UsageError


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare a read-only parameter and return its value.

    The unit belongs into the description. Raises UsageError when the value is out of range, not
    one of the choices, or of another type than the default.
    """
    descriptor = ParameterDescriptor(description=description, read_only=True)
    low = -1e308 if minimum is None else minimum
    high = 1e308 if maximum is None else maximum
    bounded = minimum is not None or maximum is not None
    if bounded and isinstance(default, float):
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    elif bounded and isinstance(default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(max(low, -(2**62))), to_value=int(min(high, 2**62)))]
    if choices:
        descriptor.additional_constraints = f"one of {', '.join(choices)}"
    where = f"{node.get_fully_qualified_name()} parameter {name}"
    try:
        value = node.declare_parameter(name, default, descriptor).value
    except Exception as error:  # rclpy raises several unrelated types for a bad override
        raise UsageError(f"{where}: {error}", "mend the parameter file or argument") from None
    if choices and value not in choices:
        raise UsageError(f"{where}: '{value}'", f"choose one of {', '.join(choices)}")
    return value
