"""The safety governor: the last word on every velocity before it reaches the actuator. Pure, clock injected.

`governor` decides, `checks` and `watch` judge its inputs, `envelope` applies the limits that follow from `sight`,
`obstacles`, `site` and `traffic`, `failsafe` returns and lands.
"""
