"""The record of a mission: what scoring and viewing need of its messages."""
