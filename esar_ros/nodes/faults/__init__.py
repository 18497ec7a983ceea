"""Faults on the live graph: at a node's inputs, and as signals to whole processes. Shells around `faults`.

A node's own processing is not touched: a schedule only changes which messages it receives, and when.
"""
