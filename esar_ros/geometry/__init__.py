"""Frames, camera model and geodesy: plain numbers in SI units, no state."""
