"""The safety governor, the last stage of every velocity command before the actuator. Pure, clock injected.

`governor` decides, with what `memory` keeps of the step before; `checks`, `watch` and `wind` judge its inputs;
`surroundings` is what ranges and map show; `envelope` applies the spatial and speed limits that follow from them, from
`site` and from `traffic`, `acceleration` the rate limits; `station` is held, `failsafe` returns, `landing` comes down
where nobody is below.
"""
