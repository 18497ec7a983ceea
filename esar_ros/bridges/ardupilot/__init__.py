"""ArduPilot: its messages as the rules of bridges/px4 read them, and what those rules send as MAVLink."""
