"""PX4: its frames, the stream of set-points, requests to it, and its reported state."""
