"""Foundations of every node: the step protocol, topics and their quality of service, parameters, start and end.

`interface` is the one table of topics; `steps` is the base class of all nodes on the control chain.
"""
