"""Processes and their surroundings: what they are started with, the token for the truth, plugins, their ends."""
