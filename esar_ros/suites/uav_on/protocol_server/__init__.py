"""The server for the authors' public code: their scene server's calls, a simulator a scene, and launchers of it.

Their evaluation connects to a scene server (msgpack-RPC), asks it for scenes, and flies in each by AirSim's calls.
`scene_server` answers it with `scene_simulator`s; `launchers` start those from the authors' own scene server.
"""
