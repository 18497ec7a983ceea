"""What tests of several parts share: `from helpers.X import Y` (pytest puts test/ on the path)."""
