"""Faults to inject: schedules that a person writes, and what becomes of a message while one is active.

Nodes, engine and tests act on them; the cores know nothing of faults.
"""
