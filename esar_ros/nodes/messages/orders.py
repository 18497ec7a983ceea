"""Orders that a person may give a pilot, by number as the service has them and in words."""

from esar_ros.srv import Order

ORDERS: dict[int, str] = {
    Order.Request.ORDER_SEARCH: "search",
    Order.Request.ORDER_HOLD: "hold",
    Order.Request.ORDER_RETURN: "return",
}
