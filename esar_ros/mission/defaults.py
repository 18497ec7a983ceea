"""What is flown when nothing else is asked for: the one home of the names that every command and node falls back on."""

from __future__ import annotations

PLANNER = "belief"
DETECTOR = "esar_yolo"
