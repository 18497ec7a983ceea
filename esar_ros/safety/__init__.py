"""The safety governor, the last stage of every velocity command before the actuator. Pure, clock injected.

`governor` decides; `checks`, `watch`, `echoes` and `wind` judge its inputs; `envelope` applies the spatial and speed
limits that follow from `obstacles`, `observed_space`, `site` and `traffic`, `acceleration` the rate limits; `failsafe`
returns and lands, where `landing_site` shows nobody.
"""
