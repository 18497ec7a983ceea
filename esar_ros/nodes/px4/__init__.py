"""Parts of the PX4 bridge's node: its actions, its topics to the autopilot, and the messages built on first need."""
