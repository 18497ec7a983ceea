"""Worlds that episodes are flown in (flight.StepWorld): the embedded simulator, and servers of AirSim's interface."""
