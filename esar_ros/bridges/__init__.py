"""The world outside the graph: AirSim's RPC and PX4, and the only place where NED and FRD live."""
