"""What a participant of the steps is put together from, without rclpy: barrier, pulse, topics and their messages."""
