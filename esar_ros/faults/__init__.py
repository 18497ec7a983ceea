"""Fault injection: user-written schedules, and their effect on a message while a fault is active.

Nodes, engine and tests apply them; the cores do not depend on faults.
"""
