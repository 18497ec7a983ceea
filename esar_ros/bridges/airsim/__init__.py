"""AirSim's RPC: client, frames, state and cameras of a vehicle, and the last rules before its calls."""
