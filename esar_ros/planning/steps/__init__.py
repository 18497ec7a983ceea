"""Agents that search for an object step by step: eight actions, four RGB-D cameras, nothing flown between two answers.

`agent` is their interface, `registry` finds them by name; `method_agent` flies any method of `planning/methods` so.
"""
