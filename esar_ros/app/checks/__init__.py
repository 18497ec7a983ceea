"""Checks of `esar doctor`.

Each check ends in one finding: its subject, whether it is well, and the command that corrects it.
"""
