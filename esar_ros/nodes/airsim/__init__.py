"""Parts of the AirSim bridge's node: one vehicle, its actions, and the simulator's clock."""
