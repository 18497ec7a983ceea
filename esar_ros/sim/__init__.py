"""The embedded simulator: places, pictures, dynamics and sensors, served over AirSim's RPC."""
