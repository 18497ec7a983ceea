"""The safety governor: the last word on every velocity before it reaches the actuator. Pure, clock injected."""
