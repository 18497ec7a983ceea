"""The embedded simulator: `server` flies vehicles in a map and serves AirSim's RPC.

`terrain` and `assets` make places and things, `world` holds what is true, `weather`, `physics` and `sensors` act in it,
`render` draws it, `airsim_api` answers clients.
"""
