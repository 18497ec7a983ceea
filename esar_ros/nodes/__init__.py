"""Thin rclpy shells around the cores, one file a node; the only floor that knows ROS.

`core` has what every node stands on, `messages` the conversions, `graph` the mission's processes as data.
"""
