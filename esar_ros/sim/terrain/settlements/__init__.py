"""Settlements from a seed: where streets, plots, buildings, fences, water and trees of a stand-in place lie.

`plan` has the words and the planner that lays them out; a module a preset; `presets` finds them by name. Nothing here
knows meshes: what a piece looks like is `sim/assets/buildings`.
"""
