"""Faults on the live graph: at a node's inputs, and as signals to whole processes. Shells around `faults`.

What a node makes of its inputs is not touched: a schedule only changes what it hears and when, before it hears it.
"""
