"""The worlds outside the graph, a folder each; the only place where NED, FRD and left-handed frames live."""
