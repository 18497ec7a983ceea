"""The parts of a participant of the steps, without rclpy: barrier, pulse, topics and their messages."""
