"""Agents on foot that search, carry, return and hand over, one action for every observation; found by `registry`."""
