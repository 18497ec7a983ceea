"""Processes and their surroundings: the environment they are started with, the token for the truth, their ends."""
