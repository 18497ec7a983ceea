"""Messages of the AirSim bridge: clock, frames, and the state of each vehicle. Carries no images."""

from __future__ import annotations

from collections.abc import Collection

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from esar_ros.bridges.airsim.vehicle import VehicleReading
from esar_ros.mission import names
from esar_ros.mission.vehicle import Vehicle
from esar_ros.nodes.airsim.bridged_vehicle import BridgedVehicle
from esar_ros.nodes.core.interface import BY_NAME
from esar_ros.nodes.core.qos import PROFILES
from esar_ros.nodes.core.stamps import to_stamp
from esar_ros.nodes.core.types import message_class
from esar_ros.nodes.messages import vehicle as messages

_OF_VEHICLE = (
    names.ODOMETRY, names.VEHICLE_STATE, names.BATTERY, names.IMU, names.FIX, names.PRESSURE, names.COLLISION,
)  # fmt: skip


class StateOut:
    """Publishes the vehicles' newest readings."""

    def __init__(self, node: Node, vehicles: Collection[BridgedVehicle], rig: Vehicle, undulation: float) -> None:
        """undulation: height (m) of the sea above the WGS 84 ellipsoid, which is added to GPS altitudes."""
        self._vehicles, self._rig, self._undulation = vehicles, rig, undulation
        self._clock, self._tf, self._tf_static = (
            node.create_publisher(message_class(BY_NAME[name].type), name, PROFILES[BY_NAME[name].quality])
            for name in (names.CLOCK, names.TF, names.TF_STATIC)
        )
        for bridged in vehicles:
            for name in _OF_VEHICLE:
                entry = BY_NAME[name]
                bridged.publishers[name] = node.create_publisher(
                    message_class(entry.type), f"{bridged.name}/{name}", PROFILES[entry.quality]
                )
        self._has_told_frames = False

    def tell_frames(self, ns: int) -> None:
        """Publishes map -> odom and base_link -> cameras and LiDAR, stamped ns, at the first call."""
        if self._has_told_frames:
            return
        stamp = to_stamp(ns)
        transforms = []
        for bridged in self._vehicles:
            odom = names.vehicle_frame(bridged.name, names.ODOM)
            transforms.append(messages.transform_message(names.MAP, odom, bridged.remote.odom_in_map, stamp))
            transforms += messages.mount_transforms(bridged.name, self._rig, stamp)
        self._tf_static.publish(TFMessage(transforms=transforms))
        self._has_told_frames = True

    def tell(self, ns: int, frame: bool) -> None:
        """Publishes the clock and each vehicle's state, stamped ns; frame: at a frame, with which the battery comes."""
        stamp = to_stamp(ns)
        self._clock.publish(Clock(clock=stamp))
        transforms = []
        for bridged in self._vehicles:
            if bridged.reading is None:
                continue
            estimate = bridged.estimate(bridged.reading)
            odometry = messages.odometry_message(bridged.name, estimate, bridged.reading, bridged.error, stamp)
            bridged.publishers[names.ODOMETRY].publish(odometry)
            self._tell_of(bridged, bridged.reading, stamp, frame)
            base = names.vehicle_frame(bridged.name, names.BASE_LINK)
            odom = names.vehicle_frame(bridged.name, names.ODOM)
            transforms.append(messages.transform_message(odom, base, estimate.pose, stamp))
        self._tf.publish(TFMessage(transforms=transforms))

    def _tell_of(self, bridged: BridgedVehicle, reading: VehicleReading, stamp: Time, frame: bool) -> None:
        send = {name: publisher.publish for name, publisher in bridged.publishers.items()}
        if reading.collided and reading.collision_ns != bridged.last_collision:
            bridged.last_collision = reading.collision_ns
            if not reading.landed:
                bridged.collisions += 1
                send[names.COLLISION](messages.collision_message(reading, bridged.remote.odom_in_map, stamp))
        send[names.VEHICLE_STATE](
            messages.state_message(reading, bridged.actuation.landing, bridged.holding, bridged.collisions, stamp)
        )
        if frame:
            battery = bridged.remote.read_battery()
            current = -abs(battery.current)
            send[names.BATTERY](messages.battery_message(battery.charge, battery.voltage, current, stamp))
        if bridged.publishers[names.IMU].get_subscription_count():
            send[names.IMU](messages.imu_message(bridged.name, bridged.remote.read_imu(), stamp))
        if bridged.publishers[names.FIX].get_subscription_count():
            fix = messages.fix_message(bridged.name, bridged.remote.read_gps(), self._undulation, stamp)
            send[names.FIX](fix)
        if bridged.publishers[names.PRESSURE].get_subscription_count():
            send[names.PRESSURE](messages.pressure_message(bridged.name, bridged.remote.read_pressure(), stamp))
