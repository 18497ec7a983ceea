"""Verbs about a real vehicle: how it brakes, and whether its autopilot is set up to be flown by this graph."""
