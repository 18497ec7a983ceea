"""Processes and their surroundings: their start and end, a planned sortie, the token for the truth, plugins."""
