"""One episode in one process: the mission graph's cores in the graph's order, without ROS.

`episode` is the loop; `simulator`, `sensing` and `recording` are its parts; `wire` rounds numbers as messages do.
"""
