"""Bags (rosbag2) read whatever their state, played, written and looked into. No ROS install needed."""
