"""The mission graph as data, and what starts it: the supervisor, launch arguments, progress lines."""
