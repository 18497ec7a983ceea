"""UAVBench: whole UAV missions as JSON (scenarios/) that are checked and flown, and questions about them for language
models (mcq/).

Source: the UAVBench paper; profiles, rules and measures are on docs/reference/uavbench.md.
"""
