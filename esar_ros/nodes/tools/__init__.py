"""Nodes and programs beside a mission: Foxglove's bridge, the bag player, and what `esar doctor` runs."""
