"""Default planner and detector, used by every command and node when the user names none."""

from __future__ import annotations

PLANNER = "belief"
DETECTOR = "esar_yolo"
