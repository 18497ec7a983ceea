"""The surroundings of a vehicle as its newest ranges and its local map show them; what neither shows is unknown.

`echoes` tells which ranges can be trusted; `observed_space` the free way along a direction and the ground below,
`obstacles` the limits that follow from what is near, `landing_site` what stands where a vehicle comes down. `scene` is
all that one decision knows of the vehicle and what is around it.
"""
