"""AirSim's interface: the RPC server, its settings file, cameras and motion commands as its clients know them."""
