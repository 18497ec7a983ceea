"""Weather: the look of each of the thirteen, the ground that it leaves, sun and moon.

`gusts` is Dryden turbulence, which `physics.simulation` adds to the mean wind.
"""
