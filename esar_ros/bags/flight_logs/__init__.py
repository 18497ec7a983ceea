"""Flight logs of autopilots (PX4's .ulg, ArduPilot's .bin and .log): read, and turned into bags."""
