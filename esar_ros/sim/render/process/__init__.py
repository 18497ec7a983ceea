"""The rendering process beside the simulator: client, protocol, worker, and AirSim's image types."""
