"""From a goal to a velocity.

`pilot` owns the phases of a flight; `local_planner` finds the path through the local map on `grid`, over the ground
that `terrain_following` keeps clear of.
"""
