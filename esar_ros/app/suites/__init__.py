"""Verbs of single suites."""
