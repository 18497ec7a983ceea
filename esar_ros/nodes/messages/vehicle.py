"""Messages of a vehicle's state. Poses in <vehicle>/odom, twists in <vehicle>/base_link (REP-103, REP-105)."""

from __future__ import annotations

import array
import math

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from sensor_msgs.msg import BatteryState, FluidPressure, Imu, NavSatFix, NavSatStatus

from esar_ros.bridges.airsim.vehicle import ImuReading, VehicleReading
from esar_ros.bridges.odometry_error import Estimate, OdometryError
from esar_ros.geometry.frames import Pose
from esar_ros.mission import names
from esar_ros.mission.vehicle import Vehicle
from esar_ros.msg import Collision, RangeImage, VehicleState
from esar_ros.nodes.messages import convert
from esar_ros.perception.ranges import RangeGrid


def odometry_message(
    vehicle: str, estimate: Estimate, reading: VehicleReading, error: OdometryError | None, stamp: Time
) -> Odometry:
    """Covariances are those of the error that was put on; without one they stay zero: unknown (REP-145)."""
    message = Odometry(child_frame_id=names.vehicle_frame(vehicle, names.BASE_LINK))
    message.header.stamp = stamp
    message.header.frame_id = names.vehicle_frame(vehicle, names.ODOM)
    message.pose.pose.position = convert.point(estimate.pose.position)
    message.pose.pose.orientation = convert.quaternion(estimate.pose.quaternion)
    rotation = estimate.pose.rotation
    message.twist.twist.linear = convert.vector3(rotation.T @ estimate.velocity)
    message.twist.twist.angular = convert.vector3(reading.angular_velocity)
    if error is not None:
        message.pose.covariance = error.pose_covariance.ravel()
        twist = np.zeros((6, 6))
        twist[:3, :3] = rotation.T @ error.velocity_covariance @ rotation
        message.twist.covariance = twist.ravel()
    return message


def state_message(reading: VehicleReading, landing: bool, holding: bool, collisions: int, stamp: Time) -> VehicleState:
    """Returns the autopilot's state as a message; landing: it is coming down to touch the ground."""
    flying = VehicleState.LANDED_LANDING if landing else VehicleState.LANDED_FLYING
    message = VehicleState(
        armed=reading.armed,
        offboard=reading.offboard,
        landed=VehicleState.LANDED_ON_GROUND if reading.landed else flying,
        ready=reading.ready,
        ready_message=reading.ready_message,
        holding=holding,
        collisions=collisions,
    )
    message.header.stamp = stamp
    return message


def collision_message(reading: VehicleReading, odom_in_map: Pose, stamp: Time) -> Collision:
    """A contact, in the map frame."""
    message = Collision(
        position=convert.point(odom_in_map.apply(reading.pose.position)),
        normal=convert.vector3(reading.collision_normal),
        depth=float(reading.collision_depth),
        object=reading.collision_object,
    )
    message.header.stamp = stamp
    message.header.frame_id = names.MAP
    return message


def battery_message(
    percentage: float, voltage: float, current: float, stamp: Time, present: bool = True
) -> BatteryState:
    """Charge (0..1), V, and A (negative: discharging); what is not measured is NaN, as the definition says."""
    message = BatteryState(
        percentage=percentage,
        voltage=voltage,
        current=current,
        temperature=math.nan,
        charge=math.nan,
        capacity=math.nan,
        design_capacity=math.nan,
        present=present,
        power_supply_status=BatteryState.POWER_SUPPLY_STATUS_DISCHARGING,
        power_supply_technology=BatteryState.POWER_SUPPLY_TECHNOLOGY_LIPO,
    )
    message.header.stamp = stamp
    return message


def imu_message(vehicle: str, reading: ImuReading, stamp: Time) -> Imu:
    """At rest the z of the acceleration reads +g (REP-145)."""
    message = Imu(
        orientation=convert.quaternion(reading.attitude),
        angular_velocity=convert.vector3(reading.angular_velocity),
        linear_acceleration=convert.vector3(reading.linear_acceleration),
    )
    message.header.stamp, message.header.frame_id = stamp, names.vehicle_frame(vehicle, names.BASE_LINK)
    return message


def fix_message(vehicle: str, geodetic: tuple[float, float, float], undulation: float, stamp: Time) -> NavSatFix:
    """Altitude (m) above the WGS 84 ellipsoid, as the definition says.

    geodetic: latitude, longitude (deg), altitude (m above the sea); undulation: m, of the sea above the ellipsoid.
    """
    latitude, longitude, altitude = geodetic
    message = NavSatFix(latitude=latitude, longitude=longitude, altitude=altitude + undulation)
    message.status.status = NavSatStatus.STATUS_FIX
    message.status.service = NavSatStatus.SERVICE_GPS
    message.header.stamp, message.header.frame_id = stamp, names.vehicle_frame(vehicle, names.BASE_LINK)
    return message


def pressure_message(vehicle: str, pascal: float, stamp: Time) -> FluidPressure:
    """Static pressure, Pa."""
    message = FluidPressure(fluid_pressure=pascal)
    message.header.stamp, message.header.frame_id = stamp, names.vehicle_frame(vehicle, names.BASE_LINK)
    return message


def transform_message(parent: str, child: str, pose: Pose, stamp: Time) -> TransformStamped:
    """Pose of child in parent."""
    message = TransformStamped(child_frame_id=child)
    message.header.stamp = stamp
    message.header.frame_id = parent
    message.transform.translation = convert.vector3(pose.position)
    message.transform.rotation = convert.quaternion(pose.quaternion)
    return message


def mount_transforms(vehicle: str, rig: Vehicle, stamp: Time) -> list[TransformStamped]:
    """Poses of the cameras and of the LiDAR in base_link."""
    base = names.vehicle_frame(vehicle, names.BASE_LINK)
    cameras = [
        transform_message(base, names.camera_frame(vehicle, camera), mount.pose, stamp)
        for camera, mount in rig.eyes.items()
    ]
    return [*cameras, transform_message(base, names.vehicle_frame(vehicle, names.LIDAR), Pose(), stamp)]


def range_image_message(vehicle: str, grid: RangeGrid, ranges: NDArray[np.float32], stamp: Time) -> RangeImage:
    """Pooled ranges (rows, columns), m, in base_link."""
    message = RangeImage(
        azimuth_min=grid.azimuth_min,
        azimuth_step=grid.azimuth_step,
        columns=grid.columns,
        elevation_min=grid.elevation_min,
        elevation_step=grid.elevation_step,
        rows=grid.rows,
        range_min=grid.range_min,
        range_max=grid.range_max,
        ranges=array.array("f", ranges.tobytes()),
    )
    message.header.stamp = stamp
    message.header.frame_id = names.vehicle_frame(vehicle, names.BASE_LINK)
    return message
