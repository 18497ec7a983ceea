"""Helpers shared by tests of several parts: `from helpers.X import Y` (pytest puts test/ on the path)."""
