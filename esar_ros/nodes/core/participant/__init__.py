"""The parts of a participant of the steps, without rclpy: ticks, liveliness, topics and their messages."""
