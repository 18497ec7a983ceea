"""Verbs of single suites, one module a verb."""
