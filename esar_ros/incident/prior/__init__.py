"""The first probability of area (POA) of an incident."""
