"""Benchmark runs of any suite.

`engine` flies one episode in one process, `runner` flies many and stores them, `report` shows and compares results.
"""
