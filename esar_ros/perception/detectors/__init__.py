"""Detector backends behind one registry: networks from files with their cards, and the simulator's exact ids."""
