"""Faults at the inputs of a live node: a shell around `faults`. Signals to whole processes are the graph's.

A node's own processing is not touched: a schedule only changes which messages it receives, and when.
"""
