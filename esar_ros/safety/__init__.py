"""The safety governor, the last stage of every velocity command before the actuator. Pure, clock injected.

`governor` decides; `checks`, `watch`, `echoes` and `wind` judge its inputs; `envelope` applies the limits that follow
from `obstacles`, `observed_space`, `site` and `traffic`, `acceleration` those of time; `failsafe` returns and lands.
"""
