"""AirSim's methods by group; `groups` puts them on one context."""
