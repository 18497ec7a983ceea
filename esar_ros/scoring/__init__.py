"""Metrics, judge and referee: everything that turns a flown mission into numbers. No ROS imports."""
