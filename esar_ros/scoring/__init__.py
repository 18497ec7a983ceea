"""Metrics, judge, referee and bag reading: everything that turns a flown mission into numbers. No ROS imports."""
