"""Thin rclpy shells around the cores, the graph as data, and the supervisor that starts it."""
