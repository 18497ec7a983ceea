"""Language models for planners: settings, client, budget, log and replay, and thought that takes its time."""
