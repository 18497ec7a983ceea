"""Verbs that make something else of bags: `replay`, `compare`, `export`."""
