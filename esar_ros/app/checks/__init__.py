"""What `esar doctor` looks at.

Each check ends in one finding: what was looked at, whether it is well, and the command that mends it.
"""
