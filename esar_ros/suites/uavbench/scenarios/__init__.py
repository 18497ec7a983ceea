"""Scenarios of UAVBench (Ferrag et al., 2025, arXiv 2511.11252): a schema, rules, risk labels, a generator and flights.

`reading` parses, `validate` applies the table of `rules`, and all else reads a scenario through `scene.Scene`. Flights
lie in `flights/`.
"""
