"""Simulated instruments of the vehicle, and the effects of weather on them."""
