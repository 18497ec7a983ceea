"""Flight: rigid body, autopilot, battery, and the simulation that steps them on one clock."""
